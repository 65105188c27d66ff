"""Agents by name: `make_agent`, the parts of a name, and its options.

The signature of an agent's maker gives the names and types of its options.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import (
    AGENTS,
    Agent,
    Entry,
    bundled_weights,
    find_entry,
    load,
    make_plugin,
)
from four_seasons_env.arguments import nearest
from four_seasons_env.extras import missing_extra
from four_seasons_env.files import expanded
from four_seasons_env.rules import Rules, get_rules

if TYPE_CHECKING:
    from four_seasons_env.agents.policy_files import PolicyCard


_GIVEN = ("rules", "card", "weights")
"""Arguments of our makers that are not options."""

_KINDS = {
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    bool: "true or false",
    str: "a text",
}

_OPTIONS = re.compile(r"@(?=[^\W\d]\w*=)")
"""The sign before the first option after a path; paths may have other @."""
_BETWEEN = re.compile(r",(?=[^\W\d]\w*=)")
"""The comma between two options."""


def make_agent(name: str | Name, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights, and options.

    Args:
        name: a registered name, as in "heuristic", "maskable_ppo:runs/x" or
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
    parts, rules = split_name(name), get_rules(rules)
    try:
        return _make(parts, rules, options)
    except ModuleNotFoundError as error:
        raise missing_extra(f"agent {parts.registered!r}", error) from None


def _make(parts: Name, rules: Rules, arguments: dict[str, Any]) -> Agent:
    """The agent of a name, with further arguments for its maker."""
    name, entry = parts.registered, parts.entry
    is_ours = name in AGENTS
    maker = pkgutil.resolve_name(entry.maker) if is_ours else load(name)
    given = _GIVEN if is_ours else ("rules",)
    in_no_name = ("deterministic",) if len(entry.plays) > 1 else ()
    options = read_options(name, maker, parts.options, (*given, *in_no_name), text=True)
    options |= read_options(name, maker, arguments, given, text=False)
    if not is_ours:
        options = dict.fromkeys(in_no_name, True) | options
        return make_plugin(name, maker, rules, options)
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
        PolicyFileError: if the weights do not fit the card or the rules.
    """
    maker = pkgutil.resolve_name(AGENTS[card.agent].maker)
    made: Agent = maker(rules, card, weights, **options)
    return made


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


def split_name(name: str | Name) -> Name:
    """Split an agent's name into its label, registered name, path to its weights, and options.

    A name that has been split stays as it is.

    Raises:
        ValueError: for an unknown agent, naming the nearest one; an empty label; a path for an
            agent that has no weights; or options that cannot be read, or are given twice.
        TypeError: for a name that is not text.
    """
    if isinstance(name, Name):
        return name
    if not isinstance(name, str):
        raise TypeError(f"an agent's name must be text, such as 'heuristic', not {name!r}")
    label, equals, rest = name.partition("=")
    if names_agent(name) or "@" in label or not equals:
        label, rest = "", name
    elif not label:
        raise ValueError(f"a label must not be empty: write a name before the = of {name!r}")
    registered, at, written = rest.partition("@")
    path = ""
    if names_agent(rest) and ":" in registered:
        # The path may have other colons, as on Windows, and an @ that no option follows.
        registered, _, rest = rest.partition(":")
        path, *found = _OPTIONS.split(rest, maxsplit=1)
        at, written = "@" * len(found), "".join(found)
    entry = find_entry(registered)
    if path and not entry.learns:
        raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
    options: dict[str, str] = {}
    for each in _BETWEEN.split(written) if at else []:
        key, equals, value = each.partition("=")
        if not (key.isidentifier() and equals and value):
            raise ValueError(
                f"{each!r} in {name!r} is not an option: write @key=value,key=value (a path in a "
                "name must be without @key=)"
            )
        if key in options:
            raise ValueError(f"option {key!r} is given twice in {name!r}")
        options[key] = value
    return Name(label, registered, expanded(path) if path else None, options, entry)


def names_agent(text: str) -> bool:
    """Whether a text is the name of an agent of ours, without a label."""
    return re.split("[:@]", text)[0] in AGENTS


def read_options(
    agent: str,
    make: Callable[..., Any],
    options: Mapping[str, Any],
    reserved: Collection[str],
    text: bool,
) -> dict[str, Any]:
    """Check options against the arguments of an agent's maker, and convert them.

    Numbers are counts, times or shares, so none is below 0. The maker checks values whose
    annotation is no plain type.

    Args:
        agent: the agent's name.
        make: has the options as arguments.
        options: values by name.
        reserved: arguments that are not options here.
        text: whether the values are text to convert, as in an agent's name. Where there is no
            annotation, text that is JSON is read as such.

    Raises:
        ValueError: for an unknown option, naming the nearest one, or a value of another kind,
            naming the kind and the default.
    """
    if not options:
        return {}  # without the import of msgspec, which is an extra
    parameters = inspect.signature(make).parameters
    known = [name for name in parameters if name not in reserved]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    hints: dict[str, Any] = {}
    function = make.__init__ if isinstance(make, type) else inspect.unwrap(make)  # type: ignore[misc]
    with suppress(NameError, TypeError):  # a name for type checkers only; an object without hints
        hints = typing.get_type_hints(function)
    converted = {}
    for name, value in options.items():
        if name in reserved or not (takes_any or name in known):
            hint = nearest(name, known) if known else "it takes none"
            if name == "deterministic" and name in reserved:
                hint = "choose how it plays with --play, or make_agent(..., deterministic=False)"
            raise ValueError(f"agent {agent!r} has no option {name!r}: {hint}")
        try:
            converted[name] = _convert(value, hints.get(name), text)
        except ValueError as error:
            default = parameters[name].default
            hint = "" if default in (None, inspect.Parameter.empty) else f" (default {default})"
            raise ValueError(
                f"{name} of agent {agent!r} must be {error}, not {value!r}{hint}"
            ) from None
    return converted


def _convert(value: Any, hint: Any, text: bool) -> Any:
    """A value of an annotated kind.

    Raises:
        ValueError: whose message is the expected kind.
    """
    import msgspec

    from four_seasons_env.schemas import Amount, Count

    if hint is None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(value) if text else value
        return value
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if not all(kind in _KINDS or kind is types.NoneType for kind in kinds):
        return value
    bounds = {int: Count, float: Amount}
    bounded: Any = typing.Union[tuple(bounds.get(kind, kind) for kind in kinds)]  # noqa: UP007
    try:
        plain = value.item() if isinstance(value, np.generic) else value
        return msgspec.convert(plain, bounded, strict=not text)
    except msgspec.ValidationError:
        raise ValueError(" or ".join(_KINDS[kind] for kind in kinds if kind in _KINDS)) from None
