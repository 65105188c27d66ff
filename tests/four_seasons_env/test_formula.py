"""The formula of the relaxed game: it must not call a game lost that can be won."""

from collections import Counter
from collections.abc import Iterable

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, WRAPS, Rules
from four_seasons_env.solver import sat, solve
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, Root
from tests.helpers import later, mostly_slow, numbered_deck, small
from tests.reference.brute_force import BruteForce

SOON_LOST = 157
"""A test deal of `four-seasons`, proved lost after few conflicts."""


def calls_lost(game: Game) -> bool:
    """Whether the formula of a position cannot be satisfied."""
    search = sat.FormulaSearch(Root(game.record[0], game.rules))
    while (status := search.advance()) == SEARCHING:
        pass
    return status == LOST


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals also by a complete search in plain Python, and count them.

    They are won, lost (by both) or missed (lost, no proof).

    Raises:
        AssertionError: for a game that can be won, if the formula calls it lost.
    """
    found: Counter[str] = Counter()
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        lost, winnable = calls_lost(Game(rules, deck=deck)), BruteForce(rules, deck).can_be_won()
        assert not (lost and winnable), (rules, deal)
        found["won" if winnable else "lost" if lost else "missed"] += 1
    return found


@pytest.mark.parametrize("wrap", mostly_slow(WRAPS, ("unless_ace_base",)))
def test_agrees_with_brute_force_under_each_wrap(wrap: str) -> None:
    rules = small("four-seasons", ranks=4, piles=1).replace(wrap=wrap)
    found = compare(rules, range(TRAIN_FROM, TRAIN_FROM + 60))
    assert found["won"] > 20
    assert found["lost"]


@pytest.mark.parametrize("row", mostly_slow(row for row in RULES if not RULES[row].redeals))
def test_agrees_with_brute_force_on_every_row(row: str) -> None:
    if not RULES[row].worrying_back:
        assert compare(small(row, ranks=4, piles=1), range(TRAIN_FROM, TRAIN_FROM + 25))["won"]


@pytest.mark.parametrize(
    "row", [row for row in RULES if RULES[row].redeals] + ["pysolfc/simplicity"]
)
def test_undecided_where_cards_come_back(row: str) -> None:
    search = sat.FormulaSearch(Root(Game(row, TRAIN_FROM).record[0], RULES[row]))
    assert search.advance() == UNDECIDED


@pytest.mark.parametrize("row", mostly_slow(["four-seasons", "simplicity", "czarina"]))
def test_no_position_of_a_win_is_called_lost(row: str) -> None:
    game = Game(row, TRAIN_FROM)
    moves = solve(game, max_positions=300_000).moves
    assert moves
    for played in range(0, len(moves), 20):
        assert not calls_lost(later(game, moves[:played]))


def test_solution_names_its_certificate() -> None:
    solution = solve(Game("four-seasons", SOON_LOST), seconds=60)
    assert (solution.status, solution.certificate) == ("lost", "formula")
    assert solve(Game("four-seasons", 0), seconds=60).certificate == "moves"
    assert solve(Game("four-seasons", SOON_LOST), max_positions=1000).certificate == ""


def test_solves_without_python_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "is_available", lambda: False)
    assert solve(Game("four-seasons", 0), max_positions=100_000).status == "won"
