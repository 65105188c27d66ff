"""The formula of the relaxed game."""

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, WRAPS
from four_seasons_env.solver import sat, solve
from four_seasons_env.solver.analysis.root import UNDECIDED, Root
from tests.helpers import mostly_slow, small
from tests.reference.formula_differential import calls_lost, compare

LOST = 157
"""A test deal of `four-seasons`, proved lost after few conflicts."""


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
    assert search.go_on() == UNDECIDED


@pytest.mark.parametrize("row", mostly_slow(["four-seasons", "simplicity", "czarina"]))
def test_no_position_of_a_win_is_called_lost(row: str) -> None:
    game = Game(row, TRAIN_FROM)
    moves = solve(game, max_positions=300_000).moves
    assert moves
    for played in range(0, len(moves), 20):
        position = game.copy()
        for move in moves[:played]:
            position.play(move)
        assert not calls_lost(position)


def test_solution_names_its_certificate() -> None:
    solution = solve(Game("four-seasons", LOST), seconds=60)
    assert (solution.status, solution.certificate) == ("lost", "formula")
    assert solve(Game("four-seasons", 0), seconds=60).certificate == "moves"
    assert solve(Game("four-seasons", LOST), max_positions=1000).certificate == ""


def test_solves_without_python_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "is_available", lambda: False)
    assert solve(Game("four-seasons", 0), max_positions=100_000).status == "won"
