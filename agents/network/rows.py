"""The network over moves in compiled code: what it reads of `places`, its sums and its gradients.

A position is about seventy rows of one table, and the network's first layer is their sum. That is
the same as a dense layer over one-hot inputs, at a tenth of the work. A move is up to four rows of
another. Piles carry no number, because their order has no meaning: a card's place is the card that
it lies on. Row 0 is none: it fills the room that a position or a move does not need. Ranks are
relative to the base.

Rows of a position:

- 52 x 9: for each card that is not in the stock, its place: its foundation, the waste, the bottom
  of a pile, a card of clubs, spades, hearts or diamonds (its rank follows from packing), or the
  reserve; the first is unused
- 52 x 8: for each card of a pile: cards that lie on it, 0 to 7 and more
- 52 x 12: for each card of the waste: cards that lie on it, in 12 steps
- 52 x 12: for each card of a known stock: cards that are dealt before it, in 12 steps
- 13: base rank
- 53: cards in the stock
- 13: spaces
- 3: redeals left

Rows of a move:

- 52 x 9: the card that moves (of a run, the top card), with its place before the move, as above;
  the first is the stock
- 52 x 9: the card, with its place after the move
- 106: the card under it in a pile (52) or in the waste (52), which becomes free, or none there (2);
  for a deal, the waste's top card, which is covered
- 14: cards in the pile that it goes to, 0 to 13 and more
- 53: for a deal: cards in the stock
- 3: for a redeal: redeals left

`rows_of` and `move_rows_of` check what they are given. The compiled functions below them use rows
as indices without a look at them: `MoveNetwork` and the players call these with checked arrays.

Deal 17 of four-seasons begins so, with base 7 and 46 cards in the stock:

       [7C]   6D   [ S]
        KD    2H    5S
       [ H]   QC   [ D]

The queen of clubs is card 5: suit 0, and five ranks above the base. These are 3 of the 15 rows of
the position, and the rows of two moves:

    >>> from four_seasons_env.games import Games
    >>> places = Games.of(game).observations("places")
    >>> rows = set(rows_of(places, game.rules)[0].tolist())
    >>> rows >= {
    ...     _STATE + 9 * 5 + _BOTTOM,  # the queen is the bottom of a pile
    ...     _COVER + 8 * 5 + 0,  # with no card on it
    ...     _STOCK + 46,
    ... }
    True
    >>> moves = move_rows_of(places, game.action_mask()[None], game.rules)[0]
    >>> moves[29].tolist() == [  # T4>T1: the queen goes onto the king of diamonds
    ...     _FROM + 9 * 5 + _BOTTOM,  # from the bottom of a pile
    ...     _TO + 9 * 5 + _ON + 3,  # onto a diamond, suit 3
    ...     _UNDER + 52,  # no card becomes free
    ...     _TARGET_HEIGHT + 1,  # the pile has one card
    ... ]
    True
    >>> moves[0].tolist() == [_DEAL + 46, _UNDER + 53 + 52, 0, 0]  # a deal, onto an empty waste
    True
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.checks import check_array
from four_seasons_env.agents.policy_files import PolicyFileError
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import internal, jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves
from four_seasons_env.observations import (
    IN_FOUNDATION,
    IN_PILES,
    IN_STOCK,
    IN_WASTE,
    largest_counts,
)
from four_seasons_env.rules import Rules

# The state of a card is its place; 0: none. On another card: _ON + the suit of that card.
_UP, _WASTE, _BOTTOM, _ON, _RESERVE = 1, 2, 3, 4, 8
_STATES, _COVERS = 9, 8
_STEPS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, *[10] * 5, *[11] * 35])
"""The step of a number of cards, 0 to 52: exact for few cards."""
_STEP_COUNT = 12
_LAYERS = NO_CARD + 2
_LANES = 16

# The first row of each part of the positions' table, and the table's length; row 0 is none.
_CARDS = NO_CARD  # 52
_STATE, _COVER, _DEPTH, _ORDER, _BASE, _STOCK, _SPACES, _REDEALS, ROWS = accumulate(
    (_CARDS * _STATES, _CARDS * _COVERS, *[_CARDS * _STEP_COUNT] * 2, 13, 53, 13, 3), initial=1
)
MOST_ROWS = 2 * _CARDS + 4
"""Rows of a position at most: a place and a number for each card, and four of the game."""

# The same of the moves' table. Its first part is numbered as _STATE is.
_HEIGHTS = 14
_FROM, _TO, _UNDER, _TARGET_HEIGHT, _DEAL, _REDEAL, MOVE_ROWS = accumulate(
    (*[_CARDS * _STATES] * 2, 2 * (_CARDS + 1), _HEIGHTS, 53, 3), initial=1
)


class MoveWidths(NamedTuple):
    """The `layers` of a network over moves; see `four_seasons_env.agents.network.places`."""

    position: int  # numbers in a row of a position, for the actor
    move: int  # units that meet the rows of a move, and numbers in these
    critic: int  # numbers in a row of a position, for the critic


def move_widths_of(layers: Sequence[int]) -> MoveWidths:
    """The widths in the `layers` of a policy's card or of hyperparameters.

    Raises:
        PolicyFileError: unless they are three, and the second is a multiple of 16.
    """
    if len(layers) != len(MoveWidths._fields) or layers[1] % _LANES:
        raise PolicyFileError(
            f"layers must be three numbers (position, move, critic), the second a multiple of "
            f"{_LANES}, not {list(layers)}"
        )
    return MoveWidths(*layers)


def kinds_of(ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The kind of each row of positions, (ROWS,), and of moves, (MOVE_ROWS,), numbered from 0.

    Rows are of one kind if they differ by the names of the suits only: the nine of clubs on a
    heart and the nine of spades on a diamond, but not the nine of clubs on a club.

    Args:
        ranks: of a suit.
    """

    positions, moves = np.arange(ROWS), np.arange(MOVE_ROWS)
    for table, first, steps in (
        (positions, _STATE, _STATES),
        (positions, _COVER, _COVERS),
        (positions, _DEPTH, _STEP_COUNT),
        (positions, _ORDER, _STEP_COUNT),
        (moves, _FROM, _STATES),
        (moves, _TO, _STATES),
        (moves, _UNDER, 1),
        (moves, _UNDER + NO_CARD + 1, 1),
    ):
        card, step = np.divmod(np.arange(NO_CARD * steps), steps)
        suit, rank = np.divmod(card, ranks)
        if steps == _STATES:  # on a card of its own suit, or of another
            on = (step >= _ON) & (step < _RESERVE)
            step = np.where(on, _ON + (step - _ON != suit), step)
        # The kind of a row is the same row of the first suit.
        table[first : first + len(step)] = first + steps * rank + step
    position_kinds, move_kinds = (
        np.unique(each, return_inverse=True)[1] for each in (positions, moves)
    )
    return position_kinds, move_kinds


