"""Parallel Q-learning with masks on moves, in one file that reads like CleanRL's `pqn.py`."""

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import torch
import torch.nn.functional as F
import tyro
from torch import nn, optim
from torch.utils.tensorboard import SummaryWriter

from four_seasons_env import evaluate
from four_seasons_env.agents import MoveNetwork, PolicyCard, save_policy
from four_seasons_env.agents.policy_files import check_policy_folder, rules_fields
from four_seasons_env.rules import get_rules

ID, RULES = "FourSeasons-v0", get_rules("four-seasons")  # an action is a move
GAME = {"observation": "places", "mask": "no_repeats"}  # what the agent sees, and may choose
TOP = 2.0  # the largest return: the whole deck, and 1 for the win


@dataclass
class Args:
    """Learn the values of moves, save them as a policy, and play validation deals with it."""

    seed: int = 0  # Seed of the deals, of the first weights and of the moves.
    device: str = "auto"  # Device of the network: cpu, cuda, mps, or auto.
    out: Path = Path("runs/pqn")  # Folder of the curve, for TensorBoard too, and of `policy`.
    eval_deals: int = 1000  # Number of validation deals to play at the end.
    layers: tuple[int, int, int] = (128, 64, 64)  # Widths of the network; see `MoveNetwork`.
    max_moves: int = 300  # An episode is truncated after this number of moves.
    total_timesteps: int = 4_000_000  # Number of moves of the training, all games together.
    learning_rate: float = 3e-3  # Learning rate of Adam.
    num_envs: int = 512  # Number of games that are played side by side.
    num_steps: int = 32  # Number of moves in each game between two updates.
    num_minibatches: int = 16  # Number of parts of a batch; each is a step of the optimizer.
    update_epochs: int = 2  # Number of passes over a batch.
    anneal_lr: bool = True  # Whether the learning rate falls linearly towards zero.
    gamma: float = 0.999  # Discount of later rewards.
    start_e: float = 1.0  # Share of moves that are drawn at random, at first ...
    end_e: float = 0.01  # ... and later.
    exploration_fraction: float = 0.1  # Share of the training until it has fallen to `end_e`.
    max_grad_norm: float = 10.0  # Longer gradients are cut to this length.
    q_lambda: float = 0.95  # Lambda of Q(lambda): how much of what came later goes into a target.
    averaging: float = 0.1  # The saved weights are a mean over this last share of the training.


class QNetwork(MoveNetwork):
    """Log-odds of the values of moves, which are shares of the largest return."""

    def forward(self, x, mask):
        """The position's, plus what a move scores above the mean of the legal ones (dueling)."""
        mask = torch.as_tensor(mask).bool()
        scores, value = super().forward(torch.as_tensor(x), mask)
        mask = mask.to(scores.device)
        mean = (scores * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)  # 0 where none is legal
        return torch.where(mask, scores + (value - mean)[:, None], -1e8)

    @torch.no_grad()
    def get_value(self, x, mask):
        """The values of positions: those of their best moves, 0 where no move is legal."""
        return self(x, mask).max(dim=1).values.sigmoid()


def linear_schedule(start_e, end_e, duration, t):
    """A number that falls from `start_e` to `end_e`, and stays there."""
    return max(start_e + (end_e - start_e) * t / duration, end_e)


