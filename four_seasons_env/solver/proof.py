"""The relaxed game searched to its end: `prove` looks for proofs that deals are lost.

A relaxed position is told by the set of the waste's cards (they lie in the order of the deck), how
many cards are dealt, and the levels: T is the rest. That fits into one word, so the table of
positions seen is exact. Depth first, with two cuts:

- Safe cards go up at once, wherever they lie (`is_safe`).
- A position is dead if its waste cannot be played off even with the whole stock at hand in any
  order: going down the waste, a card that cannot go up must join T, and the cards of T and above it
  in the waste that cannot have gone up either must fit into the piles together with it, with every
  other card that can have been reached as a host (`waste_is_stuck`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.rules import Rules
from four_seasons_env.solver.bits import highest, popcount
from four_seasons_env.solver.hash_table import is_new, rehash
from four_seasons_env.solver.relaxation import (
    ONE,
    SUIT,
    ZERO,
    cards_up,
    is_safe,
    never_up,
    next_cards,
    piles_needed,
)

RELAXED = np.dtype(
    [
        ("waste", "u8"),  # bit set of positions in the deck
        ("tableau", "u8"),  # bit set of cards
        ("up", "u8"),  # bit set of cards
        ("dealt", "i8"),
    ]
)
PROOF = np.dtype(
    [
        ("deck", "u1", (52,)),  # cards in dealing order, as bit numbers
        ("size", "i8"),  # cards in the deck
        ("first", "i8"),  # position of the first that is in waste or stock at the start
        ("piles", "i8"),
        ("open", "i8"),  # positions on the stack
        ("seen", "i8"),  # positions in the table
        ("positions", "i8"),  # positions played on from
        ("status", "i8"),
    ]
)
"""The state of a search between its slices."""
SEARCHING, RELAXED_WIN, LOST, FULL = range(4)
_MOST_CHILDREN = 7
KEY_POSITIONS = 47  # of the deck that a key has room for, from the first that matters
STACK = 2048  # positions: at most six wait at each of the 150 moves of a game
_3, _14 = np.uint64(3), np.uint64(14)


@jit
def waste_is_stuck(waste, tableau, stock, up, proof, frame):
    """Whether a relaxed position is dead; see above. Sets of cards, but for the waste."""
    left = frame.cards & ~up
    reached = up | tableau | stock
    never = never_up(left, reached)
    lying = tableau
    while waste:
        position = highest(waste)
        waste ^= ONE << position
        place = np.uint64(proof.deck[position])
        card = ONE << place
        lying |= card
        own = never & (SUIT << (place & _3))
        if own & (~own + ONE) == card:  # it can go up
            reached |= card
            never = never_up(left, reached)
        elif piles_needed(lying & never, reached, frame) > proof.piles:
            return True
        else:
            reached |= card
    return False


@jit
def _key(waste, up, dealt, first):
    """A relaxed position as one word, never 0: the waste, a bit that marks the end of what is
    dealt, and the levels as a number of base 14."""
    levels = ZERO
    for suit in range(4):
        levels = levels * _14 + popcount(up & (SUIT << np.uint64(suit)))
    marked = (waste | (ONE << np.uint64(dealt))) >> np.uint64(first)
    return levels << np.uint64(KEY_POSITIONS + 1) | marked


@jit
def _enter(stack, table, proof, frame, stock, waste, tableau, up, dealt):
    """Play off the safe cards of a relaxed position, and put it on the stack unless it is seen
    already or dead. True if it is won."""
    again = True
    while again:
        again = False
        ready = next_cards(up) & frame.cards
        while ready:
            card = ready & (~ready + ONE)
            ready ^= card
            if not is_safe(card, up, frame):
                continue
            if tableau & card:
                tableau ^= card
            elif waste and ONE << np.uint64(proof.deck[highest(waste)]) == card:
                waste ^= ONE << highest(waste)
            else:
                continue
            up |= card
            again = True
    if up == frame.cards:
        return True
    if is_new(table, _key(waste, up, dealt, proof.first)):
        proof.seen += 1
        if not waste_is_stuck(waste, tableau, stock, up, proof, frame):
            entry = stack[proof.open]
            entry.waste = waste
            entry.tableau = tableau
            entry.up = up
            entry.dealt = dealt
            proof.open += 1
    return False


@jit
def search(proofs, stack, table, frames, positions):
    """Go on with a search for so many positions at most.

    Args:
        proofs: PROOF (1,); its status is set when the search ends.
        stack: RELAXED, with room for `STACK`.
        table: uint64 (a power of two): keys of the positions seen, 0 where there is none.
    """
    proof = proofs[0]
    frame = frames[0]
    room = len(table) // 2
    for _ in range(positions):
        if proof.open == 0:
            proof.status = LOST
            return
        if proof.seen + _MOST_CHILDREN > room:
            proof.status = FULL
            return
        proof.open -= 1
        proof.positions += 1
        waste = stack[proof.open].waste
        tableau = stack[proof.open].tableau
        up = stack[proof.open].up
        dealt = stack[proof.open].dealt
        stock = ZERO
        for i in range(dealt, proof.size):
            stock |= ONE << np.uint64(proof.deck[i])
        won = False
        if dealt < proof.size:
            rest = stock ^ (ONE << np.uint64(proof.deck[dealt]))
            turned = waste | (ONE << np.uint64(dealt))
            won |= _enter(stack, table, proof, frame, rest, turned, tableau, up, dealt + 1)
        ready = next_cards(up) & frame.cards
        moving = ready & tableau
        while moving:
            card = moving & (~moving + ONE)
            moving ^= card
            if piles_needed(tableau, tableau ^ card, frame) <= proof.piles:
                after = tableau ^ card
                won |= _enter(stack, table, proof, frame, stock, waste, after, up | card, dealt)
        if waste:
            top = ONE << highest(waste)
            card = ONE << np.uint64(proof.deck[highest(waste)])
            after = tableau | card
            if piles_needed(after, tableau, frame) <= proof.piles:
                won |= _enter(stack, table, proof, frame, stock, waste ^ top, after, up, dealt)
            if ready & card:
                after = up | card
                won |= _enter(stack, table, proof, frame, stock, waste ^ top, tableau, after, dealt)
        if won:
            proof.status = RELAXED_WIN
            return


class Proof:
    """One search for a proof, to be gone on with slice by slice.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        memory: bytes that its arrays may take.
    """

    def __init__(self, record: Any, rules: Rules, frames: NDArray[np.void], memory: int) -> None:
        place = frames[0]["place"]
        deck = [int(card) for card in record["deck"][: record["deck_size"]]]
        waste = _cards_at(record, WASTE)
        piles = [card for pile in range(rules.piles) for card in _cards_at(record, pile)]
        dealt = int(record["dealt"])
        positions = [deck.index(card) for card in waste]
        self.proofs = np.zeros(1, PROOF)
        proof = self.proofs[0]
        proof["deck"][: len(deck)] = place[deck]
        proof["size"] = len(deck)
        proof["first"] = min([dealt, *positions])
        proof["piles"] = rules.piles
        self._is_possible = bool(
            frames[0]["one_way"] and proof["size"] - proof["first"] <= KEY_POSITIONS
        )
        self._frames = frames
        self._memory = memory
        self._stack = np.zeros(STACK, RELAXED)
        self._stack[0] = (
            sum(1 << position for position in positions),
            sum(1 << int(place[card]) for card in piles),
            cards_up(record["level"]),
            dealt,
        )
        proof["open"] = 1
        self._table = np.zeros(2**12, np.uint64)

    @property
    def positions(self) -> int:
        """Positions played on from so far."""
        return int(self.proofs["positions"][0])

    @property
    def status(self) -> int:
        """SEARCHING, or how it ended: RELAXED_WIN (no proof), LOST (proved), FULL (no memory)."""
        return int(self.proofs["status"][0]) if self._is_possible else RELAXED_WIN

    def go_on(self, positions: int) -> None:
        """Play on from so many positions at most."""
        search(self.proofs, self._stack, self._table, self._frames, positions)
        if self.status == FULL and 3 * self._table.nbytes <= self._memory:
            self.grow_table()
            self.proofs["status"] = SEARCHING

    def grow_table(self) -> None:
        """Double the table of positions seen."""
        larger = np.zeros(2 * len(self._table), np.uint64)
        rehash(self._table, larger)
        self._table = larger


def _cards_at(record: Any, place: int) -> list[int]:
    cards = []
    card = int(record["top"][place])
    while card != NO_CARD:
        cards.append(card)
        card = int(record["below"][card])
    return cards
