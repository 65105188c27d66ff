"""The folder of a checkpoint: archives, and `state.json`, which has their SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from four_seasons_env.agents.files import whole_folder
from four_seasons_env.agents.schemas import Digest, read_json
from four_seasons_env.experiments.training.run_folder import write_json

STATE = "state.json"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used."""


@dataclass(kw_only=True)
class State:
    """The schema of `state.json`; learners add what they need."""

    watcher: dict[str, Any]
    """The part of the run's monitor."""
    files: dict[str, Digest] = field(default_factory=dict)
    """The SHA-256 of each archive; set by `new_checkpoint`."""


S = TypeVar("S", bound=State)


@contextmanager
def new_checkpoint(folder: Path, state: State) -> Iterator[Path]:
    """A folder to write archives into; at the end of the block it takes the place of the last one.

    Args:
        folder: of the checkpoint.
        state: is written beside the archives.
    """
    with whole_folder(folder) as new:
        yield new
        state.files = {each.name: _sha256(each) for each in new.iterdir()}
        write_json(new / STATE, asdict(state))


def read_state(folder: Path, schema: type[S]) -> S:
    """The state of a checkpoint whose archives are as they were written.

    Raises:
        ValueError: naming the file that is damaged.
        FileNotFoundError: if a file is missing.
    """
    state = read_json(folder / STATE, schema)
    for name, digest in state.files.items():
        if _sha256(folder / Path(name).name) != digest:
            raise ValueError(f"{folder / name} is damaged: it is not what was written")
    return state


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
