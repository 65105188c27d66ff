"""The protocol of agents (`Agent`), their table (`AGENTS`), and `make_agent`."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents import plugins
from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.options import NOT_IN_NAMES, check_options, convert_options
from four_seasons_env.arguments import check_positive, nearest
from four_seasons_env.extras import missing_extra
from four_seasons_env.rules import Rules, get_rules

if TYPE_CHECKING:
    from four_seasons_env.agents.policy_files import PolicyCard


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


BOTH = plugins.PLAYS


@dataclass(frozen=True)
class Entry:
    """One agent: a row of the registry, or one of another package
    (`four_seasons_env.agents.plugins`)."""

    maker: str
    """`module:class`, called with the rules and options. If the agent learns, it is called with
    the rules, the card and weights of a policy (`four_seasons_env.agents.policy_files`) and
    options."""
    about: str
    """One line for tables and help."""
    kind: str
    """Its method: "chance", "rule of thumb", "search", "learned", or several."""
    plays: tuple[str, ...] = ("deterministic",)
    """How it can play: "deterministic", "stochastic", or both."""
    block: int = 1000
    """Deals that a comparison plays in lockstep and stores together: few for slow agents. They
    share the agent's random numbers, so another size gives other games where it draws some."""
    learner: str = ""
    """`module:class` that trains it, if it learns
    (`four_seasons_env.agents.training.Learner`)."""

    @property
    def learns(self) -> bool:
        """Whether it is trained, and loaded from weights."""
        return bool(self.learner)


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
    "first_candidate": Entry(
        "four_seasons_env.agents.policy_agent:FirstCandidateAgent",
        "the first position in the order of the next-deal environment",
        "rule of thumb + search",
        block=100,
    ),
    "rollout": Entry(
        "four_seasons_env.agents.search.rollout:RolloutAgent",
        "the heuristic, unless another move ends better in imagined worlds",
        "rule of thumb + search",
        block=10,
    ),
    "finisher": Entry(
        "four_seasons_env.agents.search.agent:FinisherAgent",
        "the heuristic, or any other, and the solver once nothing is hidden",
        "rule of thumb + search",
        block=10,
    ),
    "pimc": Entry(
        "four_seasons_env.agents.search.pimc:PimcAgent",
        "the move after which the solver wins most imagined worlds",
        "search",
        block=10,
    ),
    "planner": Entry(
        "four_seasons_env.agents.planner.agent:PlannerAgent",
        "plans to the next deal, by a value learned from its own games",
        "learned + search",
        block=10,
        learner="four_seasons_env.agents.planner.learner:PlannerLearner",
    ),
    "next_deal_ppo": Entry(
        "four_seasons_env.agents.learned.next_deal_agent:NextDealAgent",
        "sb3-contrib's MaskablePPO, choosing positions for the next deal",
        "learned + search",
        BOTH,
        block=100,
        learner="four_seasons_env.agents.learned.ppo:NextDealPpo",
    ),
    "maskable_ppo": Entry(
        "four_seasons_env.agents.learned.network_agent:NetworkAgent",
        "sb3-contrib's MaskablePPO",
        "learned",
        BOTH,
        learner="four_seasons_env.agents.learned.ppo:MoveLevelPpo",
    ),
}


@dataclass(frozen=True)
class Name:
    """The parts of an agent's name, such as "mine=planner:runs/x@positions=400,lookahead=1"."""

    label: str
    """Its label in tables; "" without one."""
    registered: str
    """Name in `AGENTS`, or of an agent of another package."""
    path: Path | None
    """Path of its weights."""
    options: dict[str, str]
    """Its options as text; `make_agent` converts them."""
    entry: Entry
    """Its row of the registry, or the one made for another package."""

    @property
    def written_options(self) -> str:
        """Its options as they are written in a name, without the @."""
        return ",".join(f"{key}={value}" for key, value in self.options.items())

    def __str__(self) -> str:
        """The name without its label."""
        path = f":{self.path}" if self.path else ""
        options = f"@{self.written_options}" if self.options else ""
        return f"{self.registered}{path}{options}"


_OPTIONS = re.compile(r"@(?=[^\W\d]\w*=|[^/\\]*$)")
"""Where the options may begin: before `key=`, or after the last folder."""
_BETWEEN = re.compile(r",(?=[^\W\d]\w*=)")
"""The comma between two options; a folder in an option may contain a comma."""


def read_name(name: str) -> tuple[str, str, str, str]:
    """Read an agent's name: its label, agent, path to weights, and options from @ on; "" if none.

    A path that exists, or a pattern that matches, is taken as it stands, with any "=", "@" or ":".
    """
    label, equals, rest = name.partition("=")
    if re.split("[:@]", name)[0] in AGENTS or "@" in label or not equals:
        label, rest = "", name
    agent = re.split("[:@]", rest)[0]
    if agent not in AGENTS or rest[len(agent) :][:1] != ":":
        agent, at, options = rest.partition("@")
        return label, agent, "", at + options
    text = rest[len(agent) + 1 :]
    if text.startswith("~/") and not matching(Path(text)):
        text = f"{Path.home()}{text[1:]}"
    cuts = [len(text), *(each.start() for each in reversed([*_OPTIONS.finditer(text)]))]
    cut = next((each for each in cuts if matching(Path(text[:each]))), cuts[-1])
    return label, agent, text[:cut], text[cut:]


