"""Endings: games that can be won are, once nothing is hidden."""

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.search.plans import Plans
from four_seasons_env.game import Game
from four_seasons_env.solver import solve
from tests.helpers import played_on, small

RULES = small("four-seasons", ranks=6, piles=3)


def ends(game: Game) -> bool:
    """Whether nothing is hidden, and the game can be won."""
    return len(game.stock) < 2 and solve(game).status == "won"


GAMES = [game for game in played_on(RULES, 300, 80) if not game.is_over]


def test_plans_depend_on_the_base():
    """King of spades on the table, one card hidden: Queen if Aces are the base, Ace if Twos are."""
    plans, game = Plans(RULES, 0), Game(RULES, deal=0)
    other = game.record.copy()
    other["base"] = (other["base"] + 1) % 4
    plans[game.record[0]] = 3
    assert game.record[0] in plans
    assert other[0] not in plans


def wins_all(name: str) -> bool:
    """Whether an agent wins each game from its last card on, if that can be done."""
    agent, rng = make_agent(name, RULES), np.random.default_rng(0)
    games = [game.copy() for game in GAMES if ends(game)]
    for game in games:
        while not game.is_over and game.moves_played < 300:
            mask = game.action_mask(distinct=True)[None]
            game.play(int(agent.act(game.record.copy(), mask, rng)[0]))
    return all(game.is_won for game in games)


@pytest.mark.parametrize(
    ("name", "base"),
    [("finisher@base=greedy", "greedy"), ("rollout@worlds=1,moves=1,expansions=7", "heuristic")],
)
def test_searches_win_endings(name: str, base: str) -> None:
    assert wins_all(name) and not wins_all(base)


def test_finisher_leaves_the_rest_to_its_base() -> None:
    """What it cannot win yet, and what cannot be won."""
    finisher, base = (make_agent(name, RULES) for name in ("finisher@base=greedy", "greedy"))
    assert finisher.mask == base.mask
    games = np.concatenate([each.record for each in GAMES])
    masks = np.stack([each.action_mask(distinct=True) for each in GAMES])
    rest, rng = [not ends(game) for game in GAMES], np.random.default_rng(0)
    moves, expected = (each.act(games.copy(), masks, rng)[rest] for each in (finisher, base))
    assert moves.tolist() == expected.tolist()
