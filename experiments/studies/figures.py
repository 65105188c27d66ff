"""Draw the plots of docs/results anew, from the stored results.

python experiments/studies/figures.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.experiments.command_line import RESULTS
from four_seasons_env.experiments.matches.ceiling import CEILING, ceiling_row
from four_seasons_env.experiments.reporting.plots.bench import plot_rates
from four_seasons_env.experiments.reporting.plots.comparison import (
    plot_speed_strength,
    plot_win_rates,
)
from four_seasons_env.experiments.reporting.plots.odds import plot_census, plot_regret
from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    in_percent,
    name_colours,
    new_axes,
)
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.studies.thrown_away import still_winnable, winnable

ANSWER = ["random", "greedy", "maskable_ppo", "heuristic", "next_deal_ppo"]
ANSWER += ["planner", "planner@lookahead=1", CEILING]
"""The players of docs/answer.md."""


def plot_learning(curves: pd.DataFrame, beside: dict[str, float], path: Path) -> None:
    """Validation deals won against core-minutes of learning: a line a run, a colour a study."""
    figure, axes = new_axes(4.2)
    for name, rate in beside.items():
        axes.axhline(rate, color="grey", ls="--", lw=1)
        axes.annotate(f"{name} {rate:.1%}", (0.3, rate + 0.005), fontsize=7, color="dimgrey")
    studies = list(dict.fromkeys(curves["study"]))
    for (study, _), rows in curves.groupby(["study", "seed"], sort=False):
        minutes = rows["core_seconds"] / 60
        axes.plot(
            minutes, rows["win_rate"], ".-", color=colours_of(studies)[str(study)], lw=1, ms=4
        )
    axes.set_xscale("log")
    axes.set_xticks(ticks := [0.3, 1, 2, 7, 30], [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("core-minutes of learning")
    axes.set_ylabel("validation deals won")
    axes.set_ylim(bottom=0)
    in_percent(axes, y=True)
    name_colours(axes, studies)
    figure.suptitle("four-seasons: next-deal PPO by time of learning", fontsize=10)
    figure.savefig(path)


def plot_thrown_away(results: pd.DataFrame, path: Path) -> None:
    """Winnable deals that can still be won, by cards left in the stock: a band an agent."""
    figure, axes = new_axes()
    games = winnable(results)
    agents = list(dict.fromkeys(games["agent"]))
    left = np.arange(int(games["alive"].max()), -1, -1)
    for agent, own in games.groupby("agent", sort=False):
        low, high = np.array([still_winnable(own, int(cards)) for cards in left]).T
        colour = colours_of(agents)[str(agent)]
        axes.fill_between(left, low, high, step="post", color=colour, alpha=0.3, lw=0)
        axes.plot(-1.5, own["won"].mean(), "o", color=colour, ms=5, clip_on=False)
    axes.set_xlim(left[0], -1.5)
    axes.set_xlabel("cards left in the stock (dots: games won)")
    axes.set_ylabel("winnable deals that can still be won")
    axes.set_ylim(0, 1)
    in_percent(axes, y=True)
    name_colours(axes, agents)
    figure.suptitle("Four Seasons, validation deals", fontsize=10)
    figure.savefig(path)


def main() -> None:
    """Draw all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    census = read_table(RESULTS / "census" / "four-seasons.csv")
    ceiling = pd.DataFrame([ceiling_row("four-seasons", census)])
    stored = read_table(RESULTS / "four-seasons.csv").query("agent != @CEILING")
    players = pd.concat([stored, ceiling], ignore_index=True)
    plot_win_rates(players, "Four Seasons, 10,000 test deals", out / "win_rates.png")

    ladder = read_table(RESULTS / "ladder.csv").query("agent != @CEILING")
    plot_speed_strength(ladder, "Four Seasons, 1,000 test deals", out / "ladder.png")
    both = pd.concat([players, ladder]).query("agent in @ANSWER")
    both = both.sort_values("play").drop_duplicates("agent")
    plot_win_rates(both, "Four Seasons: who wins how often", out / "answer.png")

    curves = read_table(RESULTS / "learning_curves.csv").query("rules == 'four-seasons'")
    rates = players.sort_values("play").drop_duplicates("agent").set_index("agent")["win_rate"]
    beside = {name: float(rates[name]) for name in ("heuristic", "finisher", "planner")}
    plot_learning(curves, beside, out / "learning.png")

    plot_census(census, f"four-seasons, {len(census):,} test deals", out / "census.png")
    plot_regret(read_table(RESULTS / "small-games.csv"), out / "small-games.png")
    plot_rates(read_table(RESULTS / "bench.csv"), out / "bench.png")
    plot_thrown_away(read_table(RESULTS / "thrown_away.csv"), out / "thrown_away.png")


if __name__ == "__main__":
    main()
