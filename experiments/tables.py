"""Tables of a comparison: from a summary to cells of text, to the terminal and to files."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from four_seasons_env import __version__
from four_seasons_env.engine.deals import deals_in_words
from four_seasons_env.experiments.folders import as_csv
from four_seasons_env.experiments.summary import BASELINE, CEILING, OPTIMUM, labels
from four_seasons_env.registration import ENVS, SMALL_ENVS
from four_seasons_env.streams import printable

FILES = ("summary.csv", "seeds.csv", "table.md", "table.tex")
"""Files of `exports`."""

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
LUCK_PRINTED = ("agent", ADJUSTED, "luck z (p)")
"""Columns of the tables that `four-seasons compare` prints for each rule set."""

NAMES = ("agent", "play", "rules", "method", "mask", "training")
"""Columns of text, as is the first of each table."""


def exports(summary: pd.DataFrame, seeds: pd.DataFrame, deals: range) -> dict[str, str]:
    """The tables of a comparison as the contents of the `FILES`, which are for people.

    Args:
        summary: a row for each agent and way of playing under each rule set.
        seeds: the same for each training run.
        deals: the deals that were played.
    """
    latex = as_latex(to_print(summary, PAPER), _note(summary, deals))
    texts = as_csv(summary), as_csv(seeds), as_markdown(as_text(summary)), latex
    return dict(zip(FILES, texts, strict=True))


def _note(summary: pd.DataFrame, deals: range) -> str:
    """What a paper says of a table: environments, version and deals."""
    ids = {rules: env_id for env_id, rules in (ENVS | SMALL_ENVS).items()}
    names = summary["rules"].unique()
    made = ", ".join(ids.get(each, f'FourSeasons-v0 with rules="{each}"') for each in names)
    parts = [
        f"{made}; four-seasons-env {__version__}; {deals_in_words(deals)}; brackets: 95% intervals"
    ]
    if summary["seeds"].max() == 1:
        parts.append("each agent is one policy")
    return "; ".join(parts) + "."


def print_summary(summary: pd.DataFrame, title: str) -> None:
    """Print the tables of one rule set: results, results without luck, and the optimum."""
    print_table(to_print(summary, PRINTED), title)
    if "luck_z" in summary and summary["luck_z"].notna().any():
        measured = summary.dropna(subset="luck_z")
        print_table(to_print(measured, LUCK_PRINTED), "without the luck of the cards")
    if OPTIMUM in set(summary["agent"]):
        print(
            "optimum: the best fair play, exact; the optimum minus a win rate estimates the regret "
            "of an agent"
        )


# --- cells --------------------------------------------------------------------------------------


def _with_interval(mean: str, name: str, form: str) -> str:
    """The format of a mean and its interval: `{iqm:.2%} [{iqm_low:.2%}, {iqm_high:.2%}]`."""
    return f"{{{mean}:{form}}} [{{{name}_low:{form}}}, {{{name}_high:{form}}}]"


_CELLS = {
    "method": "{kind}",
    "play": "{play}",
    "mask": "{mask}",
    "training": "{training}",
    "seeds": "{seeds:.0f}",
    "won % [95%]": "{won}",
    ADJUSTED: _with_interval("adjusted", "adjusted", ".2%"),
    "IQM % [95%]": _with_interval("iqm", "iqm", ".2%"),
    "vs {against} [95%]": _with_interval("win_difference", "win_difference", "+.2%"),
    "luck-adjusted vs {against} [95%]": _with_interval(
        "adjusted_difference", "adjusted_difference", "+.2%"
    ),
    "luck z (p)": "{luck_z:+.2f} ({luck_p})",
    "p (Holm)": "{p_holm}",
    "cards up [95%]": _with_interval("cards_up", "cards", ".1f"),
    "cards vs {against} [95%]": _with_interval("cards_difference", "cards_difference", "+.1f"),
    "CPU ms/move": "{ms_per_move:.3f}",
    "CPU ms/game": "{ms_per_game:.2f}",
}
"""Titles and formats of the columns; each needs the column of the summary that it names first."""
TITLES = ("agent", "rules", *_CELLS)
"""Titles of the columns that a table of a comparison may have."""


def as_text(summary: pd.DataFrame, columns: Sequence[str] = ()) -> pd.DataFrame:
    """The summary of a comparison as cells of text, with some columns, by default all."""
    # 1. What a format cannot say is made into text first.
    several = summary["seeds"].max() > 1
    texts: dict[str, Any] = {
        name: summary[name].map(p_as_text) for name in ("p_holm", "luck_p") if name in summary
    }
    if "train_steps" in summary:
        texts["training"] = [_training(row) for row in summary.to_dict("records")]
    rows = summary.assign(won=win_rates(summary), **texts)
    # 2. A column of cells for each format whose numbers the summary has.
    cells = {"rules": rows["rules"].tolist()} if rows["rules"].nunique() > 1 else {}
    cells["agent"] = rows["agent"].tolist()
    for title, form in _CELLS.items():
        needed = form[1:].partition("}")[0].partition(":")[0]
        if needed in rows and (several or needed not in ("seeds", "iqm")):
            cells[title] = [cell(form, row) for row in rows.to_dict("records")]
    # 3. Those that are shown, with the baseline's label in their titles.
    shown = [name for name in columns or cells if name in cells]
    against = baseline_of(summary)
    return pd.DataFrame({name.format(against=against): cells[name] for name in shown})


def cell(form: str, row: Mapping[Any, Any]) -> str:
    """A format filled from a row; a dash where a number is missing.

    The titles of columns have the sign of a percentage, so cells leave it out.

    >>> cell("{won:.1%} of {deals:,}", {"won": 0.327, "deals": 10_000})
    '32.7 of 10,000'
    >>> cell("{iqm:.1%}", {"iqm": None})
    '-'
    """
    row = {name: float("nan") if pd.isna(value) else value for name, value in row.items()}
    text = form.format(**row)
    if re.search(r"\bnan\b", text):
        return "-"
    return text.replace("%", "") if "%}" in form else text


def baseline_of(summary: pd.DataFrame) -> str:
    """The label of the baseline of a summary."""
    named = summary["against"].dropna().tolist() if "against" in summary else []
    return named[0] if named else BASELINE


def _training(row: Mapping[Any, Any]) -> str:
    """The budget of a training, as far as it is known."""
    steps, minutes = row["train_steps"] / 1e6, row["core_seconds"] / 60
    forms = {"{0:,.3g}M steps": steps, "{0:,.1f} core-min": minutes}
    texts = [form.format(value) for form, value in forms.items() if pd.notna(value)]
    return ", ".join(texts) or "-"


def to_print(summary: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of `as_text`; agents that play in two ways name theirs in a second line."""
    both = zip(labels(summary), summary["agent"], summary["play"], strict=True)
    names = [agent if who == agent else f"{agent},\n{play}" for who, agent, play in both]
    return as_text(summary.assign(agent=names), columns)


