"""Make one policy of several: its outputs are the means of theirs.

    python experiments/studies/average.py runs/a/best runs/b/best --out runs/ab

For `next_deal_ppo` and `planner`. The networks stand side by side in one, whose width is the sum
of theirs. An average plays and can be trained further like any other policy; it takes the time of
all of them.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from four_seasons_env.agents.learned.candidates.network import HEADS
from four_seasons_env.agents.network.evaluation import Weights
from four_seasons_env.agents.policy_files import (
    CARD_FILE,
    PolicyCard,
    load_policy,
    save_policy,
)
from four_seasons_env.agents.schemas import read_json
from four_seasons_env.next_deal.features import TABLES
from four_seasons_env.rules import Rules


def side_by_side(networks: Sequence[Weights]) -> tuple[list[int], dict[str, NDArray[np.float32]]]:
    """One network whose outputs are the means of the outputs of several.

    Args:
        networks: weights as `four_seasons_env.agents.network.evaluation.network_of` takes them,
            with the same heads.

    Returns:
        Layers, as a policy's card has them, and weights.
    """
    weights = {name: np.hstack([each[name] for each in networks]) for name in TABLES}
    # The dense layer reads the sums of the suits, then of the piles, then of the game; the inputs
    # of one network are zero for the units of another.
    widths = np.array([[each[name].shape[1] for name in tuple(TABLES)[:3]] for each in networks])
    parts = [
        np.split(each["dense.weight"], np.cumsum(width)[:-1], axis=1)
        for each, width in zip(networks, widths, strict=True)
    ]
    weights["dense.weight"] = np.hstack([block_diag(*part) for part in zip(*parts, strict=True)])
    weights["dense.bias"] = np.hstack([each["dense.bias"] for each in networks])
    for head in (name for name in HEADS if f"{name}.weight" in networks[0]):
        together = np.hstack([each[f"{head}.weight"] for each in networks])
        weights[f"{head}.weight"] = together / np.float32(len(networks))
        weights[f"{head}.bias"] = np.mean([each[f"{head}.bias"] for each in networks], axis=0)
    layers = [*widths.sum(axis=0).tolist(), len(weights["dense.bias"])]
    return layers, weights


def write_average(policies: Sequence[Path], out: Path) -> None:
    """Write the policy that is the mean of several.

    Args:
        policies: their folders.
        out: folder of the new one.
    """
    first: PolicyCard = read_json(policies[0] / CARD_FILE, PolicyCard)
    rules = Rules(**first.rules)
    layers, weights = side_by_side([load_policy(each, first.agent, rules)[1] for each in policies])
    parts = [read_json(folder / CARD_FILE, PolicyCard).sha256 for folder in policies]
    training = {"seed": first.training.get("seed"), "mean_of": parts}
    save_policy(out, dataclasses.replace(first, layers=layers, training=training), weights)


def main() -> None:
    """Write the average of the policies of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", nargs="+", type=Path, help="folders of policies")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    write_average(run.policies, run.out)
    print(f"written: {run.out}")


if __name__ == "__main__":
    main()
