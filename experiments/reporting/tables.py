"""Tables as CSV files, on the terminal, and as Markdown."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.table import Table

from agents.files import write_atomically


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, as a whole or not at all."""
    text = io.StringIO()
    table.to_csv(text, index=False, float_format="%.6g")
    write_atomically(path, text.getvalue().encode())


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; names are folded where the terminal is narrow, numbers never."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=200)
    table = Table(title=title)
    for i, column in enumerate(cells.columns):
        is_name = column in ("agent", "play", "rules", "what") or i == 0
        table.add_column(
            column,
            justify="left" if is_name else "right",
            no_wrap=not is_name,
            overflow="fold" if is_name else "ellipsis",
        )
    for row in cells.itertuples(index=False):
        table.add_row(*row)
    console.print(table)


def as_markdown(cells: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    lines = [list(cells.columns), ["---"] * len(cells.columns), *cells.to_numpy().tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
