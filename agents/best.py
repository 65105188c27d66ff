"""`best`: the strongest agent within a time limit for each move.

Strength and time were measured on validation deals: `experiments/studies/ladder.py` writes
`best.json`. On another machine all times change by about the same factor.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from four_seasons_env.agents.registry import Agent, make_agent
from four_seasons_env.rules import Rules

MEASURED = Path(__file__).with_name("best.json")


@functools.cache
def read_prices(path: Path = MEASURED) -> list[dict[str, Any]]:
    """The measurements: a dict for each agent, with `agent` (its name), `won`, `milliseconds`."""
    prices: list[dict[str, Any]] = json.loads(path.read_text())["agents"]
    return prices


def make_best(rules: Rules, milliseconds: float = 10.0) -> Agent:
    """The agent within the time limit that won the most games.

    Agents without weights for the rule set are skipped.

    Args:
        rules: the rule set to play.
        milliseconds: time for each move, on average over many games.

    Raises:
        ValueError: if no agent is fast enough.
    """
    prices = read_prices()
    for each in sorted(prices, key=lambda price: -float(price["won"])):
        if each["milliseconds"] <= milliseconds:
            try:
                return make_agent(each["agent"], rules)
            except FileNotFoundError:
                continue
    fastest = min(each["milliseconds"] for each in prices)
    raise ValueError(
        f"no agent plays within {milliseconds} ms a move: the fastest takes {fastest:.2g} ms"
    )
