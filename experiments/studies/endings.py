"""How much do an agent's decisions near the end of the stock cost it?

    python experiments/studies/endings.py --out runs/endings
    python experiments/studies/endings.py --agent planner@exact=4 --out runs/exact

The agent plays validation deals. Once few cards are hidden, `four_seasons_env.solver.fair_value`
values each position twice: for the best decision, and for the agent's own. The difference is what
the decision cost, as a chance to win. Writes endings.csv (one row per decision) and summary.csv,
which docs/results/endings.csv holds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.agents import Agent, make_agent
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.engine.kernel import compile_rules, reshuffle_unseen_all
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.game import Game
from four_seasons_env.solver import fair_value

_MOST_MOVES = 200


def decisions(
    agent_name: str, rules: str, deals: str, hidden: int, seconds: float
) -> Iterator[dict[str, Any]]:
    """An agent's decisions with their bounds: of the best one, and of its own.

    Args:
        agent_name: who plays.
        rules: name of the rule set.
        deals: a range of deals.
        hidden: hidden cards of the positions that are valued, at most.
        seconds: for the value of a position, and for that of a decision.
    """
    agent, rng = make_agent(agent_name, rules), np.random.default_rng(0)
    for deal in parse_deals(deals):
        game = Game(rules, deal=deal)
        while game.stock_size > 1 and game.redeals_left == game.rules.redeals:
            left, before = game.stock_size, game.copy()
            move = play_to_next_card(agent, game, rng)
            if left <= hidden:
                best = fair_value(before, seconds=seconds)
                row = {"deal": deal, "hidden": left, "low": best.low, "high": best.high}
                row |= {"own_low": 0.0, "own_high": 0.0}
                if move is not None and best.high > 0:
                    own = fair_value(game, move=move, seconds=seconds)
                    row |= {"own_low": own.low, "own_high": min(own.high, best.high)}
                    row["low"] = max(best.low, own.low)
                yield row | {"seconds": best.seconds, "nodes": best.nodes}
            if move is None:
                break
            game.play(move)


def play_to_next_card(agent: Agent, game: Game, rng: np.random.Generator) -> Move | None:
    """Let an agent play until it chooses a move that turns a card of the stock.

    Args:
        agent: the player.
        game: is played on, up to that move.
        rng: of the agent, and of the order in which it is shown the unseen cards.

    Returns:
        The move, which is not played; None if the game ends before.
    """
    for _ in range(_MOST_MOVES):
        mask = game.action_mask(distinct=agent.mask == "distinct")
        if game.is_over:
            return None
        shown = game.record.copy()
        seed = rng.integers(0, 2**63, 1, dtype=np.uint64)
        reshuffle_unseen_all(shown, compile_rules(game.rules), seed)
        move = all_moves(game.rules)[int(agent.act(shown, mask[None], rng)[0])]
        after = game.copy()
        after.play(move)
        if after.stock_size < game.stock_size:
            return move
        game.play(move)
    return None


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each number of hidden cards; shares and costs are of one, times in seconds."""
    rows = []
    for hidden, found in table.groupby("hidden"):
        exact = found["low"] == found["high"]
        judged = found[exact & (found["own_low"] == found["own_high"])]
        cost = judged["low"] - judged["own_low"]
        row = {"hidden": hidden, "decisions": len(found), "nodes": found["nodes"].median()}
        row["median"], row["slow"] = found["seconds"].quantile([0.5, 0.9])
        for limit in (0.1, 1.0):
            row[f"within {limit:g} s"] = (exact & (found["seconds"] <= limit)).mean()
        row["exact"] = exact.mean()
        row["won"], row["lost"] = ((exact & (found["low"] == value)).mean() for value in (1, 0))
        rows.append(row | {"both": len(judged), "worse": (cost > 0).mean(), "cost": cost.mean()})
    return pd.DataFrame(rows)


def main() -> None:
    """Play, and write endings.csv and summary.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", default="planner")
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", default="10000-10099")
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0)
    run = parser.parse_args()
    table = pd.DataFrame(decisions(run.agent, run.rules, run.deals, run.hidden, run.seconds))
    run.out.mkdir(parents=True, exist_ok=True)
    write_csv(run.out / "endings.csv", table)
    write_csv(run.out / "summary.csv", summarise(table).assign(agent=run.agent))
    print(summarise(table).to_string(index=False))


if __name__ == "__main__":
    main()
