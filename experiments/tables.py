"""Results as text: cells of tables; tables on the terminal, in Markdown and LaTeX; HTML pages."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from string import Template

import numpy as np
import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from four_seasons_env.experiments.folders import DATA
from four_seasons_env.experiments.players import CEILING
from four_seasons_env.experiments.summary import BASELINE, labels

# --- cells --------------------------------------------------------------------------------------

ADJUSTED = "won % luck-adjusted [95%]"
_PAIRED = f"luck-adjusted vs {BASELINE} [95%]"

BRIEF = (
    *("rules", "agent", "method", "play", "seeds", "won % [95%]"),
    *(f"vs {BASELINE} [95%]", "ms/game"),
)
"""Columns of table.tex; table.md has more."""
PRINTED = ("agent", "seeds", "won % [95%]", f"vs {BASELINE} [95%]", "ms/game")
LUCK_PRINTED = ("agent", ADJUSTED, "worth deals", "luck z (p)")
"""Columns of the tables that `four-seasons compare` prints for each rule set."""


def as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary of a comparison as cells of text."""
    several, lucky = summary["seeds"].max() > 1, "adjusted" in summary
    cells = {
        "rules": summary["rules"] if summary["rules"].nunique() > 1 else None,
        "agent": summary["agent"],
        "method": summary["kind"].fillna("-") if "kind" in summary else None,
        "play": summary["play"].fillna("-"),
        "mask": summary["mask"].fillna("-") if "mask" in summary else None,
        "seeds": _numbers(summary, "seeds", "{:.0f}") if several else None,
        "won % [95%]": win_rates(summary),
        ADJUSTED: (
            _interval_text(summary, "adjusted", "adjusted", "{:.2f}", 100) if lucky else None
        ),
        "worth deals": _numbers(summary, "equivalent_deals", "{:,.0f}") if lucky else None,
        "of winnable %": (
            _numbers(summary, "of_winnable", "{:.2f}", 100) if "of_winnable" in summary else None
        ),
        "IQM % [95%]": _interval_text(summary, "iqm", "iqm", "{:.2f}", 100) if several else None,
        f"vs {BASELINE} [95%]": _interval_text(
            summary, "win_difference", "win_difference", "{:+.2f}", 100
        ),
        _PAIRED: (
            _interval_text(summary, "adjusted_difference", "adjusted_difference", "{:+.2f}", 100)
            if "adjusted_difference" in summary
            else None
        ),
        "luck z (p)": summary.apply(_peeking_as_text, axis=1) if lucky else None,
        "McNemar p": summary.get("p_value", pd.Series(np.nan, summary.index)).map(p_as_text),
        "cards up [95%]": _interval_text(summary, "cards_up", "cards", "{:.1f}"),
        f"cards vs {BASELINE} [95%]": _interval_text(
            summary, "cards_difference", "cards_difference", "{:+.1f}"
        ),
        "ms/move": _numbers(summary, "ms_per_move", "{:.3f}"),
        "ms/game": _numbers(summary, "ms_per_game", "{:.2f}"),
    }
    return pd.DataFrame({name: column for name, column in cells.items() if column is not None})


def to_print(summary: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of `as_text`; agents that play in two ways name theirs in a second line."""
    cells = as_text(summary)
    both = zip(labels(summary), cells["agent"], cells["play"], strict=True)
    cells["agent"] = [agent if who == agent else f"{agent},\n{play}" for who, agent, play in both]
    return cells[[name for name in columns if name in cells]]


def deals_as_text(results: pd.DataFrame) -> str:
    """The range of the played deals."""
    return f"deals {results['deal'].min():,}-{results['deal'].max():,}"


def win_rates(summary: pd.DataFrame) -> list[str]:
    """Win rates in percent with their intervals, as text; bounds for the ceiling."""
    texts = _interval_text(summary, "win_rate", "win", "{:.2f}", 100)
    ends = zip(summary["agent"], summary["win_low"], summary["win_high"], strict=True)
    return [
        bounds_as_text(low, high) if agent == CEILING else text
        for text, (agent, low, high) in zip(texts, ends, strict=True)
    ]


def bounds_as_text(low: float, high: float) -> str:
    """Bounds of a share in percent, or one number if they are equal."""
    return f"{100 * low:.2f} to {100 * high:.2f}" if high > low else f"{100 * low:.2f}"


def _numbers(summary: pd.DataFrame, column: str, form: str, factor: float = 1.0) -> pd.Series:
    """A column of numbers as text; a dash for a missing number."""
    return summary[column].map(lambda value: "-" if pd.isna(value) else form.format(factor * value))


def _interval_text(
    summary: pd.DataFrame, value: str, ends: str, form: str, factor: float = 1.0
) -> list[str]:
    """A column of values with their intervals, as text; a dash for a missing value."""
    texts = []
    for _, row in summary.iterrows():
        numbers = [row.get(name, np.nan) for name in (value, f"{ends}_low", f"{ends}_high")]
        shown = [form.format(factor * number) for number in numbers if not pd.isna(number)]
        texts.append(
            f"{shown[0]} [{shown[1]}, {shown[2]}]" if len(shown) == 3 else (shown or ["-"])[0]
        )
    return texts


def _peeking_as_text(row: pd.Series) -> str:
    """The result of the test for peeking; a dash without luck."""
    if pd.isna(row["luck_z"]):
        return "-"
    return f"{row['luck_z']:+.2f} ({p_as_text(row['luck_p'])})"


def p_as_text(value: float) -> str:
    """A p-value; a dash for a missing one."""
    if pd.isna(value):
        return "-"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


# --- tables -------------------------------------------------------------------------------------

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


# --- pages --------------------------------------------------------------------------------------


def fill(template: str, **parts: object) -> str:
    """A template of `DATA`, filled with HTML."""
    text = (DATA / f"{template}.html").read_text(encoding="utf-8")
    return Template(text).substitute(parts)


def write_page(kind: str, title: str, body: str) -> bytes:
    """A whole page.

    Args:
        kind: its styles, "report" or "review".
        title: its title, as text.
        body: its content, as HTML.
    """
    return fill("page", kind=kind, title=html.escape(title), body=body).encode()


def element(tag: str, text: str, kind: str = "") -> str:
    """An element with a text that is escaped, and its class."""
    return f"<{tag}{f' class={kind}' if kind else ''}>{html.escape(text)}</{tag}>"
