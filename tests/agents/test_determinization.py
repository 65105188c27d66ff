"""Imagined worlds: what is sorted, what is shuffled, and which card comes next."""

import numpy as np
import pytest

from four_seasons_env.agents.search.determinization import determinize, hide_unseen
from four_seasons_env.engine.kernel import compile_rules, reshuffle_unseen_all
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import small

RULES = [small("four-seasons", ranks=4, piles=2), small("florentine", ranks=5, piles=3)]


def dealt(rules: Rules, deals: int) -> np.ndarray:
    """The record of a game of which so many cards have been turned."""
    game = Game(rules, deal=3)
    for _ in range(deals):
        game.play("deal")
    return game.record.copy()


def stock(records: np.ndarray) -> list[int]:
    return records[0]["deck"][records[0]["dealt"] : records[0]["deck_size"]].tolist()


def facts(records: np.ndarray, cards: list[int] | None = None) -> dict[str, list[int]]:
    """All that a record holds, or would hold with the stock in another order."""
    told = {name: records[name][0].tolist() for name in records.dtype.names}
    if cards is not None:
        told["deck"][told["dealt"] : told["deck_size"]] = cards
    return told


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("deals", [0, 5])
def test_the_unseen_cards_are_sorted_and_nothing_else_is_touched(rules: Rules, deals: int) -> None:
    records = dealt(rules, deals)
    meant = facts(records, sorted(stock(records)))
    assert facts(records) != meant
    hide_unseen(records[0], compile_rules(rules)[0])
    assert facts(records) == meant


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize("deals", [4])
def test_world_k_deals_the_kth_card_next_and_shuffles_the_rest(rules: Rules, deals: int) -> None:
    compiled, seed = compile_rules(rules), np.uint64(7)
    records = dealt(rules, deals)
    hide_unseen(records[0], compiled[0])
    cards = stock(records)
    shuffled = records.copy()
    reshuffle_unseen_all(shuffled, compiled, np.array([seed]))
    order = stock(shuffled)
    for world in (*range(2 * len(cards) + 1), -1):
        meant = list(order)
        if world >= 0:
            at = order.index(cards[world % len(cards)])
            meant[0], meant[at] = meant[at], meant[0]
        imagined = records.copy()
        determinize(imagined[0], compiled[0], seed, world)
        assert facts(imagined) == facts(records, meant), world


def test_a_stock_that_has_been_seen_stays_as_it_is() -> None:
    rules = RULES[1]
    game = Game(rules, deal=3)
    while game.stock:
        game.play("deal")
    game.play("redeal")
    records = game.record.copy()
    for world in (-1, 0, 2):
        hide_unseen(records[0], compile_rules(rules)[0])
        determinize(records[0], compile_rules(rules)[0], np.uint64(1), world)
    assert stock(records) != sorted(stock(records))
    assert facts(records) == facts(game.record)
