"""Masks of a game that is played: `LEGAL`, `DISTINCT`, and `NO_REPEATS`, which has a memory.

Most moves can be undone, so a player can go round in circles. A run of moves begins with the
opening, and after each move that cannot be undone: one that moves a card from the stock or the
waste, or that puts a card on a foundation, unless the rules let it come back. `NO_REPEATS` leaves
out the moves back to a position of the present run. No win is lost: a shortest winning line never
visits a position twice. It is not a rule of the game: `kernel.legal` has the rules.

A run in four-seasons, where the ace of clubs goes from a space to one two and on to the other.
`key` is the hash of the position before the first move, and `LINK` has a random number for each
card and the card under it (Zobrist hashing, `hashing`):

    move    the piles behind it                                 hash of the position
    before  T0: AC  T1: QH  T2: 2D     T3: QS  T4: 2H           key
    T0>T2   T0: --  T1: QH  T2: 2D AC  T3: QS  T4: 2H           key - LINK[AC, 52] + LINK[AC, 2D]
    T2>T4   T0: --  T1: QH  T2: 2D     T3: QS  T4: 2H AC        key - LINK[AC, 52] + LINK[AC, 2H]

Both ways on from there return: T4>T2 has the hash of the second line, T4>T0 that of the first.

>>> from four_seasons_env.engine.moves import all_moves, find_move
>>> from four_seasons_env.game import Game
>>> start = Game(deal=2**32 + 37)
>>> for _ in range(3):
...     start.play("deal")
>>> moves = [find_move(start.rules, text) for text in ("T0>T2", "T2>T4")]
>>> mask = mask_after(start.record, start.rules, moves)
>>> ", ".join(str(move) for move in all_moves(start.rules) if mask[move.number])
'deal, W>T0'

Positions that differ only in the order of their piles are one; a reserve is no such pile. The
positions of a run differ only in their piles, and in their foundations where cards come back. So
only these are hashed, from the first one on (`hashing.key_change`). Each run starts from a fresh
hash, so entries that earlier runs have left can never match and need not be cleared.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import ONE, ZERO, next_move
from four_seasons_env.engine.deals import GAMMA, NO_CARD
from four_seasons_env.engine.hashing import LINK, key_change
from four_seasons_env.engine.jit import by_type, inlined, internal, is_a, jit
from four_seasons_env.engine.kernel import compile_rules, legal, new_masks, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move
from four_seasons_env.rules import Rules

MASKS = ("legal", "distinct", "no_repeats")
LEGAL, DISTINCT, NO_REPEATS = range(len(MASKS))

RUN = np.dtype([("key", "u8"), ("moved", "u8"), ("length", "i8")])
"""The run of a game: the hash of its position, the bit set of cards that it has moved, and how many
positions have been seen."""

_BLOCK = 8  # hashes in 64 bytes, a line of the processor's cache


class History(NamedTuple):
    """The present run of each of n games, for `NO_REPEATS`."""

    runs: NDArray[np.void]  # RUN (n,)
    # uint64 (blocks, n, 8), hashes of each run's positions. Most runs are short, so the first
    # positions of all games lie together.
    seen: NDArray[np.uint64]


class NoHistory(NamedTuple):
    """The history for other masks, whose code leaves out what only `NO_REPEATS` needs."""


def new_history(count: int, mask: int) -> History | NoHistory:
    """The history of ``count`` games at the beginning of a run, as a mask needs it."""
    if mask != NO_REPEATS:
        return NoHistory()
    runs = np.zeros(count, RUN)
    runs["length"] = 1
    return History(runs, np.zeros((1, count, _BLOCK), np.uint64))


def with_room(history: History) -> History:
    """The same history; with twice the room if the longest run fills more than half of it."""
    seen = history.seen
    if 2 * history.runs["length"].max(initial=0) <= _BLOCK * len(seen):
        return history
    return history._replace(seen=np.concatenate([seen, np.zeros_like(seen)]))


@by_type
def start_run(i, history):
    """Begin a run at a game's position."""
    return _start_no_run if is_a(history, NoHistory) else _start_run


