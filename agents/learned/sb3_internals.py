"""What this project uses of Stable-Baselines3 beyond its public interface, in one place.

Checkpoints need what `learn` carries from one rollout to the next, and some classes override hooks
that Stable-Baselines3 calls. If a release renames any of these, an error names it: nothing is
skipped silently.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import stable_baselines3
from numpy.typing import NDArray

_COUNTERS = ("num_timesteps", "_n_updates", "_episode_num")


class InternalsError(AttributeError):
    """The installed Stable-Baselines3 lacks a name that this project relies on."""


def require(owner: Any, *names: str) -> None:
    """Check that a class or an object of Stable-Baselines3 has these attributes.

    Raises:
        InternalsError: naming the first that is missing.
    """
    for name in names:
        if not hasattr(owner, name):
            kind = owner if isinstance(owner, type) else type(owner)
            raise InternalsError(
                f"{kind.__name__} has no {name!r} in Stable-Baselines3 "
                f"{stable_baselines3.__version__}: install the version in constraints.txt"
            )


class LearningState(NamedTuple):
    """What `learn` carries from one rollout to the next, apart from weights."""

    observations: Any  # the last ones: an array, or a dictionary of arrays
    episode_starts: NDArray[Any]  # bool (n,)
    counters: dict[str, float]
    episodes: list[Any]  # of the running statistics
    successes: list[bool]


def learning_state(model: Any) -> LearningState:
    """The state of a model between two rollouts.

    Raises:
        InternalsError: if Stable-Baselines3 has renamed a part of it.
    """
    require(model, "_last_obs", "_last_episode_starts", *_COUNTERS)
    return LearningState(
        model._last_obs,
        model._last_episode_starts,
        {name: getattr(model, name) for name in _COUNTERS},
        list(model.ep_info_buffer),
        [bool(each) for each in model.ep_success_buffer],
    )


def restore_learning_state(model: Any, state: LearningState) -> None:
    """Set a fresh model to a state.

    Raises:
        InternalsError: if Stable-Baselines3 has renamed a part of it.
        KeyError: for a counter that the state lacks.
    """
    require(model, "_last_obs", "_last_episode_starts", "_stats_window_size", *_COUNTERS)
    for name in _COUNTERS:
        setattr(model, name, state.counters[name])
    model._last_obs = state.observations
    model._last_episode_starts = state.episode_starts
    model.ep_info_buffer = deque(state.episodes, maxlen=model._stats_window_size)
    model.ep_success_buffer = deque(state.successes, maxlen=model._stats_window_size)


def schedule_by(model: Any, remaining: Callable[[], float]) -> None:
    """Let the learning rate fall with a clock instead of the number of steps.

    Args:
        model: of Stable-Baselines3.
        remaining: returns the share of the run that remains, 1 to 0.

    Raises:
        InternalsError: if Stable-Baselines3 has renamed the schedule.
    """
    require(model, "lr_schedule")
    schedule = model.lr_schedule
    model.lr_schedule = lambda _: schedule(remaining())
