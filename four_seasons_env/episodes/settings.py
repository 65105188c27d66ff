"""The arguments of the environments, as the dataclasses that check them.

A constructor lists and documents its arguments, and passes them on to a dataclass.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from four_seasons_env.arguments import WrongType, check_choice, check_positive, check_share
from four_seasons_env.engine.deals import TEST, TRAIN_FROM, read_deals
from four_seasons_env.engine.kernel import GAME, compile_rules, public_copy
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.episodes import stepping
from four_seasons_env.game import MAX_MOVES, Game, check_game, legal_masks
from four_seasons_env.games import Games
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rewards import RewardFunction, check_reward
from four_seasons_env.rules import Rules, get_rules

ILLEGAL = ("stay", "raise")

RENDER_MODES = (None, "ansi", "rgb_array")
"""The render modes of all environments. Making an environment needs no pygame-ce, drawing a picture
does: Stable-Baselines3 always asks for `rgb_array`."""

AUTORESET = {
    AutoresetMode.SAME_STEP: stepping.SAME_STEP,
    AutoresetMode.NEXT_STEP: stepping.NEXT_STEP,
    AutoresetMode.DISABLED: stepping.DISABLED,
}
"""The number of each mode for the compiled functions."""

Deals = ArrayLike
"""A range, a list or a one-dimensional array-like of numbers of deals; see `read_deals`."""

Starts = Games | Sequence[Game]
"""Positions of one's own in which episodes begin."""


def as_deals(deals: Deals | None, allow_test_deals: bool) -> NDArray[np.int64]:
    """The deals that episodes draw from, as `stepping.Shared.choices` holds them.

    Raises:
        ValueError: see `read_deals`; if there are none, or for a test deal that is not allowed.
    """
    if deals is None:
        return np.zeros(0, np.int64)
    # A range stays three numbers, because it may name billions of deals: first, step and count. A
    # list is the range of its places in this array, (3, 1, count), followed by the deals.
    numbers = read_deals(deals)
    if isinstance(numbers, range) and numbers:
        ends = numbers[0], numbers[-1]
        # Python counts up to 2^63 - 1, and episodes select by numbers below 2^62.
        count = min((ends[1] - ends[0]) // numbers.step + 1, 2**62)
        choices = np.array([ends[0], numbers.step if count > 1 else 1, count], np.int64)
    else:
        ends = tuple(numbers)
        choices = np.concatenate([[stepping.RANGE, 1, len(numbers)], numbers]).astype(np.int64)
    if not ends:
        raise ValueError("deals must name one deal or more")
    _check_split(int(min(ends)), allow_test_deals)
    return choices


def _check_split(lowest: int, allow_test_deals: bool) -> None:
    """Refuse a test deal that is not allowed, by the lowest of some deals."""
    if lowest in TEST and not allow_test_deals:
        raise ValueError(
            f"deal {lowest} is a test deal (0-9,999), which is for reporting only: choose deals "
            "from 2^32, or set allow_test_deals=True"
        )


def as_starts(
    starts: Starts | None,
    rules: Rules,
    allow_test_deals: bool,
    share: float = 1.0,
    reshuffle: bool = True,
) -> stepping.OwnStarts:
    """The positions that episodes begin in, as `stepping.Shared.starts` holds them.

    Raises:
        ValueError: without a position, for one that is over, of other rules, or of a test deal that
            is not allowed; for a share that is not 0 to 1.
        TypeError: for anything that is not a list of games or a `Games`.
    """
    share = check_share("share", share)
    check_choice("reshuffle", reshuffle, (True, False))
    records = np.zeros(0, GAME)
    if starts is not None:
        records = _records_of(starts, rules)
        deals = records["deal"][records["deal"] >= 0]
        _check_split(int(deals.min(initial=TRAIN_FROM)), allow_test_deals)
        if reshuffle:
            # The true order is forgotten here, so whatever a seed does, it cannot come back.
            seeds = np.zeros(len(records), np.uint64)
            records = public_copy(records, compile_rules(rules), seeds)
    return stepping.OwnStarts(records, np.array([share]), np.array([reshuffle], np.bool_))


def _records_of(starts: Starts, rules: Rules) -> NDArray[np.void]:
    """The positions of starts, a new GAME array of shape (m,); see `as_starts`."""
    if isinstance(starts, Games):
        found, records = {starts.rules}, starts.records.copy()
    elif isinstance(starts, Sequence) and not isinstance(starts, str):
        found = {check_game(each).rules for each in starts}
        records = np.concatenate([np.zeros(0, GAME), *(each.record for each in starts)])
    else:
        hint = ": pass [game]" if isinstance(starts, Game) else ""
        hint = ": pass Games.from_records(records, rules)" if hasattr(starts, "dtype") else hint
        raise WrongType(
            f"starts must be a list of games or a Games, not {reprlib.repr(starts)}{hint}"
        )
    for other in found - {rules}:
        raise ValueError(f"the rules of starts must be {rules.name!r}, not {other.name!r}")
    if not len(records):
        raise ValueError("starts must hold one game or more; None is for deals alone")
    if not (goes_on := legal_masks(records, rules)[1]).all():
        raise ValueError(
            f"starts must be games that can continue, but starts[{goes_on.argmin()}] is over: "
            "leave it out"
        )
    return records


def arguments_in(names: dict[str, Any], *others: str) -> dict[str, Any]:
    """The arguments of a constructor by name, to pass them on.

    Args:
        names: its `locals()`, before it has other names.
        others: names to leave out.
    """
    return {name: names[name] for name in names.keys() - {"self", "__class__", *others}}


@dataclass(frozen=True)
class EnvSettings:
    """The arguments that all environments share, checked.

    A single environment is a batch of one game, which starts again only by its own `reset`. The
    constructors say what each argument means: `FourSeasonsEnv`, `FourSeasonsVectorEnv`.
    """

    num_envs: int = 1
    rules: str | Rules = "four-seasons"
    _: KW_ONLY
    reward: str | RewardFunction = "foundation"
    illegal: str = "stay"
    render_mode: str | None = None
    max_moves: int = MAX_MOVES
    reveal_deal: bool = True
    deals: Deals | None = None
    starts: Starts | None = None
    allow_test_deals: bool = False
    autoreset_mode: str | AutoresetMode = "SameStep"
    copy: bool = True
    num_threads: int | None = 1
    max_episode_steps: int | None = None

    @property
    def mode(self) -> AutoresetMode:
        """The autoreset mode.

        Raises:
            ValueError: for an unknown mode, with the nearest one.
        """
        given, known = self.autoreset_mode, tuple(mode.value for mode in AUTORESET)
        name = given.value if isinstance(given, AutoresetMode) else given
        return AutoresetMode(check_choice("autoreset_mode", name, known))

    def __post_init__(self) -> None:
        get_rules(self.rules)
        check_reward(self.reward)
        check_choice("illegal", self.illegal, ILLEGAL)
        check_choice("render_mode", self.render_mode, RENDER_MODES)
        for name in ("reveal_deal", "allow_test_deals", "copy"):
            check_choice(name, getattr(self, name), (True, False))
        check_positive("num_envs", self.num_envs, 2**31 - 1)
        check_positive("max_moves", self.max_moves)
        for name in ("num_threads", "max_episode_steps"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class MoveSettings(EnvSettings):
    """The arguments of the environments whose actions are moves; see `FourSeasonsVectorEnv`."""

    observation: str = "tops"
    mask: str = "legal"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("mask", self.mask, MASKS)
        check_choice("observation", self.observation, OBSERVATIONS)
