"""The solver: against brute force on small games, and within its budget."""

import os
import random
import signal
import threading
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, WRAPS, Rules
from four_seasons_env.solver import sat, solve, solve_all, solving
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, WON, Root
from four_seasons_env.solver.beam import Beam
from tests.helpers import later, mostly_slow, numbered_deck, small
from tests.reference.brute_force import can_be_won
from tests.reference.slow_model import SlowGame

UNHURRIED = 60.0  # seconds, for games that take milliseconds
SOON_LOST = 157
"""A test deal of `four-seasons`, proved lost after few conflicts."""


def status_of(search: solving.Method) -> int:
    """How a search ends."""
    while (status := search.advance()) == SEARCHING:
        pass
    return status


def formula_of(game: Game) -> sat.FormulaSearch:
    return sat.FormulaSearch(Root(game.record[0], game.rules))


def decided(rules: Rules, deck: list[str], moves: Sequence[str] = ()) -> str:
    """The status of a position, by the solver and by a complete search in plain Python.

    Raises:
        AssertionError: if they differ, or if a beam of some width or the formula alone proves the
            opposite.
    """
    game, slow = later(Game(rules, deck=deck), moves), SlowGame(rules, deck)
    for move in moves:
        slow.play(move)
    solution = solve(game, seconds=UNHURRIED)
    assert (solution.status == "won") == later(game, solution.moves).is_won
    expected = "won" if can_be_won(slow) else "lost"
    assert solution.status == expected, (rules, deck, moves)
    for width in (1, 50):
        assert solve(game, width=width).status in (expected, "unknown"), (rules, deck, moves)
    assert expected == "lost" or status_of(formula_of(game)) != LOST, (rules, deck, moves)
    return expected


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """How many deals are won, and how many lost."""
    return Counter(decided(rules, numbered_deck(deal, rules.ranks)) for deal in deals)


WRAPPED = [RULES["four-seasons"].replace(wrap=wrap, name=wrap) for wrap in WRAPS]


@pytest.mark.parametrize(
    "rules", mostly_slow([*RULES.values(), *WRAPPED]), ids=lambda rules: rules.name
)
@pytest.mark.compiled
def test_agrees_with_brute_force(rules: Rules) -> None:
    piles = 2 if rules.name in ("pysolfc/simplicity", "florentine") else 1
    found = compare(rules.replace(ranks=4, piles=piles), range(TRAIN_FROM, TRAIN_FROM + 20))
    found += compare(rules.replace(ranks=5, piles=2), range(TRAIN_FROM, TRAIN_FROM + 5))
    assert found["won"]


@pytest.mark.parametrize(
    ("row", "ranks", "piles"),
    [("florentine", 5, 2), ("corners-hoffmann", 6, 2), ("czarina-1898", 6, 2)],
)
@pytest.mark.compiled
def test_agrees_with_brute_force_after_a_redeal(row: str, ranks: int, piles: int) -> None:
    """After the last redeal no card comes back, so the relaxed game may prove a loss."""
    rules = small(row, ranks, piles)
    found = Counter(after_the_redeals(rules, TRAIN_FROM + number) for number in range(40))
    assert found["won"]
    assert found["lost"]


def after_the_redeals(rules: Rules, deal: int) -> str:
    """The status after the last redeal of a game that is played at random, if it has one."""
    deck, rng = numbered_deck(deal, rules.ranks), random.Random(deal)
    game, moves = Game(rules, deck=deck), list[str]()
    while game.redeals_left and not game.is_over and len(moves) < 300:
        legal = list(map(str, game.legal_moves(distinct=True)))
        forth = [move for move in legal if move in ("deal", "redeal")]
        moves.append(forth[0] if forth and rng.random() < 0.8 else rng.choice(legal))
        game.play(moves[-1])
    if game.redeals_left or game.is_over:
        return "over"
    return decided(rules, deck, moves)


@pytest.mark.parametrize(("number", "end"), [(3, LOST), (7, WON)])
@pytest.mark.compiled
def test_skipped_arrangements_prove_no_loss(number: int, end: int) -> None:
    game = Game(small("four-seasons", ranks=7, piles=2), TRAIN_FROM + number)
    root = Root(game.record[0], game.rules)
    complete, one_of_each = Beam(root, None), Beam(root, 10_000, arrangements=1)
    for search, expected in ((complete, end), (one_of_each, UNDECIDED)):
        assert status_of(search) == expected


