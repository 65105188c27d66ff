"""RLlib, new API stack: PPO with RLlib's module for masked actions."""

import json

import gymnasium as gym
import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from four_seasons_env import evaluate
from four_seasons_env.wrappers import MaskInObservation, VectorMaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
MASKS = {"keys": "rllib", "dtype": "float32", "flatten": True}


def make(config):
    """One game whose observations hold the mask."""
    return MaskInObservation(gym.make(ID, illegal="raise", **KWARGS), **MASKS)


register_env("four-seasons", make)
config = (
    PPOConfig()
    .environment("four-seasons")
    .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
    .rl_module(
        rl_module_spec=RLModuleSpec(
            module_class=ActionMaskingTorchRLModule,
            model_config={"fcnet_hiddens": [128, 128], "head_fcnet_hiddens": []},
        )
    )
    .training(train_batch_size=2048, minibatch_size=512, num_epochs=4, lr=1e-3, gamma=1.0)
    .debugging(seed=0)
)
algorithm = config.build_algo()
for _ in range(4):
    results = algorithm.train()
    print(f"return {results['env_runners']['episode_return_mean']:.3f}")
steps = results["num_env_steps_sampled_lifetime"]
module = algorithm.get_module()


def policy(observations, masks):
    """The most likely of the legal candidates, by the trained module."""
    batch = {"obs": {key: torch.as_tensor(each) for key, each in observations.items()}}
    with torch.no_grad():
        return np.asarray(module.forward_inference(batch)["action_dist_inputs"]).argmax(axis=1)


envs = VectorMaskInObservation(gym.make_vec(ID, num_envs=100, **KWARGS), **MASKS)
result = evaluate(envs, policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": steps, **result._asdict()}))
algorithm.stop()
