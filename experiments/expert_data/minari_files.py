"""Expert data as a Minari dataset.

Minari's own writer does not compress, and a game's observations are mostly zeros. This module
writes the same HDF5 layout with compression; Minari reads it like its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import h5py
import minari
import numpy as np
import pyarrow.parquet as pq
from minari.serialization import serialize_space
from numpy.typing import NDArray

from four_seasons_env.agents.files import whole_folder
from four_seasons_env.experiments.expert_data.columns import COLUMNS


def write_minari(
    out: Path, name: str, parts: Sequence[Path], env: gym.Env[Any, Any], about: dict[str, Any]
) -> Path:
    """Write the dataset, and return its folder for `minari.MinariDataset`.

    With the environment variable `MINARI_DATASETS_PATH` set to ``out``, it is
    `minari.load_dataset(name)`.

    Args:
        out: the folder of datasets.
        name: such as "four-seasons/planner-v0".
        parts: Parquet files, in the order of the deals.
        env: the environment, as `gymnasium.make` returns it.
        about: how the data were made; its `agent` and `version` go into the metadata.
    """
    space = env.observation_space
    assert env.spec is not None and isinstance(space, gym.spaces.Dict)
    steps = games = 0
    with whole_folder(out / name / "data") as folder:
        with h5py.File(folder / "main_data.hdf5", "w", libver="latest") as file:
            for part in parts:
                for game in _games(part):
                    _write_game(file.create_group(f"episode_{games}"), games, game, space)
                    steps += len(game["deal"])
                    games += 1
        size = (folder / "main_data.hdf5").stat().st_size / 1e6
        metadata = {
            "total_episodes": games,
            "total_steps": steps,
            "data_format": "hdf5",
            "jpeg_encoding": False,
            "observation_space": serialize_space(space),
            "action_space": serialize_space(env.action_space),
            "env_spec": env.spec.to_json(),
            "dataset_id": name,
            "algorithm_name": about["agent"],
            "author": ["the four-seasons-env developers"],
            "minari_version": minari.__version__,
            "requirements": [f"four-seasons-env=={about['version']}"],
            "dataset_size": round(size, 1),
            "made": about,
        }
        text = json.dumps(metadata, indent=2)
        (folder / "metadata.json").write_text(text + "\n")
    return out / name / "data"


def _games(part: Path) -> Iterator[dict[str, NDArray[Any]]]:
    """The games of a Parquet file: by the name of a column its values, without their shape."""
    table = pq.read_table(part)
    starts = np.flatnonzero(table["step"].to_numpy() == 0)
    for first, count in zip(starts, np.diff([*starts, len(table)]), strict=True):
        game = {}
        for column in COLUMNS:
            values = table[column.name].slice(first, count).combine_chunks()
            for _ in column.shape:
                values = values.flatten()
            game[column.name] = values.to_numpy(zero_copy_only=False)
        yield game


def _write_game(
    group: h5py.Group, number: int, game: dict[str, NDArray[Any]], space: gym.spaces.Dict
) -> None:
    """Write a game; after the last action come zeros, as the environment shows at the end."""
    count, one = len(game["deal"]), space["observation"]
    assert one.shape is not None
    masks = np.zeros((count + 1, one.shape[0]), np.int8)
    masks[:count] = game["action_mask"].reshape(count, -1)
    observations = np.zeros((count + 1, *one.shape), one.dtype)
    observations[masks == 1] = game["observation"].reshape(-1, one.shape[1])
    values = np.full(masks.shape, np.nan, np.float32)
    if len(game["value"]):
        values[masks == 1] = game["value"]
    arrays = {
        "observations/observation": observations,
        "observations/action_mask": masks,
        "actions": game["action"].astype(np.int64),
        "rewards": game["reward"],
        "terminations": game["terminated"],
        "truncations": game["truncated"],
        "infos/value": values,
        "infos/own": np.append(game["own"], False),
    }
    if game["verdict"][0] is not None:
        arrays["infos/verdict"] = np.append(game["verdict"], "").astype("S")
    for name, array in arrays.items():
        group.create_dataset(name, data=array, chunks=array.shape, compression=9, shuffle=True)
    group.attrs.update({"id": number, "total_steps": count, "options/deal": game["deal"][0]})
    group.attrs["won"] = game["won"][0]
