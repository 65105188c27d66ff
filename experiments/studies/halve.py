"""Store the weights of a policy as float16, which takes half the space.

    python experiments/studies/halve.py runs/a/best --out agents/weights/planner/czarina

Each number keeps eleven binary digits, so decisions between nearly equal positions can change.
Measure the policy again afterwards.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np

from four_seasons_env.agents.policy_files import CARD_FILE, PolicyCard, load_policy, save_policy
from four_seasons_env.agents.schemas import read_json
from four_seasons_env.rules import Rules


def halve(policy: Path, out: Path) -> None:
    """Write a policy with its weights rounded to float16.

    Args:
        policy: folder of the policy.
        out: folder of the rounded policy, which may be the same.

    Raises:
        agents.policy_files.PolicyFileError: for a damaged policy.
    """
    card: PolicyCard = read_json(policy / CARD_FILE, PolicyCard)
    _, weights = load_policy(policy, card.agent, Rules(**card.rules))
    training = card.training | {"float16_of": f"{card.agent} sha256 {card.sha256}"}
    rounded = {name: each.astype(np.float16) for name, each in weights.items()}
    save_policy(out, dataclasses.replace(card, training=training), rounded)


def main() -> None:
    """Halve a policy."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policy", type=Path, help="folder of a policy")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    halve(run.policy, run.out)
    print(f"written: {run.out}")


if __name__ == "__main__":
    main()
