"""PPO on moves on a GPU with many processor cores.

    python experiments/studies/moves_on_gpu.py --out runs/moves-gpu

`docs/recipes/with_cleanrl.py` explains the algorithm. This form of it keeps a GPU busy. The games
are in two batches that take turns: one plays on the cores while the network reads the other.
Threads share the games of a batch, the rows of positions and moves stay on the GPU for all epochs,
and products of matrices are in bfloat16. `torch.compile` does not pay: the number of legal moves
differs from batch to batch.

This program, at that time `docs/recipes/with_cleanrl.py`, made the weights of `maskable_ppo` in
version 3.0.0, and the curve `docs/results/moves-gpu.csv`. It took the flags below, one NVIDIA H100
with 16 cores, and 159 seconds for 138,412,032 moves: 0.87 million per second.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import torch
import tyro
from numpy.typing import NDArray
from torch import Tensor, nn

from four_seasons_env.agents.network.places import MoveNetwork
from four_seasons_env.agents.network.rows import MOST_ROWS, move_rows_of, rows_of
from four_seasons_env.agents.policy_files import PolicyCard, rules_fields, save_policy
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.folders import write_csv
from four_seasons_env.rules import get_rules

RULES = get_rules("four-seasons")
GAME: dict[str, Any] = {"observation": "places", "mask": "no_repeats"}
FAST: dict[str, Any] = {"copy": False, "max_moves": 300, "illegal": "raise"}
EPOCHS = 2
LEARNING_RATE, ENTROPY_WEIGHT = 4e-3, 0.01  # they fall to a thirtieth, and to a tenth
GAMMA, GAE_LAMBDA, CLIP, VALUE_WEIGHT, LONGEST_GRADIENT = 0.999, 0.95, 0.2, 0.5, 0.5


@dataclass(frozen=True)
class Flags:
    """Train a policy on moves by PPO, and save it."""

    out: Path  # folder of `curve.csv` and `policy`
    seed: int = 0  # of deals, first weights and moves
    moves: float = float("inf")  # training ends after these
    seconds: float = 158  # or after these, if they pass first
    games: int = 32768  # played side by side
    batches: int = 2  # of games that take turns
    threads: int = 8  # that play a batch
    device: str = "cuda"  # of the network
    layers: tuple[int, int, int] = (256, 128, 64)  # see MoveNetwork
    steps: int = 32  # moves in each game between two updates
    minibatch: int = 16384  # of these moves, for a step of the optimizer


class Batch:
    """Some of the games, which take their moves together.

    Args:
        flags: of the training.
        number: of the batch, from 0.
        kept: what a rollout leaves, by name: tensors of shape (steps, games, ...) on the device.
        pool: the threads that share the games.
    """

    def __init__(
        self, flags: Flags, number: int, kept: dict[str, Tensor], pool: ThreadPoolExecutor
    ) -> None:
        count = flags.games // flags.batches
        mine = slice(number * count, (number + 1) * count)
        many: dict[str, Any] = {"num_envs": count, "num_threads": flags.threads}
        self.envs = gym.make_vec("FourSeasons-v0", **many, **GAME, **FAST)
        self.kept = {name: each[:, mine] for name, each in kept.items()}
        cuda = kept["rows"].is_cuda
        # From pinned memory, copies to the device need no processor. With a stream of its own, a
        # batch waits for no other.
        self.host = {
            name: torch.zeros_like(kept[name][0, mine], device="cpu", pin_memory=cuda)
            for name in ("rows", "moves", "masks")
        }
        self.stream = torch.cuda.Stream() if cuda else None  # type: ignore[no-untyped-call]
        self.won: list[NDArray[np.bool_]] = []  # of the games that ended in this rollout
        share = max(256, -(-count // flags.threads))
        self.shares, self.pool = [slice(i, i + share) for i in range(0, count, share)], pool
        self.observations, infos = self.envs.reset(seed=flags.seed * flags.games + mine.start)
        self.masks = infos["action_mask"]  # with copy=False, each step writes into both
        self.read()

    def read(self) -> None:
        """Write the rows of all positions and moves, in threads: compiled code needs no lock."""
        rows, moves, masks = (each.numpy() for each in self.host.values())

        def read_share(share: slice) -> None:
            masks[share] = self.masks[share]
            rows_of(self.observations[share], RULES, rows[share])
            move_rows_of(self.observations[share], masks[share], RULES, moves[share])

        list(self.pool.map(read_share, self.shares))

    def play(self, network: MoveNetwork, half: partial[torch.autocast]) -> Tensor:
        """Move in each game ``steps`` times; returns the values of the positions after that."""
        self.won.clear()
        with torch.cuda.stream(self.stream), torch.no_grad(), half():
            for step in range(len(self.kept["rows"])):
                kept = {name: each[step] for name, each in self.kept.items()}
                for name, each in self.host.items():
                    kept[name].copy_(each, non_blocking=True)
                scores, kept["values"][:] = network.score_rows(*(kept[name] for name in self.host))
                # The highest of log-odds plus Gumbel noise is a draw from the policy. The noise is
                # finite, so no illegal move is drawn: its score is -1e8.
                noise = torch.rand_like(scores).clamp_(1e-30, 1 - 1e-7).log_().neg_().log_()
                chosen = kept["actions"].copy_((scores - noise).argmax(dim=1))
                logs = torch.log_softmax(scores, dim=1)
                kept["before"].copy_(logs.gather(1, chosen[:, None]).squeeze(1))
                actions = chosen.cpu().numpy()  # waits for the device
                self.observations, rewards, terminated, truncated, infos = self.envs.step(actions)
                # The move limit ends a game, too: unlike the recipe, this adds no value for the
                # moves that it might still have had.
                kept["rewards"].copy_(torch.from_numpy(rewards))
                kept["live"].copy_(torch.from_numpy(~(terminated | truncated)))
                if "final_info" in infos:
                    self.won.append(infos["final_info"]["won"][infos["_final_info"]])
                self.read()
            return network.score_rows(*self.host.values())[1].cpu()  # waits for the device


def advantages(rewards: Tensor, live: Tensor, values: Tensor, following: Tensor) -> Tensor:
    """Generalized advantage estimation (Schulman et al. 2016); nothing passes the end of a game."""
    gains, gain = torch.zeros_like(values), torch.zeros_like(following)
    for step in reversed(range(len(rewards))):
        error = rewards[step] + GAMMA * live[step] * following - values[step]
        gain = error + GAMMA * GAE_LAMBDA * live[step] * gain
        gains[step], following = gain, values[step]
    return gains


def loss_of(network: MoveNetwork, batch: dict[str, Tensor], entropy_weight: float) -> Tensor:
    """The loss of a minibatch."""
    scores, values = network.score_rows(batch["rows"], batch["moves"], batch["masks"])
    logs = torch.log_softmax(scores, dim=1)
    ratio = (logs.gather(1, batch["actions"][:, None]).squeeze(1) - batch["before"]).exp()
    gains = batch["gains"]
    gains = (gains - gains.mean()) / (gains.std() + 1e-8)
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    policy = -torch.min(gains * ratio, gains * clipped).mean()
    value = (batch["values"] - values).square().mean()
    entropy = -(torch.softmax(scores, dim=1) * logs).sum(dim=1).mean()
    return policy + VALUE_WEIGHT * value - entropy_weight * entropy


def main(flags: Flags) -> None:
    """Train a policy, and save it and its curve."""
    torch.manual_seed(flags.seed)
    torch.set_num_threads(flags.threads)
    device, cuda = flags.device, flags.device.startswith("cuda")
    # Without a cache: the threads of the batches would share it before it is written.
    half = partial(torch.autocast, "cuda", torch.bfloat16, cuda, cache_enabled=False)
    wait: Any = torch.cuda.synchronize if cuda else lambda: None
    count, shape = len(all_moves(RULES)), (flags.steps, flags.games)
    new = partial(torch.zeros, device=device)
    kept = {name: new(shape) for name in ("before", "values", "rewards", "live")}
    kept["actions"] = new(shape, dtype=torch.long)
    kept["rows"] = new(*shape, MOST_ROWS, dtype=torch.int16)
    kept["moves"] = new(*shape, count, 4, dtype=torch.int16)
    kept["masks"] = new(*shape, count, dtype=torch.bool)
    pool, players = ThreadPoolExecutor(flags.threads), ThreadPoolExecutor(flags.batches)
    batches = [Batch(flags, number, kept, pool) for number in range(flags.batches)]
    network = MoveNetwork(RULES, flags.layers).to(device)
    optimizer = torch.optim.Adam(network.parameters(), betas=(0.9, 0.99), eps=1e-5, fused=True)
    curve: list[tuple[float, ...]] = []
    done, moves, start = 0.0, 0, (now := time.perf_counter())
    while done < 1:
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * max(1 - done, 0.03)

        # Play. Each batch has a thread: while one waits for the device, another plays.
        wait()
        following = torch.cat(list(players.map(lambda batch: batch.play(network, half), batches)))

        # Learn.
        gains = advantages(kept["rewards"], kept["live"], kept["values"], following.to(device))
        data = kept | {"gains": gains, "values": gains + kept["values"]}  # what values should be
        data = {name: each.flatten(0, 1) for name, each in data.items()}
        for _ in range(EPOCHS):
            for rows in torch.split(torch.randperm(gains.numel(), device=device), flags.minibatch):
                with half():
                    sample = {name: each.index_select(0, rows) for name, each in data.items()}
                    loss = loss_of(network, sample, ENTROPY_WEIGHT * max(1 - done, 0.1))
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), LONGEST_GRADIENT)
                optimizer.step()
        wait()

        # Report.
        since, now, moves = now, time.perf_counter(), moves + gains.numel()
        done = max(moves / flags.moves, (now - start) / flags.seconds)
        games = np.concatenate([np.zeros(0), *(won for each in batches for won in each.won)])
        won = float(games.mean()) if len(games) else 0.0
        curve.append((moves, round(gains.numel() / (now - since)), round(won, 3), len(games)))
        print(f"{moves:,} moves, {curve[-1][1]:,} per second; {won:.1%} of {len(games)} games won")

    table = pd.DataFrame(curve, columns=["moves", "moves_per_second", "won", "games"])
    write_csv(flags.out / "curve.csv", table)
    card = PolicyCard("maskable_ppo", rules_fields(RULES), **GAME, layers=list(flags.layers))
    card.training = {"seed": flags.seed, "steps": moves, "seconds": round(now - start, 1)}
    weights = {name: each.cpu().numpy() for name, each in network.state_dict().items()}
    save_policy(flags.out / "policy", card, weights)


if __name__ == "__main__":
    main(tyro.cli(Flags))
