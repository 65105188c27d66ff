"""What the decisions of a game have cost, by the exact values of fair play.

Where the next card is turned the chance to win has one value, and what the player did there another
that is no larger. The differences, summed over a game, are its regret: the luck of the cards is
left out, and the mean over games is how much less often the player wins than the best fair play.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.solver import FairValue, Known, fair_value

_GIB = 2**30


@functools.lru_cache(maxsize=1)
def known_of(rules: str) -> Known:
    """What this process has found out about a rule set's positions, by its name; of one alone."""
    return Known()


def value_exactly(
    game: Game, move: Move | str | None = None, *, known: Known, gigabytes: float
) -> FairValue:
    """The value of a position, or of a move in it.

    Args:
        game: stays as it is.
        move: see `fair_value`.
        known: what former searches have found out.
        gigabytes: memory that the search may take.

    Raises:
        MemoryError: if that does not suffice.
    """
    memory = int(gigabytes * _GIB)
    found = fair_value(game, move, max_positions=2**62, memory=memory, known=known)
    if not found.is_exact:
        raise MemoryError(
            f"{game.rules.name} takes more than {gigabytes:g} GiB: a position with "
            f"{game.stock_size} cards in the stock is worth {found.low:.4f} to {found.high:.4f}; "
            "allow more (--gigabytes)"
        )
    return found


def regret_of(
    game: Game, moves: Iterable[Move | str], *, known: Known, gigabytes: float
) -> tuple[float, int]:
    """The regret of a game as it was played, and how many of its decisions cost something.

    Args:
        game: where it began; stays as it is. Without redeals.
        moves: to its end, or until the player gave up.
        known: see `value_exactly`.
        gigabytes: likewise.
    """
    game = game.copy()
    regret, costly = 0.0, 0
    value = value_exactly(game, known=known, gigabytes=gigabytes).low
    for move in moves:
        if value == 0:
            break
        after = game.copy()
        after.play(move)
        if after.stock_size < game.stock_size and game.stock_size >= 2:
            kept = value_exactly(game, move, known=known, gigabytes=gigabytes).low
            regret, costly = regret + value - kept, costly + (kept < value)
            value = value_exactly(after, known=known, gigabytes=gigabytes).low if kept else 0.0
        game = after
    lost = value - game.is_won
    return regret + lost, costly + (lost > 0)
