"""Until when can a deal still be won? Judge every game of some agents on validation deals.

    python experiments/studies/thrown_away.py --out runs/thrown_away

Each agent plays the deals. The solver then says of the first and last position with each number of
cards in the stock whether the true deal can still be won. Writes results.csv (one row per game),
and prints the table of docs/explanation/answer.md, which is filled from
docs/results/thrown_away.csv.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Parallel, delayed

from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.experiments.matches.players import find_players
from four_seasons_env.experiments.matches.verdicts import UNKNOWN, WON, judge, useful_moves
from four_seasons_env.game import Game
from four_seasons_env.rules import get_rules
from four_seasons_env.solver import solve

AGENTS = ["heuristic", "maskable_ppo", "next_deal_ppo", "planner"]
CARDS_LEFT = (40, 20, 10, 0)
"""Cards left in the stock, for the table."""
OPENINGS = 10
"""How many times the positions of a game the solver looks at for a deal that is still open."""
BLOCK = 50
"""Deals of one task."""


def edges(positions: Sequence[Game]) -> list[Game]:
    """The first and last position of a game with each number of cards in the stock."""
    stocks = [-1, *(position.stock_size for position in positions), -1]
    return [
        position
        for position, before, now, after in zip(
            positions, stocks, stocks[1:], stocks[2:], strict=False
        )
        if not before == now == after
    ]


def judge_games(
    agent: str, rules: str, deals: Sequence[int], positions: int
) -> list[dict[str, Any]]:
    """Play deals and judge the games.

    Args:
        agent: its name.
        rules: name of the rule set.
        deals: their numbers.
        positions: that the solver looks at for its verdicts on one game, at most.

    Returns:
        One row per game: agent, rules, deal, won; start, the verdict on the deal; alive, the cards
        in the stock of the last position known to be winnable, and dead, those of the first known
        to be lost (-1: there is none).
    """
    rule_set = get_rules(rules)
    (player,) = find_players([agent], rule_set, ["deterministic"])
    rows = []
    _, records = player.play_games(rule_set, deals)
    for deal, record in zip(deals, records, strict=True):
        game = record.positions()
        game = edges(game[: useful_moves(game) + 1])
        verdicts = judge(game, seconds=math.inf, in_all=positions)
        last, first = verdicts.last_won, verdicts.first_lost
        row = {"agent": agent, "rules": rules, "deal": deal, "won": game[-1].is_won}
        row |= {"start": verdicts.statuses[0], "alive": -1, "dead": -1}
        if last is not None:
            row["alive"] = game[last].stock_size
        if first is not None:
            row["dead"] = game[first].stock_size
        rows.append(row)
    return rows


def winnable(results: pd.DataFrame) -> pd.DataFrame:
    """The games of deals that are known to be winnable from any agent's game."""
    known = results.loc[results["start"] == WON, ["rules", "deal"]].drop_duplicates()
    games = results.merge(known, on=["rules", "deal"])
    return games.assign(alive=games["alive"].where(games["alive"] >= 0, results["alive"].max()))


def still_winnable(games: pd.DataFrame, left: int) -> tuple[float, float]:
    """Bounds of the share of games that can still be won with so many cards in the stock."""
    known = games["won"] | games["alive"].between(0, left)
    gone = ~games["won"] & (games["dead"] > left)
    return float(known.mean()), float(1 - gone.mean())


def thrown_away(results: pd.DataFrame) -> pd.DataFrame:
    """One row per agent, as text: what it could still win, and what it won, of winnable deals."""
    rows = []
    for agent, games in winnable(results).groupby("agent", sort=False):
        row = {"agent": str(agent), "winnable deals": f"{len(games):,}"}
        for left in CARDS_LEFT:
            low, high = still_winnable(games, left)
            row[f"{left} cards left %"] = f"{100 * low:.1f} to {100 * high:.1f}"
        rows.append(row | {"won %": f"{100 * games['won'].mean():.1f}"})
    return pd.DataFrame(rows)


def main() -> None:
    """Play, judge, and write results.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", default="10000-10999")
    parser.add_argument("--positions", type=int, default=500_000)
    run = parser.parse_args()
    deals = parse_deals(run.deals)
    blocks = [deals[first : first + BLOCK] for first in range(0, len(deals), BLOCK)]
    tasks = [(agent, run.rules, block, run.positions) for agent in run.agents for block in blocks]
    found = Parallel(n_jobs=-1, verbose=5)(delayed(judge_games)(*task) for task in tasks)
    results = pd.DataFrame([row for rows in found for row in rows])

    # Deals that no game has decided are harder than the others: without them agents look too good.
    known = results.loc[results["start"] != UNKNOWN, "deal"]
    for deal in sorted(set(results["deal"]) - set(known)):
        found_now = solve(Game(run.rules, deal), max_positions=OPENINGS * run.positions).status
        results.loc[results["deal"] == deal, "start"] = found_now
    run.out.mkdir(parents=True, exist_ok=True)
    results.to_csv(run.out / "results.csv", index=False)
    print(thrown_away(results).to_string(index=False))


if __name__ == "__main__":
    main()
