"""PPO with masks on moves, in one file that reads like CleanRL's `ppo.py`."""

import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym
import torch
import tyro
from torch import nn, optim
from torch.utils.tensorboard import SummaryWriter

from four_seasons_env import evaluate
from four_seasons_env.agents import MoveNetwork, PolicyCard, save_policy
from four_seasons_env.agents.policy_files import check_policy_folder, rules_fields
from four_seasons_env.rules import get_rules

ID, RULES = "FourSeasons-v0", get_rules("four-seasons")  # an action is a move
GAME = {"observation": "places", "mask": "no_repeats"}  # what the agent sees, and may choose


@dataclass
class Args:
    """Train a policy by PPO, save it, and play validation deals with it."""

    seed: int = 0  # Seed of the deals, of the first weights and of the moves.
    device: str = "auto"  # Device of the network: cpu, cuda, mps, or auto.
    out: Path = Path("runs/cleanrl")  # Folder of the curve, for TensorBoard too, and of `policy`.
    eval_deals: int = 1000  # Number of validation deals to play at the end.
    layers: tuple[int, int, int] = (128, 64, 64)  # Widths of the network; see `MoveNetwork`.
    max_moves: int = 300  # An episode is truncated after this number of moves.
    total_timesteps: int = 6_000_000  # Number of moves of the training, all games together.
    learning_rate: float = 4e-3  # Learning rate of Adam.
    num_envs: int = 512  # Number of games that are played side by side.
    num_steps: int = 32  # Number of moves in each game between two updates.
    anneal_lr: bool = True  # Whether the learning rate falls linearly towards zero.
    gamma: float = 0.999  # Discount of later rewards.
    gae_lambda: float = 0.95  # Lambda of the generalized advantage estimation.
    num_minibatches: int = 8  # Number of parts of a batch; each is a step of the optimizer.
    update_epochs: int = 2  # Number of passes over a batch.
    norm_adv: bool = True  # Whether advantages get mean 0 and deviation 1 in each minibatch.
    clip_coef: float = 0.2  # How far from 1 the ratio of probabilities is clipped.
    ent_coef: float = 0.01  # Weight of the entropy, which keeps moves varied.
    vf_coef: float = 0.5  # Weight of the value loss.
    max_grad_norm: float = 0.5  # Longer gradients are cut to this length.
    target_kl: float | None = None  # An update ends early above this KL divergence.


