"""Tables on the terminal, as Markdown and in LaTeX."""

from __future__ import annotations

import re

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

NAMES = ("agent", "play", "rules", "what", "method", "observation")
"""Columns of text, as is the first of each table."""


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; where it is too wide for the terminal, cells wrap.

    Args:
        cells: the table, whose columns fit into 80 characters.
        title: its title.
    """
    table = Table(title=escape(title), box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False)
    for name in map(str, cells):
        # A number needs no more room than its longest cell, though its header may be longer.
        longest = max(map(len, [*name.split(), *cells[name]]))
        if _is_text(cells, name):
            table.add_column(escape(name), overflow="fold")
        else:
            table.add_column(escape(name), justify="right", overflow="fold", max_width=longest)
    for row in cells.itertuples(index=False):
        table.add_row(*map(escape, row))
    Console().print(table)


def _is_text(cells: pd.DataFrame, column: str) -> bool:
    return column in NAMES or column == cells.columns[0]


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
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
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
