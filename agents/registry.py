"""What an agent is (`Agent`), which agents there are (`AGENTS`), and what makes one (`find_maker`).

An agent of another package is named by its place, `package.module:Class`, of anything that can be
imported. The class, or a function, is called with the options of the agent's name, and with the
rule set if it has an argument `rules`. Any object with `act` will do: `check_agent` gives it the
attributes of `Agent` that it lacks.
"""

from __future__ import annotations

import abc
import importlib
import importlib.util
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import as_int64, check_choice, check_positive, nearest
from four_seasons_env.files import file_name

Positions = NDArray[Any]
"""A GAME array of shape (n,)."""
Masks = NDArray[np.int8]
"""int8 of shape (n, A), 1 where an action is allowed."""
Actions = NDArray[np.int64]
"""int64 of shape (n,), the numbers of moves; of candidates for a `policy` that chooses them."""
Rng = np.random.Generator

PLAYS = ("deterministic", "stochastic")
"""How agents can play."""


class Agent(abc.ABC):
    """A player of many games at once. Only `act` has no default.

    Examples:
        >>> class First(Agent):
        ...     kind = "rule of thumb"
        ...     def act(self, games, masks, rng):
        ...         return masks.argmax(axis=1)
        >>> First().act(games, masks, rng)
        array([0, 0, 0, 0])
        >>> First.block, First.mask
        (10, 'legal')
    """

    mask: str = "legal"
    """The mask that it plays with (`four_seasons_env.FourSeasonsEnv`): "legal", "distinct" or
    "no_repeats". In a comparison, deterministic players always get "no_repeats"."""
    plays: str | tuple[str, ...] = ("deterministic",)
    """How it can play; of the class. ("stochastic",) if it draws its moves at random. With both,
    the class is also called with `deterministic`, a bool, which a comparison chooses (`--play`)."""
    block: int = 10
    """Deals that a comparison plays in lockstep; of the class. Few for slow agents, up to 1,000 for
    fast ones. A block begins at a multiple of its size and is always played whole, also for one of
    its deals. Its games share the agent's random numbers, so another size gives other games where
    it draws some."""
    kind: str = "-"
    """Its method, for tables: "chance", "rule of thumb", "search", "learned", or several."""
    observation: str = "all that is public"
    """What it observes, for tables."""
    train_seed: int | None = None
    """The seed that it was trained with. None: agents under one label of a comparison are numbered
    0, 1, ... in their order."""

    @abc.abstractmethod
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """Choose a legal move in each game.

        Anybody may call the agents of this package: they check games and masks that do not come
        from a comparison (`four_seasons_env.engine.validation.checked`), and raise `InvalidGame`,
        `ValueError` or `TypeError`. Your own agent need not: a comparison passes positions, and
        functions of this package that take them check them again.

        Args:
            games: GAME array of shape (n,), a copy that the agent may change. The unseen part of
                the stock has been reshuffled, so its order says nothing about the real one.
            masks: int8 array of shape (n, A), 1 where a move is legal. For agents that choose
                among positions before the next card, see `SearchAgent` and `policy`.
            rng: the only source of random numbers.

        Returns:
            Move numbers, int64 of shape (n,).
        """


class Entry(NamedTuple):
    """Where an agent of ours is found, below `four_seasons_env.agents`."""

    maker: str
    """`module:class`, called with the rules and options; if the agent learns, with the rules, the
    card and weights of a policy (`four_seasons_env.agents.policy_files`) and options."""
    learner: str = ""
    """`module:class` that trains it, if it learns
    (`four_seasons_env.agents.training.Learner`)."""


AGENTS: dict[str, Entry] = {
    "random": Entry("scripted.agents:RandomAgent"),
    "heuristic": Entry("scripted.agents:HeuristicAgent"),
    "greedy": Entry("scripted.agents:GreedyAgent"),
    "first_candidate": Entry("search.next_deal:FirstCandidateAgent"),
    "rollout": Entry("search.rollout:RolloutAgent"),
    "finisher": Entry("search.agent:FinisherAgent"),
    "planner": Entry("planner.agent:PlannerAgent", "planner.learner:PlannerLearner"),
    "next_deal_ppo": Entry("learned.next_deal_agent:NextDealAgent", "learned.ppo:NextDealPpo"),
    "maskable_ppo": Entry("learned.network_agent:NetworkAgent", "learned.ppo:MoveLevelPpo"),
}


def bundled_weights(agent: str, rules: str) -> Path:
    """The folder of the weights of the project for an agent and a rule set, which may not exist."""
    return Path(__file__).with_name("weights") / agent / file_name(rules)


# --- what makes an agent -------------------------------------------------------------------------


