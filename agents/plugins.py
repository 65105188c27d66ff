"""Agents of other packages: any class with `act`, named by its import path or an entry point.

A place is `package.module:Class`, of anything that can be imported. A package names its agents in
its pyproject.toml, and they are known where it is installed:

    [project.entry-points."four_seasons_env.agents"]
    my-agent = "my_package.module:MyAgent"

The class, or function, is called with the options of the agent's name, and with the rule set if it
has an argument `rules`. The object that it returns has `act`
(`four_seasons_env.agents.registry.Agent`). Optional attributes of that object: `mask`, by default
"legal", and `kind`, the text in tables, by default "-". The class may have an attribute `plays`:
`("deterministic",)` by default, and `("stochastic",)` if the agent draws its moves at random; with
both, the class is also called with `deterministic`, a bool. Its attribute `block`, by default 10,
is the number of deals that a comparison gives it at once.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from typing import Any

from four_seasons_env.arguments import nearest
from four_seasons_env.rules import Rules

GROUP = "four_seasons_env.agents"
"""The group of entry points."""

PLAYS = ("deterministic", "stochastic")
"""How agents can play."""

_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def places() -> dict[str, str]:
    """The import paths of the agents of installed packages, by name."""
    return {each.name: each.value for each in entry_points(group=GROUP)}


def place_of(name: str) -> str | None:
    """The import path that a name stands for; None if it is neither a path nor an entry point."""
    place = places().get(name, name)
    if not _PLACE.fullmatch(place):
        return None
    package = place.partition(":")[0].partition(".")[0]
    return place if importlib.util.find_spec(package) is not None else None


def load(place: str) -> Callable[..., Any]:
    """Import the maker of an agent.

    Raises:
        ValueError: if there is no such module, nothing in it of this name that can be called, or it
            has no way to play or an unknown one.
        RuntimeError: for an error in the module, which is its cause.
    """
    module, _, name = place.partition(":")
    try:
        with _blamed(place):
            found = importlib.import_module(module)
    except RuntimeError as error:
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError) and f"{module}.".startswith(f"{cause.name}."):
            raise ValueError(f"no module {cause.name!r} for agent {place!r}") from None
        raise  # such as for something that the module needs
    make = getattr(found, name, None)
    if make is None:
        raise ValueError(f"module {module!r} has no {name!r}: {nearest(name, _callables(found))}")
    if not callable(make):
        raise ValueError(f"agent {place!r} must be a class or function, not {type(make).__name__}")
    if not plays(make):
        raise ValueError(f"agent {place!r} has empty plays: name {' or '.join(PLAYS)}, or both")
    for play in plays(make):
        if play not in PLAYS:
            raise ValueError(f"agent {place!r} plays {play!r}: {nearest(str(play), PLAYS)}")
    loaded: Callable[..., Any] = make
    return loaded


def plays(maker: Any) -> tuple[str, ...]:
    """How the agents that something makes can play."""
    ways = getattr(maker, "plays", PLAYS[:1])
    return (ways,) if isinstance(ways, str) else tuple(ways)


def _callables(module: Any) -> list[str]:
    return [name for name, each in vars(module).items() if callable(each) and name[0] != "_"]


def make(place: str, rules: Rules, options: dict[str, Any]) -> Any:
    """Make an agent; the options have been checked.

    Raises:
        ValueError: if it has no `act`, takes unknown masks, or its description is no text.
        RuntimeError: for an error in making it, which is its cause.
    """
    maker = load(place)
    from four_seasons_env.episodes.settings import MASKS  # compiled code, which takes time to load

    own = {"rules": rules} if "rules" in inspect.signature(maker).parameters else {}
    if inspect.isfunction(maker) and {"observations", "masks"} & set(_needed(maker)):
        raise ValueError(
            f"agent {place!r} is a function of observations: say for which environment, with "
            '@policy("FourSeasonsNextDeal-v0", plays=("stochastic",)), see docs/reference/agents.md'
        )
    with _blamed(place):
        agent = maker(**own, **options)
    if not takes_three(getattr(agent, "act", None)):
        raise ValueError(
            f"agent {place!r} has no act(games, masks, rng): see "
            "four_seasons_env.agents.registry.Agent"
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


def takes_three(function: Any) -> bool:
    """Whether something can be called with three arguments, or more."""
    try:
        inspect.signature(function).bind_partial(*range(3))
    except TypeError:
        return False
    except ValueError:  # some functions that are not written in Python have no signature
        pass
    return True


def _needed(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters that a call must give."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.default is each.empty]


@contextmanager
def _blamed(place: str) -> Iterator[None]:
    """Turn an error of an agent into one line.

    Raises:
        RuntimeError: whose cause is the error.
    """
    try:
        yield
    except Exception as error:
        if place.startswith("four_seasons_env."):
            raise  # `make_agent` names the extra that is missing
        raise RuntimeError(f"agent {place!r} failed: {type(error).__name__}: {error}") from error