@pytest.mark.parametrize(
    ("row", "wrap", "number"),
    [
        ("simplicity", "linear", 18),  # a place too soon
        ("four-seasons", "never", 49),  # a base card, which hosts the last place
        ("pysolfc/simplicity", "always", 73),  # with worrying back no card is safe
    ],
)
def test_cards_that_may_still_be_hosts_do_not_go_up(row: str, wrap: str, number: int) -> None:
    """Games that were taken for lost when a card went up too soon."""
    rules = small(row, ranks=5, piles=2).replace(wrap=wrap)
    assert compare(rules, [TRAIN_FROM + number])["won"] == 1


@pytest.mark.parametrize(
    ("row", "least"), [("four-seasons", 72), ("czarina", 46), ("florentine", 93)]
)
@pytest.mark.compiled
def test_many_of_100_deals_are_decided_soon(row: str, least: int) -> None:
    """Features and schedule are advice: with a broken one the solver is right, but weaker."""
    games = [Game(row, deal) for deal in range(TRAIN_FROM, TRAIN_FROM + 100)]
    found = [solve(game, max_positions=20_000).status for game in games]
    assert len(found) - found.count("unknown") >= least


def test_a_budget_is_repeatable() -> None:
    game = Game("four-seasons", TRAIN_FROM + 7)
    for most in (1, 1000, 30_000):
        one, two = (solve(game, max_positions=most) for _ in range(2))
        assert (one.status, one.moves, one.positions) == (two.status, two.moves, two.positions)
        assert one.positions <= most
        assert one.status == "unknown" or most == 30_000


def hard_game(positions: int = 100_000) -> Game:
    """A game that is not decided by this number of positions."""
    for deal in range(TRAIN_FROM, TRAIN_FROM + 50):
        game = Game("czarina", deal)
        if solve(game, max_positions=positions).status == "unknown":
            return game
    raise AssertionError("none is hard")


@pytest.mark.compiled
def test_seconds_are_a_limit() -> None:
    solution = solve(hard_game(3_000_000), seconds=0.2)
    assert solution.status == "unknown"
    assert 0.2 <= solution.seconds < 1.2


@pytest.mark.compiled
def test_many_games_are_solved_at_once() -> None:
    games = [Game("four-seasons", TRAIN_FROM + number) for number in range(8)]
    solutions = solve_all(games, seconds=UNHURRIED)
    for game, solution in zip(games, solutions, strict=True):
        assert solution.status in ("won", "lost")
        assert solution.moves == solve(game, seconds=UNHURRIED).moves


def test_a_search_for_each_core_that_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    monkeypatch.setattr(
        solving, "solve", lambda *_, **__: time.sleep(0.01) or threading.get_ident()
    )
    assert len(set(solve_all([Game(deal=TRAIN_FROM)] * 8, seconds=1))) == 1


@pytest.mark.compiled
def test_memory_is_kept() -> None:
    game = hard_game()
    tracemalloc.start()
    solve(game, max_positions=400_000, memory=2**24)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * 2**24


@pytest.mark.slow
def test_it_can_be_interrupted() -> None:
    """The alarm comes again and again, as one that falls into a callback of C is ignored there."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    hard = hard_game(3_000_000)
    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            solve(hard, seconds=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started < 30


# --- the formula of the relaxed game --------------------------------------------------------------


@pytest.mark.parametrize(
    "row", [row for row in RULES if RULES[row].redeals] + ["pysolfc/simplicity"]
)
def test_formula_needs_cards_that_never_return(row: str) -> None:
    assert status_of(formula_of(Game(row, TRAIN_FROM))) == UNDECIDED


@pytest.mark.compiled
def test_solution_names_its_certificate() -> None:
    solution = solve(Game("four-seasons", SOON_LOST), seconds=60)
    assert (solution.status, solution.certificate) == ("lost", "formula")
    assert solve(Game("four-seasons", 0), seconds=60).certificate == "moves"
    assert solve(Game("four-seasons", SOON_LOST), max_positions=1000).certificate == ""


def test_solves_without_python_sat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "is_available", lambda: False)
    assert solve(Game("four-seasons", 0), max_positions=100_000).status == "won"
