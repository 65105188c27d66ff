"""Tianshou: PPO with an actor that masks its own logits."""

import json

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate
from four_seasons_env.wrappers import MaskInObservation, VectorMaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
GAMES, STEPS = 8, 12_288


# glue: Tianshou masks Q-values, but not the actors of policy gradients
class Seen(Net):
    """Reads the observation without the mask."""

    def forward(self, obs, state=None, info=None):
        """See `Net`."""
        return super().forward(obs.obs, state)


class MaskedActor(DiscreteActor):
    """Gives legal actions alone a chance."""

    def forward(self, obs, state=None, info=None):
        """See `DiscreteActor`."""
        logits, state = super().forward(obs, state)
        mask = torch.as_tensor(obs.mask, dtype=torch.bool)
        return logits.masked_fill(~mask, torch.finfo(logits.dtype).min), state


# end of glue


def make():
    """One game whose observations hold the mask."""
    return MaskInObservation(gym.make(ID, illegal="raise", **KWARGS), "tianshou", flatten=True)


np.random.seed(0)
torch.manual_seed(0)
game = make()  # a vector environment has the spaces of the unwrapped environment
space, actions = game.observation_space, game.action_space
envs = DummyVectorEnv([make] * GAMES)
envs.seed(0)
body = Seen(state_shape=space["obs"].shape, hidden_sizes=(128,))
actor = DiscreteActorPolicy(
    actor=MaskedActor(preprocess_net=body, action_shape=actions.n, softmax_output=False),
    action_space=actions,
    deterministic_eval=True,
)
algorithm = PPO(
    policy=actor,
    critic=DiscreteCritic(preprocess_net=body),
    optim=AdamOptimizerFactory(lr=1e-3),
    gamma=1.0,
    gae_lambda=0.9,
    max_grad_norm=0.5,
)
collector = Collector(algorithm, envs, VectorReplayBuffer(2048, GAMES))
collector.reset()
algorithm.run_training(
    OnPolicyTrainerParams(
        training_collector=collector,
        max_epochs=3,
        epoch_num_steps=STEPS // 3,
        collection_step_num_env_steps=1024,
        update_step_num_repetitions=4,
        batch_size=256,
        show_progress=False,
    )
)


def policy(observations, masks):
    """The most likely of the legal candidates."""
    with torch.no_grad():
        return actor(Batch(obs=Batch(observations), info={})).act


envs = VectorMaskInObservation(gym.make_vec(ID, num_envs=100, **KWARGS), "tianshou", flatten=True)
result = evaluate(envs, policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": STEPS, **result._asdict()}))