def rows_of(places: NDArray[np.uint8], rules: Rules) -> NDArray[np.int16]:
    """The rows of observations, int16 of shape (n, MOST_ROWS), the unused ones last.

    Args:
        places: uint8 of shape (n, slots).
        rules: of the observations.

    Raises:
        TypeError: for arrays of other dtypes.
        ValueError: for arrays of other shapes, or observations of other rules.
    """
    _check_places(places, rules)
    rows = np.zeros((len(places), MOST_ROWS), np.int16)
    _write_rows(places, compile_rules(rules), rows)
    return rows


def move_rows_of(
    places: NDArray[np.uint8],
    masks: NDArray[np.int8 | np.bool_],
    rules: Rules,
) -> NDArray[np.int16]:
    """The rows of the marked moves of observations, int16 of shape (n, A, 4); others are 0.

    Args:
        places: (n, slots).
        masks: (n, A).
        rules: of both.

    Raises:
        TypeError: for arrays of other dtypes.
        ValueError: for arrays of other shapes, or observations of other rules.
    """
    _check_places(places, rules)
    shape = (len(places), len(all_moves(rules)))
    check_array("masks", masks, (np.int8, np.bool_), shape)
    rows = np.zeros((*shape, 4), np.int16)
    _write_move_rows(places, masks.view(np.int8), compile_rules(rules), rows)
    return rows


