"""Masks of a game that is played: `LEGAL`, `DISTINCT`, and `NO_REPEATS`, which has a memory.

Most moves can be undone, so a player can go round in circles. A run of moves begins with the
opening, and after each move that cannot be undone: one that moves a card from the stock or the
waste, or that puts a card on a foundation, unless the rules let it come back. `NO_REPEATS` leaves
out the moves back to a position of the present run. This loses no win, because a shortest way to it
repeats nothing. It is not a rule of the game: `kernel.legal` has the rules.

The positions of a run differ only in their piles, and in their foundations where cards come back.
So only these are hashed, from the first one on (`hashing.key_change`). A new run begins with a new
hash, so the hashes that earlier runs have left in memory are met no more, and nobody clears them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from four_seasons_env.engine.bits import next_move
from four_seasons_env.engine.deals import GAMMA, NO_CARD
from four_seasons_env.engine.hashing import LINK, key_change
from four_seasons_env.engine.jit import by_type, inlined, internal, jit
from four_seasons_env.engine.kernel import AUTO_WASTE, compile_rules, legal, new_masks, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move
from four_seasons_env.rules import Rules

MASKS = ("legal", "distinct", "no_repeats")
LEGAL, DISTINCT, NO_REPEATS = range(len(MASKS))

RUN = np.dtype([("key", "u8"), ("moved", "u8"), ("length", "i8")])
"""The run of a game: the hash of its position, the bit set of cards that it has moved, and how many
positions have been seen."""

_BLOCK = 8  # hashes in 64 bytes, a line of the processor's cache
_ONE = np.uint64(1)


def new_seen(count: int, mask: int) -> NDArray[Any]:
    """Room for the positions of the runs of ``count`` games, uint64 of shape (blocks, count, 8).

    Most runs are short, so the first positions of all games lie together. For other masks than
    NO_REPEATS, an array of another dtype: code for that type leaves out what only NO_REPEATS needs,
    which takes a second to compile.
    """
    return np.zeros((1, count, _BLOCK), np.uint64 if mask == NO_REPEATS else "b1")


def with_room(runs: NDArray[Any], seen: NDArray[Any]) -> NDArray[Any]:
    """The same positions; with twice the room if the longest run fills more than half of it."""
    if 2 * runs["length"].max(initial=0) <= _BLOCK * len(seen):
        return seen
    return np.concatenate([seen, np.zeros_like(seen)])


@jit
def start_run(i, runs, seen):
    """Begin a run at a game's position."""
    run = runs[i]
    run.key += GAMMA  # so no hash that an earlier run has left in `seen` is met again
    run.moved = 0
    run.length = 1
    seen[0, i, 0] = run.key


@by_type
def write_mask(g, rule, mask, i, runs, seen, words):
    """Write the moves that a game may play (`new_masks`); returns False when it is over.

    Args:
        g: the position.
        rule: the rule set.
        mask: LEGAL, DISTINCT or NO_REPEATS.
        i: row of the game in ``runs`` and ``seen``.
        runs: RUN (n,).
        seen: (blocks, n, 8), the hashes of each run's positions.
        words: a row of `new_masks`.

    Returns:
        False when the game is over: won, or without a move but those that rename spaces, or with
        NO_REPEATS without a move to a new position.
    """
    return _write_mask if seen.dtype == types.bool_ else _write_mask_without_repeats


def _write_mask(g, rule, mask, i, runs, seen, words):
    return legal(g, rule, mask != LEGAL, words)


def _write_mask_without_repeats(g, rule, mask, i, runs, seen, words):
    if not legal(g, rule, True, words):
        return False
    run = runs[i]
    if run.length == 1:  # a new run: there is nothing to return to
        return True
    if _moves_single_cards(rule):
        _forbid_top_cards(g, rule, run, i, seen, words)
    else:
        _forbid(g, rule, run, i, seen, words)
    return next_move(words, -1) >= 0


@internal
def _forbid(g, rule, run, i, seen, words):
    """Remove the moves back to positions of game i's run."""
    move = next_move(words, -1)
    while move >= 0:
        if _may_be_undone(rule, move) and _returns(g, rule, move, run, i, seen):
            words[move >> 3] &= ~(_ONE << np.uint64(8 * (move & 7)))
        move = next_move(words, move)


@inlined
def _forbid_top_cards(g, rule, run, i, seen, words):
    """`_forbid` where only moves of one card between piles return: in most rule sets.

    There is no branch on single moves: all are examined, legal or not.
    """
    move = 2 + 2 * rule.piles  # the first between piles (`engine.moves`)
    for source in range(rule.piles):
        card = g.top[source]
        # A card that the run has not moved lies where it lies in all positions of the run.
        if (run.moved >> np.uint64(card)) & _ONE:
            without = run.key - LINK[card, g.below[card]]
            for k in range(rule.piles - 1):
                key = without + LINK[card, g.top[k + (k >= source)]]
                found = np.uint64(_is_seen(key, run, i, seen))
                words[(move + k) >> 3] &= ~(found << np.uint64(8 * ((move + k) & 7)))
        move += rule.piles - 1


