"""The arguments of the environments, each a field of a dataclass that checks it.

The constructors take these fields as their arguments (`arguments.takes`).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import ArrayLike, NDArray

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.engine.deals import TEST, read_deals
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.episodes import stepping
from four_seasons_env.game import MAX_MOVES
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


def as_deals(deals: Deals | None, allow_test_deals: bool) -> NDArray[np.int64]:
    """The deals that episodes draw from, as `stepping.Buffers.choices` holds them.

    Raises:
        ValueError: see `read_deals`; if there are none, or for a test deal that is not allowed.
    """
    if deals is None:
        return np.zeros(0, np.int64)
    numbers = read_deals(deals)
    if isinstance(numbers, range) and numbers:  # never expanded: it may name billions of deals
        ends = numbers[0], numbers[-1]
        # Python counts up to 2^63 - 1, and episodes select by numbers below 2^62.
        count = min((ends[1] - ends[0]) // numbers.step + 1, 2**62)
        choices = np.array([ends[0], numbers.step if count > 1 else 1, count], np.int64)
    else:
        ends = tuple(numbers)
        choices = np.concatenate([[stepping.RANGE, 1, len(numbers)], numbers]).astype(np.int64)
    if not ends:
        raise ValueError("deals must name one deal or more")
    lowest = int(min(ends))
    if lowest in TEST and not allow_test_deals:
        raise ValueError(
            f"deal {lowest} is a test deal (0-9,999), which is for reporting only: choose deals "
            "from 2^32, or set allow_test_deals=True"
        )
    return choices


def check_autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Convert a mode or its value to an AutoresetMode: "NextStep".

    Raises:
        ValueError: for an unknown mode, with the nearest one.
    """
    value = mode.value if isinstance(mode, AutoresetMode) else mode
    return AutoresetMode(check_choice("autoreset_mode", value, tuple(m.value for m in AUTORESET)))


@dataclass(frozen=True)
class GameSettings:
    """The arguments that all environments share.

    Args:
        rules: a rule set's name or a `Rules`.
        reward: `"foundation"`, `"win"` or a callable (`four_seasons_env.rewards`).
        render_mode: `None`, `"ansi"` (`render` returns text) or `"rgb_array"` (a picture, which
            needs the extra `render`). `gym.make` also accepts `"human"`: Gymnasium then shows the
            pictures in a window.
        max_moves: moves until an episode is truncated. The default leaves room: the longest of
            about 300 known solutions takes 320 moves, the average one 182. `spec.max_episode_steps`
            has the same value; Gymnasium's own `max_episode_steps` can only shorten it.
        reveal_deal: whether infos have `deal`.
        deals: numbers of deals to draw from for each episode, by the seed: a range, a list or a
            one-dimensional array-like, such as a pandas Series; None for all training deals. Repeat
            a number to draw it more often; `set_deals` replaces them between episodes. Test deals
            are refused unless `allow_test_deals=True`.
        allow_test_deals: whether `deals` may hold test deals.
    """

    rules: str | Rules = "four-seasons"
    _: KW_ONLY
    reward: str | RewardFunction = "foundation"
    render_mode: str | None = None
    max_moves: int = MAX_MOVES
    reveal_deal: bool = True
    deals: Deals | None = None
    allow_test_deals: bool = False

    def __post_init__(self) -> None:
        get_rules(self.rules)
        check_reward(self.reward)
        check_choice("render_mode", self.render_mode, RENDER_MODES)
        check_positive("max_moves", self.max_moves)
        for name in ("reveal_deal", "allow_test_deals"):
            check_choice(name, getattr(self, name), (True, False))


@dataclass(frozen=True)
class EnvSettings(GameSettings):
    """The arguments of the environments whose actions are numbers.

    Args:
        illegal: `"stay"` (an illegal action leaves the position as it is and costs 0.01) or
            `"raise"` (an `IllegalMove`, nothing changed).
    """

    _: KW_ONLY
    illegal: str = "stay"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("illegal", self.illegal, ILLEGAL)


@dataclass(frozen=True)
class MoveSettings(EnvSettings):
    """The arguments of the environments whose actions are moves.

    Args:
        observation: `"tops"`, `"cards"` or `"places"` (`four_seasons_env.observations`).
        mask: `"legal"`: every legal move. `"distinct"`: without moves that only rename spaces.
            `"no_repeats"`: also without moves back to a position that was seen since the last move
            that cannot be undone; see `FourSeasonsEnv`. A move that the mask leaves out counts as
            illegal.
    """

    observation: str = "tops"
    _: KW_ONLY
    mask: str = "legal"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("mask", self.mask, MASKS)
        check_choice("observation", self.observation, OBSERVATIONS)


@dataclass(frozen=True)
class VectorSettings:
    """The arguments that only vector environments have; the defaults are those of one game.

    Args:
        num_envs: number of games.
        autoreset_mode: when the next episode starts: `"SameStep"`: in the step that ends one;
            `"NextStep"`: the step after an episode's end deals the game again, whatever its action,
            with reward 0; `"Disabled"`: games that have ended are reset by
            `reset(options={"reset_mask": terminated | truncated})`. Or a
            `gymnasium.vector.AutoresetMode`.
        copy: return copies. With False, observations, rewards, masks and infos are views of buffers
            that the next step overwrites: somewhat faster, for callers that copy anyway. The rows
            of `final_obs` and `final_info` for games that have not ended mean nothing then.
        num_threads: threads that share the games; the results do not depend on it. None: as many as
            make this batch faster, and no more than the cores that this process may use, by its
            affinity and its container's quota. A forked process starts its own threads.
        max_episode_steps: as `max_moves`, by Gymnasium's name; the smaller of the two counts.
    """

    num_envs: int = 1
    _: KW_ONLY
    autoreset_mode: str | AutoresetMode = "SameStep"
    copy: bool = True
    num_threads: int | None = 1
    max_episode_steps: int | None = None

    def __post_init__(self) -> None:
        check_autoreset_mode(self.autoreset_mode)
        check_choice("copy", self.copy, (True, False))
        check_positive("num_envs", self.num_envs, 2**31 - 1)
        for name in ("num_threads", "max_episode_steps"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))


@dataclass(frozen=True)
class MoveVectorSettings(MoveSettings, VectorSettings):
    """The arguments of `FourSeasonsVectorEnv`."""

    def __post_init__(self) -> None:
        MoveSettings.__post_init__(self)
        VectorSettings.__post_init__(self)
