"""The formula of the relaxed game."""

import numpy as np
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


def test_impossible_play_does_not_satisfy() -> None:
    from pysat.solvers import Glucose4

    game = Game("four-seasons", TRAIN_FROM)
    formula = sat.Formula(Root(game.record[0], game.rules))
    last = int(np.argmax(formula.passing))
    card = formula.passing[last]
    direct, before, up = -int(formula.direct[last]), formula.before, formula.up
    with Glucose4() as solver:
        for block in formula.clauses.blocks:
            solver.append_formula(block.tolist())
        assert solver.solve()
        assert not solver.solve([-direct, -int(up[card - 4, last])])  # its predecessor is not up
        assert not solver.solve([int(up[card, last])])  # it is up before it has left
        assert not solver.solve([int(before[0, 1]), int(before[1, 2]), int(before[2, 0])])
        assert not solver.solve([-int(before[0, 1]), -int(before[1, 2]), int(before[0, 2])])


def test_solution_names_its_certificate() -> None:
    solution = solve(Game("four-seasons", LOST), seconds=60)
    assert (solution.status, solution.certificate) == ("lost", "formula")
    assert solve(Game("four-seasons", 0), seconds=60).certificate == "moves"
    assert solve(Game("four-seasons", LOST), max_positions=1000).certificate == ""


def test_sat_solver_keeps_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "_SLICE_CONFLICTS", 10)
    game = Game("four-seasons", LOST)
    solver = sat.new_solver()
    for clauses in sat.Formula(Root(game.record[0], game.rules)).clauses.chunks():
        assert len(clauses) <= sat._CHUNK
        solver.append_formula(clauses)
    answers = []
    for answer in sat.satisfiable(solver):
        answers.append(answer)
        assert solver.accum_stats()["conflicts"] <= 11 * len(answers)
    assert answers[-1] is False
    assert len(answers) > 5


def test_solves_without_python_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "is_available", lambda: False)
    assert solve(Game("four-seasons", 0), max_positions=100_000).status == "won"
