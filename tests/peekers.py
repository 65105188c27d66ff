"""Players that see hidden cards, for tests of what exposes them."""

from collections.abc import Callable

import numpy as np

from four_seasons_env.agents.luck import LuckMeter
from four_seasons_env.agents.planner.lookahead import choose
from four_seasons_env.agents.planner.search import new_evaluator, reach
from four_seasons_env.agents.planner.weights import bundled_network
from four_seasons_env.agents.search.determinization import hide_unseen
from four_seasons_env.game import Game
from four_seasons_env.next_deal.reach import new_search
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve
from tests.helpers import restocked, stock_codes

Possible = Callable[[list[int]], list[int]]
"""Which cards a player thinks may come next, from the true stock, next card first."""


def everything(stock: list[int]) -> list[int]:
    """A fair player: any unseen card may come."""
    return stock


def next_card(stock: list[int]) -> list[int]:
    """Sees the next card."""
    return stock[:1]


def one_suit(stock: list[int]) -> list[int]:
    """Sees where the cards of one suit are."""
    if stock[0] & 3 == 2:
        return stock[:1]
    return [card for card in stock if card & 3 != 2]


class Peeker:
    """Chooses among the planner's best positions by what the possible cards make of them.

    Args:
        rules: the rule set.
        possible: what it sees of the stock.
        candidates: positions that it chooses among.
    """

    def __init__(self, rules: Rules, possible: Possible, candidates: int = 8) -> None:
        self._evaluator, self._search = (
            new_evaluator(rules, bundled_network(rules)),
            new_search(rules, 400),
        )
        self._meter, self._possible = LuckMeter(rules), possible
        self._chosen = np.zeros(candidates, np.int64)

    def play(self, game: Game) -> list[int]:
        """Play a game to its end, and return the moves."""
        numbers: list[int] = []
        while game.stock_size > 1 and (moves := self._decide(game)):
            for move in moves:
                game.play(move)
            numbers += moves
        solution = solve(game, max_positions=20_000)
        return numbers + [move.number for move in solution.moves or ()]

    def _decide(self, game: Game) -> list[int]:
        """The moves up to the turn of the next card."""
        (record,), search = game.record.copy(), self._search
        hide_unseen(record, self._evaluator.rule)
        _, count = reach(record, self._evaluator, search, 50, 20)
        found = choose(search, count, len(self._chosen), np.float32(0.3), self._chosen)
        best, decision = -1.0, []
        for row in self._chosen[:found]:
            moves = [int(search.turns[row])]
            at = int(search.parents[row]) if moves[0] > 0 else int(row)
            while at > 0:
                moves.insert(0, int(search.moves[at]))
                at = int(search.parents[at])
            worth = self._worth(game, moves) if found > 1 else 0.0
            if worth > best:
                best, decision = worth, moves
        return decision

    def _worth(self, game: Game, moves: list[int]) -> float:
        """The mean worth after these moves, over the cards that may come."""
        stock = stock_codes(game)
        reached = []
        for card in self._possible(stock):
            after = restocked(game, [card, *(each for each in stock if each != card)])
            for move in moves:
                after.play(move)
            reached.append(after.record)
        return float(self._meter.worth(np.concatenate(reached)).mean())


def play_open(game: Game) -> list[int]:
    """The moves of a player who sees all cards."""
    return [move.number for move in solve(game, max_positions=200_000).moves or ()]