def _start_no_run(i, history):
    pass


def _start_run(i, history):
    run = history.runs[i]
    run.key += GAMMA  # a fresh hash, see the file's docstring
    run.moved = 0
    run.length = 1
    history.seen[0, i, 0] = run.key


@by_type
def write_mask(g, rule, mask, i, history, words):
    """Write the moves that a game may play (`new_masks`); returns False when it is over.

    Args:
        g: the position.
        rule: the rule set.
        mask: LEGAL, DISTINCT or NO_REPEATS.
        i: the game's row in ``history``.
        history: `History`, or `NoHistory` for LEGAL and DISTINCT.
        words: a row of `new_masks`.

    Returns:
        False when the game is over: won, or without a move but those that rename spaces, or with
        NO_REPEATS without a move to a new position.
    """
    return _write_mask if is_a(history, NoHistory) else _write_mask_without_repeats


def _write_mask(g, rule, mask, i, history, words):
    return legal(g, rule, mask != LEGAL, words)


def _write_mask_without_repeats(g, rule, mask, i, history, words):
    if not legal(g, rule, True, words):
        return False
    run = history.runs[i]
    if run.length == 1:  # a new run: there is nothing to return to
        return True
    if _moves_single_cards(rule):
        _forbid_top_cards(g, rule, run, i, history.seen, words)
    else:
        _forbid(g, rule, run, i, history.seen, words)
    return next_move(words, -1) >= 0


@internal
def _forbid(g, rule, run, i, seen, words):
    """Remove the moves back to positions of game i's run.

    For rule sets in which more than one card may move: it plays no move, but computes the hash that
    each would lead to.
    """
    move = next_move(words, -1)
    while move >= 0:
        if _may_be_undone(rule, move) and _returns(g, rule, move, run, i, seen):
            words[move >> 3] &= ~(ONE << np.uint64(8 * (move & 7)))
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
        if (run.moved >> np.uint64(card)) & ONE:
            # In the worked run, T4>T0 and T4>T2: the link of the ace is taken out once, and put
            # back for each pile that it could go to.
            without = run.key - LINK[card, g.below[card]]
            for k in range(rule.piles - 1):
                key = without + LINK[card, g.top[k + (k >= source)]]
                returns = np.uint64(_is_seen(key, run, i, seen))
                words[(move + k) >> 3] &= ~(returns << np.uint64(8 * ((move + k) & 7)))
        move += rule.piles - 1


