"""Plots of results: one function per plot, from tables to a picture.

The ending of the file chooses the format, such as PNG or SVG; equal tables give equal files. Plots
are narrow, so that their text is readable on a phone. Several plots show an agent in the same
colour if they get the same `colours_of`. Matplotlib's own defaults hold for them, not the settings
of the user.
"""

import functools
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib import font_manager, style, ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from four_seasons_env.experiments.summary import CEILING, labels
from four_seasons_env.experiments.tables import bounds_as_text

BOOK_ODDS = 0.1
"""The odds of winning Four Seasons by Morehead and Mott-Smith."""

_OTHER_COLOURS = ("tab:red", "teal", "deeppink", "goldenrod", "slateblue", "chocolate", "olive")
_DASHES = ("-", "--", ":", "-.")
"""Styles of curves of one colour."""
_INSIDE = 8
"""Lines of a legend that leave room for curves; a longer one is below the plot, in columns."""

_OTHER_SCRIPTS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Zen Hei", "Noto Sans", "Arial Unicode MS"),
    *("Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "Nirmala UI"),  # of Windows
    *("PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo"),  # of macOS
)
"""Fonts for what Matplotlib's own font lacks, if they are installed."""

AGENT_COLOURS = {
    "ceiling": "#d3d3d3",
    "optimum": "#a9a9a9",
    "random": "#7f7f7f",
    "greedy": "#8c564b",
    "heuristic": "#ff7f0e",
    "finisher": "#bcbd22",
    "rollout": "#17becf",
    "maskable_ppo": "#1f77b4",
    "next_deal_ppo": "#2ca02c",
    "planner": "#9467bd",
}
"""Colours of agents in every plot."""


@contextmanager
def drawing(path: Path, title: str, height: float = 3.4) -> Iterator[Axes]:
    """A plot to draw in a block, under Matplotlib's own defaults; it is saved at the end.

    Args:
        path: file of the picture.
        title: title of the plot.
        height: height in inches; the width is 5.
    """
    own = {
        "text.parse_math": False,  # labels may have dollar signs, which would start a formula
        "font.family": _families(),
        "svg.hashsalt": "four-seasons",  # otherwise the ids in an SVG file are random
    }
    with style.context(["default", own]):
        figure = Figure(figsize=(5, height), dpi=200, layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        yield axes
        figure.suptitle(title, fontsize=10)
        dated = path.suffix.lower() == ".svg"
        figure.savefig(path, metadata={"Date": None} if dated else None)


def write(axes: Axes, text: str, place: Any, offset: tuple[float, float], **style: Any) -> None:
    """Write a small text at a distance in points from a place of the data."""
    style = {"fontsize": 8} | style
    axes.annotate(text, place, xytext=offset, textcoords="offset points", **style)


def plot_win_rates(
    summary: pd.DataFrame, title: str, path: Path, colours: Mapping[str, str] | None = None
) -> None:
    """Draw win rates with 95% intervals, the best first, and the odds of the textbook.

    A label has the difference from the baseline, if the summary names one. The ceiling, if the
    summary has it, is a grey bar with its bounds. ``colours`` are those of `colours_of`.
    """
    # 1. Labels: agent and win rate, and in another line the difference from the baseline.
    colours = colours or colours_of(summary["agent"])
    rows = summary.assign(who=labels(summary)).sort_values("win_rate", kind="stable")
    rates, names = rows["win_rate"], []
    for row in rows.to_dict("records"):
        bounds = f"{bounds_as_text(row['win_low'], row['win_high'])}%"
        won = bounds if row["who"] == CEILING else f"{row['win_rate']:.1%}"
        names.append(f"{in_lines(row['who'])}  {won}")
        if pd.notna(row.get("against")):
            names[-1] += f"\n{100 * row['win_difference']:+.1f} vs {in_lines(row['against'])}"
    room = max(0.4, 0.18 * max(name.count("\n") + 1 for name in names))
    with drawing(path, title, 1.5 + room * len(rows)) as axes:
        # 2. Bars with intervals.
        axes.barh(
            range(len(rows)),
            rates,
            height=0.6,
            color=[colours[algorithm(agent)] for agent in rows["agent"]],
            xerr=[(rates - rows["win_low"]).clip(0), (rows["win_high"] - rates).clip(0)],
            error_kw={"lw": 1.5},
            zorder=2,
        )
        # 3. The odds of the textbook.
        axes.axvline(BOOK_ODDS, color="grey", ls="--", lw=1, zorder=1)
        write(axes, "textbook: 1 in 10", (BOOK_ODDS, len(rows) - 0.45), (4, 0), color="grey")
        # 4. Axes.
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(-0.6, len(rows) - 0.1)
        axes.set_xlim(0, min(1.0, max(1.05 * rows["win_high"].max(), 0.14)))
        axes.xaxis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 2.5, 5]))
        axes.xaxis.set_major_formatter(percent)
        axes.set_xlabel("games won, with 95% interval")
        axes.grid(visible=False, axis="y")


