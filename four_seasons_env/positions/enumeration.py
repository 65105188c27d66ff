"""The order of the positions that are found: by a hand-made score, or breadth-first.

The order decides which positions a search meets before its limit, which of these become candidates,
and which candidate comes first. `advice` is knowledge of the game that was written by hand,
not learned. `breadth` uses no knowledge and meets positions by the number of moves that lead there.
`find_stops` lists the positions for `Game.stops`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.containers import keep_best
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import announce, internal, jit, merged
from four_seasons_env.engine.kernel import compile_rules, relative_rank, stock_size
from four_seasons_env.engine.moves import STOCK, WASTE, Move, all_moves
from four_seasons_env.positions.search import (
    DEEPEST,
    UNTIL_END,
    UNTIL_HIDDEN,
    WON,
    begin,
    enqueue,
    expand_best,
    may_expand,
    may_stop,
    new_search,
    turn_at,
    write_path,
)
from four_seasons_env.rules import Rules

ORDERS = ("advice", "breadth")
ADVICE, BREADTH = range(len(ORDERS))

HELD = 2.5
"""Maximum number of positions that a search holds, for each that it may expand. Chosen by hand."""

LARGEST_SEARCH = 6500
"""Maximum number of expansions of a search: its table has room for 2.5 times that, and no more."""

_PRICE = np.float32(0.02)
"""Price of a move, in units of `advice`, where a card up is 1: of two ways to a score, the shorter.
Chosen by hand."""


@jit
def advice(g, rule):
    """A hand-made score of how near a position is to a win: larger is nearer.

    A card up counts 1, a card in the stock or in the waste -1, a pile that is not a space -1. A
    card on top of one that goes up next costs 0.3, a break of sequence in the waste 0.5, and a card
    that lies on one with less wait 0.3. These numbers were chosen by hand, and are frozen: they
    decide which candidates `FourSeasonsNextDeal-v0` offers, and in which order.

    A game of base 8: T0: --, T1: QH, T2: 2D AC, T3: QS, T4: 2H, 43 cards in the stock, waste 7H 3C
    TS. One card is up; stock, waste and piles cost 43, 3 and 4, and two breaks in the waste 1:

    >>> from four_seasons_env.game import Game
    >>> game = Game(deal=2**32 + 37)
    >>> for move in ("deal", "deal", "deal", "T0>T2"):
    ...     game.play(move)
    >>> float(advice(game.record[0], compile_rules(game.rules)[0]))
    -50.0
    """
    score = np.float32(g.cards_up) - np.float32(stock_size(g))
    # One walk down each pile and, last, down the waste.
    for place in range(rule.piles + 1):
        is_waste = place == rule.piles
        card = g.top[WASTE if is_waste else place]
        if card != NO_CARD and not is_waste:
            score -= np.float32(1)
        above = 0
        while card != NO_CARD:
            # 1. What the card keeps from going up.
            rank = relative_rank(g, rule, card)
            wait = rank - g.level[card & 3]  # cards of its suit that must go up before it
            if wait == 0:
                score -= np.float32(0.3) * above
            # 2. What it lies on.
            host = g.below[card]
            if host != NO_CARD:
                step = rank - relative_rank(g, rule, host)
                if is_waste:
                    # The upper card leaves first. If it is one rank higher, also round the corner,
                    # the lower one can be packed on it.
                    score -= np.float32(0.5) * (step != 1 and step != 1 - rule.ranks)
                # The same as: the card's wait exceeds that of the card under it.
                elif step > g.level[card & 3] - np.int64(g.level[host & 3]):
                    score -= np.float32(0.3)
            if is_waste:
                score -= np.float32(1)
            card = host
            above += 1
    return score


@internal
def _rank(row, rule, order, search):
    """Write the worth of a position by the order."""
    if order == BREADTH:
        search.worths[row] = -np.float32(row)  # rows are numbered in the order of meeting
    else:
        price = _PRICE * np.float32(search.depths[row])
        search.worths[row] = advice(search.positions[row], rule) - price


@jit
def enumerate_positions(g, rule, no_refills, horizon, order, room, expansions, search):
    """Find the positions that can be reached, in an order.

    Args:
        no_refills: the rule set without refills, under which moves turn no cards.
        horizon: one of `UNTIL_HIDDEN`, `UNTIL_PROGRESS` and `UNTIL_END`; the last stops at a win.
        order: `ADVICE` or `BREADTH`.
        room: maximum number of positions to hold.
        expansions: maximum number of positions to expand.

    Returns:
        How many positions were found, and whether these are all.
    """
    state = search.state[0]
    begin(g, rule, horizon, room, expansions, search)
    _rank(0, rule, order, search)
    enqueue(0, search)
    while may_expand(search):
        first, end = expand_best(rule, no_refills, horizon, search)
        for new in range(first, end):
            # A win is noticed when it is reached, before its turn in the queue.
            if horizon == UNTIL_END and search.values[new] == WON:
                return state.count, False
            _rank(new, rule, order, search)
            # Where the card turns in the position itself, other positions follow from it as well.
            is_end = may_stop(search, new)
            if horizon == UNTIL_HIDDEN:
                is_end = turn_at(search, new)[0] != new
            if not is_end:
                enqueue(new, search)
    # A full search may have dropped successors, even if no position waits.
    return state.count, state.waiting == 0 and state.count < state.room


@merged
def find_win(g, rule, order, room, expansions, search):
    """Look for a win of a game in which nothing is hidden.

    Args:
        order: `ADVICE` or `BREADTH`.
        room: maximum number of positions to hold.
        expansions: maximum number of positions to expand.

    Returns:
        The row of a position that is won, else of the one with the most cards up of those reached.
    """
    count, _ = enumerate_positions(g, rule, rule, UNTIL_END, order, room, expansions, search)
    best = 0
    for row in range(count):
        if search.values[row] == WON:
            return row
        if search.positions[row].cards_up > search.positions[best].cards_up:
            best = row
    return best


@jit
def best_stops(count, search, chosen, room, on_the_way):
    """Write the rows of the positions at which a search stops, the highest worth first.

    Args:
        count: positions of the search.
        chosen: int64 with room for ``room``.
        room: maximum number of rows.
        on_the_way: if there are none, take positions on the way instead, so that the game can
            continue.

    Returns:
        How many rows were written.
    """
    stops = 0
    # A second pass takes any position but the root: with the root as its action a game would not
    # move on. If ``on_the_way`` is false, it only repeats the first.
    for any_position in (False, on_the_way):
        for row in range(1 if any_position else 0, count):
            if any_position or may_stop(search, row):
                stops = keep_best(chosen, stops, room, search.worths, row)
        if stops:
            break
    return stops


def find_stops(
    game: NDArray[Any], rules: Rules, expansions: int
) -> list[tuple[NDArray[Any], list[Move], Move]]:
    """The positions in which the next card can be turned, the most promising first.

    >>> from four_seasons_env.game import Game
    >>> stops = find_stops(Game(deal=2**32 + 37).record, RULES["four-seasons"], expansions=60)
    >>> [(moves, turn) for _, moves, turn in stops]
    [([T0>T2], deal), ([T0>T4], deal), ([], deal)]

    Args:
        game: GAME array of shape (1,).
        rules: its rule set.
        expansions: maximum number of positions that the search expands.

    Returns:
        For each, a GAME array of shape (1,), the moves that lead there, and the move that takes a
        card from the stock or turns the waste over.

    Raises:
        ValueError: for expansions out of range.
    """
    check_positive("expansions", expansions, LARGEST_SEARCH)
    room = int(HELD * expansions)
    # 1. Search.
    announce(enumerate_positions)
    search = new_search(rules, room + 1)
    rule, no_refills = compile_rules(rules)[0], compile_rules(rules.without_refills)[0]
    count, _ = enumerate_positions(
        game[0], rule, no_refills, UNTIL_HIDDEN, ADVICE, room, int(expansions), search
    )
    # 2. Each stop, with the moves that lead there and the moves that turn a card there.
    moves = all_moves(rules)
    takes = np.array([move.source == STOCK for move in moves])
    path = np.zeros(DEEPEST + 1, np.int64)
    found = []
    for row in np.argsort(-search.worths[:count], kind="stable").tolist():
        if (turn := int(search.turns[row])) > 0:  # see `turn_at`
            at, turns = int(search.parents[row]), [turn]
        else:
            legal = search.masks[row].view(np.int8)[: len(moves)]
            at, turns = row, np.flatnonzero(legal & takes).tolist()
        length = write_path(at, search.parents, search.moves, path) if turns else 0
        found += [
            (search.positions[at : at + 1].copy(), [moves[i] for i in path[:length]], moves[each])
            for each in turns
        ]
    return found
