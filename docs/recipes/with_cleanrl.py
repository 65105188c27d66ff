"""PPO on moves in one file, in the manner of CleanRL: thousands of games, and any device."""

import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import gymnasium as gym
import numpy as np
import torch
import tyro
from torch import nn
from torch.utils.tensorboard import SummaryWriter

from four_seasons_env.agents import MoveNetwork, PolicyCard, move_rows_of, rows_of, save_policy
from four_seasons_env.agents.network.rows import MOST_ROWS
from four_seasons_env.agents.policy_files import rules_fields
from four_seasons_env.evaluation import evaluate
from four_seasons_env.rules import get_rules

ID = "FourSeasons-v0"  # an action is a move
RULES = get_rules("four-seasons")
GAME = {"observation": "places", "mask": "no_repeats"}
FAST = {"copy": False, "max_moves": 300, "illegal": "raise"}  # a lost mask is an error
PARTS = ("games", "rows", "choosing")  # of the time of playing


@dataclass(frozen=True)
class Flags:
    """Train a policy by PPO, save it, and play validation deals with it."""

    seed: int = 0  # of deals, first weights and moves
    moves: float = 6e6  # training ends after these; `inf`: no limit
    seconds: float = math.inf  # or after these, if they pass first
    games: int = 512  # played side by side
    batches: int = 1  # of games that take turns; on a GPU 2: one moves while the network reads one
    threads: int = 1  # that play; as many as there are cores
    device: str = "auto"  # of the network: cpu, cuda or mps
    layers: tuple[int, int, int] = (128, 64, 32)  # see MoveNetwork
    bf16: bool = True  # on CUDA: products of matrices in bfloat16
    steps: int = 32  # moves in each game between two updates
    epochs: int = 2  # passes over these moves
    minibatch: int = 2048
    learning_rate: float = 4e-3  # at first; it falls to a thirtieth by the end
    gamma: float = 0.999
    gae_lambda: float = 0.95
    clip: float = 0.2  # of the ratio of probabilities
    entropy: float = 0.01  # weight of the entropy bonus at first; it falls to a tenth
    value: float = 0.5  # weight of the value loss
    max_norm: float = 0.5  # longest gradient
    deals: int = 1000  # validation deals to play at the end
    out: Path = Path("runs/cleanrl")  # folder of the curve, and of `policy`


