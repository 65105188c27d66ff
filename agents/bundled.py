"""The weights that come with the project: a folder for each agent and rule set."""

from __future__ import annotations

from pathlib import Path

BUNDLED = Path(__file__).with_name("weights")


def bundled_weights(agent: str, rules: str) -> Path:
    """The folder of an agent's weights for a rule set; it need not be there."""
    return BUNDLED / agent / rules
