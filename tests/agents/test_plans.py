"""Plans: moves once nothing is hidden, and questions to the solver."""

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.agents.search import plans as module
from four_seasons_env.agents.search.agent import FinisherAgent
from four_seasons_env.agents.search.plans import NONE, Plans
from four_seasons_env.game import Game
from four_seasons_env.solver import Solution, solve
from tests.helpers import numbered_deck, small

RULES = small("four-seasons", ranks=4, piles=1)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Game, int]]:
    """Questions to the solver: positions and limits."""
    questions: list[tuple[Game, int]] = []

    def noted(game: Game, max_positions: int) -> Solution:
        questions.append((game.copy(), max_positions))
        return solve(game)

    monkeypatch.setattr(module, "solve", noted)
    return questions


def late(won: bool) -> Game:
    """A game that the heuristic has played to the last card, and that can be won, or cannot."""
    heuristic = HeuristicAgent(RULES)
    for number in range(200):
        game = Game(RULES, deck=numbered_deck(number, 4))
        while len(game.stock) > 1:
            game.play(heuristic_move(heuristic, game))
        can_be_won = solve(game).status == "won"
        if can_be_won == won and len(game.legal_moves()) > 1 and not game.is_won:
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


def test_too_many_plans_are_removed(monkeypatch) -> None:
    assert module._MOST_PLANS == 10**6
    monkeypatch.setattr(module, "_MOST_PLANS", 2)
    plans = Plans(RULES, positions=0)
    records = [Game(RULES, deal=deal).record[0].copy() for deal in range(3)]
    for record in records[:2]:
        plans[record] = NONE
    plans.tidy()
    assert records[0] in plans
    plans[records[2]] = NONE
    plans.endings(np.array(records[:1]))
    assert not any(record in plans for record in records)


@pytest.mark.parametrize("won", [True, False])
def test_endings_are_planned_once(asked, won: bool) -> None:
    plans, heuristic, game = Plans(RULES, positions=77), HeuristicAgent(RULES), late(won)
    start = game.copy()
    hidden = Game(RULES, deal=0)
    while not game.is_over:
        together = np.concatenate([hidden.record, game.record])
        assert plans.endings(together)[0] == NONE
        planned = int(plans.endings(together)[1])
        assert (planned != NONE) == won
        game.play(planned if won else heuristic_move(heuristic, game))
    assert game.is_won == won
    assert asked == [(start, 77)]
    assert hidden.record[0] not in plans


@pytest.mark.parametrize("won", [True, False])
def test_finisher_plays_plans_or_its_base(asked, won: bool) -> None:
    finisher, base = FinisherAgent(RULES, "greedy"), make_agent("greedy", RULES)
    assert finisher.mask == base.mask
    game, hidden, rng = late(won), Game(RULES, deal=0), np.random.default_rng(0)
    games = np.concatenate([game.record, hidden.record])
    masks = np.stack([each.action_mask(distinct=True) for each in (game, hidden)])
    expected = base.act(games.copy(), masks, rng)
    if won:
        expected[0] = solve(game).moves[0].number
    assert finisher.act(games.copy(), masks, rng).tolist() == expected.tolist()
    assert [most for _, most in asked] == [module.ENDING_POSITIONS] == [10**6]
    with pytest.raises(ValueError, match="base must be another agent"):
        FinisherAgent(RULES, "finisher@base=greedy")
