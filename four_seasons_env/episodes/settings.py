"""`EnvSettings`: the arguments of the environments, checked once.

All four constructors, of single and vector environments whose actions are moves or positions, make
one of these. The batches and the environments read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.engine.deals import TEST, check_deal
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rewards import RewardFunction, check_reward
from four_seasons_env.rules import Rules

MASKS = ("legal", "distinct")
ILLEGAL = ("stay", "raise")

MAX_MOVES = 500
"""Default length of an episode: the longest of some 300 known solutions took 320 moves."""


def check_deals(deals: Iterable[int], allow_test_deals: bool) -> NDArray[np.int64]:
    """The deals that episodes draw from, as an int64 array.

    Raises:
        ValueError: if they are not numbers of deals, if there are none, or for a test deal that is
            not allowed.
    """
    if isinstance(deals, (str, bytes)) or not isinstance(deals, Iterable):
        raise ValueError(f"deals are numbers, such as range(2**32, 2**32 + 100), not {deals!r}")
    numbers = [check_deal(deal) for deal in deals]
    if not numbers:
        raise ValueError("deals must name one deal or more")
    test = None if allow_test_deals else next((deal for deal in numbers if deal in TEST), None)
    if test is not None:
        raise ValueError(
            f"deal {test} is a test deal (0-9,999), which is for reporting only: choose deals from "
            "2^32, or set allow_test_deals=True"
        )
    return np.array(numbers, np.int64)


@dataclass(frozen=True, kw_only=True)
class EnvSettings:
    """The arguments that all environments share.

    Raises:
        ValueError: for an argument that is unknown or out of range, with the nearest valid one.
    """

    rules: Rules
    reward: str | RewardFunction
    illegal: str
    max_moves: int
    render_mode: str | None = None
    reveal_deal: bool = True
    deals: Iterable[int] | None = None
    allow_test_deals: bool = False
    num_envs: int = 1
    """This field and those below are for vector environments."""
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP
    copy: bool = True
    num_threads: int = 1
    max_episode_steps: int | None = None

    def __post_init__(self) -> None:
        for name in ("num_envs", "max_moves", "num_threads"):
            check_positive(name, getattr(self, name))
        if self.max_episode_steps is not None:
            check_positive("max_episode_steps", self.max_episode_steps)
        check_choice("illegal", self.illegal, ILLEGAL)
        check_reward(self.reward)
        for name in ("reveal_deal", "allow_test_deals", "copy"):
            check_choice(name, getattr(self, name), (True, False))

    @property
    def limit(self) -> int:
        """Moves until an episode is truncated: the smaller of the two limits."""
        return int(min(self.max_moves, self.max_episode_steps or self.max_moves))


@dataclass(frozen=True, kw_only=True)
class MoveSettings(EnvSettings):
    """The arguments of the environments whose actions are moves."""

    observation: str
    mask: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("mask", self.mask, MASKS)
        check_choice("observation", self.observation, OBSERVATIONS)
