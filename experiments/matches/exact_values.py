"""The cost of decisions, by the exact values of fair play.

A position in which the next card is turned has an exact chance of winning; a move in it has another
that is no larger. The differences, summed over a game, are the game's regret. They leave out the
luck of the cards, and their mean over games is how much less often the player wins than the best
fair play.
"""

from __future__ import annotations

from collections.abc import Iterable

from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.solver import FairValue, Known, fair_value

_GIB = 2**30


def value_exactly(
    game: Game, move: Move | str | None = None, *, known: Known, gigabytes: float
) -> FairValue:
    """The value of a position, or of a move in it.

    Args:
        game: the position; it is not changed.
        move: see `fair_value`.
        known: the results of earlier searches.
        gigabytes: memory that the search may take.

    Raises:
        MemoryError: if the search needs more memory.
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
    """The regret of a game, and the number of decisions that cost something.

    Args:
        game: its first position, without redeals; it is not changed.
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
            rest = value_exactly(game, move, known=known, gigabytes=gigabytes).low
            regret, costly = regret + value - rest, costly + (rest < value)
            value = value_exactly(after, known=known, gigabytes=gigabytes).low if rest else 0.0
        game = after
    lost = value - game.is_won
    return regret + lost, costly + (lost > 0)
