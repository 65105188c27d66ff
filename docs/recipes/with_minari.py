"""Minari: export recorded games, read them again, and learn to choose the same moves."""

import json

import gymnasium as gym
import minari
import numpy as np
import torch
from minari.data_collector import EpisodeBuffer

from four_seasons_env import evaluate
from four_seasons_env.agents import MoveNetwork
from four_seasons_env.datasets import load
from four_seasons_env.rules import RULES
from four_seasons_env.wrappers import MaskInObservation

ID, KWARGS = "FourSeasons-v0", {"observation": "places", "mask": "no_repeats"}
NAME = "four-seasons/medium-v0"


def episodes(data):
    """The games of transitions; a game has one observation more than it has moves."""
    ends = np.flatnonzero(data.terminated | data.truncated)
    for start, end in zip([0, *(ends[:-1] + 1)], ends, strict=True):
        game = data[start : end + 1]
        yield EpisodeBuffer(
            options={"deal": int(game.deal[0])},  # for `reset`; no policy may see it
            observations={
                "observation": np.vstack([game.observation, game.next_observation[-1:]]),
                "action_mask": np.vstack([game.mask, game.next_mask[-1:]]),
            },
            actions=game.action,
            rewards=game.reward,
            terminations=game.terminated,
            truncations=game.truncated,
        )


# 1. Export, with the environment that can be recovered from the data set.
if NAME in minari.list_local_datasets():
    minari.delete_dataset(NAME)
dataset = minari.create_dataset_from_buffers(
    NAME,
    list(episodes(load("medium", games=1000, **KWARGS))),
    env=MaskInObservation(gym.make(ID, **KWARGS)),
    algorithm_name="heuristic",
    description="Four Seasons, played by a rule of thumb.",
)
print(dataset.recover_environment())

# 2. Read it again: every position in which a move was chosen.
games = list(minari.load_dataset(NAME).iterate_episodes())
positions, masks = (
    torch.as_tensor(np.concatenate([game.observations[key][:-1] for game in games]))
    for key in ("observation", "action_mask")
)
moves = torch.as_tensor(np.concatenate([game.actions for game in games]))

# 3. Behaviour cloning: the chosen move becomes the most likely one.
torch.manual_seed(0)
network = MoveNetwork(RULES["four-seasons"])
optimizer = torch.optim.Adam(network.parameters(), lr=4e-3)
for _ in range(2):
    for rows in torch.randperm(len(moves)).split(1024):
        scores, _ = network(positions[rows], masks[rows].bool())
        loss = torch.nn.functional.cross_entropy(scores, moves[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss:.3f}")


@torch.no_grad()
def policy(observations, masks):
    """The most likely of the legal moves."""
    return network(torch.as_tensor(observations), torch.as_tensor(masks).bool())[0].argmax(dim=1)


result = evaluate(gym.make_vec(ID, num_envs=100, **KWARGS), policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": len(moves), **result._asdict()}))
