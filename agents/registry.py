"""The protocol of agents (`Agent`), their table (`AGENTS`), and `make_agent`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents import brought
from four_seasons_env.agents.options import check_options, check_values
from four_seasons_env.rules import Rules, get_rules, nearest


class Agent(Protocol):
    """A player of many games at once."""

    mask: str
    """The masks that it takes: "legal", or "distinct" (without moves that only rename spaces)."""

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Choose a legal move in each game.

        Args:
            games: GAME array of shape (n,), a copy that the agent may change. The unseen part of
                the stock has been reshuffled, so its order says nothing about the real one.
            masks: int8 array of shape (n, A), 1 where a move is legal.
            rng: the only source of random numbers.

        Returns:
            Move numbers, int64 of shape (n,).
        """
        ...


BOTH = ("deterministic", "stochastic")


@dataclass(frozen=True)
class Entry:
    """One agent: a row of the registry, or one that others bring
    (`four_seasons_env.agents.brought`)."""

    maker: str
    """`module:function`, called with the rules and options. If the agent learns, also with its
    registered name as `agent` and the path after the name's colon as `path`."""
    about: str
    """One line for tables and help."""
    kind: str
    """What it plays by: "chance", "rule of thumb", "search", "learned", or several."""
    plays: tuple[str, ...] = ("deterministic",)
    """How it can play: "deterministic", "stochastic", or both."""
    learns: bool = False
    """Whether it is trained, and loaded from weights."""
    renamed: dict[str, str] = field(default_factory=dict)
    """Former names of options, accepted for one release, and their present names."""


_ENDGAME = {"end_positions": "endgame_nodes"}

AGENTS: dict[str, Entry] = {
    "random": Entry(
        "four_seasons_env.agents.scripted.random_agent:RandomAgent",
        "any legal move, all equally likely",
        "chance",
        ("stochastic",),
    ),
    "heuristic": Entry(
        "four_seasons_env.agents.scripted.heuristic:HeuristicAgent",
        "the advice that players give, weighted",
        "rule of thumb",
    ),
    "greedy": Entry(
        "four_seasons_env.agents.scripted.greedy:GreedyAgent",
        "a fixed list, as for beginners",
        "rule of thumb",
    ),
    "rollout": Entry(
        "four_seasons_env.agents.search.rollout:RolloutAgent",
        "the heuristic, unless another move ends better in imagined worlds",
        "rule of thumb + search",
        renamed={"openings": "expansions", "doubt": "standard_errors"},
    ),
    "finisher": Entry(
        "four_seasons_env.agents.search.finisher:FinisherAgent",
        "the heuristic, or any other, and the solver once nothing is hidden",
        "rule of thumb + search",
        renamed=_ENDGAME,
    ),
    "pimc": Entry(
        "four_seasons_env.agents.search.pimc:PimcAgent",
        "the move after which the solver wins most imagined worlds",
        "search",
        renamed=_ENDGAME,
    ),
    "planner": Entry(
        "four_seasons_env.agents.planner.weights:load_planner",
        "plans to the next deal, by a value learned from its own games",
        "learned + search",
        learns=True,
        renamed={
            "positions": "nodes",
            "openings": "expansions",
            "cards": "lookahead",
            "ending": "endgame",
            **_ENDGAME,
        },
    ),
    "best": Entry(
        "four_seasons_env.agents.best:make_best",
        "the strongest within a time limit for each move",
        "learned + search",
    ),
    "next_deal_ppo": Entry(
        "four_seasons_env.agents.learned.algorithms:load_agent",
        "sb3-contrib's MaskablePPO, choosing positions for the next deal",
        "learned + search",
        BOTH,
        learns=True,
    ),
    "maskable_ppo": Entry(
        "four_seasons_env.agents.learned.algorithms:load_agent",
        "sb3-contrib's MaskablePPO",
        "learned",
        BOTH,
        learns=True,
    ),
    "maskable_dqn": Entry(
        "four_seasons_env.agents.learned.algorithms:load_agent",
        "Stable-Baselines3's DQN, masked throughout",
        "learned",
        BOTH,
        learns=True,
    ),
}


