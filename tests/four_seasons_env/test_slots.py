"""The slots of an observation mean what is told of them."""

import numpy as np
import pytest

from four_seasons_env import Game
from four_seasons_env.engine import kernel
from four_seasons_env.observations import CARDS, OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rules import RULES
from four_seasons_env.slots import observation_slots
from tests.helpers import mostly_slow


def seen(game):
    rows = np.zeros((1, observation_length(game.rules, "cards")), np.float32)
    encode_all(game.record, kernel.compile_rules(game.rules), CARDS, rows)
    return rows[0]


def told(rules, meaning):
    (slots,) = [s for s in observation_slots(rules, "cards") if s.meaning.startswith(meaning)]
    return slice(slots.start, slots.stop)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_slots_follow_each_other_to_the_end(name, observation):
    slots = observation_slots(name, observation)
    assert [s.start for s in slots] == [0, *(s.stop for s in slots[:-1])]
    assert slots[-1].stop == observation_length(RULES[name], observation)


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_slots_mean_what_is_told(name):
    rng = np.random.default_rng(3)
    game = Game(name, deal=10_003)
    rules = game.rules
    for _ in range(120):
        row = seen(game)
        bases = game.record["base"][0]
        for pile in range(rules.piles):
            check_top(row, rules, bases, int(game.record["top"][0, pile]), f"T{pile}")
        check_top(row, rules, bases, int(game.record["top"][0, 12]), "the waste")
        for suit, letter in enumerate("CSHD"):
            level = row[told(rules, f"cards on the foundation of {letter}")]
            assert np.flatnonzero(level).tolist() == [game.record["level"][0, suit]]
        heights = row[told(rules, "height of each pile")] * rules.cards
        assert np.allclose(heights, game.record["height"][0, : rules.piles])
        assert row[told(rules, "cards in the stock")] * rules.cards == pytest.approx(
            game.stock_size
        )
        assert row[told(rules, "cards in the waste")] * rules.cards == pytest.approx(
            game.record["height"][0, 12]
        )
        assert row[told(rules, "redeals left")] * 2 == game.redeals_left
        assert np.flatnonzero(row[told(rules, "the base's rank")]).tolist() == [bases[0]]
        moves = game.legal_moves()
        if not moves:
            break
        game.play(moves[rng.integers(len(moves))])


def check_top(row, rules, bases, card, place):
    ranks = np.flatnonzero(row[told(rules, f"relative rank of the top card of {place},")]).tolist()
    suits = np.flatnonzero(row[told(rules, f"suit of the top card of {place},")]).tolist()
    if card >= rules.cards:
        assert ranks == suits == []
    else:
        suit = card % 4
        assert ranks == [(card // 4 - int(bases[suit])) % rules.ranks]
        assert suits == [suit]
