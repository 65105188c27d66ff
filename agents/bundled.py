"""The weights that come with the project."""

from __future__ import annotations

from pathlib import Path

from four_seasons_env.rules import file_name

BUNDLED = Path(__file__).with_name("weights")
"""A folder for each agent and rule set: weights/AGENT/RULES/."""


def bundled_weights(agent: str, rules: str) -> Path:
    """The folder of an agent's weights for a rule set, which may not exist."""
    return BUNDLED / agent / file_name(rules)
