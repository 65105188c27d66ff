"""Write an agent's decisions in the next-deal environment as Parquet.

    pip install pyarrow
    python experiments/studies/expert_data.py --out runs/expert

A row for each decision, a file for each hundred deals; docs/reference/data.md describes the
columns.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gymnasium as gym
import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents import Agent, make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.experiments.parallel.blocks import split_deals
from four_seasons_env.game import Game

ENV = "FourSeasonsNextDeal-v0"
BLOCK = 100
"""Deals per file."""
MOST_MOVES = 200
"""Maximum number of moves of an agent until a card is turned."""


def write_block(name: str, rules: str, deals: range, out: Path) -> None:
    """Write the decisions of an agent in a range of deals."""
    agent, env = make_agent(name, rules), gym.make(ENV, rules=rules)
    rows = [row for deal in deals for row in play_deal(agent, env, deal)]
    path = out / f"{deals[0]}-{deals[-1]}.parquet"
    pd.DataFrame(rows).to_parquet(path, compression="zstd")


def play_deal(agent: Agent, env: gym.Env[Any, Any], deal: int) -> list[dict[str, Any]]:
    """A row for each decision of a game; a game may have none."""
    rows: list[dict[str, Any]] = []
    rng = np.random.default_rng(deal)
    seen, info = env.reset(options={"deal": deal})
    done = not info["action_mask"].any()
    while not done:
        mask = info["action_mask"]
        offered = seen["observation"][: mask.sum()]
        action, own = choice_of(agent, env.unwrapped, offered, rng)
        row = {"deal": deal, "step": len(rows), "observation": list(offered), "action_mask": mask}
        seen, reward, terminated, truncated, info = env.step(action)
        row |= {"action": action, "own": own, "reward": reward, "terminated": terminated}
        rows.append(row)
        done = terminated or truncated
    returns = np.cumsum([row["reward"] for row in reversed(rows)])[::-1]
    return [row | {"return": rest} for row, rest in zip(rows, returns, strict=True)]


def choice_of(
    agent: Agent, env: Any, offered: NDArray[np.int16], rng: np.random.Generator
) -> tuple[int, bool]:
    """The action that leads where the agent goes, and whether the environment offers it.

    Otherwise the action is the candidate that the agent values most, or the first for agents
    without values.
    """
    game, wanted = env.game, env.game
    for _ in range(MOST_MOVES):
        mask = wanted.action_mask(distinct=agent.mask == "distinct")
        shown = wanted.reshuffled(rng)
        wanted.play(int(agent.act(shown.record, mask[None], rng)[0]))
        if wanted.is_over or wanted.stock_size < game.stock_size:
            break
    for action in range(len(offered)):
        reached = game.copy()
        for move in env.moves_of(action):
            reached.play(move)
        if key_of(reached) == key_of(wanted):
            return action, True
    values = getattr(agent, "values", None)
    return (int(values(offered).argmax()) if values else 0), False


def key_of(game: Game) -> int:
    """A key that does not depend on the order of the piles."""
    return int(position_keys(game.record[0], compile_rules(game.rules)[0])[0])


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", default="planner")
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", default=f"{TRAIN_FROM}-{TRAIN_FROM + 999}")
    parser.add_argument("--n-jobs", type=int, default=-1)
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    write, blocks = joblib.delayed(write_block), split_deals(run.deals, BLOCK)
    joblib.Parallel(run.n_jobs)(write(run.agent, run.rules, each, run.out) for each in blocks)


if __name__ == "__main__":
    main()
