"""Agents of other packages: any class with `act`, named by its place or by an entry point.

A place is `package.module:Class`, of anything that can be imported. A package names its agents in
its pyproject.toml, and they are known wherever it is installed:

    [project.entry-points."four_seasons_env.agents"]
    my-agent = "my_package.module:MyAgent"

The class, or function, is called with the options of the agent's name, and with the rule set if it
has an argument `rules`. What it makes has `act` (`four_seasons_env.agents.registry.Agent`); `mask`
is "legal" where it does not say, and `kind`, for tables, "-".
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from four_seasons_env.rules import Rules, nearest

GROUP = "four_seasons_env.agents"
"""The group of entry points."""

_PLACE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def places() -> dict[str, str]:
    """The places of the agents of installed packages, by their names."""
    return {each.name: each.value for each in entry_points(group=GROUP)}


def place_of(name: str) -> str | None:
    """The place that a name stands for; None where it is neither a place nor an entry point."""
    place = places().get(name, name)
    if not _PLACE.fullmatch(place):
        return None
    package = place.partition(":")[0].partition(".")[0]
    return place if importlib.util.find_spec(package) is not None else None


def load(place: str) -> Callable[..., Any]:
    """Import what makes an agent.

    Raises:
        ValueError: if there is no such module, or nothing in it of this name that can be called.
    """
    module, _, name = place.partition(":")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # something that the module needs
        raise ValueError(f"no module {error.name!r} for agent {place!r}") from None
    make = getattr(found, name, None)
    if make is None:
        raise ValueError(f"module {module!r} has no {name!r}: {nearest(name, _callables(found))}")
    if not callable(make):
        raise ValueError(f"agent {place!r} is a {type(make).__name__}, not a class or function")
    loaded: Callable[..., Any] = make
    return loaded


def _callables(module: Any) -> list[str]:
    return [name for name, each in vars(module).items() if callable(each) and name[0] != "_"]


def make(place: str, rules: Rules, options: dict[str, Any]) -> Any:
    """Make an agent; the options have been checked.

    Raises:
        ValueError: if it has no `act`, or takes masks that there are not.
    """
    maker = load(place)
    from four_seasons_env.episodes.settings import MASKS  # compiled code, which takes time to load

    own = {"rules": rules} if "rules" in inspect.signature(maker).parameters else {}
    agent = maker(**own, **options)
    if not callable(getattr(agent, "act", None)):
        raise ValueError(
            f"agent {place!r} has no act(games, masks, rng): see agents.registry.Agent"
        )
    if not hasattr(agent, "mask"):
        agent.mask = "legal"
    if agent.mask not in MASKS:
        raise ValueError(f"agent {place!r} has mask {agent.mask!r}: {nearest(agent.mask, MASKS)}")
    return agent


def source(place: str) -> bytes:
    """The file that defines what makes an agent: a change of it makes another player.

    Raises:
        ValueError: see `load`.
    """
    return Path(inspect.getfile(inspect.unwrap(load(place)))).read_bytes()
