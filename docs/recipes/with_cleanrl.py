"""PPO in one file in the style of CleanRL, directly on the native batch."""

import json

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate

GAMES, LENGTH, UPDATES, EPOCHS, MINIBATCH = 64, 64, 10, 4, 512
GAMMA, LAMBDA, CLIP, ENTROPY = 1.0, 0.9, 0.2, 0.01

torch.manual_seed(0)
ID, KWARGS = "FourSeasonsNextDeal-v0", {"observation": "tops", "candidates": 16}
envs = gym.make_vec(ID, num_envs=GAMES, illegal="raise", **KWARGS)
width = envs.single_observation_space["observation"].shape[1]


class Agent(nn.Module):
    """One network reads every candidate by itself: its score, and its part of the value."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 64), nn.ReLU())
        self.score, self.value = nn.Linear(64, 1), nn.Linear(64, 1)

    def forward(self, observations, masks):
        """The distribution over legal candidates, and the values; of observations (n, K, L)."""
        hidden = self.body(observations)
        scores = self.score(hidden).squeeze(-1).masked_fill(~masks, -torch.inf)
        dead = ~masks.any(dim=-1, keepdim=True)
        shares = masks / masks.sum(dim=-1, keepdim=True).clamp(min=1)
        values = self.value((hidden * shares.unsqueeze(-1)).sum(dim=1)).squeeze(-1)
        return torch.distributions.Categorical(logits=scores.masked_fill(dead, 0.0)), values


def tensors(observations):
    """Observations and masks for the network."""
    seen = torch.as_tensor(observations["observation"])
    return seen, torch.as_tensor(observations["action_mask"]).bool()


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=3e-3)
observations, _ = envs.reset(seed=0)
for update in range(UPDATES):
    rollout, rewards, dones = [], np.zeros((LENGTH, GAMES)), np.zeros((LENGTH, GAMES), bool)
    for step in range(LENGTH):
        seen, masks = tensors(observations)
        with torch.no_grad():
            chances, values = agent(seen, masks)
            actions = chances.sample()
        rollout.append((seen, masks, actions, chances.log_prob(actions), values))
        observations, rewards[step], terminated, truncated, _ = envs.step(actions.numpy())
        dones[step] = terminated | truncated
    seen, masks, actions, log_probs, values = map(torch.stack, zip(*rollout, strict=True))
    with torch.no_grad():
        after = torch.cat([values[1:], agent(*tensors(observations))[1][None]])
    live, gain = torch.as_tensor(~dones).float(), torch.zeros(GAMES)
    advantages = torch.zeros(LENGTH, GAMES)
    errors = torch.as_tensor(rewards).float() + GAMMA * live * after - values
    for step in reversed(range(LENGTH)):
        gain = advantages[step] = errors[step] + GAMMA * LAMBDA * live[step] * gain
    returns = advantages + values
    batch = [each.flatten(0, 1) for each in (seen, masks, actions, log_probs, advantages, returns)]
    for _ in range(EPOCHS):
        for rows in torch.randperm(GAMES * LENGTH).split(MINIBATCH):
            seen, masks, actions, before, gains, goals = (each[rows] for each in batch)
            chances, values = agent(seen, masks)
            ratio = (chances.log_prob(actions) - before).exp()
            gains = (gains - gains.mean()) / (gains.std() + 1e-8)
            policy_loss = -torch.min(gains * ratio, gains * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = (values - goals).pow(2).mean()
            loss = policy_loss + 0.5 * value_loss - ENTROPY * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    print(f"{(update + 1) * GAMES * LENGTH:,} decisions, return {rewards.sum() / dones.sum():.3f}")


def policy(observations, masks):
    """The most likely of the legal candidates."""
    with torch.no_grad():
        return agent(*tensors(observations))[0].logits.argmax(dim=-1)


result = evaluate(gym.make_vec(ID, num_envs=100, **KWARGS), policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": UPDATES * GAMES * LENGTH, **result._asdict()}))
