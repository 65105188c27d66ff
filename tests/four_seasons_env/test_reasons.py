"""Why deals are lost: few moments, none of which can be left out."""

import sys

import pytest

from four_seasons_env.commands.solve import main as solve_command
from four_seasons_env.engine.cards import card_text
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from four_seasons_env.solver import sat, solve, why_lost
from four_seasons_env.solver.protocol import Root
from tests.helpers import mostly_slow, small

LOST = 3015
"""A test deal of `four-seasons` that is lost."""


def satisfiable(game: Game, moments: set[str], waiting: set[str]) -> bool:
    """Whether the relaxed game can be won that looks at these moments and this order only."""
    root = Root(game.record[0], game.rules)
    formula = sat.Formula(root, in_parts=True)
    places = root.frames[0]["place"][: game.rules.cards]
    names = {int(place): card_text(card) for card, place in enumerate(places)}
    fits = {names[place]: int(v) for place, v in zip(formula.passing, formula.fits, strict=True)}
    waits = {names[place]: int(v) for place, v in enumerate(formula.waits)}
    with sat.new_solver() as solver:
        for clauses in formula.clauses.chunks():
            solver.append_formula(clauses)
        assumed = [fits[card] for card in moments] + [waits[card] for card in waiting]
        return bool(solver.solve(assumptions=assumed))


@pytest.mark.slow
def test_a_reason_is_one_and_nothing_of_its_moments_can_be_left_out() -> None:
    game = Game("four-seasons", LOST)
    reason = why_lost(game)
    assert reason is not None
    moments, waiting = set(reason.moments), set(reason.waiting)
    assert list(reason.moments) == sorted(reason.moments, key=game.stock.index)
    assert len(moments) > game.rules.piles
    assert not satisfiable(game, moments, waiting)
    for card in moments:
        assert satisfiable(game, moments - {card}, waiting)
    for card in list(waiting)[::6]:
        assert satisfiable(game, moments, waiting - {card})
    assert game == Game("four-seasons", LOST)


@pytest.mark.parametrize(
    "row", mostly_slow(["four-seasons", "czarina", "simplicity", "kings-in-the-corner"])
)
def test_only_games_that_are_lost_have_a_reason(row: str) -> None:
    rules, found = small(row, ranks=4, piles=1), 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 40):
        game = Game(rules, deal)
        reason = why_lost(game)
        status = solve(game).status
        assert status == "lost" if reason else status in ("won", "lost")
        if reason:
            found += 1
            deck = {*game.stock, *(card for pile in game.tableau for card in pile)}
            assert set(reason.moments) <= set(game.stock)
            assert set(reason.waiting) <= deck
            moments, waiting = set(reason.moments), set(reason.waiting)
            assert not satisfiable(game, moments, waiting)
            for card in moments:
                assert satisfiable(game, moments - {card}, waiting)
            for card in waiting:
                assert satisfiable(game, moments, waiting - {card})
    assert found or row == "simplicity"


def test_where_cards_come_back_nothing_is_said() -> None:
    for row in ("florentine", "pysolfc/simplicity"):
        assert why_lost(Game(RULES[row], 0)) is None
    assert why_lost(Game("four-seasons", 0)) is None  # it can be won


def test_reason_keeps_its_time_limit() -> None:
    assert why_lost(Game("four-seasons", LOST), seconds=1e-9) is None


def test_without_python_sat_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysat", None)
    monkeypatch.setattr(sat, "is_available", lambda: False)
    with pytest.raises(ModuleNotFoundError, match=r"four-seasons-env\[solver\]"):
        why_lost(Game("four-seasons", LOST))


def test_the_command_tells_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    solve_command(["--deal", str(LOST), "--seconds", "30"])
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .endswith("when it leaves the waste: 7D 7S AS AH 7H JD")
    )
