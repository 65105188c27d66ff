"""The parts of the next-deal environment: the advice that orders a search, and clipped counts."""

import random
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealEnv
from four_seasons_env.next_deal.enumeration import advice
from four_seasons_env.next_deal.features import (
    GAME_ROWS,
    GAME_SLOTS,
    PILE_ROWS,
    SUIT_ROWS,
    SUIT_SLOTS,
    WASTE_SLOTS,
    row_length,
    write_row,
)
from four_seasons_env.next_deal.reach import UNTIL_END, begin, expand_best, new_search, wait
from four_seasons_env.rules import RULES
from tests.helpers import LINEAR, small


def positions(rules, count: int, most: int) -> Iterator[Game]:
    """Positions of random play, and one in which all cards but a few lie in the waste."""
    for number in range(count):
        game, rng = Game(rules, deal=number), random.Random(number)
        for _ in range(rng.randrange(most)):
            if not game.is_over:
                game.play(rng.choice(game.legal_moves()))
        yield game
    game = Game(rules, deal=0)
    while len(game.stock) > 1 and "deal" in map(str, game.legal_moves()):
        game.play("deal")
    yield game


def codes(cards: list[str]) -> list[int]:
    return [4 * "A23456789TJQK".index(card[0]) + "CSHD".index(card[1]) for card in cards]


@jit
def advise(games, rules):
    return advice(games[0], rules[0])


@pytest.mark.parametrize(
    "rules", [small("four-seasons", ranks=9, piles=4), LINEAR], ids=lambda rules: rules.name
)
def test_the_advice_is_the_sum_that_its_words_give(rules) -> None:
    for game in positions(rules, 8, 80):
        record = game.record[0]
        level = record["level"].astype(int)

        def rank(card: int, base=record["base"]) -> int:
            return ((card >> 2) - int(base[card & 3])) % rules.ranks

        def wait(card: int, level=level) -> int:
            return rank(card) - level[card & 3]

        meant = game.cards_up - len(game.stock) - len(game.waste)
        for pile in game.tableau:
            cards = codes(pile)
            meant -= bool(cards)
            meant -= 0.3 * sum(wait(card) > wait(host) for host, card in pairwise(cards))
        for pile in [*game.tableau, game.waste]:
            cards = codes(pile)[::-1]
            meant -= 0.3 * sum(above for above, card in enumerate(cards) if wait(card) == 0)
        waste = codes(game.waste)
        breaks = sum((rank(b) - rank(a)) % rules.ranks != 1 for a, b in pairwise(waste))
        meant -= 0.5 * breaks
        assert advise(game.record, compile_rules(rules)) == pytest.approx(meant, abs=1e-4)


@jit
def rows_of(games, rules, out):
    write_row(games[0], rules[0], out)


def buried(game: Game) -> int:
    """Cards on those that go up next."""
    level = [len(pile) for pile in game.foundations.values()]
    ranks = game.rules.ranks
    wanted = {
        4 * ((int(base) + level[suit]) % ranks) + suit
        for suit, base in enumerate(game.record[0]["base"])
        if level[suit] < ranks
    }
    piles = [codes(pile)[::-1] for pile in [*game.tableau, game.waste]]
    return sum(pile.index(card) for pile in piles for card in wanted & set(pile))


SLOTS = {
    "spaces": (13, 1, lambda game: game.tableau.count([])),
    "cards in the stock": (53, 1, lambda game: len(game.stock)),
    "cards in the waste": (53, 1, lambda game: len(game.waste)),
    "cards up": (53, 1, lambda game: game.cards_up),
    "buried": (32, 2, buried),
}
"""Rows of the game's table, by how much they are coarser, and what they count."""


def test_what_is_counted_of_a_game_has_its_row_also_where_it_is_most() -> None:
    rules = RULES["four-seasons"]
    most = 0
    for game in positions(rules, 12, 150):
        out = np.zeros(row_length(rules.piles), np.int16)
        rows_of(game.record, compile_rules(rules), out)
        told = out[-GAME_SLOTS - WASTE_SLOTS : -WASTE_SLOTS].astype(int)
        firsts = np.cumsum([0, 13, 53, 53, 53, 130, 14, 53, 39, 53, 26, 32])
        places = dict(zip(SLOTS, ((0, 1), (1, 2), (2, 3), (6, 5), (10, 8)), strict=True))
        for name, (rows, step, count) in SLOTS.items():
            table, slot = places[name]
            meant = min(count(game) // step, rows - 1)
            assert told[slot] == firsts[table] + meant + 1, name
        most = max(most, buried(game))
        assert out[: 4 * SUIT_SLOTS].max() <= SUIT_ROWS
        assert out[4 * SUIT_SLOTS : -GAME_SLOTS - WASTE_SLOTS].max() <= PILE_ROWS
        assert told.max() <= GAME_ROWS
    assert most > 64


@jit
def successors(games, rules, depth, search):
    begin(games[0], rules[0], UNTIL_END, 50, 50, search)
    search.depths[0] = depth
    wait(0, search)
    first, end = expand_best(rules[0], rules[0], UNTIL_END, search)
    return end - first


def test_positions_that_250_moves_lead_to_are_not_expanded() -> None:
    rules = small("four-seasons", ranks=4, piles=2)
    game, compiled, search = Game(rules, deal=0), compile_rules(rules), new_search(rules, 50)
    assert successors(game.record, compiled, 249, search) > 0
    assert successors(game.record, compiled, 250, search) == 0


def test_at_an_opening_with_nothing_hidden_the_only_action_is_to_stay() -> None:
    env = FourSeasonsNextDealEnv(small("corners-hoffmann", ranks=4, piles=11), endings="search")
    stays = 0
    for deal in range(8):
        _, info = env.reset(options={"deal": deal})
        assert len(env.game.stock) == 1
        if not env.game.is_over:
            stays += 1
            assert np.flatnonzero(info["action_mask"]).tolist() == [0]
            assert list(env.moves_of(0)) == []
    assert stays


def test_a_card_in_the_waste_has_its_depth_coarser_the_deeper_it_lies() -> None:
    rules = RULES["four-seasons"]
    *_, game = positions(rules, 0, 1)
    record, out = game.record[0], np.zeros(row_length(rules.piles), np.int16)
    rows_of(game.record, compile_rules(rules), out)
    waste = codes(game.waste)[::-1]
    assert len(waste) > 40
    for above, card in enumerate(waste):
        rank = ((card >> 2) - int(record["base"][card & 3])) % 13
        depth = np.searchsorted([1, 2, 3, 4, 5, 7, 10, 14, 20], above, side="right")
        assert out[SUIT_SLOTS * (card & 3) + 2 + 2 * rank] == 16 * rank + 1 + depth + 1
        assert out[-WASTE_SLOTS + len(waste) - 1 - above] == 1 + 4 * rank + (card & 3)
    assert not out[-WASTE_SLOTS + len(waste) :].any()


def test_a_search_holds_as_many_positions_as_half_its_table_and_no_more() -> None:
    with pytest.raises(ValueError, match=r"a search may hold 1 to ([0-9,]+) positions") as refused:
        new_search(LINEAR, 0)
    most = int(str(refused.value).split(" to ")[1].split()[0].replace(",", ""))
    search = new_search(LINEAR, most)
    assert len(search.positions) == most == len(search.table) // 2
    with pytest.raises(ValueError, match=f"not {most + 1:,}"):
        new_search(LINEAR, most + 1)
