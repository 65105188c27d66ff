"""How long games are, and how many actions a player has: moves, and positions at a decision.

    python experiments/studies/branching.py --out docs/results/branching.csv

Games of `heuristic` count legal moves, without those that only rename spaces. Games in which the
first candidate is always chosen count the positions that can be reached before the next card, up to
`CANDIDATES`. Validation deals.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
from four_seasons_env.vector import FourSeasonsVectorEnv, GameVectorEnv

CANDIDATES = 1000


def count(
    envs: GameVectorEnv, choose: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
) -> tuple[list[int], list[int]]:
    """The number of actions of each step of a game each, and the steps of each game."""
    deals = [VALIDATION[i] for i in range(envs.num_envs)]
    _, infos = envs.reset(options={"deal": deals})
    running = np.ones(envs.num_envs, bool)
    actions: list[int] = []
    steps = np.zeros(envs.num_envs, int)
    while running.any():
        masks = infos["action_mask"]
        actions += masks.sum(axis=1)[running].tolist()
        steps += running
        _, _, terminated, truncated, infos = envs.step(choose(envs.games.copy(), masks))
        running &= ~(terminated | truncated)
    return actions, steps.tolist()


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    agent, rng = make_agent("heuristic"), np.random.default_rng(0)
    by_moves = FourSeasonsVectorEnv(run.deals, run.rules, mask="distinct")
    moves, steps = count(by_moves, lambda games, masks: agent.act(games, masks, rng))
    by_positions = FourSeasonsNextDealVectorEnv(
        run.deals, run.rules, candidates=CANDIDATES, expansions=CANDIDATES
    )
    positions, decisions = count(by_positions, lambda _, masks: masks.argmax(axis=1))
    counted = {
        "legal moves of a position": moves,
        "moves of a game": steps,
        "positions to choose from at a decision": positions,
        "decisions of a game": decisions,
    }
    rows = [
        {
            "what": what,
            "mean": np.mean(values),
            "median": np.median(values),
            "most": max(values),
            "games": run.deals,
        }
        for what, values in counted.items()
    ]
    write_csv(run.out, pd.DataFrame(rows))


if __name__ == "__main__":
    main()
