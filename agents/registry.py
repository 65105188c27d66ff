"""What an agent is (`Agent`), which there are (`AGENTS`), and how to make one (`make_agent`)."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.rules import Rules, get_rules, nearest


class Agent(Protocol):
    """A player of many games at once."""

    mask: str
    """The masks it takes: "legal", or "distinct" (no moves that only rename spaces)."""

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose a legal move in each game.

        Args:
            games: GAME array of shape (n,). The unseen part of the stock has been reshuffled, so
                its order tells nothing; the agent may write into it.
            masks: int8 array of shape (n, A), 1 where a move is legal.
            rng: the only source of chance.

        Returns:
            Move numbers, int64 of shape (n,).
        """
        ...


BOTH = ("deterministic", "stochastic")


@dataclass(frozen=True)
class Entry:
    """One agent of the registry."""

    maker: str
    """`module:function`, called with the rules and options; one that learns also with its own name
    as `agent` and with the `path` after the name's colon."""
    about: str
    """One line for tables and help."""
    plays: tuple[str, ...] = ("deterministic",)
    """How it can play: "deterministic", "stochastic", or both."""
    learns: bool = False
    """Has been trained, and is loaded from weights."""


AGENTS: dict[str, Entry] = {
    "random": Entry(
        "agents.random_agent:RandomAgent", "any legal move, all alike", ("stochastic",)
    ),
    "heuristic": Entry("agents.heuristic:HeuristicAgent", "the advice that players give, weighed"),
    "planner": Entry(
        "agents.planner.weights:load_planner",
        "plans to the next deal, by a value learned from its own games",
        learns=True,
    ),
    "maskable_ppo": Entry(
        "agents.algorithms:load_agent", "sb3-contrib's MaskablePPO", BOTH, learns=True
    ),
    "maskable_dqn": Entry(
        "agents.algorithms:load_agent",
        "Stable-Baselines3's DQN, masked throughout",
        BOTH,
        learns=True,
    ),
}


def split_name(name: str) -> tuple[str, Path | None]:
    """An agent's registered name and the path to its weights: "maskable_ppo:runs/x/best".

    Raises:
        ValueError: for an agent that there is not, with the nearest one, or a path for an agent
            that has no weights.
    """
    registered, colon, path = name.partition(":")
    if registered not in AGENTS:
        raise ValueError(f"unknown agent {registered!r}: {nearest(registered, AGENTS)}")
    if colon and not AGENTS[registered].learns:
        raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
    return registered, Path(path) if path else None


def make_agent(name: str, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights.

    Args:
        name: a registered name, as in "heuristic" or "maskable_ppo:runs/x/best".
        rules: the rule set that it is to play.
        **options: passed to the agent.

    Raises:
        ValueError: for an unknown agent or rule set, or weights that cannot be used
            (`agents.policy_files.PolicyFileError`).
        FileNotFoundError: where there are no weights.
    """
    registered, path = split_name(name)
    module, _, maker = AGENTS[registered].maker.partition(":")
    make = getattr(importlib.import_module(module), maker)
    if AGENTS[registered].learns:
        options |= {"agent": registered, "path": path}
    agent: Agent = make(get_rules(rules), **options)
    return agent
