"""The players of trained weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.learned.candidates.agent import NextDealAgent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.planner.weights import make_planner
from four_seasons_env.agents.policy_files import load_policy
from four_seasons_env.agents.registry import Agent
from four_seasons_env.rules import Rules

PLAYERS: dict[str, Callable[..., Agent]] = {
    "maskable_ppo": NetworkAgent,
    "next_deal_ppo": NextDealAgent,
    "planner": make_planner,
}
"""By the registered name, what makes a player of rules, a card, its weights, and options."""


def load_agent(rules: Rules, agent: str, path: Path | None = None, **options: Any) -> Agent:
    """The player of trained weights.

    Args:
        rules: the rule set to play.
        agent: name of the algorithm.
        path: the folder of a policy; by default the bundled weights.
        **options: of the player.

    Raises:
        FileNotFoundError: if there are no weights.
        agents.policy_files.PolicyFileError: for damaged weights, or weights for other rules.
    """
    card, weights = load_policy(path or bundled_weights(agent, rules.name), agent, rules)
    return PLAYERS[agent](rules, card, weights, **options)
