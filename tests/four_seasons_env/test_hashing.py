"""Hashes of positions, and the table of the compiled searches."""

import random

import numpy as np
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.hashing import position_keys, public_key
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from tests.helpers import numbered_deck, small


@jit
def keys_of(games, rules, keys):
    for i in range(len(games)):
        keys[i, 0], keys[i, 1] = position_keys(games[i], rules[0])
        keys[i, 2] = public_key(games[i], rules[0])


@pytest.mark.parametrize("row", ["four-seasons", "florentine"])
def test_hashes_are_equal_where_positions_are(row: str) -> None:
    """Positions as searches take them (the tableau as a set of cards) and as a player sees them."""
    rules = small(row, ranks=4, piles=3)
    deck, rng = numbered_deck(TRAIN_FROM, 4), random.Random(0)
    records, facts = [], []
    for _ in range(120):
        game = Game(rules, deck=deck)
        while not game.is_over and rng.random() < 0.9:
            game.play(rng.choice(game.legal_moves()))
        records.append(game.record[0])
        piles = [tuple(pile) for pile in game.tableau]
        reserve = piles[rules.piles // 2] if rules.reserve else ()
        rest = [
            game.redeals_left,
            game.stock,
            game.waste,
            sorted(game.foundations.items()),
            reserve,
        ]
        arranged = repr((sorted(piles), rest))
        unarranged = repr((sorted(card for pile in piles for card in pile), rest))
        facts.append((arranged, unarranged, repr((piles, rest))))
    keys = np.zeros((len(records), 3), np.uint64)
    keys_of(np.array(records), compile_rules(rules), keys)
    for kind in range(3):
        told = {fact[kind]: key for fact, key in zip(facts, keys[:, kind].tolist(), strict=True)}
        assert [told[fact[kind]] for fact in facts] == keys[:, kind].tolist()
        assert len(set(told.values())) == len(told)
    assert len(set(keys[:, 1].tolist())) < len(set(keys[:, 0].tolist()))
    if not rules.reserve:  # two like piles get no others' cards so soon
        assert len(set(keys[:, 0].tolist())) < len(set(keys[:, 2].tolist()))