class Batch:
    """Some of the games, which take their moves together; ``kept`` is what all games leave."""

    def __init__(self, flags, number, kept, won, pool):
        count = flags.games // flags.batches
        mine = slice(number * count, (number + 1) * count)
        self.envs = gym.make_vec(ID, num_envs=count, num_threads=flags.threads, **GAME, **FAST)
        self.kept = {name: each[:, mine] for name, each in kept.items()}
        cuda = kept["rows"].is_cuda
        # From pinned memory, copies to the device need no processor. With a stream of its own, a
        # batch waits for no other.
        self.host = {
            name: torch.zeros_like(kept[name][0, mine], device="cpu", pin_memory=cuda)
            for name in ("rows", "moves", "masks")
        }
        self.stream = torch.cuda.Stream() if cuda else None
        self.rewards = np.zeros((flags.steps, count), np.float32)
        self.ended = np.zeros((flags.steps, count), np.bool_)
        self.won, self.pool, self.seconds = won, pool, dict.fromkeys(PARTS, 0.0)
        ends = np.linspace(0, count, min(flags.threads, -(-count // 256)) + 1, dtype=int)
        self.shares = [slice(*each) for each in pairwise(ends)]
        self.observations, infos = self.envs.reset(seed=flags.seed * flags.games + mine.start)
        self.masks = infos["action_mask"]  # with copy=False, each step writes into both
        self.read()

    def read(self):
        """Write the rows of all positions and moves, in threads: compiled code needs no lock."""
        rows, moves, masks = (each.numpy() for each in self.host.values())

        def read_share(share):
            masks[share] = self.masks[share]
            rows_of(self.observations[share], RULES, rows[share])
            move_rows_of(self.observations[share], masks[share], RULES, moves[share])

        list((self.pool.map if len(self.shares) > 1 else map)(read_share, self.shares))

    def play(self, network, half):
        """Move in each game ``steps`` times; returns the values of the positions after that."""
        with torch.cuda.stream(self.stream), torch.no_grad(), half():
            clock = time.perf_counter()
            for step in range(len(self.rewards)):
                kept = {name: each[step] for name, each in self.kept.items()}
                for name, each in self.host.items():
                    kept[name].copy_(each, non_blocking=True)
                scores, kept["values"][:] = network.score_rows(*(kept[name] for name in self.host))
                # The highest of log-odds plus Gumbel noise is a draw from the policy. The noise is
                # finite, so no illegal move is drawn: its score is -1e8.
                noise = torch.rand_like(scores).clamp_(1e-30, 1 - 1e-7).log_().neg_().log_()
                actions = kept["actions"].copy_((scores - noise).argmax(dim=1))
                logs = torch.log_softmax(scores, dim=1)
                kept["before"].copy_(logs.gather(1, actions[:, None]).squeeze(1))
                actions = actions.cpu().numpy()  # waits for the device
                clock = self.note("choosing", clock)
                self.observations, rewards, terminated, truncated, infos = self.envs.step(actions)
                # A game that ends is dealt again in the same step. The move limit ends it, too: no
                # value is added for moves that it might still have had.
                self.rewards[step], self.ended[step] = rewards, terminated | truncated
                if "final_info" in infos:
                    self.won.append(infos["final_info"]["won"][infos["_final_info"]])
                clock = self.note("games", clock)
                self.read()
                clock = self.note("rows", clock)
            return network.score_rows(*self.host.values())[1]

    def note(self, part, since):
        """Add the time that has passed to a part of it; returns the time now."""
        now = time.perf_counter()
        self.seconds[part] += now - since
        return now


def advantages(rewards, live, values, following, flags):
    """Generalized advantage estimation (Schulman et al. 2016); nothing passes the end of a game."""
    gains, gain = torch.zeros_like(values), torch.zeros_like(following)
    for step in reversed(range(flags.steps)):
        error = rewards[step] + flags.gamma * live[step] * following - values[step]
        gain = error + flags.gamma * flags.gae_lambda * live[step] * gain
        gains[step], following = gain, values[step]
    return gains


def loss_of(network, batch, flags, entropy_weight):
    """The loss, and parts of it for the curve."""
    # The masks of the rollout are used again: without them, the ratio would compare probabilities
    # over two different sets of moves.
    scores, values = network.score_rows(batch["rows"], batch["moves"], batch["masks"])
    logs = torch.log_softmax(scores, dim=1)
    change = logs.gather(1, batch["actions"][:, None]).squeeze(1) - batch["before"]
    ratio, gains = change.exp(), batch["gains"]
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    clipped = ratio.clamp(1 - flags.clip, 1 + flags.clip)
    policy = -torch.min(gains * ratio, gains * clipped).mean()
    value = (batch["values"] - values).square().mean()
    entropy = -(torch.softmax(scores, dim=1) * logs).sum(dim=1).mean()
    loss = policy + flags.value * value - entropy_weight * entropy
    return loss, torch.stack([policy, value, entropy, (ratio - 1 - change).mean()]).detach()


def train(flags, device):
    """Train a network; returns it, and what its card says of the training."""
    torch.manual_seed(flags.seed)
    torch.set_num_threads(flags.threads)
    cuda = device.type == "cuda"
    # Without a cache: the threads of the batches would share it before it is written.
    half = partial(torch.autocast, "cuda", torch.bfloat16, cuda and flags.bf16, cache_enabled=False)
    wait = torch.cuda.synchronize if cuda else lambda: None
    count, shape = gym.make_vec(ID).single_action_space.n, (flags.steps, flags.games)
    kept = {  # what a rollout leaves, on the device
        "rows": torch.zeros(*shape, MOST_ROWS, dtype=torch.int16, device=device),
        "moves": torch.zeros(*shape, count, 4, dtype=torch.int16, device=device),
        "masks": torch.zeros(*shape, count, dtype=torch.bool, device=device),
        "actions": torch.zeros(shape, dtype=torch.long, device=device),
        **{name: torch.zeros(shape, device=device) for name in ("before", "values")},
    }
    pool, players = ThreadPoolExecutor(flags.threads), ThreadPoolExecutor(flags.batches)
    won = []  # of the games that ended since the last report
    batches = [Batch(flags, number, kept, won, pool) for number in range(flags.batches)]
    network = MoveNetwork(RULES, flags.layers).to(device)
    optimizer = torch.optim.Adam(network.parameters(), betas=(0.9, 0.99), eps=1e-5, fused=True)
    writer = SummaryWriter(flags.out.expanduser())
    drawn = (flags.out.expanduser() / "curve.csv").open("w")  # for `four-seasons report`
    print("steps,win_rate", file=drawn)
    done, moves, learning, start = 0.0, 0, 0.0, time.perf_counter()
    since, reported = start, 0
    while done < 1:
        optimizer.param_groups[0]["lr"] = flags.learning_rate * max(1 - done, 0.03)
        entropy_weight = flags.entropy * max(1 - done, 0.1)

        # Play. Each batch has a thread: while one waits for the device, another plays.
        wait()
        following = torch.cat(list(players.map(lambda batch: batch.play(network, half), batches)))
        wait()

        # Learn.
        clock = time.perf_counter()
        rewards = torch.from_numpy(np.concatenate([each.rewards for each in batches], 1))
        live = torch.from_numpy(~np.concatenate([each.ended for each in batches], 1)).float()
        gains = advantages(rewards.to(device), live.to(device), kept["values"], following, flags)
        data = kept | {"gains": gains, "values": gains + kept["values"]}  # what values should be
        data = {name: each.flatten(0, 1) for name, each in data.items()}
        for _ in range(flags.epochs):
            for rows in torch.randperm(gains.numel(), device=device).split(flags.minibatch):
                with half():
                    sample = {name: each.index_select(0, rows) for name, each in data.items()}
                    loss, parts = loss_of(network, sample, flags, entropy_weight)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), flags.max_norm)
                optimizer.step()
        parts = parts.tolist()  # of the last minibatch; waits for the device
        now = time.perf_counter()
        learning += now - clock

        # Report, every few seconds.
        moves += gains.numel()
        done = max(moves / flags.moves, (now - start) / flags.seconds)
        if done >= 1 or now > since + 2:
            games = np.concatenate([np.zeros(0), *won])
            share, speed = games.mean() if len(games) else 0.0, (moves - reported) / (now - since)
            print(f"{moves:13,} moves, {speed:9,.0f} per second; {share:.1%} of {len(games)} won")
            curve = ("policy", "value", "entropy", "divergence", "won", "moves_per_second")
            for name, each in zip(curve, (*parts, share, speed), strict=True):
                writer.add_scalar(name, each, moves)
            print(f"{moves},{share if len(games) else ''}", file=drawn, flush=True)
            since, reported = now, moves
            won.clear()
    writer.close()
    drawn.close()
    wall = time.perf_counter() - start
    spent = np.mean([list(each.seconds.values()) for each in batches], axis=0) / wall
    shares = ", ".join(f"{each:.0%} {name}" for name, each in zip(PARTS, spent, strict=True))
    print(f"{moves / wall:,.0f} moves per second; time: {shares}, {learning / wall:.0%} learning")
    return network, {"seed": flags.seed, "steps": moves, "seconds": round(wall, 1)}


def main(flags):
    """Train a policy, save it, and play each validation deal with its most likely moves."""
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
    network, about = train(flags, torch.device(found if flags.device == "auto" else flags.device))
    weights = {name: each.cpu().numpy() for name, each in network.state_dict().items()}
    card = PolicyCard("maskable_ppo", rules_fields(RULES), **GAME, layers=list(flags.layers))
    card.training = about
    save_policy(flags.out / "policy", card, weights)

    @torch.no_grad()
    def policy(observations, masks):
        scores, _ = network(torch.as_tensor(observations), torch.as_tensor(masks).bool())
        return scores.argmax(dim=1).cpu()

    result = evaluate(gym.make_vec(ID, num_envs=flags.deals, **GAME), policy)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": about["steps"], **result._asdict()}))


if __name__ == "__main__":
    main(tyro.cli(Flags))
