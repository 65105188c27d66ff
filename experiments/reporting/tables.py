"""Tables as CSV files, on the terminal, and as Markdown."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from four_seasons_env.files import write_atomically

TEXTS = (
    *("agent", "play", "rules", "kind", "base", "status"),
    *("observation", "which", "digest"),
)
"""Columns of text, even where it looks like a number: an agent may be called `007` or `nan`."""
_NEVER_MISSING = ("agent", "rules", "base")
"""Of those, columns in which an empty cell is an empty text."""


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `write_csv` has written: names stay text, empty numbers are missing.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it ends within a row or is no table.
    """
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), os.SEEK_END)
        if file.read() != b"\n":
            raise ValueError(f"{path} is cut short")
    try:
        return _read_csv(path)
    except ValueError as error:
        raise ValueError(f"{path} is no table: {error}") from None


def _read_csv(path: Path) -> pd.DataFrame:
    columns = pd.read_csv(path, nrows=0).columns
    return pd.read_csv(
        path,
        dtype={name: str for name in columns if name in TEXTS},
        keep_default_na=False,
        na_values={name: [""] for name in columns if name not in _NEVER_MISSING},
    )


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, atomically."""
    write_atomically(path, table.to_csv(index=False, float_format="%.6g").encode())


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; on a narrow terminal, names are wrapped, but not numbers."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    table = Table(title=escape(title))
    for i, column in enumerate(cells.columns):
        is_name = column in ("agent", "play", "rules", "what") or i == 0
        table.add_column(
            escape(column),
            justify="left" if is_name else "right",
            no_wrap=not is_name,
            overflow="fold" if is_name else "ellipsis",
        )
    for row in cells.itertuples(index=False):
        table.add_row(*map(escape, row))
    console.print(table)


def as_markdown(cells: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    texts = [[_escaped(cell) for cell in line] for line in cells.to_numpy().tolist()]
    lines = [[_escaped(name) for name in cells.columns], ["---"] * len(cells.columns), *texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_SPECIAL = re.compile(r"[\\|$*]|\b_\B|\B_\b|<(?=[A-Za-z/!?])")
"""Characters that would end a cell, or start a formula, emphasis or HTML."""


def _escaped(cell: str) -> str:
    """A cell of a Markdown table."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", cell)
