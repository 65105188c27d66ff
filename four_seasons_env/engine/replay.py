"""Replay a game from its moves, compiled: how far they are legal, and how the game ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import legal, play
from four_seasons_env.rules import Rules


def play_through(
    games: NDArray[Any], rules: Rules, moves: Sequence[int] | NDArray[np.int64]
) -> tuple[int, bool]:
    """Play the moves of a game, up to the first that is not legal.

    Args:
        games: GAME (1,), the position to start from; afterwards the position that is reached.
        rules: the rule set.
        moves: numbers of its action space.

    Returns:
        How many moves were played, and whether the game continues after them.
    """
    words, masks = kernel.new_masks(1, rules)
    numbers = np.asarray(moves, np.int64)
    played, goes_on = _play_through(games, kernel.compile_rules(rules), numbers, words, masks)
    return int(played), bool(goes_on)


@jit
def _play_through(games, rules, moves, words, masks):
    """`play_through` with masks of `new_masks(1, ...)`."""
    goes_on = legal(games[0], rules[0], False, words[0])
    for i in range(len(moves)):
        if not masks[0, moves[i]]:
            return i, goes_on
        play(games[0], rules[0], moves[i])
        goes_on = legal(games[0], rules[0], False, words[0])
    return len(moves), goes_on
