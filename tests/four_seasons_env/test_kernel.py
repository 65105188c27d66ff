"""The engine against the slow model: whole games, compared after each move; and its invariants."""

import math
import random
from collections.abc import Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.rules import RULES, Rules
from tests.helpers import (
    biased_choice,
    board,
    deck_with,
    decks,
    mostly_slow,
    numbered_deck,
    positions,
    restocked,
    rule_sets,
    small,
    stock_codes,
    texts,
    together,
)
from tests.reference.slow_model import SlowGame


def as_engine_has_it(game: Game) -> dict[str, Any]:
    return board(game) | {
        "legal": texts(game.legal_moves()),
        "distinct": texts(game.legal_moves(distinct=True)),
        "bases": game.bases,
        "face up": game.face_up,
        "cards up": game.cards_up,
        "over": game.is_over,
        "won": game.is_won,
    }


def as_model_has_it(model: SlowGame) -> dict[str, Any]:
    return board(model) | {
        "legal": model.legal_moves(),
        "distinct": set() if model.is_won else model.distinct_moves(),
        "bases": {suit: rank + suit for suit, rank in model.bases.items()},
        "face up": model.stock[0] if model.second_round and model.stock else None,
        "cards up": sum(map(len, model.foundations.values())),
        "over": model.is_over,
        "won": model.is_won,
    }


def play_side_by_side(rules: Rules, deck: Sequence[str], seed: int, max_moves: int = 200) -> None:
    """Play a game at random on both, comparing all there is to see."""
    choose = partial(biased_choice, rng=random.Random(seed))
    for game, model in together(rules, deck, choose, max_moves):
        assert as_engine_has_it(game) == as_model_has_it(model)


@given(st.data())
def test_games_follow_the_rules(data):
    rules = data.draw(rule_sets())
    play_side_by_side(rules, data.draw(decks(rules)), data.draw(st.integers(0, 2**32)), 80)


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_games_of_each_row_follow_the_rules(name):
    for deal in range(4):
        play_side_by_side(RULES[name], numbered_deck(deal), seed=deal, max_moves=400)


@pytest.mark.parametrize("spaces", ["auto_stock", "optional"])
def test_games_of_many_piles_and_a_limited_redeal(spaces):
    """After the redeal, a card of the stock lies face up and may go to a space, wherever it is."""
    rules = small("czarina-1898", ranks=4, piles=11).replace(spaces=spaces)
    reached = 0
    for deal in range(4):
        rng = random.Random(deal)

        def turn_or_move(moves: list[str], rng: random.Random = rng) -> str:
            turns = [move for move in moves if move in ("deal", "redeal")]
            return rng.choice(turns if turns and rng.random() < 0.3 else moves)

        for game, model in together(rules, numbered_deck(deal, 4), turn_or_move, 200):
            assert as_engine_has_it(game) == as_model_has_it(model)
            reached += game.face_up is not None and [] in game.tableau[8:]
    assert reached or spaces == "auto_stock"


@pytest.mark.slow
@settings(max_examples=200, derandomize=False)
@given(st.data())
def test_many_games_follow_the_rules(data):
    rules = data.draw(rule_sets())
    play_side_by_side(rules, data.draw(decks(rules)), data.draw(st.integers(0, 2**32)), 300)


def test_a_deal_is_a_deck_and_its_number():
    """Also in the room that a short deck leaves."""
    for ranks in (4, 13):
        rules = small("four-seasons", ranks=ranks)
        record = Game(rules, deck=" ".join(numbered_deck(5, ranks))).record.copy()
        record["deal"] = 5
        assert record == Game(rules, deal=5).record


# --- invariants ---------------------------------------------------------------------------------


@given(positions(max_ranks=7))
def test_mask_is_what_play_accepts(game):
    before, kept = board(game), game.copy()
    mask = game.action_mask()
    for move in all_moves(game.rules):
        trial = game.copy()
        if mask[move.number]:
            trial.play(move)
            assert board(trial) != before
            assert trial.moves_played == game.moves_played + 1
        else:
            with pytest.raises(IllegalMove, match=rf"^{move} is not legal: \w.{{8,}}"):
                trial.play(move)
            assert trial == kept


@given(positions(), st.integers(0, 2**64 - 1))
def test_public_copies_hide_only_unseen_cards(game, seed):
    rules = kernel.compile_rules(game.rules)
    copied = kernel.public_copy(game.record, rules, np.array([seed], np.uint64))
    other = Game.from_record(copied, game.rules)
    assert other.deal == -1
    before, after = board(game), board(other)
    if game.redeals_left < game.rules.redeals:
        assert after == before
    else:
        back = restocked(game, stock_codes(game)[::-1]).record
        assert (kernel.public_copy(back, rules, np.array([seed], np.uint64)) == copied).all()
    assert sorted(before.pop("stock")) == sorted(after.pop("stock"))
    assert after == before


@given(st.lists(st.integers(0, 13), min_size=4, max_size=4).filter(lambda cards: sum(cards) <= 18))
def test_orders_are_counted_with_the_bases_behind_their_suits(cards):
    unseen = sum(1 << 4 * rank + suit for suit in range(4) for rank in range(cards[suit]))
    bases = sum(map(bool, cards))
    orders = {
        "corners-hoffmann": math.factorial(sum(cards) + bases) // math.prod(n + 1 for n in cards),
        "corners": math.factorial(sum(cards)),
    }
    for name, count in orders.items():
        rule, before = kernel.compile_rules(RULES[name])[0], np.uint64(unseen)
        assert kernel.count_orders(rule, before) == count
        # Each card may be turned next: its factor says for how many orders each order after it is.
        turned = [(card, before ^ np.uint64(1 << card)) for card in range(52) if unseen >> card & 1]
        parts = [
            int(kernel.order_factor(rule, before, card)) * int(kernel.count_orders(rule, after))
            for card, after in turned
        ]
        assert sum(parts) == (count if turned else 0)


@pytest.mark.parametrize("name", ["corners-hoffmann", "corners"])
def test_weights_of_all_orders_are_their_number(name):
    rules = small(name, ranks=4, piles=1).replace(redeals=0)
    game, rule = Game(rules, deal=4), kernel.compile_rules(rules)[0]
    while game.stock_size > 5:
        game.play("deal")
    orders = [restocked(game, order).record[0] for order in permutations(stock_codes(game))]
    weights = [int(kernel.order_weight(each, rule)) for each in orders]
    assert sum(weights) == kernel.count_orders(rule, kernel.unseen_cards(game.record[0], rule))
    assert (len(set(weights)) > 1) == (name == "corners-hoffmann")


# --- rules by example, with the table drawn ---------------------------------------------------


def test_any_pile_may_take_the_last_move():
    #   9C  9D  9H  9S  JC  JD      among these piles stands the QC: the red Jacks go on it,
    #   JH  JS  3C  3D  3H          and nothing else moves once the whole stock is dealt
    others = ["9C", "9D", "9H", "9S", "JC", "JD", "JH", "JS", "3C", "3D", "3H"]
    for place in range(12):
        piles = [*others[:place], "QC", *others[place:]]
        game = Game("simplicity", deck=deck_with(" ".join([*piles, "7C"]), end="5C"))
        while game.stock_size:
            game.play("deal")
        jacks = {f"T{piles.index(jack)}>T{place}" for jack in ("JD", "JH")}
        assert (texts(game.legal_moves()), game.is_over) == (jacks, False)
