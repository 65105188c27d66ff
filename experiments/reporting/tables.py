"""Tables on the terminal and as Markdown."""

from __future__ import annotations

import os
import re
import sys

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

NAMES = ("agent", "play", "rules", "what", "method")
"""Columns of text, which wrap where there is no room. The first column of a table wraps, too."""
_NAME = 13
"""Characters of a column of text, at least, or all that it needs."""
_LEAVE_FIRST = ("method", "seeds")
"""Columns that are left out before others; then the last column, and so on."""
_IN_FILE = 200
"""Characters of a line where the output is no terminal."""


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text. Names wrap, numbers never do; columns without room are left out."""
    in_file = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(width=_IN_FILE if in_file else None)
    widths = _fit(cells, console.width)
    table = Table(title=escape(title))
    for column, width in widths.items():
        table.add_column(
            escape(column),
            justify="left" if _is_text(cells, column) else "right",
            overflow="fold",
            width=width,
        )
    for row in cells[list(widths)].itertuples(index=False):
        table.add_row(*map(escape, row))
    console.print(table)
    if left_out := [str(name) for name in cells if name not in widths]:
        console.print(f"no room for {', '.join(left_out)}: widen the terminal", markup=False)


def _is_text(cells: pd.DataFrame, column: str) -> bool:
    return column in NAMES or column == cells.columns[0]


def _fit(cells: pd.DataFrame, room: int) -> dict[str, int]:
    """The columns that fit into a line, in their order, and their widths in characters."""
    # A header wraps between its words.
    full = {str(name): max(map(len, [*str(name).split(), *cells[name], ""])) for name in cells}
    widths = {
        name: min(full[name], _NAME) if _is_text(cells, name) else full[name] for name in full
    }
    others = [name for name in widths if name not in ("agent", cells.columns[0])]
    first = [name for name in _LEAVE_FIRST if name in others]
    for name in [*first, *(each for each in reversed(others) if each not in first)]:
        if _line(widths) > room:
            del widths[name]
    for name, width in widths.items():
        widths[name] += min(full[name] - width, max(room - _line(widths), 0))
    return widths


def _line(widths: dict[str, int]) -> int:
    """Characters of a line: each column has a space on both sides and a rule on its left."""
    return sum(widths.values()) + 3 * len(widths) + 1


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
