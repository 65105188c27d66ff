"""Imagined worlds: sorted stocks, shuffled stocks and the next card."""

import numpy as np
import pytest

from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.engine.kernel import compile_rules, public_copy, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import small

RULES = [small("four-seasons", ranks=4, piles=2), small("florentine", ranks=5, piles=3)]


def dealt(rules: Rules, deals: int) -> np.ndarray:
    """The record of a game in which this many cards have been turned."""
    game = Game(rules, deal=3)
    for _ in range(deals):
        game.play("deal")
    return game.record.copy()


def stock(records: np.ndarray) -> list[int]:
    return records[0]["deck"][records[0]["dealt"] : records[0]["deck_size"]].tolist()


def facts(records: np.ndarray, cards: list[int] | None = None) -> dict[str, list[int]]:
    """All fields of a record, or those with the stock in this order."""
    found = {name: records[name][0].tolist() for name in records.dtype.names}
    if cards is not None:
        found["deck"][found["dealt"] : found["deck_size"]] = cards
    return found


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("deals", [0, 5])
def test_hiding_sorts_only_the_unseen_cards(rules: Rules, deals: int) -> None:
    records = dealt(rules, deals)
    expected = facts(records, sorted(stock(records)))
    assert facts(records) != expected
    sort_unseen(records[0], compile_rules(rules)[0])
    assert facts(records) == expected


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("deals", [4])
def test_world_k_deals_the_kth_card_next(rules: Rules, deals: int) -> None:
    compiled, seed = compile_rules(rules), np.uint64(7)
    records = dealt(rules, deals)
    sort_unseen(records[0], compiled[0])
    cards = stock(records)
    order = stock(public_copy(records, compiled, np.array([seed])))
    for world in (*range(2 * len(cards) + 1), -1):
        expected = list(order)
        if world >= 0:
            at = order.index(cards[world % len(cards)])
            expected[0], expected[at] = expected[at], expected[0]
        imagined = records.copy()
        determinize(imagined[0], compiled[0], seed, world)
        assert facts(imagined) == facts(records, expected), world


def test_a_known_stock_keeps_its_order() -> None:
    rules = RULES[1]
    game = Game(rules, deal=3)
    while game.stock:
        game.play("deal")
    game.play("redeal")
    records = game.record.copy()
    for world in (-1, 0, 2):
        sort_unseen(records[0], compile_rules(rules)[0])
        determinize(records[0], compile_rules(rules)[0], np.uint64(1), world)
    assert stock(records) != sorted(stock(records))
    assert facts(records) == facts(game.record)
