"""`best`: the strongest player within a time for each move.

Which that is has been measured, on validation deals: `python -m experiments.prices` writes
`best.json`. On a faster or slower machine all times change alike.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from agents.registry import Agent, make_agent
from four_seasons_env.rules import Rules

MEASURED = Path(__file__).with_name("best.json")


@functools.cache
def read_prices(path: Path = MEASURED) -> list[dict[str, Any]]:
    """What was measured: a dict an agent, with `agent` (its name), `won` and `milliseconds`."""
    prices: list[dict[str, Any]] = json.loads(path.read_text())["agents"]
    return prices


def make_best(rules: Rules, milliseconds: float = 10.0) -> Agent:
    """The agent that won most games of those that take no longer for a move.

    Under a rule set for which it has no weights, the next best.

    Args:
        rules: the rule set to play.
        milliseconds: for each move, on average over many games.

    Raises:
        ValueError: if no agent is as fast as that.
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