def plot_speed_strength(
    summary: pd.DataFrame, title: str, path: Path, colours: Mapping[str, str] | None = None
) -> None:
    """Draw the win rate of each agent against its processor time per move.

    Variants of an agent have its colour; only the strongest has its name beside it. A line joins
    the strongest variants at each speed. ``colours`` are those of `colours_of`.
    """
    colours = colours or colours_of(summary["agent"])
    with drawing(path, title, 4.2) as axes:
        # 1. Some agents take no measurable time, and the axis is logarithmic.
        rows = summary.dropna(subset=["ms_per_move"])
        rows = rows.assign(
            time=rows["ms_per_move"].clip(lower=1e-5),
            name=rows["agent"].map(algorithm),
        ).sort_values(["time", "win_rate"])
        # 2. The agents that win more than every faster one.
        best = rows[rows["win_rate"] > rows["win_rate"].cummax().shift(fill_value=-1)]
        axes.step(best["time"], best["win_rate"], where="post", color="silver", lw=1, zorder=1)
        # 3. Points with intervals.
        for name, variants in rows.groupby("name", sort=False):
            colour, times = colours[str(name)], variants["time"]
            axes.vlines(times, variants["win_low"], variants["win_high"], color=colour, lw=1)
            axes.plot(times, variants["win_rate"], "o", color=colour, ms=5)
            place = variants.sort_values("win_rate")[["time", "win_rate"]].iloc[-1]
            # Names stay off the line: below points that lie below it, if there is room.
            is_below = place.name not in best.index and place["win_rate"] > 0.1
            side: dict[str, Any] = {"ha": "right", "va": "top" if is_below else "baseline"}
            offset = (-5, -5) if is_below else (-5, 5)
            write(axes, in_lines(str(name)), place, offset, color=colour, **side)
        # 4. Axes.
        axes.set_xscale("log")
        is_wide = rows["time"].max() > 100 * rows["time"].min()
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1,) if is_wide else (1, 3)))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.6f}".rstrip("0").rstrip("."))
        axes.minorticks_off()
        axes.set_xlim(left=rows["time"].min() / 6)
        axes.set_xlabel("CPU milliseconds per move (many games at once)")
        axes.set_ylabel("games won")
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_formatter(percent)