@inlined
def _is_seen(key, run, i, seen):
    """Whether a hash is that of a position of the run."""
    found = False
    for block in range((run.length + _BLOCK - 1) // _BLOCK):
        for k in range(_BLOCK):  # no early end: so the compiler compares several at once
            found |= seen[block, i, k] == key
    return found


@inlined
def _may_be_undone(rule, move):
    """Whether later moves could undo a move, unless it turns a card automatically."""
    if rule.source[move] in (WASTE, STOCK):
        return False
    return rule.target[move] != FOUNDATION or rule.worrying_back


@internal
def _returns(g, rule, move, run, i, seen):
    """Whether a move that may be undone leads back to a position of the run."""
    change, card = key_change(g, rule, move)
    has_moved = (run.moved >> np.uint64(card)) & _ONE  # see `_forbid_top_cards`
    if not has_moved or not _is_seen(run.key + change, run, i, seen):
        return False
    # The move leads on if the waste's top card fills the pile that it empties. Where the stock
    # fills piles, no position of the run has such a space, so the hash has not been seen.
    empties = rule.source[move] < WASTE and g.below[card] == NO_CARD
    return not (empties and rule.spaces == AUTO_WASTE and g.top[WASTE] != NO_CARD)


@by_type
def play_on(g, rule, move, i, runs, seen):
    """`kernel.play`, and enter the position into the game's run, or begin a new run.

    There must be room for a position more.
    """
    return _play if seen.dtype == types.bool_ else _play_on


def _play(g, rule, move, i, runs, seen):
    play(g, rule, move)


def _play_on(g, rule, move, i, runs, seen):
    run = runs[i]
    goes_on = _may_be_undone(rule, move)
    change, card = np.uint64(0), np.uint8(0)
    if _moves_single_cards(rule):
        # Computed for every move, also where it is not used: a branch would cost more.
        source, target = min(rule.source[move], WASTE), min(rule.target[move], WASTE)
        card = g.top[source]
        change = LINK[card, g.top[target]] - LINK[card, g.below[min(card, NO_CARD - 1)]]
        play(g, rule, move)
    else:
        if goes_on:
            change, card = key_change(g, rule, move)
        dealt, waste = g.dealt, g.height[WASTE]
        play(g, rule, move)
        goes_on = goes_on and g.dealt == dealt and g.height[WASTE] == waste
    length = run.length if goes_on else 0
    run.key += change if goes_on else GAMMA
    run.moved = run.moved | (_ONE << np.uint64(card)) if goes_on else np.uint64(0)
    run.length = length + 1
    seen[length // _BLOCK, i, length % _BLOCK] = run.key


@inlined
def _moves_single_cards(rule):
    """Whether all moves that can be undone move one card between piles."""
    return not (rule.refills or rule.runs or rule.worrying_back)


class MaskedGames:
    """Games that are played in lockstep outside an environment, with the masks of one.

    Args:
        games: GAME array of shape (n,), the positions; played in place.
        rules: the rule set.
        mask: one of `MASKS`.
    """

    def __init__(self, games: NDArray[Any], rules: Rules, mask: str) -> None:
        self.games = games
        self._rules, self._rule, self._mask = rules, compile_rules(rules), MASKS.index(mask)
        self._runs = np.zeros(len(games), RUN)
        self._runs["length"] = 1
        self._seen = new_seen(len(games), self._mask)

    def masks(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """The masks of some games, int8 of shape (m, A), and which of them continue."""
        words, masks = new_masks(len(rows), self._rules)
        goes_on = np.zeros(len(rows), np.bool_)
        _write_masks(
            self.games, self._rule, self._mask, rows, self._runs, self._seen, words, goes_on
        )
        return masks, goes_on

    def play(self, rows: NDArray[np.int64], moves: NDArray[np.int64]) -> None:
        """Play a legal move in each of some games; both int64 of shape (m,)."""
        self._seen = with_room(self._runs, self._seen)
        _play_all(self.games, self._rule, moves, rows, self._runs, self._seen)


def mask_after(start: NDArray[Any], rules: Rules, moves: Iterable[Move]) -> NDArray[np.int8]:
    """The mask `no_repeats`, int8 of shape (A,), after legal moves from a position, GAME (1,)."""
    playing, row = MaskedGames(start.copy(), rules, "no_repeats"), np.zeros(1, np.int64)
    for move in moves:
        playing.play(row, np.array([move.number]))
    mask: NDArray[np.int8] = playing.masks(row)[0][0]
    return mask


@jit
def _write_masks(games, rules, mask, rows, runs, seen, words, goes_on):
    """`write_mask` for each game of ``rows``."""
    for k in range(len(rows)):
        i = rows[k]
        goes_on[k] = write_mask(games[i], rules[0], mask, i, runs, seen, words[k])


@jit
def _play_all(games, rules, moves, rows, runs, seen):
    """`play_on` for each game of ``rows``."""
    for k in range(len(rows)):
        play_on(games[rows[k]], rules[0], moves[k], rows[k], runs, seen)
