"""The game with exchanges: what an exchange does, and what its search proves."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from four_seasons_env.engine import kernel
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.hashing import class_key
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from four_seasons_env.solver import solve
from four_seasons_env.solver.exchanges import (
    EXCHANGE,
    MOST_CODES,
    list_moves,
    make_classes,
    play_code,
)
from four_seasons_env.solver.frame import cards_at, make_frame
from four_seasons_env.solver.protocol import LOST, UNDECIDED, WON
from tests.helpers import mostly_slow, numbered_deck, small
from tests.reference.nodes_differential import search_exchanges

LOST_DEAL = 7515
"""A test deal of `four-seasons` that the search with exchanges has proved lost in seconds."""


def positions(row: str, games: int) -> Iterator[Game]:
    """Positions of random play that seldom plays a card up, so that many lie in the tableau."""
    for deal in range(TRAIN_FROM, TRAIN_FROM + games):
        rng = random.Random(deal)
        game = Game(row, deal)
        while not game.is_over and (legal := game.legal_moves()):
            yield game
            down = [move for move in legal if not str(move).endswith("F")]
            game.play(rng.choice(down if down and rng.random() < 0.95 else legal))
            if game.moves_played > 300:
                break


def piles_of(record: np.void, piles: int) -> list[list[int]]:
    return [cards_at(record, pile) for pile in range(piles)]


def test_a_class_is_one_rank_that_packs_alike() -> None:
    record = Game("four-seasons", 0).record[0]
    classes = make_classes(RULES["four-seasons"], record)
    assert [int(classes[card]) for card in range(52)] == [4 * (card // 4) for card in range(52)]
    assert classes[NO_CARD] == NO_CARD
    apart = make_classes(RULES["four-seasons"], record, {5, 8})
    assert [int(apart[card]) for card in range(4, 12)] == [4, 5, 4, 4, 8, 9, 9, 9]


def test_where_colours_alternate_a_class_is_of_one_colour() -> None:
    row = next(name for name, rules in RULES.items() if rules.build == "alternate_colour")
    classes = make_classes(RULES[row], Game(row, 0).record[0])
    assert [len(set(classes[4 * rank : 4 * rank + 4])) for rank in range(13)] == [2] * 13


def test_games_with_too_many_moves_have_no_exchanges() -> None:
    rules = RULES["four-seasons"].replace(piles=12)
    assert len(set(make_classes(rules, Game(rules, 0).record[0]))) == 53 - 39
    many = RULES["four-seasons"].replace(piles=12, worrying_back=True)
    assert len(set(make_classes(many, Game(many, 0).record[0]))) == 53


@pytest.mark.parametrize(
    "row", mostly_slow(["four-seasons", "solitaire-till-dawn", "kings-in-the-corner"])
)
def test_an_exchange_brings_the_card_up_and_leaves_the_shape_of_the_piles(row: str) -> None:
    played = 0
    for game in positions(row, 20):
        rule, record = kernel.compile_rules(game.rules)[0], game.record[0]
        frame = make_frame(record, game.rules)[0]
        classes = make_classes(game.rules, record)
        before = piles_of(record, rule["piles"])
        tableau = sum(1 << int(frame["place"][card]) for pile in before for card in pile)
        codes, words = np.zeros(MOST_CODES, np.int64), kernel.new_masks(1, game.rules)[0][0]
        count = list_moves(record, rule, np.uint64(tableau), frame, classes, words, codes)
        legal = np.flatnonzero(game.action_mask(distinct=True))
        assert sorted(codes[:count][codes[:count] < EXCHANGE]) == sorted(legal)
        for code in codes[:count][codes[:count] >= EXCHANGE]:
            after = game.copy().record[0]
            pile, suit = divmod(int(code) - EXCHANGE, 4)
            play_code(after, rule, int(code))
            if row == "four-seasons":
                assert after["level"][suit] == record["level"][suit] + 1
            shape = [[classes[card] for card in cards] for cards in before]
            del shape[pile][0]
            now = piles_of(after, rule["piles"])
            assert [[classes[card] for card in cards] for cards in now] == shape
            gone = {card for cards in before for card in cards} - {
                card for cards in now for card in cards
            }
            assert {card & 3 for card in gone} == {suit}
            played += 1
    assert played > 50


def test_the_key_tells_shapes_apart_and_no_more() -> None:
    game = Game("four-seasons", 3)
    rule, record = kernel.compile_rules(game.rules)[0], game.record[0]
    alone, alike = np.arange(53, dtype=np.uint8), make_classes(game.rules, record)
    keys: dict[tuple[Any, ...], int] = {}
    for game in positions("four-seasons", 3):
        record = game.record[0]
        piles = piles_of(record, rule["piles"])
        lying = tuple(sorted(card for cards in piles for card in cards))
        common = game.deal, int(record["dealt"]), tuple(record["level"]), lying
        for classes in (alone, alike):
            shape = sorted(tuple(int(classes[card]) for card in cards) for cards in piles)
            key = class_key(record, rule, classes)
            assert keys.setdefault((classes is alone, *common, *shape), key) == key
    assert len(set(keys.values())) > 200
    for classes in (alone, alike):
        of_these = [key for name, key in keys.items() if name[0] == (classes is alone)]
        assert len(set(of_these)) == len(of_these)


def test_a_search_that_begins_again_has_the_same_answer() -> None:
    rules = small("four-seasons", ranks=4, piles=1).replace(wrap="never")
    answers = Counter[int]()
    for deal in range(TRAIN_FROM + 6, TRAIN_FROM + 12):
        game = Game(rules, deck=numbered_deck(deal, 4))
        answer, _ = search_exchanges(game)
        answers[answer] += 1
        assert search_exchanges(game, calls=20)[0] == answer
    assert set(answers) == {WON, LOST}


def test_late_positions_of_won_games_are_won() -> None:
    for deal in (TRAIN_FROM, TRAIN_FROM + 3, TRAIN_FROM + 4):
        game = Game("four-seasons", deal)
        moves = solve(game, max_positions=300_000).moves
        for move in moves[: 5 * len(moves) // 8]:
            game.play(move)
        status, search = search_exchanges(game)
        assert status == WON
        for move in search.moves():
            game.play(move)
        assert game.is_won


@pytest.mark.slow
def test_a_deal_that_is_lost_with_exchanges() -> None:
    status, search = search_exchanges(Game("four-seasons", LOST_DEAL))
    assert status == LOST
    assert not search.apart


def test_a_narrow_search_wins_or_proves_nothing() -> None:
    rules = small("four-seasons", ranks=7, piles=2)
    for deal, expected in ((TRAIN_FROM, WON), (TRAIN_FROM + 1, UNDECIDED)):
        game = Game(rules, deck=numbered_deck(deal, 7))
        status, search = search_exchanges(game, width=1)
        assert status == expected
        for move in search.moves():
            game.play(move)
        assert game.is_won == (status == WON)


@pytest.mark.slow
def test_solve_says_what_a_loss_rests_on() -> None:
    solution = solve(Game("four-seasons", LOST_DEAL), max_positions=100_000_000)
    assert solution.status == "lost"
    assert solution.certificate == "exchanges"
