"""Behaviour cloning: a network learns to choose the moves of recorded games."""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from torch.nn.functional import cross_entropy

from four_seasons_env import datasets
from four_seasons_env.agents import MoveNetwork, PolicyCard, save_policy
from four_seasons_env.agents.policy_files import check_policy_folder, rules_fields
from four_seasons_env.rules import get_rules

GAME = {"observation": "places", "mask": "no_repeats"}  # what the network sees, and may choose


@dataclass
class Args:
    """Learn to choose the moves of recorded games, and save the policy."""

    source: str = "expert"  # Name of a data set, or folder or file of recorded games.
    agent: str | None = None  # Label of the player to imitate, if there are several.
    won_only: bool = False  # Whether to imitate only games that were won.
    games: int | None = None  # Number of games; all, without this flag.
    rules: str = "four-seasons"  # Rule set of the games.
    out: Path = Path("runs/cloned")  # Folder of the policy.
    seed: int = 0  # Seed of the first weights, and of the order of the moves.
    epochs: int = 8  # Number of passes over the moves.
    batch_size: int = 4096  # Number of moves in a step of the optimizer.
    learning_rate: float = 4e-3  # Learning rate of Adam, which falls linearly to zero.
    layers: tuple[int, int, int] = (128, 64, 64)  # Widths of the network; see `MoveNetwork`.


def scores(network, data, rows):
    """The scores of the moves in some positions, and the moves that were played there."""
    positions, masks = torch.as_tensor(data.observation[rows]), torch.as_tensor(data.mask[rows])
    return network(positions, masks.bool())[0], torch.as_tensor(data.action[rows])


@torch.no_grad()
def agreement(network, data, rows):
    """How often the network's best move is the move that was played."""
    found = [scores(network, data, some) for some in np.array_split(rows, len(rows) // 4096 + 1)]
    return float(torch.cat([best.argmax(dim=1) == played for best, played in found]).float().mean())


def fit(args, network, rows, loss_of):
    """Learn from batches of rows; yields the last loss of each pass over them.

    `loss_of(step, batch)` is the loss of a batch, before that step of the optimizer.
    """
    rng, rows, step = np.random.default_rng(args.seed), rows.copy(), 0
    optimizer = torch.optim.Adam(network.parameters(), args.learning_rate, fused=True)
    steps = args.epochs * -(-len(rows) // args.batch_size)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, total_iters=steps)
    for _ in range(args.epochs):
        rng.shuffle(rows)
        for i in range(0, len(rows), args.batch_size):
            loss = loss_of(step, rows[i : i + args.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            falling.step()
            step += 1
        yield loss.item()


def save(args, network, steps, started):
    """Save a network as a policy that `four-seasons compare` plays by its scores."""
    rules = rules_fields(get_rules(args.rules))
    card = PolicyCard("maskable_ppo", rules, **GAME, layers=list(args.layers))
    seconds = time.process_time() - started
    card.training = {"seed": args.seed, "steps": steps, "core_seconds": seconds}
    save_policy(args.out, card, {name: each.numpy() for name, each in network.state_dict().items()})


def main(args):
    """Learn from nine games of ten, and count the moves of the tenth that are the same."""
    check_policy_folder(args.out)  # now, because the policy is saved at the end
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # the layers are too small for several
    started = time.process_time()
    chosen = {"agent": args.agent, "won_only": args.won_only, "games": args.games}
    data = datasets.load(args.source, rules=args.rules, **chosen, **GAME)
    held_out = data.episode % 10 == 9  # whole games: the positions of a game are alike
    rows, held_out = np.flatnonzero(~held_out), np.flatnonzero(held_out)

    network = MoveNetwork(args.rules, args.layers)

    def loss_of(_, batch):
        return cross_entropy(*scores(network, data, batch))

    for epoch, loss in enumerate(fit(args, network, rows, loss_of), 1):
        same = agreement(network, data, held_out)
        print(f"epoch {epoch}: loss {loss:.3f}, {same:.1%} of new moves are the same")
    save(args, network, args.epochs * len(rows), started)


if __name__ == "__main__":
    main(tyro.cli(Args))
