"""Tables as CSV files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.files import write_atomically

DATA = Path(__file__).parents[1] / "data"
"""Folder of the tables that commands show."""

TEXTS = (
    *("agent", "play", "rules", "kind", "mask", "base"),
    *("status", "observation", "version", "commit"),
)
"""Columns of text. An agent may be called `007` or `nan`."""
WHOLE = ("train_seed", "seeds", "deals")
"""Columns of whole numbers that may be missing. As floats, they would lose digits."""
_NEVER_MISSING = ("agent", "rules", "base")
"""Columns of text in which an empty cell is an empty text, not a missing value."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a table from `write_csv`: names stay text, empty numbers are missing values.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it ends within a row or is not a table.
    """
    # Tables are written whole, but a copy may be cut. Without its last line break, the last number
    # could lack digits and still be read.
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), os.SEEK_END)
        if file.read() != b"\n":
            raise ValueError(f"{path} is cut short")
    try:
        columns = pd.read_csv(path, nrows=0).columns
        texts: dict[str, Any] = {name: str for name in columns if name in TEXTS}
        return pd.read_csv(
            path,
            dtype=texts | _whole(columns),
            keep_default_na=False,
            na_values={name: [""] for name in columns if name not in _NEVER_MISSING},
        )
    except ValueError as error:
        raise ValueError(f"{path} is not a CSV table: {error}") from None


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, atomically."""
    text = table.astype(_whole(table.columns)).to_csv(index=False, float_format="%.6g")
    write_atomically(path, text.encode())


def _whole(columns: pd.Index) -> dict[str, str]:
    """The type of each column of `WHOLE` that a table has."""
    return {name: "Int64" for name in columns if name in WHOLE}
