"""TorchRL: PPO with `MaskedCategorical`, which reads the mask in the observation."""

import json

import gymnasium as gym
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper, SerialEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from four_seasons_env import evaluate
from four_seasons_env.wrappers import MaskInObservation

ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
GAMES, BATCH, STEPS = 16, 1_024, 20_480


def make():
    """One game whose observations hold the mask."""
    env = MaskInObservation(gym.make(ID, illegal="raise", **KWARGS), "torchrl", dtype="bool")
    return GymWrapper(env, categorical_action_encoding=True)


torch.manual_seed(0)
envs = SerialEnv(GAMES, make)
envs.set_seed(0)
width = envs.observation_spec["observation"].shape[-1]

scores = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1), nn.Flatten(-2))
worth = nn.Sequential(nn.Flatten(-2), nn.LazyLinear(64), nn.ReLU(), nn.Linear(64, 1))
actor = ProbabilisticActor(
    TensorDictModule(scores, in_keys=["observation"], out_keys=["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    spec=envs.action_spec_unbatched,
    return_log_prob=True,
)
critic = ValueOperator(worth, in_keys=["observation"])
critic(envs.reset())

advantage = GAE(gamma=1.0, lmbda=0.9, value_network=critic)
losses = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
optimizer = torch.optim.Adam(losses.parameters(), lr=3e-3)
for batch in Collector(envs, actor, frames_per_batch=BATCH, total_frames=STEPS):
    for _ in range(4):
        with torch.no_grad():
            advantage(batch)
        flat = batch.reshape(-1)
        for rows in torch.randperm(BATCH).split(256):
            loss = losses(flat[rows])
            total = loss["loss_objective"] + loss["loss_critic"] + loss["loss_entropy"]
            optimizer.zero_grad()
            total.backward()
            nn.utils.clip_grad_norm_(losses.parameters(), 0.5)
            optimizer.step()
    returns = batch["next", "reward"].sum() / batch["next", "done"].sum()
    print(f"return {returns:.3f}")


def policy(observations, masks):
    """The most likely of the legal candidates."""
    seen = TensorDict(observations, batch_size=len(masks))
    seen["action_mask"] = seen["action_mask"].bool()
    with torch.no_grad(), set_exploration_type(ExplorationType.MODE):
        return actor(seen)["action"]


result = evaluate(gym.make_vec(ID, num_envs=100, **KWARGS), policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": STEPS, **result._asdict()}))
