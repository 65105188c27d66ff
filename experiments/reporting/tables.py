"""Tables on the terminal, as Markdown and in LaTeX."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from four_seasons_env.experiments.reporting.cells import ADJUSTED

NAMES = ("agent", "play", "rules", "what", "method", "observation")
"""Columns of text, which wrap where there is no room. The first column of a table wraps, too."""
_NAME = 13
"""Minimum width of a column of text that needs as much."""
_STAY = (
    *("rules", "agent", "games", "threads", "observation", "won % [95%]", ADJUSTED),
    *("winnable %", "moves per second", "verified", "won"),
)
"""Columns that stay, as does the first; others get the room that is left, in their order."""
_LAST = ("play", "seeds", "method")
"""Columns that get room after all others. Where agents play in two ways, `play` stays."""
_IN_FILE = 10_000
"""Characters of a line where the output is not a terminal: every column has room."""


def print_table(cells: pd.DataFrame, title: str, saved: Path | None = None) -> None:
    """Print a table of text. Names wrap, numbers never do; columns without room are left out.

    Args:
        cells: the table.
        title: its title.
        saved: a file with all columns.
    """
    in_file = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = Console(width=_IN_FILE if in_file else None)
    widths = _fit(cells, console.width)
    table = Table(title=escape(title), caption_justify="left")
    for column, width in widths.items():
        table.add_column(
            escape(column),
            justify="left" if _is_text(cells, column) else "right",
            overflow="fold",
            width=width,
        )
    for row in cells[list(widths)].itertuples(index=False):
        table.add_row(*map(escape, row))
    if left_out := [str(name) for name in cells if name not in widths]:
        where = f"see {saved}" if saved else "widen the terminal"
        table.caption = escape(f"no room for {', '.join(left_out)}: {where}")
    console.print(table)


def _is_text(cells: pd.DataFrame, column: str) -> bool:
    return column in NAMES or column == cells.columns[0]


def _fit(cells: pd.DataFrame, room: int) -> dict[str, int | None]:
    """The columns that fit into a line, in their order. A number needs all of its width."""
    # A header wraps between its words.
    full = {str(name): max(map(len, [*str(name).split(), *cells[name], ""])) for name in cells}
    least = {name: min(full[name], _NAME) if _is_text(cells, name) else full[name] for name in full}
    chosen = [name for name in full if name in _STAY or name == cells.columns[0]]
    if "play" in full and cells.duplicated([name for name in chosen if name in NAMES]).any():
        chosen.append("play")
    others = [name for name in full if name not in (*chosen, *_LAST)]
    for name in [*others, *(name for name in _LAST if name in full and name not in chosen)]:
        # A column has a space on both sides and a rule on its left.
        if sum(least[each] + 3 for each in [*chosen, name]) < room:
            chosen.append(name)
    return {name: None if _is_text(cells, name) else full[name] for name in full if name in chosen}


def as_markdown(cells: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    texts = [[_escaped(cell) for cell in line] for line in cells.to_numpy().tolist()]
    lines = [[_escaped(name) for name in cells.columns], ["---"] * len(cells.columns), *texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_latex(cells: pd.DataFrame) -> str:
    """A table of text in LaTeX, for the package booktabs."""
    names, *rows = (
        " & ".join(map(_in_latex, line)) + " \\\\\n"
        for line in [list(cells.columns), *cells.to_numpy().tolist()]
    )
    columns = "".join("l" if _is_text(cells, name) else "r" for name in cells.columns)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{names}\\midrule\n"
        f"{''.join(rows)}\\bottomrule\n\\end{{tabular}}\n"
    )


_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def _in_latex(cell: str) -> str:
    """A cell of a LaTeX table."""
    text = re.sub(r"(?<!\w)-(?=\d)", "$-$", cell.translate(_LATEX))  # a minus, not a hyphen
    return re.sub(r"^\[", "{[}", text)  # otherwise an option of the line before


_SPECIAL = re.compile(r"[\\|$*]|\b_\B|\B_\b|<(?=[A-Za-z/!?])")
"""Characters that end a cell, or start a formula, emphasis or HTML."""


def _escaped(cell: str) -> str:
    """A cell of a Markdown table."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", cell)
