"""Hold an agent's decisions near the end of the stock against the best ones by fair play.

    python -m four_seasons_env.experiments.endings --out runs/endings
    python -m four_seasons_env.experiments.endings --agent planner@exact=4 --out runs/exact

The agent plays validation deals. From a number of hidden cards on, each position is valued by
`four_seasons_env.solver.fair_value` before a decision, and again with the decision made: the
difference is what it cost, as a chance to win. The sum of all costs of a game, from some card on,
is what perfect decisions from there on would gain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import track

from four_seasons_env.agents.registry import make_agent
from four_seasons_env.engine.deals import VALIDATION, parse_deals
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.decisions import play_to_next_card
from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.reporting.tables import print_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.solver import fair_value

_WITHIN = (0.1, 1.0)
"""Seconds, for the table."""


@dataclass
class Endings:
    """Hold an agent's decisions near the end of the stock against the best ones."""

    out: Path
    """Folder of the results."""
    agent: str = "planner"
    rules: str = "four-seasons"
    deals: str = f"{VALIDATION[0]}-{VALIDATION[0] + 99}"
    """Validation deals."""
    hidden: int = 8
    """Hidden cards, at most, of the positions that are valued."""
    seconds: float = 2.0
    """For the value of a position, and for that of a decision."""
    seed: int = 0


def decisions(run: Endings) -> Iterator[dict[str, Any]]:
    """The agent's decisions, valued."""
    agent = make_agent(run.agent, run.rules)
    rng = np.random.default_rng(run.seed)
    for deal in track(parse_deals(run.deals), "playing"):
        game = Game(run.rules, deal=deal)
        while game.stock_size > 1 and game.redeals_left == game.rules.redeals:
            hidden = game.stock_size
            before = game.copy()
            move = play_to_next_card(agent, game, rng)
            if hidden <= run.hidden:
                best = fair_value(before, seconds=run.seconds)
                low, high = best.low, best.high
                if move is None:
                    own_low, own_high = 0.0, 0.0
                elif low == high == 0:
                    own_low, own_high = low, high
                else:
                    own = fair_value(game, move=move, seconds=run.seconds)
                    own_low, own_high = own.low, min(own.high, high)
                    low = max(low, own_low)
                yield {
                    "deal": deal,
                    "hidden": hidden,
                    "low": low,
                    "high": high,
                    "own_low": own_low,
                    "own_high": own_high,
                    "seconds": best.seconds,
                    "nodes": best.nodes,
                }
            if move is None:
                break
            game.play(move)


def summarise_endings(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each number of hidden cards; shares and costs are of one, times in seconds."""
    rows = []
    for hidden, found in table.groupby("hidden"):
        exact = found["low"] == found["high"]
        both = found[exact & (found["own_low"] == found["own_high"])]
        cost = both["low"] - both["own_low"]
        row = {"hidden": hidden, "decisions": len(found)}
        row["nodes"] = found["nodes"].median()
        row["median"], row["slow"] = found["seconds"].quantile([0.5, 0.9])
        for seconds in _WITHIN:
            row[f"within {seconds:g} s"] = (exact & (found["seconds"] <= seconds)).mean()
        row["exact"] = exact.mean()
        row["won"] = (exact & (found["low"] == 1)).mean()
        row["lost"] = (exact & (found["low"] == 0)).mean()
        row["both"], row["worse"], row["cost"] = len(both), (cost > 0).mean(), cost.mean()
        rows.append(row)
    return pd.DataFrame(rows)


def endings_as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as cells of text."""
    cells = pd.DataFrame({"hidden": summary["hidden"].map("{:d}".format)})
    cells["decisions"] = summary["decisions"].map("{:,}".format)
    cells["positions: median"] = summary["nodes"].map("{:,.0f}".format)
    cells["seconds: median"] = summary["median"].map("{:.4f}".format)
    cells["90%"] = summary["slow"].map("{:.3f}".format)
    for seconds in _WITHIN:
        name = f"within {seconds:g} s"
        cells[f"exact {name} %"] = summary[name].map("{:.1%}".format).str[:-1]
    cells["exact at all %"] = summary["exact"].map("{:.1%}".format).str[:-1]
    cells["won for certain %"] = summary["won"].map("{:.1%}".format).str[:-1]
    cells["lost for certain %"] = summary["lost"].map("{:.1%}".format).str[:-1]
    cells["judged"] = summary["both"].map("{:,}".format)
    for name, column in (("chose worse %", "worse"), ("cost, points", "cost")):
        cells[name] = [
            f"{100 * value:.2f}" if both else "-"
            for value, both in zip(summary[column], summary["both"], strict=True)
        ]
    return cells


def endings(run: Endings) -> None:
    """Play, and write endings.csv and summary.csv."""
    check_seed(run.seed)
    check_out(run.out, "valuation of endings")
    if not run.seconds > 0:
        raise ValueError(f"--seconds is more than 0 seconds, not {run.seconds:g}")
    parse_deals(run.deals)
    (player,) = find_players([run.agent], run.rules, ["deterministic"])
    table = pd.DataFrame(decisions(run))
    write_csv(run.out / "endings.csv", table)
    summary = summarise_endings(table)
    write_csv(run.out / "summary.csv", summary.assign(agent=player.agent, digest=player.digest))
    print_table(endings_as_text(summary), f"{run.agent} by fair values, deals {run.deals}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, endings, Endings, __doc__)


if __name__ == "__main__":
    main()
