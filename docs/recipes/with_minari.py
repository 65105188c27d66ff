"""Minari: clone the planner from its recorded decisions, with a network that scores candidates.

The argument is a folder that `four-seasons dataset` has written; without one, a small one is made.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import minari
import numpy as np
import torch
from torch.nn.functional import cross_entropy

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.agents.network.module import PositionNetwork
from four_seasons_env.evaluation import evaluate

ID, NAME = "FourSeasonsNextDeal-v0", "four-seasons/planner-v0"
SMALL = ["--agent", "planner@votes=0", "--deals", "4294967296-4294967345", "--out", "expert"]
EPOCHS, EPISODES, BATCH, RATE = 3, 200, 256, 3e-3

if len(sys.argv) == 1:
    subprocess.run([sys.executable, "-m", "four_seasons_env", "dataset", *SMALL], check=True)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "expert")
recorded = minari.MinariDataset(folder / "minari" / NAME / "data")
torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
network = PositionNetwork([64, 32, 64, 32], ["score"])
optimizer = torch.optim.Adam(network.parameters())


def scores(observations, masks):
    """The score of each candidate of n decisions, -1e9 where there is none."""
    decisions, _ = np.nonzero(masks)
    rows, chosen = torch.from_numpy(observations[masks == 1]), torch.arange(len(decisions))
    found = network(rows, torch.from_numpy(decisions), chosen)[:, 0]
    return torch.full(masks.shape, -1e9).masked_scatter(torch.from_numpy(masks == 1), found)


started, done, total = time.process_time(), 0, EPOCHS * recorded.total_steps
for _ in range(EPOCHS):
    order = rng.permutation(len(recorded))
    for first in range(0, len(order), EPISODES):
        episodes = list(recorded.iterate_episodes(order[first : first + EPISODES]))
        seen, masks = (
            np.concatenate([each.observations[name][:-1] for each in episodes])
            for name in ("observation", "action_mask")
        )
        actions = np.concatenate([each.actions for each in episodes])
        for batch in np.array_split(rng.permutation(len(actions)), -(-len(actions) // BATCH)):
            loss = cross_entropy(
                scores(seen[batch], masks[batch]), torch.from_numpy(actions[batch])
            )
            for group in optimizer.param_groups:
                group["lr"] = RATE * (1 - done / total)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += len(batch)
seconds = time.process_time() - started


def policy(observations, masks):
    """The candidate of the highest score."""
    with torch.no_grad():
        return scores(observations["observation"], masks).argmax(dim=1)


result = evaluate(gym.make_vec(ID, num_envs=1000 if len(sys.argv) > 1 else 100), policy)
assert result.illegal == 0
steps, core_seconds = int(recorded.total_steps), round(seconds, 1)
print(f"{core_seconds} core-seconds of training, {result.won:.1%} won")
told = {"environment": ID, "steps": steps, "masked_training": "yes", **result._asdict()}
print(json.dumps(told))