class Maker(NamedTuple):
    """A class or function that makes an agent, with its checked attributes `plays` and `block`."""

    make: Callable[..., Any]
    plays: tuple[str, ...]
    block: int

    @property
    def chooses(self) -> tuple[str, ...]:
        """The argument by which it is told how to play, if it can play both ways."""
        return ("deterministic",) if len(self.plays) > 1 else ()


def find_maker(name: str) -> Maker:
    """What makes an agent of this name: one of `AGENTS`, or the place of one of another package.

    Raises:
        ValueError: for an unknown agent, naming the nearest, or wrong `plays` or `block`.
        RuntimeError: for an error in the module of another package, which is its cause.
    """
    make = load_ours(AGENTS[name].maker) if name in AGENTS else _load(name)
    # These attributes are of the class: a comparison needs them before an agent is made.
    plays = getattr(make, "plays", Agent.plays)
    plays = (plays,) if isinstance(plays, str) else tuple(plays)
    if not plays:
        raise ValueError(f"plays of agent {name!r} must be {' or '.join(PLAYS)}, or both")
    for play in plays:
        check_choice(f"play of agent {name!r}", play, PLAYS)
    block = check_positive(f"block of agent {name!r}", getattr(make, "block", Agent.block))
    return Maker(make, plays, block)


def load_ours(place: str) -> Any:
    """Import a class of ours by an `Entry`."""
    return pkgutil.resolve_name(f"{__package__}.{place}")


def _load(place: str) -> Any:
    """Import the maker of an agent of another package.

    Raises:
        ValueError: if there is no such module, or nothing in it of this name that can be called.
        RuntimeError: for an error in the module, which is its cause.
    """
    word, attribute = _check_place(place)
    try:
        with blamed(place):
            module = importlib.import_module(word)
    except RuntimeError as error:
        # Only a wrong name, if the module that is missing is this one or a package around it.
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{word}.".startswith(f"{cause.name}."):
            raise ValueError(f"no module {cause.name!r} for agent {place!r}") from None
        raise  # such as for something that the module needs
    make = getattr(module, attribute, None)
    if not callable(make):
        public = [name for name, each in vars(module).items() if callable(each) and name[0] != "_"]
        raise ValueError(
            f"module {word!r} has no class or function {attribute!r}: {nearest(attribute, public)}"
        )
    return make


def _check_place(place: str) -> tuple[str, str]:
    """Split `package.module:Class`, before anything is imported.

    Raises:
        ValueError: for another text, which may be a misspelt name of ours.
    """
    module, colon, attribute = place.partition(":")
    if module == "__main__":
        raise ValueError(
            f"agent {place!r} must be in a module, which other processes can import: save it in "
            f"my_module.py and write my_module:{attribute}"
        )
    package = module.partition(".")[0]
    if not (colon and package.isidentifier() and importlib.util.find_spec(package)):
        lacks = f", and no module {module!r}" if colon else ""
        raise ValueError(f"unknown agent {module!r}{lacks}: {nearest(module, AGENTS)}")
    if not attribute.isidentifier():
        raise ValueError(
            f"an agent of module {module!r} must be the name of one class or function, not "
            f"{attribute!r}: give the same label to each, as in own={module}:A own={module}:B"
        )
    return module, attribute


# --- checks of an agent, and of what it returns --------------------------------------------------


class AnswerError(RuntimeError):
    """Actions that cannot be played: wrong in number, type or value."""


def check_agent(name: str, agent: Agent) -> Agent:
    """An agent with all attributes of `Agent`; those that its class lacks get their defaults.

    Raises:
        ValueError: if it has no `act`, takes unknown masks, or its description is not text.
    """
    from four_seasons_env.engine.masks import MASKS  # compiled code, which takes time to load

    # 1. It can act.
    if not takes_three(getattr(agent, "act", None)):
        raise ValueError(
            f"agent {name!r} has no act(games, masks, rng): see four_seasons_env.agents.Agent"
        )
    # 2. A class that does not derive from `Agent` may have any of its attributes, or none.
    for attribute in ("mask", "kind", "observation", "train_seed"):
        if not hasattr(agent, attribute):
            setattr(agent, attribute, getattr(Agent, attribute))
    # 3. Their values. The seed is checked where it is stored, in a comparison.
    if agent.mask not in MASKS:
        raise ValueError(f"agent {name!r} has mask {agent.mask!r}: {nearest(agent.mask, MASKS)}")
    for attribute in ("kind", "observation"):
        text = getattr(agent, attribute)
        if not isinstance(text, str):
            raise ValueError(f"{attribute} of agent {name!r} must be a text, not {text!r}")
    return agent


def as_actions(answer: Any, count: int, name: str) -> Actions:
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
    try:
        return as_int64(f"moves of {name}", actions)
    except ValueError as error:
        raise AnswerError(str(error)) from None


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