def win_rates(summary: pd.DataFrame) -> list[str]:
    """Win rates in percent with their intervals, as text; bounds for the best possible play."""
    return [
        bounds_as_text(row["win_low"], row["win_high"])
        if row["agent"] in (CEILING, OPTIMUM)
        else cell(_with_interval("win_rate", "win", ".2%"), row)
        for row in summary.to_dict("records")
    ]


def bounds_as_text(low: float, high: float) -> str:
    """Bounds of a share in percent, or one number if they are equal.

    >>> bounds_as_text(0.9, 0.955), bounds_as_text(0.5, 0.5)
    ('90.00 to 95.50', '50.00')
    """
    return f"{100 * low:.2f} to {100 * high:.2f}" if high > low else f"{100 * low:.2f}"


def p_as_text(value: float) -> str:
    """A p-value; a dash for a missing one."""
    if pd.isna(value):
        return "-"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


# --- forms of a table of text -------------------------------------------------------------------


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; where it is too wide for the terminal, cells wrap.

    Args:
        cells: the table, whose columns fit into 80 characters.
        title: its title.
    """
    # Labels may have brackets, which rich would read as its markup: all texts are escaped.
    cells = cells.rename(columns=printable).map(printable)
    table = Table(
        title=escape(printable(title)), box=SIMPLE_HEAD, collapse_padding=True, pad_edge=False
    )
    for name in map(str, cells):
        # A number needs no more room than its longest cell, though its header may be longer.
        longest = max(map(len, [*name.split(), *cells[name]]))
        if _is_text(cells, name):
            table.add_column(escape(name), overflow="fold")
        else:
            table.add_column(escape(name), justify="right", overflow="fold", max_width=longest)
    for row in cells.itertuples(index=False):
        table.add_row(*map(escape, row))
    _Console().print(table)


class _Console(Console):
    """A console that leaves it to the command what follows when its reader has left."""

    def on_broken_pipe(self) -> None:
        """Raise the error again: rich would end the process with status 1."""
        raise BrokenPipeError


def _is_text(cells: pd.DataFrame, column: object) -> bool:
    return column in NAMES or column == cells.columns[0]


def as_markdown(cells: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    texts = [[_in_markdown(cell) for cell in line] for line in cells.to_numpy().tolist()]
    lines = [[_in_markdown(name) for name in cells.columns], ["---"] * len(cells.columns), *texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


_SPECIAL = re.compile(r"[\\|$*]|\b_\B|\B_\b|<(?=[A-Za-z/!?])")
"""Characters that end a cell, or start a formula, emphasis or HTML."""


def _in_markdown(cell: str) -> str:
    return _SPECIAL.sub(lambda special: f"\\{special[0]}", cell)


def as_latex(cells: pd.DataFrame, note: str = "") -> str:
    """A table of text in LaTeX, for the package booktabs, with a note below it."""
    # pandas escapes what TeX would read as its own signs, and draws the rules of booktabs.
    styled = cells.style.hide(axis="index").format(_signs_in_latex, escape="latex")
    table = styled.format_index(escape="latex", axis="columns").to_latex(
        column_format="".join("l" if _is_text(cells, name) else "r" for name in cells),
        hrules=True,
    )
    escaped = re.sub(r"([&%$#_{}])", r"\\\1", note)
    return table + (f"\\par\\smallskip{{\\footnotesize {escaped}\\par}}\n" if note else "")


def _signs_in_latex(cell: object) -> str:
    """A cell that pandas has escaped, with true minus signs."""
    text = re.sub(r"(?<!\w)-(?=\d)", "$-$", str(cell).replace("\n", " "))
    return re.sub(r"^\[", "{[}", text)  # otherwise an option of the line before