@dataclass(frozen=True)
class Name:
    """The parts of an agent's name, such as "planner:runs/x/best@nodes=400,expansions=150"."""

    registered: str
    """Name in `AGENTS`, or of an agent that others bring."""
    path: Path | None
    """Of its weights."""
    options: dict[str, Any]
    """As written; keyword arguments for its maker once `current_options` has renamed them."""
    entry: Entry
    """What it is."""


def split_name(name: str) -> Name:
    """Split an agent's name into its registered name, the path to its weights, and its options.

    Raises:
        ValueError: for an unknown agent, naming the nearest one; a path for an agent that has no
            weights; or options that cannot be read, or are given twice.
        TypeError: for a name that is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is text, such as 'heuristic', not {name!r}")
    text, at, written = name.partition("@")
    registered, colon, path = text.partition(":")
    if registered in AGENTS:
        entry = AGENTS[registered]
        if colon and not entry.learns:
            raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
    else:
        entry, registered, path = _brought(text), text, ""
    options: dict[str, Any] = {}
    if at:
        from four_seasons_env.agents.yaml_values import (
            parse_yaml,  # a player without options needs no extra
        )
    for each in written.split(",") if at else []:
        key, equals, value = each.partition("=")
        if not (key.isidentifier() and equals and value):
            raise ValueError(f"{each!r} in {name!r} is no option: write @key=value,key=value")
        if key in options:
            raise ValueError(f"option {key!r} is given twice in {name!r}")
        options[key] = parse_yaml(value, f"option {key!r} in {name!r}")
    return Name(registered, Path(path) if path else None, options, entry)


def _brought(name: str) -> Entry:
    """The entry of an agent that others bring.

    Raises:
        ValueError: for an unknown one, naming the nearest.
    """
    place = brought.place_of(name)
    if place is None:
        word, colon, _ = name.partition(":")
        lacks = f", and no module {word!r}" if colon else ""
        known = nearest(word, [*AGENTS, *brought.places()])
        raise ValueError(f"unknown agent {word!r}{lacks}: {known}")
    return Entry(place, "brought by another package", kind="-")


def current_options(registered: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options with former names replaced by present ones.

    Warns:
        DeprecationWarning: for each former name, with the present one.

    Raises:
        ValueError: for an option given under both names.
    """
    renamed = AGENTS[registered].renamed
    current: dict[str, Any] = {}
    for option, value in options.items():
        name = renamed.get(option, option)
        if name != option:
            warnings.warn(
                f"option {option!r} of agent {registered!r} is now {name!r}; the former name goes "
                "with the next release",
                DeprecationWarning,
                stacklevel=3,
            )
        if name in current:
            raise ValueError(f"agent {registered!r} is given option {name!r} twice")
        current[name] = value
    return current


def make_agent(name: str, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights, and options.

    Args:
        name: a registered name, as in "heuristic", "maskable_ppo:runs/x/best" or
            "rollout@worlds=64"; or an agent that others bring, "my_package.module:MyAgent".
        rules: the rule set to play.
        **options: passed to the agent; they override those in the name.

    Raises:
        ValueError: for an unknown agent, option or rule set, or weights that cannot be used
            (`four_seasons_env.agents.policy_files.PolicyFileError`).
        FileNotFoundError: where there are no weights.
    """
    parts = split_name(name)
    place = parts.entry.maker
    if parts.registered not in AGENTS:
        check_options(
            parts.registered, brought.load(place), {**parts.options, **options}, ("rules",)
        )
        own: Agent = brought.make(place, get_rules(rules), parts.options | options)
        return own
    make = brought.load(place)
    named = current_options(parts.registered, parts.options)
    check_options(parts.registered, make, named)
    options = named | current_options(parts.registered, options)
    check_values(parts.registered, make, options)
    if parts.entry.learns:
        options |= {"agent": parts.registered, "path": parts.path}
    agent: Agent = make(get_rules(rules), **options)
    return agent
