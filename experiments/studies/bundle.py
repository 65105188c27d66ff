"""Make the weights that come with the project from those of a training.

    python experiments/studies/bundle.py runs/a --out agents/weights/planner/four-seasons

Weights are stored as float16, in half the space: each keeps eleven binary digits, so decisions
between nearly equal positions can change. Measure the result again.

A planner's card also gets the constant that its chances need (`agents.planner.chances`), fitted to
its own games on validation deals.
"""

import dataclasses
from pathlib import Path

import numpy as np
import tyro
from numpy.typing import NDArray

from four_seasons_env.agents import make_agent, policy_files
from four_seasons_env.agents.planner.best_stop import AGENT
from four_seasons_env.agents.planner.chances import LARGEST_SHIFT, Judge
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules


def bundle(policy: Path) -> tuple[policy_files.PolicyCard, dict[str, NDArray[np.float16]]]:
    """The card and weights of a policy to come with the project.

    Raises:
        agents.policy_files.PolicyFileError: for a damaged policy.
    """
    card = policy_files.load_policy_card(policy, AGENT, "four-seasons")
    card, weights = policy_files.load_policy(policy, card.agent, Rules(**card.rules))
    card = dataclasses.replace(
        card, training=card.training | {"sha256": card.sha256}, chance_shift=None
    )
    return card, {name: each.astype(np.float16) for name, each in weights.items()}


def fit_shift(policy: Path, rules: Rules, deals: int) -> float | None:
    """The shift with which the mean chance at the openings is the planner's win rate.

    Args:
        policy: folder of a planner's policy whose card has no shift.
        rules: the rule set.
        deals: number of validation deals to play.

    Returns:
        The shift; None if it is too large for a chance to be shown.
    """
    # 1. How often does it win these deals?
    numbers, agent = VALIDATION[:deals], make_agent(f"{AGENT}:{policy}", rules)
    won = play_deals(agent, rules, numbers, mask="no_repeats")["won"].mean()
    # 2. Which chances does it show at their openings? As log-odds they can be shifted.
    judge = Judge(rules, policy)
    chances = [judge.chance(Game(rules, deal=deal)) or 0.0 for deal in numbers]
    odds = np.clip(chances, 1e-3, 1 - 1e-3)
    odds /= 1 - odds
    # 3. The shift, in steps of a hundredth, whose mean chance is nearest to the share won.
    shifts = np.linspace(-1, 1, 201)
    shown = [(odds / (odds + np.exp(-shift))).mean() for shift in shifts]
    shift = float(shifts[np.abs(np.array(shown) - won).argmin()])
    print(f"{deals} deals: {won:.1%} won, {np.mean(chances):.1%} shown, shift {shift:.2f}")
    return round(shift, 2) if abs(shift) <= LARGEST_SHIFT else None


def main(policy: tyro.conf.Positional[Path], out: Path, deals: int = 500) -> None:
    """Bundle a policy.

    Args:
        policy: folder of the policy, or of its training.
        out: folder of the weights.
        deals: number of validation deals for the chances.
    """
    card, weights = bundle(policy)
    policy_files.save_policy(out, card, weights)
    if card.agent == AGENT:
        shift = fit_shift(out, Rules(**card.rules), deals)
        policy_files.save_policy(out, dataclasses.replace(card, chance_shift=shift), weights)
    print(f"written: {out}")


if __name__ == "__main__":
    tyro.cli(main)
