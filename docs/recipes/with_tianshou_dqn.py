"""Tianshou: DQN, whose policy reads the mask in `obs.mask`."""

import json

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate
from four_seasons_env.wrappers import MaskInObservation, VectorMaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
GAMES, STEPS = 8, 6_144


def make():
    """One game whose observations hold the mask."""
    return MaskInObservation(gym.make(ID, illegal="raise", **KWARGS), "tianshou", flatten=True)


np.random.seed(0)
torch.manual_seed(0)
game = make()  # a vector environment has the spaces of the unwrapped environment
space, actions = game.observation_space, game.action_space
envs = DummyVectorEnv([make] * GAMES)
envs.seed(0)
q_values = DiscreteQLearningPolicy(
    model=Net(state_shape=space["obs"].shape, action_shape=actions.n, hidden_sizes=(128,)),
    action_space=actions,
    eps_training=0.1,
)
algorithm = DQN(
    policy=q_values,
    optim=AdamOptimizerFactory(lr=1e-3),
    gamma=1.0,
    n_step_return_horizon=3,
    target_update_freq=200,
    is_double=True,  # the next action is chosen by the policy, with its mask
)
collector = Collector(algorithm, envs, VectorReplayBuffer(STEPS, GAMES), exploration_noise=True)
collector.reset()
algorithm.run_training(
    OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=3,
        epoch_num_steps=STEPS // 3,
        collection_step_num_env_steps=64,
        update_step_num_gradient_steps_per_sample=0.25,
        batch_size=64,
        show_progress=False,
    )
)


def policy(observations, masks):
    """The best of the legal candidates."""
    with torch.no_grad():
        return q_values(Batch(obs=Batch(observations), info={})).act


envs = VectorMaskInObservation(gym.make_vec(ID, num_envs=100, **KWARGS), "tianshou", flatten=True)
result = evaluate(envs, policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": STEPS, **result._asdict()}))