def plot_curves(
    curves: pd.DataFrame,
    title: str,
    path: Path,
    axes_labels: tuple[str, str],
    references: Mapping[str, float],
    log: bool = False,
    colours: Mapping[str, str] | None = None,
) -> None:
    """Draw games won against what was spent on learning: a line per run.

    The lines of several runs of an algorithm are thin; a thick one is their mean, from where the
    last of them starts to where the first ends.

    Args:
        curves: a row per point: `name` (of the algorithm), `run`, `spent` and `win_rate`; with
            `win_low` and `win_high`, intervals too.
        title: title of the plot.
        path: file of the picture.
        axes_labels: what is spent, and which games are won, for the axes.
        references: win rates of other agents, drawn as dashed lines.
        log: use a logarithmic scale for what is spent.
        colours: those of `colours_of`.
    """
    colours, dashes = colours or colours_of(curves["name"]), Counter[str]()
    seeds = curves.groupby("name", sort=False)["run"].nunique()
    legend = {
        name: in_lines(f"{name} (mean of {count})" if count > 1 else str(name))
        for name, count in seeds.items()
    }
    length = sum(label.count("\n") + 1 for label in legend.values())
    below = length > _INSIDE
    with drawing(path, title, 3.4 + below * 0.08 * length) as axes:
        # 1. Win rates of other agents, with their names right of the data.
        for other, rate in references.items():
            axes.axhline(rate, color="grey", ls="--", lw=1, zorder=1)
            place = {"xycoords": ("axes fraction", "data"), "va": "center", "fontsize": 7}
            write(axes, f"{other} {rate:.1%}", (1, rate), (3, 0), color="dimgrey", **place)
        # 2. A line for each run, and one for their mean; of a single run, only its points.
        for name, runs in curves.groupby("name", sort=False):
            colour, several = colours[algorithm(str(name))], seeds[name] > 1
            dash = _DASHES[dashes[colour] % len(_DASHES)]
            dashes[colour] += 1
            for _, run in runs.groupby("run"):
                marker = "." if len(run) < 50 else ""
                (line,) = axes.plot(run["spent"], run["win_rate"], marker=marker, lw=0.7, ms=4)
                line.set(color=colour, ls=dash if several else "none", clip_on=False)
                if "win_low" in run:
                    axes.vlines(run["spent"], run["win_low"], run["win_high"], color=colour, lw=1)
            # Seeds may be validated at different times: between its points, each is a line.
            rates = runs.pivot_table(index="spent", columns="run", values="win_rate")
            mean = rates.interpolate("index", limit_area="inside").dropna().mean(axis=1)
            (line,) = axes.plot(mean, color=colour, ls=dash, lw=2 if several else 1)
            line.set(label=legend[name], clip_on=several)
        # 3. Axes.
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 3)))
            axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
            axes.minorticks_off()
        elif len(curves):
            axes.set_xlim(0, curves["spent"].max() or 1)
            if curves["spent"].max() > 1000:
                axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
        axes.set_xlabel(axes_labels[0])
        axes.set_ylabel(axes_labels[1])
        axes.yaxis.set_major_formatter(percent)
        axes.yaxis.set_major_locator(ticker.MaxNLocator(6))
        axes.set_ylim(bottom=0)
        if below:
            axes.figure.legend(loc="outside lower center", ncols=2, edgecolor="none", fontsize=7)
        elif len(curves):
            axes.legend(edgecolor="none", fontsize=7, framealpha=1)


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """A colour for each `algorithm`: from `AGENT_COLOURS`, or the next free one for other agents.

    Args:
        names: agents and their variants, such as ``planner@lookahead=1``, of all plots of a page.
    """
    others = [each for each in dict.fromkeys(map(algorithm, names)) if each not in AGENT_COLOURS]
    return dict(zip(others, cycle(_OTHER_COLOURS), strict=False)) | AGENT_COLOURS


def algorithm(name: str) -> str:
    """An agent's name without its options: its variants share a colour.

    >>> algorithm("planner@lookahead=1")
    'planner'
    """
    return name.partition("@")[0]


def in_lines(name: str, room: int = 23) -> str:
    """A name wrapped into lines of at most ``room`` characters, with its options below it.

    Characters that no font has are escaped: as boxes, they would all look the same.
    """
    known = _characters()
    shown = [each if ord(each) in known else ascii(each)[1:-1] for each in name]
    parts = [part.replace(",", ", ") for part in re.split("@|, ", "".join(shown))]
    return "\n".join(line for part in parts for line in textwrap.wrap(part, room))


def percent(share: float, _: float) -> str:
    """A share as the text of a tick; Matplotlib passes its place, too."""
    return f"{100 * share:g}%"


@functools.cache
def _families() -> list[str]:
    """Matplotlib's own font, and the `_OTHER_SCRIPTS` that are installed."""
    installed = {each.name for each in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(each for each in _OTHER_SCRIPTS if each in installed)]


@functools.cache
def _characters() -> set[int]:
    """The characters of these fonts."""
    fonts = [font_manager.get_font(font_manager.findfont(each)) for each in _families()]
    return set().union(*(font.get_charmap() for font in fonts))