def main(args):
    """Train, save and evaluate."""
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # the layers are too small for several
    best = torch.accelerator.current_accelerator(check_available=True) or "cpu"
    device = torch.device(best if args.device == "auto" else args.device)
    batch_size = args.num_envs * args.num_steps
    if args.total_timesteps < batch_size:
        least = f"{batch_size}, one batch, or more"
        raise ValueError(f"total_timesteps must be {least}, not {args.total_timesteps}")
    out = args.out.expanduser()
    check_policy_folder(out / "policy")  # now, because the policy is saved at the end
    writer = SummaryWriter(out)  # makes the folder, too
    curve = (out / "curve.csv").open("w")  # for `four-seasons report`
    print("steps,win_rate", file=curve)

    limits = {"max_moves": args.max_moves, "illegal": "raise"}  # a mask that gets lost is an error
    envs = gym.make_vec(ID, num_envs=args.num_envs, **GAME, **limits)
    q_network = QNetwork(RULES, args.layers).to(device)
    optimizer = optim.Adam(q_network.parameters(), args.learning_rate, eps=1e-5, fused=True)
    mean = {name: each.clone() for name, each in q_network.state_dict().items()}

    # Storage of a rollout. Positions and masks stay on the CPU, where the network prepares them.
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, *envs.single_observation_space.shape), dtype=torch.uint8)
    masks = torch.zeros((*shape, envs.single_action_space.n), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.long, device=device)
    rewards, dones, values = torch.zeros((3, *shape), device=device)

    # Game i plays the deals of seed + i. So trainings with different seeds share no deal.
    next_obs, infos = envs.reset(seed=args.seed * args.num_envs)
    wins = deque(maxlen=1000)  # whether each of the last games was won
    num_iterations = args.total_timesteps // batch_size
    duration = args.exploration_fraction * args.total_timesteps
    global_step, start_time = 0, time.time()

    for iteration in range(num_iterations):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / num_iterations)

        # Play some moves in all games: the best by their values, or random ones.
        for step in range(args.num_steps):
            epsilon = linear_schedule(args.start_e, args.end_e, duration, global_step)
            global_step += args.num_envs
            obs[step], masks[step] = map(torch.as_tensor, (next_obs, infos["action_mask"]))
            with torch.no_grad():
                q_values, max_actions = (q := q_network(obs[step], masks[step])).max(dim=1)
            random_actions = (torch.rand_like(q) * masks[step].to(device)).argmax(dim=1)  # legal
            explore = torch.rand_like(q_values) < epsilon
            action = torch.where(explore, random_actions, max_actions)
            actions[step], values[step] = action, q_values.sigmoid()
            next_obs, reward, terminated, truncated, infos = envs.step(action.cpu().numpy())
            rewards[step] = torch.as_tensor(reward / TOP, dtype=torch.float32)
            dones[step] = torch.as_tensor(terminated | truncated)  # whether this move was the last
            if "final_info" in infos:
                wins.extend(infos["final_info"]["won"][infos["_final_info"]])
            # A truncated game could go on: the value of its last position stands for the rest.
            # `next_obs` does not show this position: the next game has been dealt already.
            if truncated.any():
                final_mask = infos["final_info"]["action_mask"][truncated]
                rest = q_network.get_value(infos["final_obs"][truncated], final_mask)
                rewards[step, torch.as_tensor(truncated, device=device)] += args.gamma * rest

        # Compute Q(lambda) targets, from the last move to the first. Nothing passes an episode's
        # end: the value of the next position, and what came after it, belong to another game.
        returns = torch.zeros_like(rewards)
        following = q_network.get_value(next_obs, infos["action_mask"])
        for t in reversed(range(args.num_steps)):
            returns[t] = rewards[t] + args.gamma * (1 - dones[t]) * following
            following = args.q_lambda * returns[t] + (1 - args.q_lambda) * values[t]

        # Optimize the Q-network, by the cross-entropy of values between 0 and 1. The masks are
        # those of the rollout: the mean of a position's scores must be over the same moves.
        batch = [x.flatten(0, 1) for x in (obs, masks, actions, returns.clamp(0, 1))]
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(batch_size).split(batch_size // args.num_minibatches):
                mb_obs, mb_masks, mb_actions, mb_returns = (x[mb_inds] for x in batch)
                old_val = q_network(mb_obs, mb_masks).gather(1, mb_actions[:, None]).squeeze(1)
                loss = F.binary_cross_entropy_with_logits(old_val, mb_returns)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(q_network.parameters(), args.max_grad_norm)
                optimizer.step()
        weight = min(1.0, batch_size / (args.averaging * global_step))
        for name, each in q_network.state_dict().items():
            mean[name].lerp_(each, weight)

        # Report the share of games won, and the last minibatch.
        won, sps = sum(wins) / max(len(wins), 1), global_step / (time.time() - start_time)
        print(f"{global_step:,} moves, {sps:,.0f} per second: {won:.1%} of the last games won")
        print(f"{global_step},{won}", file=curve, flush=True)
        charts = {"win_rate": won, "SPS": sps, "epsilon": epsilon, "td_loss": loss}
        charts |= {"q_values": old_val.sigmoid().mean() * TOP}
        for name, scalar in charts.items():
            writer.add_scalar(f"charts/{name}", scalar, global_step)
    writer.close()
    curve.close()

    # Save the policy, for `four-seasons compare`. A position's value, and the mean of its scores,
    # are the same for all of its moves: the best move is that of the highest score.
    card = PolicyCard("maskable_ppo", rules_fields(RULES), **GAME, layers=list(args.layers))
    card.training = {"seed": args.seed, "steps": global_step, "core_seconds": time.process_time()}
    save_policy(out / "policy", card, {name: each.cpu().numpy() for name, each in mean.items()})

    # Play each validation deal with the best moves.
    q_network.load_state_dict(mean)

    @torch.no_grad()
    def policy(observations, action_masks):
        return q_network(observations, action_masks).argmax(dim=1).cpu()

    result = evaluate(gym.make_vec(ID, num_envs=args.eval_deals, **GAME), policy)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": global_step, **result._asdict()}))


if __name__ == "__main__":
    main(tyro.cli(Args))
