"""The action space: move numbers <-> (source, target) <-> text such as "W>T2".

The numbering depends on the rule set's number of piles P:

| text       | how many          | meaning                                                 |
| ---------- | ----------------- | ------------------------------------------------------- |
| ``deal``   | 1                 | turn the next stock card to the waste                   |
| ``W>F``    | 1                 | the waste's top card to its foundation                  |
| ``Ti>F``   | P                 | the top card of pile i to its foundation                |
| ``W>Tj``   | P                 | the waste's top card to pile j                          |
| ``Ti>Tj``  | P * (P - 1)       | from pile i to pile j: the top card, or a run           |
| ``redeal`` | 1 if redeals      | turn the waste over to be the stock again               |
| ``F:s>Tj`` | 4 * P if worrying | the top card of the foundation of suit s back to pile j |
| ``S>F``    | 1 if limited      | the card face up on the stock to its foundation         |
| ``S>Tj``   | P if limited      | the card face up on the stock to pile j                 |

The last four exist only in rule sets that need them (``limited``: a limited redeal). Without them
there are 32 moves for five piles. The numbers are frozen: policies and records depend on them.

>>> moves = all_moves(RULES["four-seasons"])
>>> len(moves), moves[0], moves[1], moves[2], moves[7], moves[12]
(32, deal, W>F, T0>F, W>T0, T0>T1)
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from four_seasons_env.arguments import check_number, nearest
from four_seasons_env.engine.deals import SUITS, letters
from four_seasons_env.rules import Rules

# Places that a card moves from or to: piles are 0-11.
WASTE = 12
FOUNDATION = 13  # as a target; as a source FOUNDATION + suit
STOCK = 17

DEAL = 0
"""The number of the move that deals a card to the waste."""


@dataclass(frozen=True, repr=False)
class Move:
    """One move of an action space; ``str(move)`` is its text, ``int(move)`` its number."""

    number: int
    source: int
    target: int
    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__  # in lists of moves, too

    def __int__(self) -> int:
        return self.number

    __index__ = __int__

    @property
    def turns(self) -> bool:
        """Whether it deals a card or turns the waste over, and plays no card."""
        return self.target == STOCK or (self.source == STOCK and self.target == WASTE)


def _places(rules: Rules) -> list[tuple[int, int, str]]:
    piles = range(rules.piles)
    places = [(STOCK, WASTE, "deal"), (WASTE, FOUNDATION, "W>F")]
    places += [(i, FOUNDATION, f"T{i}>F") for i in piles]
    places += [(WASTE, j, f"W>T{j}") for j in piles]
    places += [(i, j, f"T{i}>T{j}") for i in piles for j in piles if i != j]
    if rules.redeals:
        places += [(WASTE, STOCK, "redeal")]
    if rules.worrying_back:
        places += [
            (FOUNDATION + s, j, f"F:{suit}>T{j}") for s, suit in enumerate(SUITS) for j in piles
        ]
    if rules.limited_redeal:
        places += [(STOCK, FOUNDATION, "S>F"), *((STOCK, j, f"S>T{j}") for j in piles)]
    return places


@functools.cache
def all_moves(rules: Rules) -> tuple[Move, ...]:
    """The action space of a rule set; move number ``n`` is at index ``n``."""
    return tuple(Move(n, *place) for n, place in enumerate(_places(rules)))


@functools.cache
def _by_text(rules: Rules) -> dict[str, Move]:
    return {_plain(move.text): move for move in all_moves(rules)}


def _plain(text: str) -> str:
    """A move's text without spaces, in upper case."""
    return "".join(letters(text).upper().split())


def find_move(rules: Rules, move: Move | str | int) -> Move:
    """The move of a text or a number in the rule set's action space.

    Case and spaces in a text do not matter:

    >>> find_move(RULES["four-seasons"], "w > t2"), find_move(RULES["four-seasons"], 9)
    (W>T2, W>T2)

    Raises:
        ValueError: for a text or a number that the action space does not have.
        TypeError: for anything else.
    """
    moves = all_moves(rules)
    # 1. A Move or its text.
    if isinstance(move, Move):
        move = move.text  # its number may mean another move in this action space
    if isinstance(move, str):
        found = _by_text(rules).get(_plain(move))
        if found is None:
            hint = nearest(move, [each.text for each in moves])
            raise ValueError(f"unknown move {move!r} in {rules.name!r}: {hint}")
        return found
    # 2. A number.
    try:
        return moves[check_number("a move's number", move, len(moves))]
    except TypeError:
        raise TypeError(f"a move must be a Move, its text or its number, not {move!r}") from None
