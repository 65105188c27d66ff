"""When a game's next episode starts, and which games a reset is for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from four_seasons_env.arguments import nearest
from four_seasons_env.engine.deals import check_seed
from four_seasons_env.episodes import stepping

COMPILED = {
    AutoresetMode.SAME_STEP: stepping.SAME_STEP,
    AutoresetMode.NEXT_STEP: stepping.NEXT_STEP,
    AutoresetMode.DISABLED: stepping.DISABLED,
}
"""Each mode's number for the compiled functions."""

RESET_MASK = "reset_mask"
"""The option of a reset that names the games that it is for."""


def check_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """The mode of a mode, a value or a name: `"NextStep"`, `"NEXT_STEP"`, `"next_step"`.

    Raises:
        ValueError: for an unknown mode, with the nearest one.
    """
    if isinstance(mode, AutoresetMode):
        return mode
    modes = {each.value.lower(): each for each in COMPILED}
    word = str(mode).lower().replace("_", "")
    if word not in modes:
        values = [each.value for each in COMPILED]
        raise ValueError(f"unknown autoreset_mode {mode!r}: {nearest(str(mode), values)}")
    return modes[word]


def check_reset_mask(mask: Any, count: int) -> NDArray[np.bool_]:
    """The games that a reset is for, as a bool array of shape (n,).

    Raises:
        ValueError: if the mask has another shape or dtype, or selects no game.
    """
    chosen = np.asarray(mask)
    if chosen.dtype != np.bool_ or chosen.shape != (count,):
        raise ValueError(
            f"reset_mask must be a bool array of shape ({count},), not {chosen.dtype} of shape "
            f"{chosen.shape}"
        )
    if not chosen.any():
        raise ValueError("reset_mask must name one game or more")
    return chosen


def read_seeds(seed: Any, count: int) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The seed of each game, and which have one.

    Args:
        seed: a number for the first game, with consecutive numbers for the others; a sequence with
            a number or None for each game; or None.
        count: number of games.

    Raises:
        ValueError: for a sequence of another length, or an invalid seed.
    """
    seeds = np.zeros(count, np.uint64)
    given = np.zeros(count, np.bool_)
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str):
        if len(seed) != count:
            raise ValueError(f"{count} games take as many seeds, not {len(seed)}")
        for i, each in enumerate(seed):
            if each is not None:
                seeds[i] = check_seed(each)
                given[i] = True
    elif seed is not None:
        seeds[:] = np.uint64(check_seed(seed)) + np.arange(count, dtype=np.uint64)
        given[:] = True
    return seeds, given