class Agent(MoveNetwork):
    """Policy and critic; they read positions and the masks of legal moves."""

    def forward(self, x, mask):
        """The logits of moves, -1e8 for illegal ones, and the values; NumPy arrays will do."""
        return super().forward(torch.as_tensor(x), torch.as_tensor(mask).bool())

    @torch.no_grad()
    def get_value(self, x, mask):
        """The values, without gradients: they are targets."""
        return self(x, mask)[1]

    def get_action_and_value(self, x, mask, action=None):
        """Moves (drawn, unless given), their log-probabilities, the entropies, and the values."""
        logits, value = self(x, mask)
        logprobs = torch.log_softmax(logits, dim=1)
        probs = torch.softmax(logits, dim=1)  # 0 for illegal moves: none of them is ever drawn
        if action is None:
            action = probs.multinomial(1).squeeze(1)
        chosen = logprobs.gather(1, action[:, None]).squeeze(1)
        return action, chosen, -(probs * logprobs).sum(dim=1), value


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
    agent = Agent(RULES, args.layers).to(device)
    optimizer = optim.Adam(agent.parameters(), args.learning_rate, eps=1e-5, fused=True)

    # Storage of a rollout. Positions and masks stay on the CPU, where the network prepares them.
    shape = (args.num_steps, args.num_envs)
    obs = torch.zeros((*shape, *envs.single_observation_space.shape), dtype=torch.uint8)
    masks = torch.zeros((*shape, envs.single_action_space.n), dtype=torch.bool)
    actions = torch.zeros(shape, dtype=torch.long, device=device)
    logprobs, rewards, dones, values = torch.zeros((4, *shape), device=device)

    # Game i plays the deals of seed + i. So trainings with different seeds share no deal.
    next_obs, infos = envs.reset(seed=args.seed * args.num_envs)
    next_done = torch.zeros(args.num_envs, device=device)
    wins = deque(maxlen=1000)  # whether each of the last games was won
    num_iterations = args.total_timesteps // batch_size
    global_step, start_time = 0, time.time()

    for iteration in range(num_iterations):
        if args.anneal_lr:
            optimizer.param_groups[0]["lr"] = args.learning_rate * (1 - iteration / num_iterations)

        # Play some moves in all games, drawn from the policy.
        for step in range(args.num_steps):
            global_step += args.num_envs
            obs[step], masks[step] = map(torch.as_tensor, (next_obs, infos["action_mask"]))
            dones[step] = next_done  # whether this position is the first of an episode
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(obs[step], masks[step])
            actions[step], logprobs[step], values[step] = action, logprob, value
            next_obs, reward, terminated, truncated, infos = envs.step(action.cpu().numpy())
            rewards[step] = torch.as_tensor(reward, dtype=torch.float32)
            next_done = torch.as_tensor(terminated | truncated).to(rewards)
            if "final_info" in infos:
                wins.extend(infos["final_info"]["won"][infos["_final_info"]])
            # A truncated game could go on: the value of its last position stands for the rest.
            # `next_obs` does not show this position: the next game has been dealt already.
            if truncated.any():
                final_mask = infos["final_info"]["action_mask"][truncated]
                rest = agent.get_value(infos["final_obs"][truncated], final_mask)
                rewards[step, torch.as_tensor(truncated, device=device)] += args.gamma * rest

        # Estimate the advantages, from the last move to the first. Nothing passes an episode's end.
        next_value = agent.get_value(next_obs, infos["action_mask"])
        nextvalues = torch.cat([values[1:], next_value[None]])
        discounts = args.gamma * (1 - torch.cat([dones[1:], next_done[None]]))  # 0 at an end
        deltas = rewards + discounts * nextvalues - values  # how far each move beats its value
        advantages, lastgaelam = torch.zeros_like(rewards), 0
        for t in reversed(range(args.num_steps)):
            advantages[t] = lastgaelam = deltas[t] + discounts[t] * args.gae_lambda * lastgaelam
        returns = advantages + values  # what the values should have been

        # Learn from the moves in random order. The masks are those of the rollout: with others,
        # the ratio would compare probabilities over different sets of moves.
        batch = [x.flatten(0, 1) for x in (obs, masks, actions, logprobs, advantages, returns)]
        for _ in range(args.update_epochs):
            for mb_inds in torch.randperm(batch_size).split(batch_size // args.num_minibatches):
                *mb_moves, mb_logprobs, mb_advantages, mb_returns = (x[mb_inds] for x in batch)
                _, newlogprob, entropy, newvalue = agent.get_action_and_value(*mb_moves)
                ratio = (newlogprob - mb_logprobs).exp()  # above 1: the move is now more likely
                approx_kl = (ratio - 1 - ratio.log()).mean().detach()  # how far the policy moved
                if args.norm_adv:
                    mb_advantages -= mb_advantages.mean()
                    mb_advantages /= mb_advantages.std() + 1e-8
                # Better moves become more likely; a ratio outside of the clip range gains no more.
                clipped = ratio.clamp(1 - args.clip_coef, 1 + args.clip_coef)
                pg_loss = -torch.min(mb_advantages * ratio, mb_advantages * clipped).mean()
                v_loss = (newvalue - mb_returns).square().mean()
                loss = pg_loss + args.vf_coef * v_loss - args.ent_coef * entropy.mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
            if args.target_kl is not None and approx_kl > args.target_kl:
                break

        # Report the share of games won, and the losses of the last minibatch.
        won, sps = sum(wins) / max(len(wins), 1), global_step / (time.time() - start_time)
        print(f"{global_step:,} moves, {sps:,.0f} per second: {won:.1%} of the last games won")
        print(f"{global_step},{won}", file=curve, flush=True)
        scalars = {"charts/win_rate": won, "charts/SPS": sps}
        scalars |= {"losses/policy_loss": pg_loss, "losses/value_loss": v_loss / 2}  # as CleanRL's
        scalars |= {"losses/entropy": entropy.mean(), "losses/approx_kl": approx_kl}
        for name, scalar in scalars.items():
            writer.add_scalar(name, scalar, global_step)
    writer.close()
    curve.close()

    # Save the policy, for `four-seasons compare`.
    card = PolicyCard("maskable_ppo", rules_fields(RULES), **GAME, layers=list(args.layers))
    card.training = {"seed": args.seed, "steps": global_step}
    weights = {name: each.cpu().numpy() for name, each in agent.state_dict().items()}
    save_policy(out / "policy", card, weights)

    # Play each validation deal with the most likely moves.
    @torch.no_grad()
    def policy(observations, action_masks):
        return agent(observations, action_masks)[0].argmax(dim=1).cpu()

    result = evaluate(gym.make_vec(ID, num_envs=args.eval_deals, **GAME), policy)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": global_step, **result._asdict()}))


if __name__ == "__main__":
    main(tyro.cli(Args))
