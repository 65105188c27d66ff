"""Fair values: against brute force and the outcomes of moves, and when the search must stop."""

import random
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game, Outcome
from four_seasons_env.rules import BASE_FROM, RULES, SMALL, Rules
from four_seasons_env.solver import Known, fair_value, solve
from tests.helpers import biased_choice, later, mostly_slow, numbered_deck, small, together
from tests.reference.brute_force import FairValues, TooLarge
from tests.reference.slow_model import SlowGame

# --- small games ----------------------------------------------------------------------------------


def positions(rules: Rules, deal: int, hidden: int) -> Iterator[tuple[Game, SlowGame]]:
    """A deal played at random: its positions with few cards hidden, one after each card turned."""
    deck, choose = numbered_deck(deal, rules.ranks), partial(biased_choice, rng=random.Random(deal))
    last = hidden + 1
    for game, slow in together(rules, deck, choose, 300):
        if game.redeals_left != rules.redeals or game.is_over:
            return
        if game.stock_size < last:
            last = game.stock_size
            yield game.copy(), slow


def compare(rules: Rules, deals: Iterable[int], hidden: int) -> list[float]:
    """Values that `fair_value` and a complete search in plain Python agree on.

    It is skipped where the latter must examine too many positions.

    Raises:
        AssertionError: for the first position whose two values differ, or that has no exact value.
    """
    values = []
    known = Known()  # what is found out about one deal must hold for the others
    for deal in deals:
        for game, slow in reversed(list(positions(rules, deal, hidden))):
            try:
                expected = float(FairValues(most=500).value(slow))
            except TooLarge:
                break
            found = fair_value(game)
            shared = fair_value(game, known=known)
            assert found.value == shared.value == expected, (rules, deal, found, shared, str(game))
            for *moves, last in (each.moves for each in found.best):
                assert fair_value(later(game, moves), move=last).value == expected
            values.append(expected)
    return values


@pytest.mark.parametrize("row", mostly_slow(RULES))
def test_values_agree_with_brute_force(row: str) -> None:
    rules = small(row, ranks=4, piles=2 if RULES[row].reserve else 1)
    assert len(compare(rules, range(TRAIN_FROM, TRAIN_FROM + 4), hidden=3)) >= 4


def test_values_agree_where_suits_are_chains() -> None:
    values = []
    for ranks, piles in ((4, 1), (4, 2), (5, 2)):
        rules = SMALL["small-4x1-cells"].replace(ranks=ranks, piles=piles)
        values += compare(rules, range(TRAIN_FROM, TRAIN_FROM + 12), hidden=4)
    assert len(values) >= 60
    assert len([value for value in values if 0 < value < 1]) >= 2


def by_outcomes(game: Game, known: dict[int, float]) -> float:
    """The value of a position by expectimax over `Game.outcomes`."""
    if game.key() not in known:
        best, waiting, seen = 0.0, [game], {game.key()}
        while waiting:
            here = waiting.pop()
            best = max(best, float(here.is_won))
            for move in here.legal_moves(distinct=True):
                outcomes = here.outcomes(move)
                if outcomes[0].card:
                    best = max(best, mean_value(outcomes, known))
                elif outcomes[0].game.key() not in seen:
                    seen.add(outcomes[0].game.key())
                    waiting.append(outcomes[0].game)
        known[game.key()] = best
    return known[game.key()]


def mean_value(outcomes: list[Outcome], known: dict[int, float]) -> float:
    return sum(each.probability * by_outcomes(each.game, known) for each in outcomes)


def undecided(rules: Rules, known: Known) -> Iterator[Game]:
    """Positions with four hidden cards that are neither lost nor won by fair play."""
    for deal in range(TRAIN_FROM, TRAIN_FROM + 200):
        game = Game(rules, deal=deal)
        while game.stock_size > 4 and not game.is_over:
            game.play(max(game.legal_moves(), key=lambda move: (str(move)[-1] == "F", move.turns)))
        if game.stock_size == 4 and 0 < fair_value(game, known=known).low < 1:
            yield game


GAMES = {base: Rules(ranks=4, piles=1, base_from=base, build="none") for base in BASE_FROM}
GAMES |= {
    name: small(name, 4, 1).replace(redeals=0) for name in ("corners-hoffmann", "pysolfc/corners")
}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.compiled
def test_values_are_those_of_the_outcomes(name: str) -> None:
    shared, compared = Known(), 0
    for game in islice(undecided(GAMES[name], shared), 2):
        known: dict[int, float] = {}
        found = fair_value(game, known=shared).value
        assert found == pytest.approx(by_outcomes(game, known), abs=1e-12)
        for move in game.legal_moves(distinct=True):
            expected = mean_value(game.outcomes(move), known)
            assert fair_value(game, move, known=shared).value == pytest.approx(expected, abs=1e-12)
        compared += 1
    assert compared == 2


UP = "deal W>F deal W>F deal W>F deal deal W>F deal deal W>F T0>F W>F deal W>F deal"
OTHERS_UP = "T0>F deal W>F deal deal deal W>F deal deal W>F deal deal W>F W>F deal"


@pytest.mark.parametrize(
    ("ranks", "deal", "moves", "value"),
    [
        (4, 4, 6 * "deal ", 277 / 1008),
        (4, 9, 6 * "deal ", 13 / 28),
        (5, TRAIN_FROM, UP, 1 / 5),
        (5, TRAIN_FROM + 13, OTHERS_UP, 6 / 7),
    ],
)
def test_bases_from_the_end_make_some_orders_likelier(
    ranks: int, deal: int, moves: str, value: float
) -> None:
    """With five hidden cards; if all orders were equally likely, each value would be another."""
    rules = RULES["corners-hoffmann"].replace(ranks=ranks, piles=1, redeals=0)
    game = later(Game(rules, deal=deal), moves.split())
    assert len(game.unseen) == 5
    assert fair_value(game).value == value


# --- when it must stop ----------------------------------------------------------------------------


@pytest.mark.compiled
def test_small_budgets_give_bounds() -> None:
    rules = small("four-seasons", ranks=4, piles=1)
    strict = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 12):
        for game, _ in positions(rules, deal, 5):
            exact = fair_value(game)
            for most in (1, 30, 300, 3_000):
                found = fair_value(game, max_positions=most)
                assert 0 <= found.low <= exact.low == exact.high <= found.high <= 1
                strict += found.value is None
                for each in found.decisions:
                    *moves, last = each.moves
                    worth = fair_value(later(game, moves), move=last).low
                    assert each.low <= worth <= each.high
            assert exact.value is not None
    assert strict > 10


@pytest.mark.compiled
def test_a_full_table_gives_bounds() -> None:
    """Without a limit, finding a place in it would be endless."""
    found = fair_value(Game(small("four-seasons", ranks=4, piles=1), TRAIN_FROM), memory=1)
    assert 0 <= found.low < found.high <= 1


@pytest.mark.compiled
def test_seconds_are_a_limit() -> None:
    game = Game(deal=TRAIN_FROM)
    while game.stock_size > 12:
        game.play("deal")
    assert 1 < fair_value(game, seconds=1).seconds < 2


def test_a_known_stock_is_no_chance() -> None:
    rules = Rules(ranks=4, piles=1, redeals=1, name="one redeal")
    for deal in range(TRAIN_FROM, TRAIN_FROM + 10):
        game = Game(rules, deal=deal)
        game = later(game, [*game.stock_size * ["deal"], "redeal"])
        solution = solve(game, seconds=10)
        found = fair_value(game)
        assert found.value == (solution.status == "won")
        if found.best:
            assert later(game, found.best[0].moves).is_won
