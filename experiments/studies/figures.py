"""Draw the plots of docs/results from the stored results.

python experiments/studies/figures.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.comparison import CENSUS, ceiling_row
from four_seasons_env.experiments.folders import DATA, ROOT, read_table
from four_seasons_env.experiments.players import CEILING
from four_seasons_env.experiments.plots import (
    colours_of,
    draw_references,
    in_lines,
    in_percent,
    new_axes,
    plot,
    plot_learning_time,
    plot_speed_strength,
    plot_win_rates,
)

RESULTS = ROOT / "docs" / "results"
ANSWER = ["random", "greedy", "maskable_ppo", "heuristic", "next_deal_ppo"]
ANSWER += ["planner", "planner@lookahead=1", "planner@lookahead=3,worlds=32,candidates=8", CEILING]
"""The players of docs/explanation/answer.md."""


@plot
def plot_price(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Draw games won against seconds of one core per game: a curve from fast to slow players.

    Args:
        summary: price.csv.
        title: title of the plot.
        path: file of the picture.
    """
    figure, axes = new_axes(3.4)
    rows = summary.sort_values("ms_per_game")
    seconds, rates = rows["ms_per_game"] / 1000, rows["win_rate"]
    bars = [rates - rows["win_low"], rows["win_high"] - rates]
    axes.errorbar(seconds, rates, bars, fmt="o-", color=colours_of(["planner"])["planner"], lw=1)
    for i, (x, row) in enumerate(zip(seconds, rows.to_dict("records"), strict=True)):
        is_above = i % 2 == 1
        lines = in_lines([row["agent"].removeprefix("planner@")], room=14)
        axes.annotate(
            "\n".join([f"{row['win_rate']:.1%}", *lines]),
            (x, row["win_high" if is_above else "win_low"]),
            xytext=(0, 3 if is_above else -3),
            textcoords="offset points",
            ha="center",
            va="bottom" if is_above else "top",
            fontsize=7,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.14, y=0.3)
    axes.set_xlabel("seconds of one core per game")
    axes.set_ylabel("games won, with 95% interval")
    in_percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


@plot
def plot_moves(curves: dict[str, pd.DataFrame], path: Path, references: dict[str, float]) -> None:
    """Draw the share of games won against the moves of training.

    Args:
        curves: by name, each with the columns `moves` and `won`.
        path: file of the picture.
        references: win rates of other agents, drawn as dashed lines.
    """
    figure, axes = new_axes(3.8)
    draw_references(axes, references)
    for (name, rows), colour in zip(curves.items(), ("#1f77b4", "#ff7f0e", "#2ca02c"), strict=True):
        axes.plot(rows["moves"], rows["won"], color=colour, label=name)
    axes.set_xscale("log")
    axes.set_xlabel("moves of training (log scale)")
    axes.set_ylabel("training games won")
    axes.set_ylim(0, 0.55)
    in_percent(axes, y=True)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(0, 0.85))
    figure.suptitle("PPO on moves, with and without moves back", fontsize=10)
    figure.savefig(path)


def curve(name: str) -> pd.DataFrame:
    """The moves and the share of training games won, of the log of a training, smoothed."""
    rows = read_table(RESULTS / f"{name}.csv")
    won = rows["play/win_rate"].rolling(5, min_periods=1).mean()
    return pd.DataFrame({"moves": rows["time/total_timesteps"], "won": won})


def main() -> None:
    """Draw all plots."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    census = read_table(CENSUS / "results.csv").query("rules == 'four-seasons'")
    ceiling = pd.DataFrame([ceiling_row("four-seasons", census)])
    stored = read_table(DATA / "four-seasons.csv").query("agent != @CEILING")
    players = pd.concat([stored, ceiling], ignore_index=True)

    leaderboard = read_table(RESULTS / "leaderboard.csv").query("agent != @CEILING")
    plot_speed_strength(leaderboard, "Four Seasons, 1,000 test deals", out / "leaderboard.png")
    once = players.sort_values("play").drop_duplicates("agent")
    price = read_table(RESULTS / "price.csv").query("agent != @CEILING")
    shown = pd.concat([once, price]).drop_duplicates("agent").query("agent in @ANSWER")
    plot_win_rates(shown, "Four Seasons: who wins how often", out / "answer.png")
    title = f"Four Seasons, {price['deals'].max():,} test deals: what longer thought wins"
    plot_price(price.query("agent != 'heuristic'"), title, out / "price.png")

    rates = once.set_index("agent")["win_rate"]
    references = {name: float(rates[name]) for name in ("heuristic", "finisher", "planner")}
    learned = read_table(RESULTS / "learning.csv")
    title = "Four Seasons, test deals: games won by time of learning"
    plot_learning_time(learned, title, out / "learning.png", references)

    curves = {
        'mask="no_repeats"': curve("moves"),
        'mask="distinct"': curve("moves-distinct"),
        'mask="no_repeats", one file on a GPU': read_table(RESULTS / "moves-gpu.csv"),
    }
    by_hand = {name: references[name] for name in ("heuristic", "finisher")}
    plot_moves(curves, out / "moves.png", by_hand)


if __name__ == "__main__":
    main()