@inlined
def _is_seen(key, run, i, seen):
    """Whether a hash is that of a position of the run."""
    is_seen = False
    for block in range((run.length + _BLOCK - 1) // _BLOCK):
        for k in range(_BLOCK):  # no early end: so the compiler compares several at once
            is_seen |= seen[block, i, k] == key
    return is_seen


@inlined
def _may_be_undone(rule, move):
    """Whether later moves could undo a move, unless it turns a card automatically."""
    if rule.source[move] in (WASTE, STOCK):
        return False
    return rule.target[move] != FOUNDATION or rule.worrying_back


@internal
def _returns(g, rule, move, run, i, seen):
    """Whether a move that may be undone leads back to a position of the run."""
    # Where the pile that a move empties is filled at once, the move leads on. The hash is that of a
    # position with a space, which no position of the run has: so it has not been seen.
    change, card = key_change(g, rule, move)
    has_moved = (run.moved >> np.uint64(card)) & ONE  # see `_forbid_top_cards`
    return has_moved != 0 and _is_seen(run.key + change, run, i, seen)


@by_type
def play_on(g, rule, move, i, history):
    """`kernel.play`, and enter the position into the game's run, or begin a new run.

    There must be room for one more position (`with_room`).
    """
    return _play if is_a(history, NoHistory) else _play_in_run


def _play(g, rule, move, i, history):
    play(g, rule, move)


def _play_in_run(g, rule, move, i, history):
    run = history.runs[i]
    same_run = _may_be_undone(rule, move)
    change, card = ZERO, np.uint8(0)
    # 1. Play the move, and find out how it changes the hash: before it, the card is in its place.
    if _moves_single_cards(rule):
        # Computed for every move, also where it is not used: a branch would cost more.
        source, target = min(rule.source[move], WASTE), min(rule.target[move], WASTE)
        card = g.top[source]
        change = LINK[card, g.top[target]] - LINK[card, g.below[min(card, NO_CARD - 1)]]
        play(g, rule, move)
    else:
        if same_run:
            change, card = key_change(g, rule, move)
        dealt, waste = g.dealt, g.height[WASTE]
        play(g, rule, move)
        # A card that was turned automatically cannot be turned back.
        same_run = same_run and g.dealt == dealt and g.height[WASTE] == waste
    # 2. Enter the position into the run, or begin a run with it.
    length = run.length if same_run else 0
    run.key += change if same_run else GAMMA
    run.moved = run.moved | (ONE << np.uint64(card)) if same_run else ZERO
    run.length = length + 1
    history.seen[length // _BLOCK, i, length % _BLOCK] = run.key


@inlined
def _moves_single_cards(rule):
    """Whether all moves that can be undone move one card between piles."""
    return not (rule.refills or rule.runs or rule.worrying_back)


class MaskedGames:
    """Games that are played in lockstep outside an environment, with the masks of one.

    For the package: neither records nor rows nor moves are checked. `Games` checks them.

    >>> from four_seasons_env.game import Game
    >>> rules = RULES["four-seasons"]
    >>> playing = MaskedGames(Game(rules, deal=17).record, rules, "no_repeats")
    >>> masks, continues = playing.masks(np.array([0]))
    >>> playing.play(np.array([0]), masks.argmax(axis=1))  # the first legal move of game 0

    Args:
        games: GAME array of shape (n,), the positions; played in place.
        rules: the rule set.
        mask: one of `MASKS`.
    """

    def __init__(self, games: NDArray[Any], rules: Rules, mask: str) -> None:
        self.games = games
        self._rules, self._rule, self._mask = rules, compile_rules(rules), MASKS.index(mask)
        self._history = new_history(len(games), self._mask)

    def masks(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """The masks of some games, int8 of shape (m, A), and which of them continue."""
        words, masks = new_masks(len(rows), self._rules)
        continues = np.zeros(len(rows), np.bool_)
        _write_masks(self.games, self._rule, self._mask, rows, self._history, words, continues)
        return masks, continues

    def play(self, rows: NDArray[np.int64], moves: NDArray[np.int64]) -> None:
        """Play a legal move in each of some games; both int64 of shape (m,)."""
        if isinstance(self._history, History):
            self._history = with_room(self._history)
        _play_all(self.games, self._rule, moves, rows, self._history)


def mask_after(start: NDArray[Any], rules: Rules, moves: Iterable[Move]) -> NDArray[np.int8]:
    """The mask `no_repeats`, int8 of shape (A,), after legal moves from a position, GAME (1,).

    Neither the position nor the moves are checked; those of a `Record` have been.
    """
    playing, row = MaskedGames(start.copy(), rules, "no_repeats"), np.zeros(1, np.int64)
    for move in moves:
        playing.play(row, np.array([move.number]))
    mask: NDArray[np.int8] = playing.masks(row)[0][0]
    return mask


@jit
def _write_masks(games, rules, mask, rows, history, words, continues):
    """`write_mask` for each game of ``rows``."""
    for k in range(len(rows)):
        i = rows[k]
        continues[k] = write_mask(games[i], rules[0], mask, i, history, words[k])


@jit
def _play_all(games, rules, moves, rows, history):
    """`play_on` for each game of ``rows``."""
    for k in range(len(rows)):
        play_on(games[rows[k]], rules[0], moves[k], rows[k], history)
