"""Conservative Q-learning from recorded games, with masks (Kumar et al. 2020)."""

import copy
import time
from dataclasses import dataclass
from pathlib import Path

import behaviour_cloning
import numpy as np
import torch
import tyro
from behaviour_cloning import GAME
from torch.nn.functional import binary_cross_entropy_with_logits

from four_seasons_env import datasets
from four_seasons_env.agents import MoveNetwork
from four_seasons_env.agents.policy_files import check_policy_folder

TOP = 2.0  # the largest return: the whole deck, and 1 for the win


@dataclass
class Args(behaviour_cloning.Args):
    """Learn the values of moves from recorded games, and save the policy."""

    out: Path = Path("runs/offline-q")  # Folder of the policy.
    gamma: float = 0.999  # Discount of later rewards.
    conservative: float = 1.0  # Weight of what keeps unplayed moves below those that were played.
    target_steps: int = 200  # Steps of the optimizer until the targets use the latest weights.


class QNetwork(MoveNetwork):
    """Log-odds of the values of moves, which are shares of the largest return."""

    def forward(self, places, masks):
        """The position's, plus what a move scores above the mean of the legal ones (dueling)."""
        scores, value = super().forward(places, masks)
        mean = (scores * masks).sum(dim=1) / masks.sum(dim=1).clamp(min=1)  # 0 where none is legal
        return torch.where(masks, scores + (value - mean)[:, None], -1e8)


def loss_of(network, target, data, rows, args):
    """The error of values, and how far the best unplayed moves lie above those that were played."""
    names = ("observation", "mask", "action", "reward", "next_observation", "next_mask")
    places, masks, actions, rewards, following, next_masks = (
        torch.as_tensor(getattr(data, name)[rows]) for name in names
    )
    with torch.no_grad():  # 0 where no move is left
        rest = target(following, next_masks.bool()).max(dim=1).values.sigmoid()
        rest[torch.as_tensor(data.terminated[rows])] = 0
        returns = (rewards.float() / TOP + args.gamma * rest).clamp(0, 1)
    values = network(places, masks.bool())
    played = values.gather(1, actions[:, None]).squeeze(1)
    above = values.logsumexp(dim=1) - played
    return binary_cross_entropy_with_logits(played, returns) + args.conservative * above.mean()


def main(args):
    """Learn from all games."""
    check_policy_folder(args.out)  # now, because the policy is saved at the end
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # the layers are too small for several
    started = time.process_time()
    chosen = {"agent": args.agent, "won_only": args.won_only, "games": args.games}
    data = datasets.load(args.source, rules=args.rules, **chosen, **GAME)
    network = QNetwork(args.rules, args.layers)
    target = copy.deepcopy(network)

    def batch_loss(step, batch):
        if step % args.target_steps == 0:
            target.load_state_dict(network.state_dict())
        return loss_of(network, target, data, batch, args)

    rows = np.arange(len(data))
    for epoch, loss in enumerate(behaviour_cloning.fit(args, network, rows, batch_loss), 1):
        print(f"epoch {epoch}: loss {loss:.3f}")
    behaviour_cloning.save(args, network, args.epochs * len(data), started)


if __name__ == "__main__":
    main(tyro.cli(Args))
