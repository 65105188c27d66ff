"""Plots of results, as PNG files: one function a plot, from tables to a picture.

They are drawn as wide as a phone is, so that the writing on them stays readable there.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from experiments.evaluation.ceiling import CEILING
from experiments.evaluation.thrown_away import alive_at, winnable_deals
from experiments.statistics.regret import BEST
from experiments.statistics.summary import BASELINE, bounds_as_text, labels, wins_by_label
from experiments.training.run_folder import STEPS
from four_seasons_env.rules import get_rules

BOOK_ODDS = 0.1
"""Morehead and Mott-Smith's odds of winning Four Seasons."""

_COLOURS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
_MORE_COLOURS = matplotlib.colormaps["tab20"].colors  # type: ignore[attr-defined]

_MARKERS = "os^vDP*X<>"
"""Of the agents of one kind."""

_NARROW = 48  # letters of a name, of which two fit side by side below a plot
_FEW = 5
"""Names that a legend has room for in a plot."""


def _panels(height: float, count: int) -> tuple[Figure, list[Axes]]:
    """A figure with a number of plots below each other."""
    figure = Figure(figsize=(5, height), dpi=200, layout="constrained")
    panels = [figure.add_subplot(count, 1, i + 1) for i in range(count)]
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    return figure, panels


def _axes(height: float = 3.4) -> tuple[Figure, Axes]:
    figure, (axes,) = _panels(height, 1)
    return figure, axes


