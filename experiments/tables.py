"""Results as text: cells of tables; tables on the terminal, in Markdown and LaTeX; HTML pages."""

import html
import re
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from four_seasons_env import __version__
from four_seasons_env.engine.deals import deals_in_words
from four_seasons_env.experiments.folders import DATA
from four_seasons_env.experiments.summary import BASELINE, CEILING, OPTIMUM, labels
from four_seasons_env.registration import ENVS, SMALL_ENVS

# --- cells --------------------------------------------------------------------------------------

ADJUSTED = "won % luck-adjusted [95%]"

BRIEF = (
    *("rules", "agent", "method", "play", "seeds", "won % [95%]"),
    *("vs {against} [95%]", "CPU ms/game"),
)
"""Columns of reports; table.md has more. `{against}` is the baseline's label."""
PAPER = (
    *("rules", "agent", "mask", "training", "seeds", "won % [95%]"),
    *("vs {against} [95%]", "CPU ms/game"),
)
"""Columns of table.tex."""
PRINTED = ("agent", "seeds", "won % [95%]", "vs {against} [95%]", "CPU ms/game")
LUCK_PRINTED = ("agent", ADJUSTED, "worth deals", "luck z (p)")
"""Columns of the tables that `four-seasons compare` prints for each rule set."""


_CELLS = {
    "method": "{kind}",
    "play": "{play}",
    "mask": "{mask}",
    "training": "{training}",
    "seeds": "{seeds:.0f}",
    "won % [95%]": "{won}",
    ADJUSTED: "{adjusted:.2%} [{adjusted_low:.2%}, {adjusted_high:.2%}]",
    "worth deals": "{equivalent_deals:,.0f}",
    "of winnable %": "{of_winnable:.2%}",
    "IQM % [95%]": "{iqm:.2%} [{iqm_low:.2%}, {iqm_high:.2%}]",
    "vs {against} [95%]": (
        "{win_difference:+.2%} [{win_difference_low:+.2%}, {win_difference_high:+.2%}]"
    ),
    "luck-adjusted vs {against} [95%]": (
        "{adjusted_difference:+.2%} "
        "[{adjusted_difference_low:+.2%}, {adjusted_difference_high:+.2%}]"
    ),
    "luck z (p)": "{luck_z:+.2f} ({luck_p})",
    "McNemar p": "{p_value}",
    "cards up [95%]": "{cards_up:.1f} [{cards_low:.1f}, {cards_high:.1f}]",
    "cards vs {against} [95%]": (
        "{cards_difference:+.1f} [{cards_difference_low:+.1f}, {cards_difference_high:+.1f}]"
    ),
    "CPU ms/move": "{ms_per_move:.3f}",
    "CPU ms/game": "{ms_per_game:.2f}",
}
"""Titles and formats of the columns; each needs what it names first."""


def cell(form: str, row: Mapping[Any, Any]) -> str:
    """A format filled from a row; a dash where a number is missing, shares without their sign."""
    row = {name: float("nan") if pd.isna(value) else value for name, value in row.items()}
    text = form.format(**row)
    if re.search(r"\bnan\b", text):
        return "-"
    return text.replace("%", "") if "%}" in form else text


def as_text(summary: pd.DataFrame, columns: Sequence[str] = ()) -> pd.DataFrame:
    """The summary of a comparison as cells of text, with some columns, by default all."""
    several = summary["seeds"].max() > 1
    texts: dict[str, Any] = {
        name: summary[name].map(p_as_text) for name in ("p_value", "luck_p") if name in summary
    }
    if "train_steps" in summary:
        texts["training"] = [_training(row) for row in summary.to_dict("records")]
    rows = summary.assign(won=win_rates(summary), **texts)
    cells = {"rules": rows["rules"].tolist()} if rows["rules"].nunique() > 1 else {}
    cells["agent"] = rows["agent"].tolist()
    for title, form in _CELLS.items():
        needed = form[1:].partition("}")[0].partition(":")[0]
        if needed in rows and (several or needed not in ("seeds", "iqm")):
            cells[title] = [cell(form, row) for row in rows.to_dict("records")]
    named = rows["against"].dropna().tolist() if "against" in rows else []
    against = (named or [BASELINE])[0]
    shown = [name for name in columns or cells if name in cells]
    return pd.DataFrame({name.format(against=against): cells[name] for name in shown})


def _training(row: Mapping[Any, Any]) -> str:
    """The budget of a training, as far as it is known."""
    steps, minutes = row["train_steps"] / 1e6, row["core_seconds"] / 60
    forms = {"{0:,.2f}M steps": steps, "{0:,.1f} core-min": minutes}
    texts = [form.format(value) for form, value in forms.items() if pd.notna(value)]
    return ", ".join(texts) or "-"


def to_print(summary: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of `as_text`; agents that play in two ways name theirs in a second line."""
    both = zip(labels(summary), summary["agent"], summary["play"], strict=True)
    names = [agent if who == agent else f"{agent},\n{play}" for who, agent, play in both]
    return as_text(summary.assign(agent=names), columns)


def deals_as_text(results: pd.DataFrame) -> str:
    """The range of the played deals, with their split."""
    return deals_in_words(range(results["deal"].min(), results["deal"].max() + 1))


def win_rates(summary: pd.DataFrame) -> list[str]:
    """Win rates in percent with their intervals, as text; bounds for the ceiling."""
    return [
        bounds_as_text(row["win_low"], row["win_high"])
        if row["agent"] == CEILING
        or (row["agent"] == OPTIMUM and row["win_low"] == row["win_high"])
        else cell("{win_rate:.2%} [{win_low:.2%}, {win_high:.2%}]", row)
        for row in summary.to_dict("records")
    ]


def bounds_as_text(low: float, high: float) -> str:
    """Bounds of a share in percent, or one number if they are equal."""
    return f"{100 * low:.2f} to {100 * high:.2f}" if high > low else f"{100 * low:.2f}"


def p_as_text(value: float) -> str:
    """A p-value; a dash for a missing one."""
    if pd.isna(value):
        return "-"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


# --- tables -------------------------------------------------------------------------------------

NAMES = ("agent", "play", "rules", "method", "mask", "training")
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


def as_latex(cells: pd.DataFrame, note: str = "") -> str:
    """A table of text in LaTeX, for the package booktabs, with a note below it."""
    names, *rows = (
        " & ".join(map(_in_latex, line)) + " \\\\\n"
        for line in [list(cells.columns), *cells.to_numpy().tolist()]
    )
    columns = "".join("l" if _is_text(cells, name) else "r" for name in cells.columns)
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{names}\\midrule\n"
        f"{''.join(rows)}\\bottomrule\n\\end{{tabular}}\n"
    ) + (f"\\par\\smallskip{{\\footnotesize {_in_latex(note)}\\par}}\n" if note else "")


def note_of(summary: pd.DataFrame, results: pd.DataFrame) -> str:
    """What a paper says of a table: environments, version and deals."""
    ids = {rules: env_id for env_id, rules in (ENVS | SMALL_ENVS).items()}
    names = results["rules"].unique()
    made = ", ".join(ids.get(each, f'FourSeasons-v0 with rules="{each}"') for each in names)
    deals = deals_as_text(results)
    parts = [f"{made}; four-seasons-env {__version__}; {deals}; brackets: 95% intervals"]
    if summary["seeds"].max() == 1:
        parts.append("each agent is one policy")
    return "; ".join(parts) + "."


_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\n": " ", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
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