_largest = functools.cache(largest_counts)


def _check_places(places: NDArray[np.uint8], rules: Rules) -> None:
    """Check observations. Any bytes that pass are safe, also where cards contradict each other."""
    largest = _largest(rules, "places")
    check_array("places", places, (np.uint8,), (None, len(largest)), largest)


@internal
def _read_layers(where, counts, rule, at):
    """Write the card at each place under a number of cards, or none: (P + 1, _LAYERS), waste last.

    The last layer stays empty: no card lies under more than 52 others.
    """
    flat = at.ravel()
    for i in range(len(flat)):
        flat[i] = NO_CARD
    for card in range(len(where)):
        if where[card] >= IN_PILES:
            at[where[card] - IN_PILES, counts[card]] = card
        elif where[card] == IN_WASTE:
            at[rule.piles, counts[card]] = card


@internal
def _state_on(rule, pile, host):
    """The state of a card in a pile, on the host or at the bottom."""
    if pile == rule.reserve:
        return _RESERVE
    return _BOTTOM if host == NO_CARD else _ON + np.int64(host) // rule.ranks


@jit
def _write_rows(places, rules, rows):
    """`rows_of` for rows that are all 0."""
    rule = rules[0]
    cards, piles = rule.cards, rule.piles
    at = np.empty((piles + 1, _LAYERS), np.uint8)
    for i in range(len(places)):
        where, counts, out = places[i, :cards], places[i, cards : 2 * cards], rows[i]
        _read_layers(where, counts, rule, at)
        n = 0
        for card in range(cards):
            place, count = np.int64(where[card]), np.int64(counts[card])
            # 1. What lies on it, or is dealt before it.
            state = 0
            if place == IN_FOUNDATION:
                state = _UP
            elif place == IN_WASTE:
                state = _WASTE
                out[n] = _DEPTH + _STEP_COUNT * card + _STEPS[count]
                n += 1
            elif place >= IN_PILES:
                pile = place - IN_PILES
                state = _state_on(rule, pile, at[pile, count + 1])
                out[n] = _COVER + _COVERS * card + min(int(count), _COVERS - 1)
                n += 1
            elif place == IN_STOCK and count:  # known, because it has been dealt before
                out[n] = _ORDER + _STEP_COUNT * card + _STEPS[count - 1]
                n += 1
            # 2. Its place; a card in the stock has none.
            if state:
                out[n] = _STATE + _STATES * card + state
                n += 1
        # 3. The game.
        spaces = 0
        for each in range(piles):
            spaces += int(at[each, 0] == NO_CARD)
        out[n] = _BASE + places[i, 2 * cards]
        out[n + 1] = _STOCK + places[i, 2 * cards + 1]
        out[n + 2] = _SPACES + spaces
        out[n + 3] = _REDEALS + places[i, 2 * cards + 2]


@jit
def _write_move_rows(places, masks, rules, rows):
    """`move_rows_of` for rows that are all 0."""
    rule = rules[0]
    at = np.empty((rule.piles + 1, _LAYERS), np.uint8)
    for i in range(len(places)):
        where, counts = places[i, : rule.cards], places[i, rule.cards : 2 * rule.cards]
        _read_layers(where, counts, rule, at)
        for move in range(masks.shape[1]):
            if masks[i, move]:
                source, target = np.int64(rule.source[move]), np.int64(rule.target[move])
                _write_move(places[i], rule, at, source, target, rows[i, move])