def _colours(names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """A colour for each name, the same in all plots of one table."""
    different = list(dict.fromkeys(names))
    colours = _COLOURS if len(different) <= len(_COLOURS) else _MORE_COLOURS
    return {name: colours[i % len(colours)] for i, name in enumerate(different)}


def _named(names: Sequence[str], room: int = 23) -> list[str]:
    """Names as a plot has room for them: in two lines or more, of what is long the end."""
    lines = [name.replace("@", ", ").split(", ") for name in names]
    return [
        "\n".join(
            plain_text(f"...{line[3 - room :]}" if len(line) > room else line) for line in each
        )
        for each in lines
    ]


def plain_text(text: str) -> str:
    """A text in which Matplotlib finds no formula."""
    return text.replace("$", r"\$")


def _legend(axes: Axes, names: Sequence[str], handles: Sequence[Line2D] | None = None) -> None:
    """Name the colours, or other handles, in the plot or, where they are many, below it."""
    handles = handles or [Line2D([], [], color=colour) for colour in _colours(names).values()]
    shown = [name.replace("\n", ", ") for name in _named(list(dict.fromkeys(names)), room=34)]
    if len(shown) <= _FEW:
        axes.legend(handles, shown, frameon=False, fontsize=8)
        return
    figure = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    columns = 2 if max(map(len, shown)) <= _NARROW else 1
    figure.set_figheight(figure.get_figheight() + 0.18 * -(-len(shown) // columns))
    figure.legend(
        handles,
        shown,
        frameon=False,
        fontsize=7,
        loc="outside lower center",
        ncols=columns,
        borderpad=0,
    )


def _percent(axes: Axes, x: bool = False, y: bool = False) -> None:
    for axis, wanted in ((axes.xaxis, x), (axes.yaxis, y)):
        if wanted:
            axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def plot_win_rates(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Each agent's win rate with its 95% interval, the best first, beside the textbook's odds.

    The ceiling, where the summary has it, stands in grey above them, with its bounds.
    """
    who = labels(summary)
    colours: dict[str, Any] = _colours(who) | {CEILING: "lightgrey"}
    rows = summary.assign(who=who).sort_values("win_rate", kind="stable")
    figure, axes = _axes(1.5 + 0.42 * len(rows))
    for y, (_, row) in enumerate(rows.iterrows()):
        axes.barh(y, row["win_rate"], color=colours[row["who"]], height=0.6)
        axes.plot([row["win_low"], row["win_high"]], [y, y], color="black", lw=1.5)
        text = f"{row['win_rate']:.1%}"
        if row["who"] == CEILING:
            text = f"{bounds_as_text(row['win_low'], row['win_high'])}%"
        axes.annotate(
            text,
            (max(row["win_high"], row["win_rate"]), y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
        )
    axes.axvline(BOOK_ODDS, color="grey", ls="--", lw=1)
    axes.annotate(
        "textbook: 1 in 10",
        (BOOK_ODDS, len(rows) - 0.45),
        xytext=(4, 0),
        textcoords="offset points",
        color="grey",
        fontsize=8,
    )
    axes.set_yticks(range(len(rows)), _named(rows["who"].tolist()))
    axes.set_ylim(-0.6, len(rows) - 0.1)
    room = 1.75 if CEILING in who else 1.25
    axes.set_xlim(0, max(room * rows["win_high"].max(), 0.14))
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= 1])
    _percent(axes, x=True)
    axes.set_xlabel("games won, with 95% interval")
    figure.suptitle(title, fontsize=10)
    axes.grid(visible=False, axis="y")
    figure.savefig(path)


def plot_cards_up(results: pd.DataFrame, title: str, path: Path) -> None:
    """The share of games with at least a number of cards up.

    Where a line ends, at all cards, is the agent's win rate.
    """
    figure, axes = _axes()
    most = int(results["cards_up"].max())
    who = labels(results)
    colours = _colours(who)
    for name, played in results.groupby(np.array(who), sort=False):
        reached = [(played["cards_up"] >= cards).mean() for cards in range(most + 1)]
        axes.step(range(most + 1), reached, where="post", color=colours[str(name)])
    _legend(axes, list(colours))
    axes.set_xlabel("cards on the foundations, at least (all: won)")
    _percent(axes, y=True)
    axes.set_ylabel("games")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, most)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_differences(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Percentage points won more or less than the baseline on the same deals, with intervals."""
    who = labels(summary)
    colours = _colours(who)
    rows = summary.assign(who=who).dropna(subset=["win_difference"])
    rows = rows.sort_values("win_difference", kind="stable")
    figure, axes = _axes(1.3 + 0.4 * len(rows))
    for y, (_, row) in enumerate(rows.iterrows()):
        ends = [100 * row["win_difference_low"], 100 * row["win_difference_high"]]
        axes.plot(ends, [y, y], color=colours[row["who"]], lw=2)
        axes.plot(100 * row["win_difference"], y, "o", color=colours[row["who"]], ms=5)
    axes.axvline(0, color="black", lw=1)
    axes.set_yticks(range(len(rows)), _named(rows["who"].tolist()))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(f"points more than {BASELINE} [95%]")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_speed_strength(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Win rate of each agent against the time that a move takes it: a colour for each kind."""
    figure, axes = _axes()
    agents = summary.dropna(subset=["ms_per_move"])
    who = labels(agents)
    kinds = [name.partition("@")[0] for name in agents["agent"]]
    colours = _colours(kinds)
    handles = list[Line2D]()
    for i, (kind, (_, row)) in enumerate(zip(kinds, agents.iterrows(), strict=True)):
        time = max(row["ms_per_move"], 1e-5)
        marker = _MARKERS[kinds[:i].count(kind) % len(_MARKERS)]
        axes.plot([time, time], [row["win_low"], row["win_high"]], color=colours[kind], lw=1)
        handles += axes.plot(time, row["win_rate"], marker, color=colours[kind], ms=6)
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds a move (many games side by side)")
    axes.set_ylabel("games won")
    axes.set_ylim(bottom=0)
    _percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    _legend(axes, who, handles)
    figure.savefig(path)


def plot_shared_deals(results: pd.DataFrame, title: str, path: Path) -> None:
    """How many deals were won by none, one, ... or all of the agents."""
    won = wins_by_label(results)
    counts = won.sum(axis=1).value_counts().reindex(range(won.shape[1] + 1), fill_value=0)
    figure, axes = _axes(2.8)
    bars = axes.bar(counts.index, counts / len(won), color=_COLOURS[0])
    axes.bar_label(bars, [f"{count:,}" for count in counts], fontsize=8)
    names = [str(n) for n in counts.index]
    names[0], names[-1] = "none", "all"
    axes.set_xticks(counts.index, names)
    axes.set_xlabel(f"of {won.shape[1]} agents won the deal")
    axes.set_ylabel("deals")
    axes.margins(y=0.12)
    _percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    axes.grid(visible=False, axis="x")
    figure.savefig(path)


def plot_learning(
    runs: Mapping[str, Sequence[pd.DataFrame]],
    column: str,
    by_time: bool,
    title: str,
    path: Path,
    beside: Mapping[str, float] | None = None,
) -> None:
    """Learning curves: the mean over training seeds, in a band from the worst to the best.

    Args:
        runs: the logs of each algorithm's runs (`experiments.training.run_folder.read_log`).
        column: what is shown, such as "validation/win_rate".
        by_time: over minutes of learning; otherwise over steps.
        title: of the plot.
        path: of the picture.
        beside: what others reach who do not learn here: a dashed line each.
    """
    figure, axes = _axes()
    for name, value in (beside or {}).items():
        axes.axhline(value, color="grey", ls="--", lw=1)
        axes.annotate(
            plain_text(f"{name} {value:.1%}"),
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize=7,
            color="dimgrey",
        )
    for name, logs in runs.items():
        curves = [
            (log["time/seconds"] / 60 if by_time else log[STEPS] / 1e6, log[column])
            for log in (each.dropna(subset=[column]) for each in logs if column in each)
            if len(log)
        ]
        if not curves:
            continue
        grid = np.linspace(
            max(x.iloc[0] for x, _ in curves), min(x.iloc[-1] for x, _ in curves), 200
        )
        values = np.array([np.interp(grid, x, y) for x, y in curves])
        seeds = f" ({len(curves)} seeds)" if len(curves) > 1 else ""
        (line,) = axes.plot(
            grid, values.mean(axis=0), label=name + seeds, color=_colours(list(runs))[name]
        )
        axes.fill_between(
            grid, values.min(axis=0), values.max(axis=0), color=line.get_color(), alpha=0.2, lw=0
        )
    axes.set_xlabel("minutes of learning" if by_time else "million steps")
    if column.endswith("win_rate"):
        axes.set_ylabel("games won")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    else:
        axes.set_ylabel("cards up")
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(bottom=0)
    figure.suptitle(title, fontsize=10)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def plot_curves(curves: pd.DataFrame, beside: Mapping[str, float], title: str, path: Path) -> None:
    """Win rate on validation deals against core-minutes of learning, a line a study.

    Args:
        curves: a row a validation; columns study, seed, core_seconds, win_rate.
        beside: what others win, a dashed line each.
        title: of the plot.
        path: of the picture.
    """
    figure, axes = _axes(4.2)
    for name, value in beside.items():
        axes.axhline(value, color="grey", ls="--", lw=1)
        axes.annotate(
            plain_text(f"{name} {value:.1%}"),
            (0, value),
            xycoords=("axes fraction", "data"),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=7,
            color="dimgrey",
        )
    studies = list(dict.fromkeys(curves["study"]))
    for study in studies:
        colour = _colours(studies)[study]
        seeds = [rows for _, rows in curves[curves["study"] == study].groupby("seed")]
        for rows in seeds:
            minutes = rows["core_seconds"] / 60
            axes.plot(minutes, rows["win_rate"], color=colour, lw=1, marker=".", ms=4, alpha=0.8)
        count = f"{len(seeds)} seeds" if len(seeds) > 1 else "1 seed"
        axes.plot([], [], color=colour, label=f"{study} ({count})")
    axes.set_xscale("log")
    ticks = [tick for tick in (0.3, 0.5, 1, 2, 4, 7, 15, 30) if tick >= 0.25]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("core-minutes of learning")
    axes.set_ylabel("validation deals won")
    _percent(axes, y=True)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_throughput(table: pd.DataFrame, path: Path) -> None:
    """Moves per second against the batch size, by observation and threads; peers as marks."""
    figure, axes = _axes()
    ours = table[table["what"] == "vector environment"]
    for i, (observation, rates) in enumerate(ours.groupby("observation", sort=False)):
        for threads, rows in rates.groupby("threads"):
            axes.plot(
                rows["games"],
                rows["moves_per_second"],
                "o-" if threads == 1 else "s--",
                color=_COLOURS[i],
                label=f"{observation}, threads: {threads}",
            )
    peers = table[table["observation"] == "its own"]
    for i, (_, row) in enumerate(peers.iterrows()):
        axes.plot(
            row["games"],
            row["moves_per_second"],
            "D",
            color=_COLOURS[4 + i],
            label=row["what"],
        )
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    batches = np.unique(ours["games"])
    axes.set_xticks(batches, [f"{games:,}" for games in batches])
    axes.set_xlabel("games at a time")
    axes.set_ylabel("moves a second")
    figure.suptitle("Random legal play, mask and observation written at every move", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def plot_census(results: pd.DataFrame, title: str, path: Path) -> None:
    """How long it took to decide deals, and how long solutions are."""
    figure, (times, lengths) = _panels(5.2, 2)
    decided = results[results["status"] != "unknown"]["seconds"].sort_values()
    if len(decided):
        share = (1 + pd.RangeIndex(len(decided)).to_numpy()) / len(results)
        times.step(decided, share, where="post", color=_COLOURS[0])
        times.set_xscale("log")
    times.set_xlabel("seconds")
    times.set_ylabel("deals decided")
    times.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    times.set_ylim(0, 1.02)
    won = results[results["status"] == "won"]["moves"]
    if len(won):
        lengths.hist(won, bins=30, color=_COLOURS[0])
    lengths.set_xlabel("moves of the solution")
    lengths.set_ylabel("deals")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_alive(results: pd.DataFrame, title: str, path: Path) -> None:
    """Where winnable games are thrown away: a band an agent, falling as the stock runs out.

    Args:
        results: of `experiments.evaluation.thrown_away`.
        title: of the plot.
        path: of the picture.
    """
    figure, axes = _axes()
    winnable = winnable_deals(results)
    agents = list(dict.fromkeys(winnable["agent"]))
    left = np.arange(int(winnable["alive"].max()), -1, -1)
    for agent, games in winnable.groupby("agent", sort=False):
        low, high = np.array([alive_at(games, int(cards)) for cards in left]).T
        colour = _colours(agents)[str(agent)]
        axes.fill_between(left, low, high, step="post", color=colour, alpha=0.3, lw=0)
        axes.step(left, (low + high) / 2, where="post", color=colour)
        axes.plot(-1.5, games["won"].mean(), "o", color=colour, ms=5, clip_on=False)
    axes.set_xlim(left[0], -1.5)
    axes.set_xlabel("cards left in the stock (dots: games won)")
    axes.set_ylabel("winnable deals not yet thrown away")
    axes.set_ylim(0, 1.02)
    _percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    _legend(axes, agents)
    figure.savefig(path)


def plot_regret(summary: pd.DataFrame, path: Path) -> None:
    """Each agent's regret in small games, smallest first, with its 95% interval.

    A plot for the games in which cards are packed and one for those in which they are not; how
    large a game is tell the positions of a search from an opening.
    """
    own = summary[~summary["agent"].isin([BEST, CEILING])]
    agents = list(own["agent"].unique())
    colours = _colours(agents)
    nothing_packs = own["rules"].map(lambda name: get_rules(name).build == "none")
    kinds = [part for part in (own[~nothing_packs], own[nothing_packs]) if len(part)]
    figure, panels = _panels(0.6 + 2.6 * len(kinds), len(kinds))
    for axes, part in zip(panels, kinds, strict=True):
        games = part.drop_duplicates("rules").sort_values("positions")
        where = {name: at for at, name in enumerate(games["rules"])}
        for i, agent in enumerate(agents):
            rows = part[part["agent"] == agent]
            at = [where[name] + 0.1 * (i - (len(agents) - 1) / 2) for name in rows["rules"]]
            axes.vlines(at, rows["regret_low"], rows["regret_high"], color=colours[agent], lw=1)
            axes.plot(at, rows["regret"], _MARKERS[i % len(_MARKERS)], color=colours[agent], ms=4)
        texts = [
            f"{name.removeprefix('small-')}\n{size / 1e6:.1f}M positions"
            for name, size in zip(games["rules"], games["positions"], strict=True)
        ]
        axes.set_xticks(range(len(games)), texts, fontsize=7)
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_yticks([0, 0.01, 0.1, 1])
        axes.set_ylim(-0.001, 1)
        _percent(axes, y=True)
        axes.set_ylabel("regret")
        axes.grid(visible=False, axis="x")
    handles = [
        Line2D([], [], color=colours[agent], marker=_MARKERS[i % len(_MARKERS)], ms=4, lw=1)
        for i, agent in enumerate(agents)
    ]
    _legend(panels[-1], agents, handles)
    figure.savefig(path)


def plot_answer(ladder: pd.DataFrame, path: Path) -> None:
    """A ladder of players, who wins least below, from the textbook's odds to the ceiling.

    Args:
        ladder: of `experiments.reporting.answer_page.answers`.
        path: of the picture.
    """
    figure, axes = _axes(1.2 + 0.45 * len(ladder))
    for y, row in enumerate(ladder.to_dict("records")):
        is_open = row["agent"] == CEILING
        colour = "dimgrey" if is_open else _COLOURS[0]
        ends = [row["win_low"], row["win_high"]]
        axes.barh(y, row["win_low"] if is_open else row["win_rate"], color=colour, height=0.62)
        if is_open:
            axes.barh(y, ends[1] - ends[0], left=ends[0], color="lightgrey", height=0.62)
        else:
            axes.plot(ends, [y, y], color="black", lw=1.5)
        text = f"{ends[0]:.1%} to {ends[1]:.1%}" if is_open else f"{row['win_rate']:.1%}"
        beside = BOOK_ODDS if 0 < BOOK_ODDS - ends[1] < 0.2 else ends[1]
        axes.text(beside + 0.015, y, text, va="center", fontsize=8)
    axes.axvline(BOOK_ODDS, color="black", ls="--", lw=1)
    axes.set_yticks(range(len(ladder)), [textwrap.fill(told, 26) for told in ladder["told"]])
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(0, 1.4)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    _percent(axes, x=True)
    axes.set_xlabel(f"games won (dashed: the textbook, 1 in {1 / BOOK_ODDS:.0f})")
    axes.grid(visible=False, axis="y")
    figure.suptitle("Four Seasons: who wins how often", fontsize=10)
    figure.savefig(path)
