"""docs/benchmark.md, results and speed in full; and the README's few rows of them."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.bench import (
    BY_CPU_TIME,
    NEXT_DEAL,
    VECTOR,
    VECTOR_SHARED,
    cost_cells,
)
from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.experiments.statistics.summary import as_text, ranked

NEXT_DEAL_PPO = "next_deal_ppo"
HEADLINE = {
    CEILING: "a player who sees every card",
    "planner@lookahead=1": "plans, and looks over the next card before it decides",
    "planner": "plans with a value network that it has learned",
    NEXT_DEAL_PPO: "MaskablePPO, on the environment whose actions are positions",
    "heuristic": "rules of thumb, tuned",
    "random": "any legal move",
}
"""The agents that the README shows, and what it calls them."""


def headline_part(summary: pd.DataFrame) -> str:
    """The README's table: who wins how much."""
    cells = as_text(ranked(summary)).set_index("agent").loc[list(HEADLINE)].reset_index()
    cells.insert(1, "what it is", [HEADLINE[agent] for agent in cells["agent"]])
    kept = cells[["agent", "what it is", "made of", "won % [95%]", "ms/game"]]
    return (
        f"{as_markdown(kept)}\n{int(summary['deals'].max()):,} test deals, the same for all. "
        "In plain words: [docs/answer.md](docs/answer.md). All agents, with their statistics: "
        "[docs/benchmark.md](docs/benchmark.md).\n\n"
    )


def results_part(summary: pd.DataFrame) -> str:
    """The part on the agents."""
    deals = int(summary["deals"].max())
    several = summary[summary["seeds"] > 1]
    seeds = (
        f" Trained from nothing: {', '.join(dict.fromkeys(several['agent']))}, by "
        f"{int(several['seeds'].max())} training seeds each."
        if len(several)
        else ""
    )
    ceiling = (
        f" `{CEILING}`: what a player who sees every card could win, as far as the solver knows "
        "([solver.md](solver.md))."
        if CEILING in set(summary["agent"])
        else ""
    )
    kept = (
        " `kept`: the MaskablePPO weights that come with the project."
        if "kept" in set(summary["agent"])
        else ""
    )
    if NEXT_DEAL_PPO in set(summary["agent"]):
        kept += f" `{NEXT_DEAL_PPO}`: likewise its kept weights ([learning.md](learning.md))."
    return (
        f"The first {deals:,} test deals, the same for all; no agent sees the order of the stock. "
        "Differences are in percentage points, and in cards, deal by deal; what the columns mean "
        "is told in [experiments.md](experiments.md#statistics)."
        f"{seeds}{kept}{ceiling}\n\n"
        f"{as_markdown(as_text(ranked(summary)))}\n![games won](results/win_rates.png)\n\n"
        "With learning curves, seed by seed: [results/report.md](results/report.md), and "
        "as a page with plots, `docs/results/report.html`.\n\n"
    )


def _rate(moves: float) -> str:
    """Moves a second, abbreviated."""
    return f"{moves / 1e6:.2f} M" if moves >= 1e6 else f"{moves / 1e3:.1f} k"


def _batches(rates: pd.DataFrame) -> str:
    """Rates of a vector environment, as a table of batch sizes."""
    columns = {
        f"`{observation}`, threads: {threads}": {
            f"{games:,}": _rate(moves)
            for games, moves in zip(rows["games"], rows["moves_per_second"], strict=True)
        }
        for (observation, threads), rows in rates.groupby(["observation", "threads"], sort=False)
    }
    return as_markdown(pd.DataFrame(columns).fillna("-").rename_axis("games").reset_index())


def machine_ratios(ratios: pd.DataFrame) -> pd.DataFrame:
    """Ratios of speeds as text: their range over the machines that they were measured on."""
    ranges = ratios.groupby("what", sort=False)["value"].agg(["min", "max", "count"])
    low, high = ranges["min"].map("{:.2f}".format), ranges["max"].map("{:.2f}".format)
    return pd.DataFrame(
        {
            "ratio of moves a CPU-second": ranges.index.str.removesuffix(BY_CPU_TIME),
            "": low.where(low == high, low + " to " + high).to_numpy(),
            "machines": ranges["count"].map(str).to_numpy(),
        }
    )


def speed_part(rates: pd.DataFrame, costs: pd.DataFrame, ratios: pd.DataFrame) -> str:
    """The part on speed."""
    ours = {"": VECTOR, ", with `copy=False`": VECTOR_SHARED}
    batched = "".join(
        f"Games at a time of the vector environment{how}:\n\n{_batches(rows)}\n"
        for how, what in ours.items()
        if not (rows := rates[rates["what"] == what]).empty
    )
    others = rates[~rates["what"].isin(ours.values())]
    shared = (others["what"] == NEXT_DEAL) & (others["threads"] > 1)
    others = others.assign(what=others["what"].where(~shared, NEXT_DEAL + ", 2 threads"))
    beside = pd.DataFrame(
        {
            "what": others["what"],
            "games": others["games"].map("{:,}".format),
            "observation": others["observation"],
            "moves a second": others["moves_per_second"].map(_rate),
            "a CPU-second": others["per_cpu_second"].map(_rate),
        }
    )
    other_costs = costs[~costs["what"].str.endswith(BY_CPU_TIME)]
    return (
        "Ratios, each of rates measured in turns in one run, and their range over machines; "
        "absolute figures differ by more:\n\n"
        f"{as_markdown(machine_ratios(ratios))}\n"
        "Moves a second of random legal play on one of them, the drawing of the moves included; "
        "mask and observation are written at every move, and games that end are dealt anew. "
        "Medians of several windows; peers and ours in one run on the same two cores.\n\n"
        f"{batched}![moves a second](results/throughput.png)\n\n"
        f"{as_markdown(beside)}\n{as_markdown(cost_cells(other_costs))}\n"
    )


def with_ratios(stored: pd.DataFrame, costs: pd.DataFrame, machine: str) -> pd.DataFrame:
    """Stored ratios of speeds with those of a run, which replace those of the same machine."""
    new = costs[costs["what"].str.endswith(BY_CPU_TIME)].assign(machine=machine)
    both = pd.concat([stored, new[["what", "machine", "value"]]])
    return both.drop_duplicates(["what", "machine"], keep="last", ignore_index=True)
