"""Imagined worlds: a stock that is known, and the solver's votes."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chisquare

from four_seasons_env.agents.search.worlds import determinize, share_won
from four_seasons_env.engine.deals import CARD_TEXTS
from four_seasons_env.engine.kernel import compile_rules, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.games import Games
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve
from tests.helpers import biased_choice, numbered_deck, restocked, small, stock_codes, together
from tests.reference.brute_force import chance
from tests.reference.slow_model import SlowGame

RULES = [
    small("four-seasons", ranks=4, piles=1),
    small("florentine", ranks=5, piles=3),
    small("pysolfc/corners", ranks=4, piles=1).replace(redeals=0),
]


def stock(records: np.ndarray) -> list[int]:
    return records[0]["deck"][records[0]["dealt"] : records[0]["deck_size"]].tolist()


def test_a_known_stock_keeps_its_order() -> None:
    rules = RULES[1]
    game = Game(rules, deal=3)
    while game.stock:
        game.play("deal")
    game.play("redeal")
    records = game.record.copy()
    for world in (0, 2):
        sort_unseen(records[0], compile_rules(rules)[0])
        determinize(records[0], compile_rules(rules)[0], np.uint64(1), world)
    assert stock(records) != sorted(stock(records))
    assert (records == game.record).all()


def with_four_hidden(rules: Rules, deals: Iterable[int]) -> Iterator[tuple[Game, SlowGame]]:
    """Positions after some random moves, in both models."""
    for deal in deals:
        choose = partial(biased_choice, rng=random.Random(deal))
        for game, slow in together(rules, numbered_deck(deal, rules.ranks), choose, 60):
            if game.stock_size == 4 and not game.is_over:
                yield game, slow
                break


@pytest.mark.parametrize("way", ["reshuffle", "determinize"])
@pytest.mark.parametrize("rules", [RULES[0], RULES[2]], ids=lambda rules: rules.name)
def test_orders_come_as_often_as_they_are_likely(rules: Rules, way: str) -> None:
    """Where bases came from the end of the deck, some are likelier than others."""
    for game, slow in with_four_hidden(rules, range(2)):
        rule, games = compile_rules(rules)[0], Games.of(game, 12_000)
        if way == "reshuffle":
            games.reshuffle(np.random.default_rng(0))
        records = games.records.copy()
        if way == "determinize":
            for world, record in enumerate(records):
                sort_unseen(record, rule)
                determinize(record, rule, np.uint64(world), world)
        drawn = Counter(map(tuple, records["deck"][:, records[0]["dealt"] :][:, :4].tolist()))
        orders = list(permutations(stock_codes(game)))
        expected = [
            12_000 * float(chance(slow, [CARD_TEXTS[card] for card in order])) for order in orders
        ]
        assert chisquare([drawn[order] for order in orders], expected).pvalue > 1e-4


WIDTH = 20  # of the beams of the solver


@pytest.mark.parametrize("worlds", [24, 10])
@pytest.mark.parametrize("rules", [RULES[0], RULES[2]], ids=lambda rules: rules.name)
def test_a_vote_is_the_share_of_worlds(rules: Rules, worlds: int) -> None:
    """Four hidden cards have 24 orders: each is taken once, or fewer worlds are drawn."""
    shares, uneven = [], 0
    for game, slow in with_four_hidden(rules, range(20)):
        records = game.record.copy()
        sort_unseen(records[0], compile_rules(rules)[0])
        moves = np.array([each.number for each in game.legal_moves(distinct=True) if each.turns])
        asked = np.repeat(records, 2), np.repeat(moves[:1], 2), rules, worlds, WIDTH, np.uint64(5)
        one, same = share_won(*asked)
        assert one == same, "all moves in the same worlds"
        assert share_won(*asked).tolist() == [one, same]
        orders = list(permutations(stock(records)))
        after = [restocked(game, order).after(int(moves[0])) for order in orders]
        won = [solve(each, width=WIDTH).status == "won" for each in after]
        if worlds == 24:
            likely = [float(chance(slow, [CARD_TEXTS[card] for card in order])) for order in orders]
            assert one == pytest.approx(np.dot(won, likely))
            uneven += one != pytest.approx(np.mean(won))
        else:
            assert one * worlds == pytest.approx(round(one * worlds))
            assert bool(one) <= any(won) and (one == 1 or not all(won))
        shares.append(one)
    assert len(set(shares)) > 2
    assert bool(uneven) == (worlds == 24 and rules.base_from == "one_per_suit")
