"""Checkpoints: all that a training goes on from, so that it goes on as if never stopped.

That is: weights (the target network's too), optimiser, counters, replay buffer, the games being
played, all random states, and what the watcher of the run has in hand. A checkpoint is taken
between two rollouts, written to a new folder, and renamed. Reading one runs no code: tensors are
loaded with ``weights_only=True``, arrays without pickle, the rest is JSON.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.replay import MaskableReplayBuffer
from four_seasons_env.agents.learned.sb3_internals import (
    LearningState,
    learning_state,
    restore_learning_state,
)
from four_seasons_env.agents.schemas import Count, Number
from four_seasons_env.experiments.training.average import WeightAverage
from four_seasons_env.experiments.training.checkpoint_folder import (
    CheckpointError,
    State,
    new_checkpoint,
    read_state,
)

_TENSORS, _ARRAYS = "tensors.pt", "arrays.npz"


@dataclass(kw_only=True)
class ModelState(State):
    """What of a model of Stable-Baselines3 is neither tensor nor array."""

    counters: dict[str, Number]
    python_rng: tuple[int, list[Count], float | None]
    numpy_rng: tuple[str, Count, Count, float]
    exploration_rng: dict[str, Any] | None
    episodes: list[dict[str, Any]]
    successes: list[bool]


def save_checkpoint(
    folder: Path, model: Any, average: WeightAverage, watcher: dict[str, Any]
) -> None:
    """Write a checkpoint; the one before gives way to it.

    Args:
        folder: where it is to lie.
        model: on a `FourSeasonsVecEnv`, between two rollouts.
        average: of the model's weights.
        watcher: what else is to be remembered, as JSON has it.
    """
    tensors = {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "average": average.state(),
        "rng": torch.get_rng_state(),
        "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    learning = learning_state(model)
    kind, key, position, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    arrays: dict[str, Any] = {
        **_prefixed("last_observations", _as_dict(learning.observations)),
        "last_episode_starts": learning.episode_starts,
        "numpy_key": key,
        **_prefixed("games", _games(model).venv.state()),
        **_prefixed("replay", model.replay_buffer.state() if _replays(model) else {}),
    }
    version, words, gauss_next = random.getstate()
    state = ModelState(
        counters=learning.counters,
        python_rng=(version, list(words), gauss_next),
        numpy_rng=(kind, int(position), int(has_gauss), float(gauss)),
        exploration_rng=model.exploration_rng.bit_generator.state if _replays(model) else None,
        episodes=learning.episodes,
        successes=learning.successes,
        watcher=watcher,
    )
    with new_checkpoint(folder, state) as new:
        written = io.BytesIO()  # on a full disk, torch says nothing that people understand
        torch.save(tensors, written)
        (new / _TENSORS).write_bytes(written.getbuffer())
        np.savez_compressed(new / _ARRAYS, **arrays)


def restore_checkpoint(folder: Path, model: Any, average: WeightAverage) -> dict[str, Any]:
    """Put a fresh model, made with the same settings and seed, where a checkpoint was taken.

    Returns:
        The watcher's part.

    Raises:
        CheckpointError: if the checkpoint is damaged or of other settings.
    """
    try:
        state = read_state(folder, ModelState)
        tensors = torch.load(folder / _TENSORS, weights_only=True, map_location=model.device)
        with np.load(folder / _ARRAYS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        _restore(model, tensors, arrays, state)
        average.restore(tensors["average"])
    except Exception as error:  # archives that someone has edited can raise anything
        raise CheckpointError(f"{folder} cannot be resumed from: {error}") from None
    return state.watcher


def _restore(
    model: Any,
    tensors: dict[str, Any],
    arrays: dict[str, NDArray[Any]],
    state: ModelState,
) -> None:
    model.policy.load_state_dict(tensors["policy"])
    model.policy.optimizer.load_state_dict(tensors["optimizer"])
    observations = _part(arrays, "last_observations")
    learning = LearningState(
        observations.get(_ALONE, observations),
        arrays["last_episode_starts"],
        state.counters,
        state.episodes,
        state.successes,
    )
    restore_learning_state(model, learning)
    _games(model).venv.restore(_part(arrays, "games"))
    if _replays(model):
        model.replay_buffer.restore(_part(arrays, "replay"))
        model.exploration_rng.bit_generator.state = state.exploration_rng
    version, words, gauss_next = state.python_rng
    random.setstate((version, tuple(words), gauss_next))
    kind, position, has_gauss, gauss = state.numpy_rng
    np.random.set_state((kind, arrays["numpy_key"], position, has_gauss, gauss))  # noqa: NPY002
    torch.set_rng_state(tensors["rng"].cpu())
    if tensors["cuda_rng"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([each.cpu() for each in tensors["cuda_rng"]])


def _games(model: Any) -> FourSeasonsVecEnv:
    env = model.get_env()
    assert isinstance(env, FourSeasonsVecEnv)
    return env


def _replays(model: Any) -> bool:
    return isinstance(getattr(model, "replay_buffer", None), MaskableReplayBuffer)


_ALONE = "alone"


def _as_dict(observations: Any) -> dict[str, NDArray[Any]]:
    return observations if isinstance(observations, dict) else {_ALONE: observations}


def _prefixed(prefix: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _part(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    start = f"{prefix}."
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }
