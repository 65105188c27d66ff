"""Complete depth-first search of the relaxed game: `search` proves that a deal is lost.

A relaxed position is the set of the waste's cards (they lie in the order of the deck), how many
cards are dealt, and the levels; T is the rest. That fits into one word, so the table of positions
seen is exact. Two rules make the search smaller:

- Safe cards go up at once, wherever they lie (`is_safe`).
- A position is dead if its waste cannot be played off even with the whole stock at hand in any
  order: going down the waste, a card that cannot go up must join T, and the cards of T and above it
  in the waste that cannot have gone up either must fit into the piles together with it, with every
  other card that can have been reached as a host (`waste_is_stuck`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import bit_set, highest
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.rules import Rules
from four_seasons_env.solver.frame import cards_at
from four_seasons_env.solver.hash_table import is_new, rehash
from four_seasons_env.solver.relaxation import (
    KEY_POSITIONS,
    MOST_RELAXED_MOVES,
    ONE,
    RELAXED,
    SUIT,
    cards_up,
    never_up,
    piles_needed,
    play_safe_cards,
    relaxed_key,
    relaxed_moves,
)

PROOF = np.dtype(
    [
        ("deck", "u1", (52,)),  # cards in dealing order, as bit numbers
        ("size", "i8"),  # cards in the deck
        ("first", "i8"),  # position of the first that is in waste or stock at the start
        ("piles", "i8"),
        ("waiting", "i8"),  # positions on the stack
        ("seen", "i8"),  # positions in the table
        ("positions", "i8"),  # positions expanded
        ("status", "i8"),
    ]
)
"""The state of a search between its slices."""


class Relaxed(NamedTuple):
    """A relaxed position, as compiled functions pass it on: see `relaxation.RELAXED`."""

    waste: np.uint64  # bit set of positions in the deck
    tableau: np.uint64  # bit set of cards, likewise below
    stock: np.uint64
    up: np.uint64
    dealt: np.int64


SEARCHING, RELAXED_WIN, LOST, FULL = range(4)
STACK = 2048  # positions: at most six wait at each of the 150 moves of a game
_3 = np.uint64(3)


@jit
def waste_is_stuck(here, proof, frame):
    """Whether a `Relaxed` position is dead: see the module."""
    left = frame.cards & ~here.up
    reached = here.up | here.tableau | here.stock
    never = never_up(left, reached)
    lying = here.tableau
    waste = here.waste
    # From the top of the waste: the top card has the highest position in the deck.
    while waste:
        position = highest(waste)
        waste ^= ONE << position
        place = np.uint64(proof.deck[position])
        card = ONE << place
        lying |= card
        own = never & (SUIT << (place & _3))
        # x & -x is the lowest bit. The lowest card of its suit that was out of reach can go up once
        # it is reached, and may free others; `never` is computed again.
        if own & (~own + ONE) == card:
            reached |= card
            never = never_up(left, reached)
        # The card must be parked. It lies uncovered then, so it is not yet among the hosts.
        elif piles_needed(lying & never, reached & ~here.up, frame) > proof.piles:
            return True
        else:
            reached |= card
    return False


@jit
def _enter(before, stack, table, proof, frame):
    """Play the safe cards of a `Relaxed` position, and put it on the stack unless it is known or
    dead.

    Returns:
        Whether it is won.
    """
    waste, tableau, up = play_safe_cards(before.waste, before.tableau, before.up, proof.deck, frame)
    if up == frame.cards:
        return True
    # Positions are entered after their safe cards are up, so more of them coincide.
    if is_new(table, relaxed_key(waste, up, before.dealt, proof.first)):
        proof.seen += 1
        here = Relaxed(waste, tableau, before.stock, up, before.dealt)
        if not waste_is_stuck(here, proof, frame):
            entry = stack[proof.waiting]
            entry.waste = waste
            entry.tableau = tableau
            entry.up = up
            entry.dealt = before.dealt
            proof.waiting += 1
    return False


@jit
def search(proofs, frames, stack, table, quota):
    """Continue a search, and set its status when it ends.

    Args:
        proofs: PROOF (1,).
        stack: RELAXED, with room for `STACK` positions that wait; the last comes next.
        table: uint64 (a power of two): keys of the positions seen, 0 where there is none.
        quota: positions to expand, at most.
    """
    proof, frame = proofs[0], frames[0]
    after = np.empty(MOST_RELAXED_MOVES, RELAXED)
    room = len(table) // 2
    for _ in range(quota):
        if proof.waiting == 0:
            proof.status = LOST
            return
        # Before a position leaves the stack, so that nothing is lost when the table is full: after
        # `grow_table` the search continues as if it had not stopped.
        if proof.seen + MOST_RELAXED_MOVES > room:
            proof.status = FULL
            return
        proof.waiting -= 1
        proof.positions += 1
        entry = stack[proof.waiting]
        # Copied out of the stack, whose free rows the successors overwrite.
        here = entry.waste, entry.tableau, entry.up, entry.dealt
        dealt = entry.dealt
        stock = bit_set(proof.deck, dealt, proof.size)
        won = False
        for i in range(relaxed_moves(here, proof.deck, proof.size, proof.piles, frame, after)):
            each = after[i]
            left = stock
            if each.dealt > dealt:
                left ^= ONE << np.uint64(proof.deck[dealt])
            position = Relaxed(each.waste, each.tableau, left, each.up, each.dealt)
            won |= _enter(position, stack, table, proof, frame)
        if won:  # the relaxed game only: it proves neither a win nor a loss of the real one
            proof.status = RELAXED_WIN
            return


class Proof:
    """One search for a proof, which runs in slices.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        memory: bytes that its arrays may take.
    """

    def __init__(self, record: Any, rules: Rules, frames: NDArray[np.void], memory: int) -> None:
        place = frames[0]["place"]
        deck = [int(card) for card in record["deck"][: record["deck_size"]]]
        waste = cards_at(record, WASTE)
        piles = [card for pile in range(rules.piles) for card in cards_at(record, pile)]
        dealt = int(record["dealt"])
        positions = [deck.index(card) for card in waste]
        self._proofs = np.zeros(1, PROOF)
        proof = self._proofs[0]
        proof["deck"][: len(deck)] = place[deck]
        proof["size"] = len(deck)
        proof["first"] = min([dealt, *positions])
        proof["piles"] = rules.piles
        self._is_possible = bool(
            frames[0]["one_way"] and proof["size"] - proof["first"] <= KEY_POSITIONS
        )
        self._frames, self._memory = frames, memory
        self._table = np.zeros(2**12, np.uint64)
        self._stack = np.zeros(STACK, RELAXED)
        self._stack[0] = (
            sum(1 << position for position in positions),
            sum(1 << int(place[card]) for card in piles),
            cards_up(record["level"]),
            dealt,
        )
        proof["waiting"] = 1

    @property
    def positions(self) -> int:
        """Positions expanded so far."""
        return int(self._proofs["positions"][0])

    @property
    def status(self) -> int:
        """SEARCHING, or how it ended: RELAXED_WIN (no proof), LOST (proved), FULL (no memory)."""
        return int(self._proofs["status"][0]) if self._is_possible else RELAXED_WIN

    def go_on(self, quota: int) -> None:
        """Continue the search; expand ``quota`` positions at most."""
        search(self._proofs, self._frames, self._stack, self._table, quota)
        # Three times: the table and its double exist side by side while the keys are copied.
        if self.status == FULL and 3 * self._table.nbytes <= self._memory:
            self.grow_table()
            self._proofs["status"] = SEARCHING

    def grow_table(self) -> None:
        """Double the table of positions seen."""
        larger = np.zeros(2 * len(self._table), np.uint64)
        rehash(self._table, larger)
        self._table = larger