def matching(path: Path) -> list[Path]:
    """The paths that match; a part of a path that exists is taken as it stands, with any "["."""
    found = {Path(path.anchor)}
    for part in path.relative_to(path.anchor).parts:
        own = (each / part for each in found)
        there = {each for each in own if os.path.exists(each)}  # noqa: PTH110, any length of name
        if not there and glob.has_magic(part):
            there = {child for each in found for child in each.glob(part)}
        found = there
    return sorted(found)


def split_name(name: str) -> Name:
    """Split an agent's name into its label, registered name, path to its weights, and options.

    Raises:
        ValueError: for an unknown agent, naming the nearest one; a path for an agent that has no
            weights; or options that cannot be read, or are given twice.
        TypeError: for a name that is no text.
    """
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is text, such as 'heuristic', not {name!r}")
    label, registered, path, written = read_name(name)
    entry = AGENTS.get(registered) or _plugin(registered)
    if path and not entry.learns:
        raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
    options: dict[str, str] = {}
    for each in _BETWEEN.split(written[1:]) if written else []:
        key, equals, value = each.partition("=")
        if not (key.isidentifier() and equals and value):
            raise ValueError(f"{each!r} in {name!r} is no option: write @key=value,key=value")
        if key in options:
            raise ValueError(f"option {key!r} is given twice in {name!r}")
        options[key] = value
    return Name(label, registered, Path(path) if path else None, options, entry)


def _plugin(name: str) -> Entry:
    """The entry of an agent of another package.

    Raises:
        ValueError: for an unknown one, naming the nearest.
    """
    place = plugins.place_of(name)
    if place is None:
        word, colon, _ = name.partition(":")
        lacks = f", and no module {word!r}" if colon else ""
        known = nearest(word, [*AGENTS, *plugins.places()])
        raise ValueError(f"unknown agent {word!r}{lacks}: {known}")
    maker = plugins.load(place)
    block = check_positive(f"block of agent {name!r}", getattr(maker, "block", 10))
    return Entry(place, "from another package", "-", plugins.plays(maker), block)


def make_agent(name: str | Name, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights, and options.

    Args:
        name: a registered name, as in "heuristic", "maskable_ppo:runs/x/best" or
            "rollout@worlds=64"; or an agent of another package, "my_package.module:MyAgent"; or
            its parts from `split_name`.
        rules: the rule set to play.
        **options: passed to the agent; they override those in the name.

    Raises:
        ValueError: for an unknown agent, option or rule set, or weights that cannot be used
            (`four_seasons_env.agents.policy_files.PolicyFileError`).
        FileNotFoundError: where there are no weights.
        ImportError: naming the extra that installs what the agent needs.
    """
    parts = name if isinstance(name, Name) else split_name(name)
    rules = get_rules(rules)
    try:
        return _make(parts, rules, options)
    except ModuleNotFoundError as error:
        raise missing_extra(f"agent {parts.registered!r}", error) from None


def _make(parts: Name, rules: Rules, arguments: dict[str, Any]) -> Agent:
    """The agent of a name, with further arguments for its maker."""
    name, entry = parts.registered, parts.entry
    is_ours = name in AGENTS
    maker = plugins.load(entry.maker)
    check_options(name, maker, parts.options, NOT_IN_NAMES if is_ours else ("rules",))
    check_options(name, maker, arguments, ("rules",))
    options = convert_options(name, maker, parts.options, text=True)
    options |= convert_options(name, maker, arguments, text=False)
    if not is_ours:
        own: Agent = plugins.make(entry.maker, rules, options)
        return own
    if entry.learns:
        from four_seasons_env.agents.policy_files import load_policy  # which needs an extra

        folder = parts.path or bundled_weights(name, rules.name)
        return make_player(rules, *load_policy(folder, name, rules), options)
    made: Agent = maker(rules, **options)
    return made


def make_player(
    rules: Rules,
    card: PolicyCard,
    weights: Mapping[str, NDArray[np.float32]],
    options: Mapping[str, Any],
) -> Agent:
    """Make the agent that plays a trained policy.

    Args:
        rules: the rule set to play.
        card: of the policy; names the agent.
        weights: of its network, by name.
        options: of the agent.

    Raises:
        agents.policy_files.PolicyFileError: if the weights do not fit the card or the rules.
    """
    made: Agent = plugins.load(AGENTS[card.agent].maker)(rules, card, weights, **options)
    return made