@internal
def _write_move(places, rule, at, source, target, out):
    """Write the rows of a move; ``at`` is from `_read_layers`."""
    cards, piles = rule.cards, rule.piles
    # 1. Moves of the stock: no card moves that a player knows.
    if target == STOCK:
        out[0] = _REDEAL + places[2 * cards + 2]
        return
    if source == STOCK and target == WASTE:
        out[0] = _DEAL + places[2 * cards + 1]
        out[1] = _UNDER + NO_CARD + 1 + np.int64(at[piles, 0])
        return
    # 2. The card that moves, its place, and the card under it: from a pile or the waste, ...
    card, state = np.int64(NO_CARD), 0
    if source <= WASTE:
        place = piles if source == WASTE else source
        card, under = np.int64(at[place, 0]), np.int64(at[place, 1])
        state = _WASTE if source == WASTE else _state_on(rule, source, under)
        out[2] = _UNDER + under + (NO_CARD + 1 if source == WASTE else 0)
    elif source == STOCK:  # ... the next card of a known stock, ...
        for each in range(cards):
            if places[each] == IN_STOCK and places[cards + each] == 1:
                card = np.int64(each)
    else:  # ... or worried back from a foundation.
        state, suit = _UP, source - FOUNDATION
        for each in range(rule.ranks * suit, rule.ranks * (suit + 1)):
            if places[each] == IN_FOUNDATION:
                card = np.int64(each)  # the highest
    if card == NO_CARD:  # the move is not legal
        out[2] = 0
        return
    out[0] = _FROM + _STATES * card + state
    # 3. Where it goes: a foundation, or a pile of a height.
    if target == FOUNDATION:
        out[1] = _TO + _STATES * card + _UP
        return
    height = 0
    while at[target, height] != NO_CARD:
        height += 1
    out[1] = _TO + _STATES * card + _state_on(rule, target, at[target, 0])
    out[3] = _TARGET_HEIGHT + min(height, _HEIGHTS - 1)


@jit
def sum_rows(rows, table, sums):
    """Write the sum of each position's rows.

    Args:
        rows: int16 (n, MOST_ROWS), as `rows_of` returns them.
        table: float32 (ROWS, width).
        sums: float32 (n, width), written.
    """
    for i in range(len(rows)):
        out, n = sums[i], 0
        for k in range(len(out)):
            out[k] = np.float32(0)
        while n < rows.shape[1] and rows[i, n]:
            # Four at a time: so each sum is read and written a quarter as often. Row 0 is zero.
            a, b = table[rows[i, n]], table[rows[i, n + 1]]
            c, d = table[rows[i, n + 2]], table[rows[i, n + 3]]
            for k in range(len(out)):
                out[k] += (a[k] + b[k]) + (c[k] + d[k])
            n += 4


@jit
def add_slopes(rows, table, slopes, gradients):
    """Add the gradient of each position's sum to the gradients of its rows; see `sum_rows`.

    Args:
        slopes: float32 (n, width), the gradients of the sums.
        gradients: of the table, in a tuple.
    """
    (gradient,) = gradients
    for i in range(len(rows)):
        slope = slopes[i]
        for j in range(rows.shape[1]):
            row = np.uintp(rows[i, j])
            if row == 0:
                break
            for k in range(len(slope)):
                gradient[row, k] += slope[k]


