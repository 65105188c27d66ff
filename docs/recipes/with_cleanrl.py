"""Masked PPO in one file, in the style of CleanRL, on the native vector environment."""

import json
import time
from dataclasses import dataclass

import gymnasium as gym
import torch
import tyro
from torch import nn

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate

ID = "FourSeasonsNextDeal-v0"  # an action is the position in which the next card is turned
FAST = {"observation": "cards", "candidates": 16, "illegal": "raise"}  # a lost mask is an error
WIDE = {"observation": "cards", "candidates": 200, "expansions": 400, "ending_expansions": 5000}


@dataclass(frozen=True)
class Flags:
    """Train a policy by masked PPO, and play validation deals with it."""

    seed: int = 0  # of deals, first weights and actions
    updates: int = 60  # rollouts; the network learns after each of them
    games: int = 128  # played in lockstep
    steps: int = 46  # decisions per game in a rollout; a game of four-seasons has at most 46
    epochs: int = 3  # passes over a rollout
    minibatch: int = 1024
    learning_rate: float = 2e-3  # at first; it falls linearly to zero
    gamma: float = 1.0  # 1: only the cards that are up at the end count, not the time they take
    gae_lambda: float = 0.9
    clip: float = 0.2  # of the ratio of probabilities
    entropy: float = 0.01  # weight of the entropy bonus
    value: float = 0.5  # weight of the value loss
    max_norm: float = 0.5  # longest gradient
    deals: int = 1000  # validation deals to play at the end


class Agent(nn.Module):
    """Reads each candidate separately, because its index in the list means nothing."""

    def __init__(self, inputs, hidden=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU())
        self.score, self.value = nn.Linear(hidden, 1), nn.Linear(hidden, 1)
        nn.init.zeros_(self.score.weight)  # all candidates are equally likely at first

    def forward(self, candidates, masks):
        """Distributions over K candidates, and values; from shapes (n, K, inputs) and (n, K)."""
        encoded = self.body(candidates[masks])  # half of the K places are empty
        scores, values = torch.full(masks.shape, -torch.inf), torch.zeros(masks.shape)
        # A masked action has the score -inf, so its probability is exactly 0: it is never sampled,
        # and it adds nothing to the entropy, so the bonus does not reward illegal actions.
        scores[masks] = self.score(encoded).squeeze(1)
        values[masks] = self.value(encoded).squeeze(1)
        chances = torch.distributions.Categorical(logits=scores)
        return chances, (chances.probs.detach() * values).sum(dim=1)  # mean under the policy


def tensors(observations, games=slice(None)):
    """Candidates and masks of some games."""
    candidates, masks = observations["observation"][games], observations["action_mask"][games]
    return torch.as_tensor(candidates), torch.as_tensor(masks).bool()


def train(flags):
    """Train an agent, and return it."""
    torch.manual_seed(flags.seed)
    torch.set_num_threads(1)  # more are no faster for a small network
    envs = gym.make_vec(ID, num_envs=flags.games, **FAST)
    agent = Agent(envs.single_observation_space["observation"].shape[1])
    optimizer = torch.optim.Adam(agent.parameters())
    observations, _ = envs.reset(seed=flags.seed)
    start, shape = time.perf_counter(), (flags.steps, flags.games)
    for update in range(flags.updates):
        optimizer.param_groups[0]["lr"] = flags.learning_rate * (1 - update / flags.updates)

        # Rollout.
        rollout, wins = [], []
        rewards, live = torch.zeros(shape), torch.zeros(shape)
        for step in range(flags.steps):
            candidates, masks = tensors(observations)
            with torch.no_grad():
                chances, values = agent(candidates, masks)
                actions = chances.sample()
            rollout.append((candidates, masks, actions, chances.log_prob(actions), values))
            observations, reward, terminated, truncated, infos = envs.step(actions.numpy())
            ended = terminated | truncated
            rewards[step], live[step] = torch.as_tensor(reward), torch.as_tensor(~ended)
            # A game that ends is replaced in the same step: `observations` already holds the next
            # deal, and `final_obs` the last position of the old game. A game cut off by the move
            # limit could continue, so the value of its last position belongs to its return.
            if truncated.any():
                with torch.no_grad():
                    _, rest = agent(*tensors(infos["final_obs"], truncated))
                rewards[step, torch.as_tensor(truncated)] += flags.gamma * rest
            if ended.any():
                wins.extend(infos["final_info"]["won"][ended])

        # Generalized advantage estimation (Schulman et al. 2016). Nothing passes the end of a game.
        candidates, masks, actions, before, values = map(torch.stack, zip(*rollout, strict=True))
        with torch.no_grad():
            following = torch.cat([values[1:], agent(*tensors(observations))[1][None]])
        errors = rewards + flags.gamma * live * following - values
        advantages, gain = torch.zeros(shape), torch.zeros(flags.games)
        for step in reversed(range(flags.steps)):
            gain = errors[step] + flags.gamma * flags.gae_lambda * live[step] * gain
            advantages[step] = gain
        batch = (candidates, masks, actions, before, advantages, advantages + values)
        batch = [each.flatten(0, 1) for each in batch]

        # Update. The masks of the rollout are used again: without them, the ratio would compare
        # probabilities over two different sets of actions.
        for _ in range(flags.epochs):
            for rows in torch.randperm(flags.steps * flags.games).split(flags.minibatch):
                candidates, masks, actions, before, gains, returns = (each[rows] for each in batch)
                chances, values = agent(candidates, masks)
                ratio = (chances.log_prob(actions) - before).exp()
                gains = (gains - gains.mean()) / (gains.std() + 1e-8)
                clipped = ratio.clamp(1 - flags.clip, 1 + flags.clip)
                loss = -torch.min(gains * ratio, gains * clipped).mean()
                loss += flags.value * (returns - values).square().mean()
                loss -= flags.entropy * chances.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), flags.max_norm)
                optimizer.step()

        done = (update + 1) * flags.steps * flags.games
        speed, won = done / (time.perf_counter() - start), sum(wins) / max(len(wins), 1)
        print(f"{done:9,} decisions, {speed:5,.0f} per second; {won:.1%} of {len(wins)} games won")
    return agent


def main(flags):
    """Train an agent, and play each validation deal with its most likely actions."""
    agent = train(flags)

    def policy(observations, _):
        candidates, masks = tensors(observations)
        masks[~masks.any(dim=1), 0] = True  # games that are over: their actions do not count
        with torch.no_grad():
            return agent(candidates, masks)[0].probs.argmax(dim=1)

    result = evaluate(gym.make_vec(ID, num_envs=flags.deals, **WIDE), policy)  # wider than training
    assert result.illegal == 0
    steps = flags.updates * flags.steps * flags.games
    print(json.dumps({"environment": ID, "steps": steps, **result._asdict()}))


if __name__ == "__main__":
    main(tyro.cli(Flags))
