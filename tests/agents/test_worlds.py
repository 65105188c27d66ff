"""Imagined worlds: a stock that is known, and the solver's votes."""

from itertools import permutations

import numpy as np
import pytest

from four_seasons_env.agents.search.worlds import determinize, share_won
from four_seasons_env.engine.kernel import compile_rules, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.solver import solve
from tests.helpers import played_on, restocked, small

RULES = [small("four-seasons", ranks=4, piles=2), small("florentine", ranks=5, piles=3)]


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


WIDTH = 20  # of the beams of the solver


@pytest.mark.parametrize("worlds", [24, 10])
def test_a_vote_is_the_share_of_worlds(worlds: int) -> None:
    """Four hidden cards have 24 orders; of fewer worlds, each card comes next equally often."""
    rules, shares = RULES[0], []
    for game in played_on(rules, 300, 25):
        if game.stock_size != 4 or game.is_over:
            continue
        records = game.record.copy()
        sort_unseen(records[0], compile_rules(rules)[0])
        moves = np.array([each.number for each in game.legal_moves(distinct=True) if each.turns])
        asked = np.repeat(records, 2), np.repeat(moves[:1], 2), rules, worlds, WIDTH, np.uint64(5)
        one, same = share_won(*asked)
        assert one == same, "all moves in the same worlds"
        assert share_won(*asked).tolist() == [one, same]
        worlds_after = [
            restocked(game, order).after(int(moves[0])) for order in permutations(stock(records))
        ]
        won = [solve(each, width=WIDTH).status == "won" for each in worlds_after]
        if worlds == 24:
            assert one == pytest.approx(np.mean(won))
        else:
            assert one * worlds == pytest.approx(round(one * worlds))
            assert bool(one) <= any(won) and (one == 1 or not all(won))
        shares.append(one)
    assert len(set(shares)) > 2
