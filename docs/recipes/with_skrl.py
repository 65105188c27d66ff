"""skrl: PPO; the policy's model uses the mask in the observation."""

import json

import gymnasium as gym
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils import set_seed
from skrl.utils.spaces.torch import (
    flatten_tensorized_space,
    tensorize_space,
    unflatten_tensorized_space,
)
from torch import nn

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate
from four_seasons_env.wrappers import VectorMaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
GAMES, LENGTH, STEPS = 32, 32, 12_288

set_seed(0)
games = gym.make_vec(ID, num_envs=GAMES, illegal="raise", **KWARGS)
envs = wrap_env(VectorMaskInObservation(games, flatten=True), wrapper="gymnasium")
space, actions = envs.observation_space, envs.action_space


class Policy(CategoricalMixin, Model):
    """Scores of the candidates; those that the mask lacks have no chance."""

    def __init__(self):
        Model.__init__(self, observation_space=space, action_space=actions, device=envs.device)
        CategoricalMixin.__init__(self, unnormalized_log_prob=True)
        self.net = nn.Sequential(nn.LazyLinear(128), nn.ReLU(), nn.LazyLinear(actions.n))

    def compute(self, inputs, role=""):
        """Logits, of the observations in `inputs`."""
        seen = unflatten_tensorized_space(self.observation_space, inputs["observations"])
        logits = self.net(seen["observation"])
        # skrl knows no masks
        logits = logits.masked_fill(seen["action_mask"] == 0, torch.finfo(logits.dtype).min)
        return logits, {}


class Value(DeterministicMixin, Model):
    """The value of a position."""

    def __init__(self):
        Model.__init__(self, observation_space=space, action_space=actions, device=envs.device)
        DeterministicMixin.__init__(self)
        self.net = nn.Sequential(nn.LazyLinear(128), nn.ReLU(), nn.LazyLinear(1))

    def compute(self, inputs, role=""):
        """Values, of the observations in `inputs`."""
        return self.net(inputs["observations"]), {}


models = {"policy": Policy(), "value": Value()}
for each in models.values():
    each.init_state_dict()
agent = PPO(
    models=models,
    memory=RandomMemory(memory_size=LENGTH, num_envs=GAMES, device=envs.device),
    cfg=PPO_CFG(
        rollouts=LENGTH,
        learning_epochs=4,
        mini_batches=4,
        discount_factor=1.0,
        gae_lambda=0.9,
        learning_rate=1e-3,
        entropy_loss_scale=0.01,
    ),
    observation_space=space,
    action_space=actions,
    device=envs.device,
)
agent.cfg.experiment.write_interval = agent.cfg.experiment.checkpoint_interval = 0
SequentialTrainer(
    env=envs, agents=agent, cfg={"timesteps": STEPS // GAMES, "headless": True}
).train()


def policy(observations, masks):
    """The most likely of the legal candidates."""
    seen = flatten_tensorized_space(tensorize_space(space, observations, device=envs.device))
    with torch.no_grad():
        return models["policy"].compute({"observations": seen})[0].argmax(dim=-1).cpu()


held_out = VectorMaskInObservation(gym.make_vec(ID, num_envs=100, **KWARGS), flatten=True)
result = evaluate(held_out, policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": STEPS, **result._asdict()}))