@jit
def score_moves(marked, rows, hidden, table, weights, scores):
    """Write the score of each marked move: weights . max(hidden of its position + its rows, 0).

    Args:
        marked: int64 (m,), indices of moves among the n x A of all positions.
        rows: int16 (n, A, 4), as `move_rows_of` returns them.
        hidden: float32 (n, width); the width is a multiple of 16.
        table: float32 (MOVE_ROWS, width).
        weights: float32 (width,).
        scores: float32 (m,), written.
    """
    lanes = np.empty(_LANES, np.float32)  # fixes the order of the sum, and fits vector units
    actions = rows.shape[1]
    for j in range(len(marked)):
        i, move = marked[j] // actions, marked[j] % actions
        base, mine = hidden[i], rows[i, move]
        a, b, c, d = table[mine[0]], table[mine[1]], table[mine[2]], table[mine[3]]
        for k in range(_LANES):
            lanes[k] = np.float32(0)
        for at in range(0, len(weights), _LANES):
            for k in range(at, at + _LANES):
                x = base[k] + ((a[k] + b[k]) + (c[k] + d[k]))
                lanes[k - at] += max(x, np.float32(0)) * weights[k]
        total = np.float32(0)
        for k in range(_LANES):
            total += lanes[k]
        scores[j] = total


@jit
def move_units(marked, rows, hidden, table, units):
    """Write the units of each marked move: max(hidden of its position + its rows, 0).

    Several outputs a move are weighted sums of these units; `score_moves` does the same for one.

    Args:
        marked: int64 (m,), indices of moves among the n x A of all positions.
        rows: int16 (n, A, 4), as `move_rows_of` returns them.
        hidden: float32 (n, width).
        table: float32 (MOVE_ROWS, width).
        units: float32 (m, width), written.
    """
    actions = rows.shape[1]
    for j in range(len(marked)):
        i, move = marked[j] // actions, marked[j] % actions
        base, mine, out = hidden[i], rows[i, move], units[j]
        a, b, c, d = table[mine[0]], table[mine[1]], table[mine[2]], table[mine[3]]
        for k in range(len(out)):
            out[k] = max(base[k] + ((a[k] + b[k]) + (c[k] + d[k])), np.float32(0))


@jit
def add_unit_slopes(marked, rows, hidden, table, slopes, gradients):
    """Add the gradients of units to those of what they depend on; see `move_units`.

    Args:
        slopes: float32 (m, width), the gradients of the units.
        gradients: of ``hidden`` and ``table``.
    """
    of_hidden, of_table = gradients
    actions = rows.shape[1]
    for j in range(len(marked)):
        i, move = marked[j] // actions, marked[j] % actions
        base, of_base, mine, slope = hidden[i], of_hidden[i], rows[i, move], slopes[j]
        a, b, c, d = table[mine[0]], table[mine[1]], table[mine[2]], table[mine[3]]
        for k in range(len(slope)):
            if base[k] + ((a[k] + b[k]) + (c[k] + d[k])) > 0:
                of_base[k] += slope[k]
                for n in range(4):
                    if mine[n]:
                        of_table[mine[n], k] += slope[k]


@jit
def add_move_slopes(marked, rows, hidden, table, weights, slopes, gradients):
    """Add the gradients of scores to those of what they depend on; see `score_moves`.

    Args:
        slopes: float32 (m,), the gradients of the scores.
        gradients: of ``hidden``, ``table`` and ``weights``.
    """
    of_hidden, of_table, of_weights = gradients
    of_sum = np.empty(len(weights), np.float32)
    actions = rows.shape[1]
    for j in range(len(marked)):
        i, move, slope = marked[j] // actions, marked[j] % actions, slopes[j]
        base, of_base, mine = hidden[i], of_hidden[i], rows[i, move]
        a, b, c, d = table[mine[0]], table[mine[1]], table[mine[2]], table[mine[3]]
        for k in range(len(weights)):
            x = base[k] + ((a[k] + b[k]) + (c[k] + d[k]))
            of_weights[k] += slope * max(x, np.float32(0))
            of_sum[k] = slope * weights[k] if x > 0 else np.float32(0)
            of_base[k] += of_sum[k]
        for n in range(4):
            row = np.uintp(mine[n])
            if row:
                for k in range(len(weights)):
                    of_table[row, k] += of_sum[k]
