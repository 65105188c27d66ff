"""Minari and d3rlpy: record the heuristic's games, load them, and learn from them alone."""

import json
import os
from pathlib import Path

os.environ.setdefault("MINARI_DATASETS_PATH", str(Path("minari").absolute()))

import d3rlpy
import gymnasium as gym
import minari
import numpy as np

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.agents import make_agent
from four_seasons_env.evaluation import evaluate

ID, NAME, EPISODES, UPDATES = "FourSeasons-v0", "four-seasons/heuristic-v0", 60, 4_000

agent, rng = make_agent("heuristic"), np.random.default_rng(0)
env = minari.DataCollector(gym.make(ID, mask=agent.mask, illegal="raise"))
for episode in range(EPISODES):
    _, info = env.reset(seed=0 if episode == 0 else None)
    over = False
    while not over:
        games = env.unwrapped.game.record.copy()
        action = int(agent.act(games, info["action_mask"][None], rng)[0])
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
if NAME in minari.list_local_datasets():
    minari.delete_dataset(NAME)
env.create_dataset(NAME, algorithm_name="heuristic", author="the four-seasons-env developers")
env.close()

recorded = minari.load_dataset(NAME)
again = recorded.recover_environment()  # with the same arguments
assert again.unwrapped.spec.kwargs["mask"] == agent.mask
episodes = list(recorded)
d3rlpy.seed(0)
dataset = d3rlpy.dataset.MDPDataset(
    observations=np.concatenate([each.observations[:-1] for each in episodes]),
    actions=np.concatenate([each.actions for each in episodes]),
    rewards=np.concatenate([each.rewards for each in episodes]).astype(np.float32),
    terminals=np.concatenate([each.terminations for each in episodes]),
    timeouts=np.concatenate([each.truncations for each in episodes]),
    action_space=d3rlpy.ActionSpace.DISCRETE,
    action_size=int(again.action_space.n),
)
learner = d3rlpy.algos.DiscreteCQLConfig(
    learning_rate=1e-3, batch_size=64, alpha=4.0, target_update_interval=500
).create()
learner.fit(
    dataset,
    n_steps=UPDATES,
    n_steps_per_epoch=UPDATES,
    show_progress=False,
    logger_adapter=d3rlpy.logging.NoopAdapterFactory(),
)


# glue: d3rlpy does not support masks, so the best legal move is found here
def policy(observations, masks):
    """The legal move of the highest value."""
    number = np.arange(masks.shape[1])
    rows = np.repeat(observations, len(number), axis=0)
    values = learner.predict_value(rows, np.tile(number, len(observations)))
    return np.where(masks, values.reshape(masks.shape), -np.inf).argmax(axis=1)


# end of glue
result = evaluate(gym.make_vec(ID, num_envs=100, mask=agent.mask), policy)
assert result.illegal == 0
steps = int(recorded.total_steps)
print(json.dumps({"environment": ID, "steps": steps, "masked_training": False, **result._asdict()}))
