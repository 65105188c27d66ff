"""Imagined worlds: sorted stocks, shuffled stocks, the next card, and the solver's votes."""

from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents.search import worlds
from four_seasons_env.agents.search.worlds import SolverVotes, determinize
from four_seasons_env.engine.kernel import compile_rules, public_copy, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import small

RULES = [small("four-seasons", ranks=4, piles=2), small("florentine", ranks=5, piles=3)]


def with_hidden(rules: Rules, count: int) -> np.ndarray:
    """The record of a game with this many cards in the stock."""
    game = Game(rules, deal=3)
    while len(game.stock) > count:
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
def test_world_k_deals_the_kth_card_next(rules: Rules) -> None:
    compiled, seed = compile_rules(rules), np.uint64(7)
    records = with_hidden(rules, 7)
    sort_unseen(records[0], compiled[0])
    cards = stock(records)
    order = stock(public_copy(records, compiled, np.array([seed])))
    for world in range(2 * len(cards) + 1):
        expected = list(order)
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
    for world in (0, 2):
        sort_unseen(records[0], compile_rules(rules)[0])
        determinize(records[0], compile_rules(rules)[0], np.uint64(1), world)
    assert stock(records) != sorted(stock(records))
    assert facts(records) == facts(game.record)


class Answer:
    """The solver's answer for a world: won if a card lies on top of the waste."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, wins: Any) -> None:
        self.widths: set[int] = set()
        self.worlds: list[Game] = []
        self.wins = wins
        monkeypatch.setattr(worlds, "solve", self)

    def __call__(self, game: Game, width: int) -> Any:
        self.widths.add(width)
        self.worlds.append(game.copy())
        return type("Solution", (), {"status": "won" if self.wins(game) else "lost"})


@pytest.mark.parametrize(
    ("hidden", "worlds", "share", "orders"),
    [(3, 9, 1 / 3, 6), (3, 5, 2 / 5, 5), (6, 8, 2 / 8, 8)],
)
def test_a_vote_is_the_share_of_worlds(
    monkeypatch, hidden: int, worlds: int, share: float, orders: int
) -> None:
    """The lowest hidden card comes next in worlds 0, `hidden`, ... Where the worlds are all orders,
    it comes next in its share of them."""
    rules = RULES[0]
    records = with_hidden(rules, hidden)
    sort_unseen(records[0], compile_rules(rules)[0])
    first = Game.from_record(records[0], rules).stock[0]
    solver = Answer(monkeypatch, lambda game: game.waste[-1] == first)
    both = np.repeat(records, 2)
    deal = int(Game.from_record(records[0], rules).legal_moves(distinct=True)[0].number)
    votes_won = SolverVotes(rules, worlds, 7).share_won(both, np.array([deal, deal]), np.uint64(5))
    assert votes_won == pytest.approx([share, share])
    assert solver.widths == {7}
    stocks = [(game.waste[-1], *game.stock) for game in solver.worlds]
    assert stocks[::2] == stocks[1::2], "all moves in the same worlds"
    assert len(stocks) == 2 * orders
    if worlds >= 6:
        assert len(set(stocks)) == orders
    again = SolverVotes(rules, worlds, 7).share_won(both, np.array([deal, deal]), np.uint64(5))
    assert again.tolist() == votes_won.tolist()
    assert [(game.waste[-1], *game.stock) for game in solver.worlds] == 2 * stocks
