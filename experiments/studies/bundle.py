"""Make the weights that come with the project from those of one or several trainings.

    python experiments/studies/bundle.py runs/a/best runs/b/best \
        --out agents/weights/planner/four-seasons

Several networks become one whose log-odds are the mean of theirs. All weights are stored as
float16, in half the space: each keeps eleven binary digits, so decisions between nearly equal
positions can change. Measure the result again.

A planner's card also gets the constant that its chances need (`agents.planner.chances`), fitted to
its own games on validation deals.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.network.evaluation import Weights, widths_of
from four_seasons_env.agents.planner.chances import LARGEST_SHIFT, Judge
from four_seasons_env.agents.planner.search import AGENT, HEADS
from four_seasons_env.agents.policy_files import CARD_FILE, PolicyCard, load_policy, save_policy
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.schemas import read_json


def join(cards: Sequence[PolicyCard], weights: Sequence[Weights]) -> dict[str, NDArray[Any]]:
    """The weights of planners side by side, as one network of their joint widths.

    Args:
        cards: of the planners.
        weights: their tensors by name.
    """
    widths = [widths_of(card.layers) for card in cards]
    joined: dict[str, NDArray[Any]] = {
        name: np.concatenate([each[name] for each in weights], axis=1)
        for name in ("suits", "piles", "game", "pairs")
    }
    # The sums of a kind are neighbours: first those of all networks' suits, then of their piles.
    # The units of a network read its own sums only.
    kinds = [np.repeat(np.arange(len(widths)), kind) for kind in zip(*widths, strict=True)]
    inputs, units = np.concatenate(kinds[:3]), kinds[3]
    dense = np.zeros((len(units), len(inputs)), np.float32)
    for number, each in enumerate(weights):
        dense[np.ix_(units == number, inputs == number)] = each["dense.weight"]
    joined["dense.weight"] = dense
    joined["dense.bias"] = np.concatenate([each["dense.bias"] for each in weights])
    for head in HEADS:
        heads = [each[f"{head}.weight"] for each in weights]
        joined[f"{head}.weight"] = np.concatenate(heads, axis=1) / len(weights)
        joined[f"{head}.bias"] = np.mean([each[f"{head}.bias"] for each in weights], axis=0)
    return joined


def bundle(policies: Sequence[Path]) -> tuple[PolicyCard, dict[str, NDArray[np.float16]]]:
    """The card and weights of one policy made from some of one rule set.

    Args:
        policies: folders; more than one only of planners.

    Raises:
        agents.policy_files.PolicyFileError: for a damaged policy, or one of another agent.
    """
    cards = [read_json(policy / CARD_FILE, PolicyCard) for policy in policies]
    agent = AGENT if len(policies) > 1 else cards[0].agent
    weights = [load_policy(each, agent, Rules(**cards[0].rules))[1] for each in policies]
    training = [each.training | {"sha256": each.sha256} for each in cards]
    card = dataclasses.replace(cards[0], training=training[0], chance_shift=None)
    if len(policies) > 1:
        layers = np.sum([each.layers for each in cards], axis=0).tolist()
        card = dataclasses.replace(card, layers=layers, training={"joined": training})
        weights = [join(cards, weights)]
    return card, {name: each.astype(np.float16) for name, each in weights[0].items()}


def fit_shift(policy: Path, rules: Rules, deals: int) -> float | None:
    """The shift with which the mean chance at the openings is the planner's win rate.

    Args:
        policy: folder of a planner's policy whose card has no shift.
        rules: the rule set.
        deals: number of validation deals to play.

    Returns:
        The shift; None if it is too large for a chance to be shown.
    """
    numbers, agent = VALIDATION[:deals], make_agent(f"{AGENT}:{policy}", rules)
    won = play_deals(agent, rules, numbers, forbid_repeats=True)["won"].mean()
    judge = Judge(rules, policy)
    chances = [judge.chance(Game(rules, deal=deal)) or 0.0 for deal in numbers]
    odds = np.clip(chances, 1e-3, 1 - 1e-3)
    odds /= 1 - odds
    shifts = np.linspace(-1, 1, 201)
    shown = [(odds / (odds + np.exp(-shift))).mean() for shift in shifts]
    shift = float(shifts[np.abs(np.array(shown) - won).argmin()])
    print(f"{deals} deals: {won:.1%} won, {np.mean(chances):.1%} shown, shift {shift:.2f}")
    return round(shift, 2) if abs(shift) <= LARGEST_SHIFT else None


def main() -> None:
    """Bundle policies."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("policies", type=Path, nargs="+", help="folders of policies")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deals", type=int, default=500, help="validation deals for the chances")
    run = parser.parse_args()
    card, weights = bundle(run.policies)
    save_policy(run.out, card, weights)
    if card.agent == AGENT:
        shift = fit_shift(run.out, Rules(**card.rules), run.deals)
        save_policy(run.out, dataclasses.replace(card, chance_shift=shift), weights)
    print(f"written: {run.out}")


if __name__ == "__main__":
    main()
