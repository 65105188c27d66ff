"""Endings: games that can be won are, once nothing is hidden."""

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.agents.search.agent import FinisherAgent
from four_seasons_env.agents.search.plans import Plans
from four_seasons_env.game import Game
from four_seasons_env.solver import solve
from tests.helpers import numbered_deck, small

RULES = small("four-seasons", ranks=4, piles=1)


def late(won: bool) -> Game:
    """A game at its last card that the heuristic loses from there, and that can be won or not."""
    heuristic = HeuristicAgent(RULES)
    for number in range(1000):
        game = Game(RULES, deck=numbered_deck(number, 4))
        while len(game.stock) > 1:
            game.play(heuristic_move(heuristic, game))
        can_be_won = solve(game).status == "won"
        played = game.copy()
        while not played.is_over and played.moves_played < 200:
            played.play(heuristic_move(heuristic, played))
        if can_be_won == won and not played.is_won and len(game.legal_moves()) > 1:
            return game
    raise AssertionError("there is none")


def heuristic_move(heuristic: HeuristicAgent, game: Game) -> int:
    mask = game.action_mask(distinct=True)[None]
    return int(heuristic.act(game.record.copy(), mask, np.random.default_rng(0))[0])


def test_plans_depend_on_the_base():
    """King of spades on the table, one card hidden: Queen if Aces are the base, Ace if Twos are."""
    plans, game = Plans(RULES, 0), Game(RULES, deal=0)
    other = game.record.copy()
    other["base"] = (other["base"] + 1) % 4
    plans[game.record[0]] = 3
    assert game.record[0] in plans
    assert other[0] not in plans


@pytest.mark.parametrize("name", ["finisher@base=greedy", "rollout@worlds=1,moves=1,expansions=7"])
def test_searches_win_endings(name: str) -> None:
    agent, game, rng = make_agent(name, RULES), late(won=True), np.random.default_rng(0)
    while not game.is_over:
        mask = game.action_mask(distinct=True)[None]
        game.play(int(agent.act(game.record.copy(), mask, rng)[0]))
    assert game.is_won


def test_finisher_leaves_the_rest_to_its_base() -> None:
    """What it cannot win yet, and what cannot be won."""
    finisher, base = FinisherAgent(RULES, "greedy"), make_agent("greedy", RULES)
    assert finisher.mask == base.mask
    both, rng = (late(won=False), Game(RULES, deal=0)), np.random.default_rng(0)
    games = np.concatenate([each.record for each in both])
    masks = np.stack([each.action_mask(distinct=True) for each in both])
    expected = base.act(games.copy(), masks, rng)
    assert finisher.act(games.copy(), masks, rng).tolist() == expected.tolist()
