"""The agents: their protocol (`Agent`), the table of ours (`AGENTS`), and those of other packages.

An agent of another package is any class with `act`, named by its place: `package.module:Class`, of
anything that can be imported.

The class, or function, is called with the options of the agent's name, and with the rule set if it
has an argument `rules`. The object that it returns has `act` (`Agent`). Optional attributes of that
object: `mask`, by default "legal", `kind`, the text in tables, by default "-", and `train_seed`, a
whole number: the seed that it was trained with, by default 0, 1, ... in the order of the agents
that a comparison plays under one label. The class may
have an attribute `plays`: `("deterministic",)` by default, and `("stochastic",)` if the agent draws
its moves at random; with both, the class is also called with `deterministic`, a bool, which a
comparison chooses (`--play`), and which is True by default. Its attribute
`block`, by default 10, is the number of deals that a comparison gives it at once.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice, check_positive, nearest
from four_seasons_env.files import file_name
from four_seasons_env.rules import Rules


class Agent(Protocol):
    """A player of many games at once."""

    mask: str
    """The mask that it plays with (`four_seasons_env.FourSeasonsEnv`): "legal", "distinct" or
    "no_repeats". A deterministic player of a comparison always gets "no_repeats"."""

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


PLAYS = ("deterministic", "stochastic")
"""How agents can play."""


@dataclass(frozen=True)
class Entry:
    """One agent: a row of `AGENTS`, or made for one of another package."""

    maker: str
    """`module:class`, called with the rules and options. If the agent learns, it is called with
    the rules, the card and weights of a policy (`four_seasons_env.agents.policy_files`) and
    options."""
    kind: str
    """Its method: "chance", "rule of thumb", "search", "learned", or several."""
    plays: tuple[str, ...] = ("deterministic",)
    """How it can play: "deterministic", "stochastic", or both."""
    block: int = 1000
    """Deals that a comparison plays in lockstep: few for slow agents. A block begins at a multiple
    of its size and is always played whole, also for one of its deals. Its games share the agent's
    random numbers, so another size gives other games where it draws some."""
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
        "chance",
        ("stochastic",),
    ),
    "heuristic": Entry(
        "four_seasons_env.agents.scripted.heuristic:HeuristicAgent",
        "rule of thumb",
    ),
    "greedy": Entry(
        "four_seasons_env.agents.scripted.greedy:GreedyAgent",
        "rule of thumb",
    ),
    "first_candidate": Entry(
        "four_seasons_env.agents.search.next_deal:FirstCandidateAgent",
        "rule of thumb + search",
        block=100,
    ),
    "rollout": Entry(
        "four_seasons_env.agents.search.rollout:RolloutAgent",
        "rule of thumb + search",
        block=10,
    ),
    "finisher": Entry(
        "four_seasons_env.agents.search.agent:FinisherAgent",
        "rule of thumb + search",
        block=10,
    ),
    "planner": Entry(
        "four_seasons_env.agents.planner.agent:PlannerAgent",
        "learned + search",
        block=10,
        learner="four_seasons_env.agents.planner.learner:PlannerLearner",
    ),
    "next_deal_ppo": Entry(
        "four_seasons_env.agents.learned.next_deal_agent:NextDealAgent",
        "learned + search",
        PLAYS,
        block=100,
        learner="four_seasons_env.agents.learned.ppo:NextDealPpo",
    ),
    "maskable_ppo": Entry(
        "four_seasons_env.agents.learned.network_agent:NetworkAgent",
        "learned",
        PLAYS,
        learner="four_seasons_env.agents.learned.ppo:MoveLevelPpo",
    ),
}


class AnswerError(RuntimeError):
    """Actions that cannot be played: wrong in number, type or value."""


def as_actions(answer: Any, count: int, name: str) -> NDArray[np.int64]:
    """The actions that an agent or policy returned, int64 of shape (count,).

    Args:
        answer: what it returned.
        count: how many games there are.
        name: of the agent or policy, for the message.

    Raises:
        AnswerError: unless they are one integer for each game.
    """
    try:
        actions = np.asarray(answer)
        found = "None" if answer is None else f"{actions.dtype} of shape {actions.shape}"
    except ValueError:  # such as the pair that SB3's `predict` returns
        actions = np.empty(0)
        found = f"a {type(answer).__name__} of unequal parts"
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise AnswerError(f"{name} must return integers of shape ({count},), not {found}")
    return actions.astype(np.int64)


def check_masks(masks: NDArray[Any], games: int, moves: int) -> None:
    """Check the shape of masks before compiled code reads them.

    Raises:
        ValueError: for another shape than (games, moves).
    """
    if np.shape(masks) != (games, moves):
        raise ValueError(f"masks must be of shape {(games, moves)}, not {np.shape(masks)}")


def bundled_weights(agent: str, rules: str) -> Path:
    """The folder of the weights of the project for an agent and a rule set, which may not exist."""
    return Path(__file__).with_name("weights") / agent / file_name(rules)


def find_entry(name: str) -> Entry:
    """The row of an agent's name: in `AGENTS`, or made for an agent of another package.

    Raises:
        ValueError: for an unknown one, naming the nearest.
    """
    if name in AGENTS:
        return AGENTS[name]
    word, colon, attribute = name.partition(":")
    if word == "__main__":
        raise ValueError(
            f"agent {name!r} must be in a module, which other processes can import: save it in "
            f"my_module.py and write my_module:{attribute}"
        )
    package = word.partition(".")[0]
    if not (colon and package.isidentifier() and importlib.util.find_spec(package)):
        lacks = f", and no module {word!r}" if colon else ""
        raise ValueError(f"unknown agent {word!r}{lacks}: {nearest(word, AGENTS)}")
    if not attribute.isidentifier():
        raise ValueError(
            f"an agent of module {word!r} must be the name of one class or function, not "
            f"{attribute!r}: give the same label to each, as in own={word}:A own={word}:B"
        )
    maker = load(name)
    ways = getattr(maker, "plays", PLAYS[:1])
    plays = (ways,) if isinstance(ways, str) else tuple(ways)
    if not plays:
        raise ValueError(f"plays of agent {name!r} must be {' or '.join(PLAYS)}, or both")
    for play in plays:
        check_choice(f"play of agent {name!r}", play, PLAYS)
    block = check_positive(f"block of agent {name!r}", getattr(maker, "block", 10))
    return Entry(name, "-", plays, block)


def load(place: str) -> Any:
    """Import the maker of an agent of another package.

    Raises:
        ValueError: if there is no such module, or nothing in it of this name that can be called.
        RuntimeError: for an error in the module, which is its cause.
    """
    module, _, name = place.partition(":")
    try:
        with blamed(place):
            found = importlib.import_module(module)
    except RuntimeError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{module}.".startswith(f"{cause.name}."):
            raise ValueError(f"no module {cause.name!r} for agent {place!r}") from None
        raise  # such as for something that the module needs
    make = getattr(found, name, None)
    if not callable(make):
        public = [each for each in vars(found) if callable(vars(found)[each]) and each[0] != "_"]
        raise ValueError(
            f"module {module!r} has no class or function {name!r}: {nearest(name, public)}"
        )
    return make


def make_plugin(
    place: str, maker: Callable[..., Any], rules: Rules, options: dict[str, Any]
) -> Agent:
    """Make an agent of another package; the options have been checked.

    Raises:
        ValueError: if it has no `act`, takes unknown masks, or its description is not text.
        RuntimeError: for an error in making it, which is its cause.
    """
    from four_seasons_env.engine.masks import MASKS  # compiled code, which takes time to load

    parameters = inspect.signature(maker).parameters
    own = {"rules": rules} if "rules" in parameters else {}
    if inspect.isfunction(maker) and "observations" in parameters:
        raise ValueError(
            f"agent {place!r} is a function of observations: say for which environment, with "
            '@policy("FourSeasonsNextDeal-v0", plays=("stochastic",)), see docs/reference/agents.md'
        )
    with blamed(place):
        agent: Agent = maker(**own, **options)
    if not takes_three(getattr(agent, "act", None)):
        raise ValueError(
            f"agent {place!r} has no act(games, masks, rng): see four_seasons_env.agents.Agent"
        )
    if not hasattr(agent, "mask"):
        agent.mask = "legal"
    if agent.mask not in MASKS:
        raise ValueError(f"agent {place!r} has mask {agent.mask!r}: {nearest(agent.mask, MASKS)}")
    for name in ("kind", "observation"):
        if not isinstance(getattr(agent, name, ""), str):
            raise ValueError(
                f"{name} of agent {place!r} must be a text, not {getattr(agent, name)!r}"
            )
    return agent


def takes_three(function: Any, **named: Any) -> bool:
    """Whether something can be called with three arguments, or more, and these named ones.

    Some functions that are not written in Python do not say what they take.
    """
    try:
        inspect.signature(function).bind_partial(*range(3), **named)
    except (TypeError, ValueError):
        return False
    return True


@contextmanager
def blamed(place: str) -> Iterator[None]:
    """Turn an error of an agent into one line.

    Raises:
        RuntimeError: whose cause is the error.
    """
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"agent {place!r} failed: {type(error).__name__}: {error}") from error
