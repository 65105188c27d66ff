"""Tables on the terminal and as Markdown."""

from __future__ import annotations

import re

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; on a narrow terminal, names wrap and numbers do not."""
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
"""Characters that end a cell, or start a formula, emphasis or HTML."""


def _escaped(cell: str) -> str:
    """A cell of a Markdown table."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", cell)
