"""The small games, and how well each can be played.

Examples:
    >>> from four_seasons_env import small_games
    >>> {game.name: game.optimum for game in small_games()}
    {'small-4x1-cells': ..., ...}
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from four_seasons_env.registration import SMALL_ENVS, SMALL_NEXT_DEAL
from four_seasons_env.rules import SMALL, Rules

OPTIMA = Path(__file__).parent / "data" / "small_games.json"
"""How often the best fair play wins each small game, to measure regret.

It is known exactly: it is the mean of the exact values of all openings (`solver.fair_value`), as
`tests/four_seasons_env/test_small_games.py` computes it again for one game."""


@dataclass(frozen=True)
class SmallGame:
    """A small game, and how well it can be played."""

    name: str
    """Name of its rule set."""
    rules: Rules
    env_id: str
    """Id of the environment whose actions are moves."""
    next_deal_id: str
    """Id of the environment whose actions are positions."""
    optimum: float
    """The chance to win a random deal by the best play that sees only public information: the mean
    of the exact values of all openings."""
    openings: int
    """Number of openings: sets of cards in the tableau, counted from the base card."""
    seconds: float
    """Mean processor time of the value of an opening (`solver.fair_value`), without `known`."""


def small_games() -> tuple[SmallGame, ...]:
    """The small games and their optima, in the order of `four_seasons_env.rules.SMALL`."""
    found = json.loads(OPTIMA.read_text(encoding="utf-8"))["games"]
    moves = {name: env_id for env_id, name in SMALL_ENVS.items()}
    next_deal = {name: env_id for env_id, name in SMALL_NEXT_DEAL.items()}
    return tuple(
        SmallGame(name, rules, moves[name], next_deal[name], **found[name])
        for name, rules in SMALL.items()
    )
