"""AgileRL: PPO, whose rollouts pass `info["action_mask"]` to the policy."""

import json

import gymnasium as gym
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts.on_policy import collect_rollouts

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate
from four_seasons_env.wrappers import VectorMaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
GAMES, ROLLOUT, STEPS = 16, 1_024, 12_288


def make(count, **kwargs):
    """Games whose observations are vectors."""
    envs = gym.make_vec(ID, num_envs=count, **KWARGS, **kwargs)
    return VectorMaskInObservation(envs, flatten=True)


torch.manual_seed(0)
envs = make(GAMES, illegal="raise")
agent = PPO(
    envs.single_observation_space,
    envs.single_action_space,
    batch_size=256,
    lr=1e-3,
    learn_step=ROLLOUT,
    gamma=1.0,
    gae_lambda=0.9,
    num_envs=GAMES,
)
agent.set_training_mode(True)
state = {}
for _ in range(STEPS // ROLLOUT):
    scores, *last = collect_rollouts(agent, envs, **state)
    state = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
    agent.learn()
    print(f"return {sum(scores) / max(len(scores), 1):.3f}")
agent.set_training_mode(False)


def policy(observations, masks):
    """AgileRL's choice among the legal candidates."""
    return agent.get_action(observations, action_mask=masks)[0]


result = evaluate(make(100), policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": STEPS, **result._asdict()}))
