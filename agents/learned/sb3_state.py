"""Everything that the learning of a Stable-Baselines3 model depends on, in two files.

Weights, optimiser, counters, the games being played, and all random states. The files are read with
``weights_only=True`` and without pickle, so reading them runs no code.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.training import save_state

TENSORS, ARRAYS = "tensors.pt", "arrays.npz"
_COUNTERS = ("num_timesteps", "_n_updates")


def save_model(folder: Path, model: Any) -> None:
    """Write the state of a model.

    Args:
        folder: to write into.
        model: on a `FourSeasonsVecEnv`, between two rollouts.
    """
    kind, key, position, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    state = {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "rng": torch.get_rng_state(),
        "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy_rng": [kind, int(position), int(has_gauss), float(gauss)],
        "counters": {name: getattr(model, name) for name in _COUNTERS},
    }
    save_state(folder / TENSORS, state)
    arrays: dict[str, Any] = {
        **_prefixed("last_observations", _as_dict(model._last_obs)),
        "last_episode_starts": model._last_episode_starts,
        "numpy_key": key,
        **_prefixed("games", _games(model).venv.state()),
    }
    np.savez_compressed(folder / ARRAYS, **arrays)


def restore_model(folder: Path, model: Any) -> None:
    """Put a model that was made with the same settings and seed into a saved state."""
    state = torch.load(folder / TENSORS, weights_only=True, map_location=model.device)
    with np.load(folder / ARRAYS, allow_pickle=False) as file:
        arrays = dict(file)
    model.policy.load_state_dict(state["policy"])
    model.policy.optimizer.load_state_dict(state["optimizer"])
    for name in _COUNTERS:
        setattr(model, name, state["counters"][name])
    observations = _part(arrays, "last_observations")
    model._last_obs = observations.get(_ALONE, observations)
    model._last_episode_starts = arrays["last_episode_starts"]
    _games(model).venv.restore(_part(arrays, "games"))
    kind, *rest = state["numpy_rng"]
    np.random.set_state((kind, arrays["numpy_key"], *rest))  # noqa: NPY002
    torch.set_rng_state(state["rng"].cpu())
    if state["cuda_rng"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all([each.cpu() for each in state["cuda_rng"]])


def _games(model: Any) -> FourSeasonsVecEnv:
    env = model.get_env()
    assert isinstance(env, FourSeasonsVecEnv)
    return env


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
