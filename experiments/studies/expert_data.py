"""Write an agent's decisions in the next-deal environment as Parquet, and clone the agent from it.

    pip install pyarrow
    python experiments/studies/expert_data.py --out runs/expert
    python experiments/studies/expert_data.py --out runs/expert --clone

A row for each decision, a file for each hundred deals; docs/reference/data.md describes the
columns. With `--clone`, a network learns the actions in the folder and plays validation deals.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gymnasium as gym
import joblib
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from rich.progress import track
from torch.nn.functional import cross_entropy

from four_seasons_env.agents import Agent, make_agent
from four_seasons_env.agents.network.module import PositionNetwork
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.evaluation import evaluate
from four_seasons_env.experiments.parallel.blocks import split_deals
from four_seasons_env.game import Game

ENV = "FourSeasonsNextDeal-v0"
BLOCK = 100
"""Deals per file."""
MOST_MOVES = 200
"""Most moves of an agent until a card is turned."""
EPOCHS, BATCH, RATE = 3, 256, 3e-3
"""Epochs, decisions per batch, and learning rate of cloning."""


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


def clone(out: Path, rules: str) -> float:
    """The share of validation deals won by a network that has learned the actions in a folder."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    network = PositionNetwork([64, 32, 64, 32], ["score"])
    optimizer = torch.optim.Adam(network.parameters(), RATE)

    def scores(rows: NDArray[np.int16], masks: NDArray[np.int8]) -> torch.Tensor:
        decisions = torch.from_numpy(masks.nonzero()[0])
        found = network(torch.from_numpy(rows), decisions, torch.arange(len(rows)))[:, 0]
        return torch.full(masks.shape, -1e9).masked_scatter(torch.from_numpy(masks == 1), found)

    def policy(seen: dict[str, Any], masks: NDArray[np.int8]) -> torch.Tensor:
        with torch.no_grad():
            return scores(seen["observation"][masks == 1], masks).argmax(dim=1)

    files = EPOCHS * sorted(out.glob("*.parquet"))
    for done, path in enumerate(track(files, "cloning")):
        optimizer.param_groups[0]["lr"] = RATE * (1 - done / len(files))
        table = pd.read_parquet(path)
        masks, actions = np.stack(list(table["action_mask"])), table["action"].to_numpy()
        for batch in np.array_split(rng.permutation(len(table)), -(-len(table) // BATCH)):
            rows = np.concatenate([np.stack(list(each)) for each in table["observation"][batch]])
            loss = cross_entropy(scores(rows, masks[batch]), torch.from_numpy(actions[batch]))
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return evaluate(gym.make_vec(ENV, num_envs=1000, rules=rules), policy).won


def main() -> None:
    """Write the files, or clone from them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", default="planner")
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", default=f"{TRAIN_FROM}-{TRAIN_FROM + 999}")
    parser.add_argument("--n-jobs", type=int, default=-1)
    parser.add_argument("--clone", action="store_true")
    run = parser.parse_args()
    if run.clone:
        print(f"the clone wins {clone(run.out, run.rules):.1%} of 1,000 validation deals")
        return
    run.out.mkdir(parents=True, exist_ok=True)
    write, blocks = joblib.delayed(write_block), split_deals(run.deals, BLOCK)
    joblib.Parallel(run.n_jobs)(write(run.agent, run.rules, each, run.out) for each in blocks)


if __name__ == "__main__":
    main()
