"""Agents by name: `make_agent`, the parts of a name, and its options.

The signature of an agent's maker gives the names and types of its options.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from four_seasons_env.agents import registry
from four_seasons_env.agents.registry import AGENTS, Agent, bundled_weights, find_maker
from four_seasons_env.arguments import nearest
from four_seasons_env.extras import missing_extra
from four_seasons_env.files import expanded
from four_seasons_env.rules import Rules, get_rules

if TYPE_CHECKING:
    from four_seasons_env.agents.policy_files import PolicyCard, Weights


_OURS = re.compile(rf"({'|'.join(AGENTS)})(?::(.*?))?(?:@([^\W\d]\w*=.*))?", re.DOTALL)
"""An agent of ours: name, path, options. The path may have other colons, as on Windows, and an @
that no option follows."""
_COMMA = re.compile(r",(?=[^\W\d]\w*=)")
"""The comma between two options."""
_KINDS = {
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    bool: "true or false",
    str: "a text",
}


class Name(str):
    """An agent's name, such as "mine=planner:runs/x@positions=400,lookahead=1", and its parts.

    A text is parsed where it enters the program; whether an agent of another package exists is not
    checked here. Then the name travels with its parts, into players and into workers. As a text it
    is the name without the label.

    Examples:
        >>> name = Name("mine=planner:runs/x@positions=400,lookahead=1")
        >>> name, name.label, name.registered
        ('planner:runs/x@positions=400,lookahead=1', 'mine', 'planner')
        >>> name.options
        {'positions': '400', 'lookahead': '1'}

    Raises:
        ValueError: for an empty label; a path for an agent that has no weights; or options that
            cannot be read, or are given twice.
        TypeError: for a name that is not text.
    """

    label: str
    """Its label in tables; "" without one."""
    registered: str
    """Name in `AGENTS`, or place of an agent of another package."""
    path: Path | None
    """Path of its weights."""
    options: dict[str, str]
    """Its options as text; `make_agent` converts them."""
    written_options: str
    """Its options as they are written in a name, without the @."""

    def __new__(cls, text: str) -> Name:
        """Parse a text; a name stays as it is."""
        if isinstance(text, Name):
            return text
        if not isinstance(text, str):
            raise TypeError(f"an agent's name must be text, such as 'heuristic', not {text!r}")
        # 1. The label: all before the first =, unless that belongs to a path or to an option.
        label, equals, rest = text.partition("=")
        if names_agent(text) or "@" in label or not equals:
            label, rest = "", text
        elif not label:
            raise ValueError(f"a label must not be empty: write a name before the = of {text!r}")
        # 2. Agent, path and options. A place, package.module:Class, has a colon but no path.
        if ours := _OURS.fullmatch(rest):
            registered, path, written = ours.groups()
        else:
            registered, at, options = rest.partition("@")
            path, written = None, options if at else None
        if path and not AGENTS[registered].learner:
            raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
        # 3. The text without the label, and with ~ in the path replaced.
        folder = expanded(path) if path else None
        weights, at = f":{folder}" if folder else "", "" if written is None else f"@{written}"
        name = super().__new__(cls, f"{registered}{weights}{at}")
        name.label, name.registered, name.path = label, registered, folder
        name.options = {} if written is None else _split_options(written, text)
        name.written_options = written or ""
        return name

    def weights(self, rules: Rules) -> Path | None:
        """The folder of its weights, by default that of the project; None if it has none."""
        if self.registered in AGENTS and AGENTS[self.registered].learner:
            return self.path or bundled_weights(self.registered, rules.name)
        return None


def _split_options(written: str, name: str) -> dict[str, str]:
    """The options after the @ of a name, as text."""
    options: dict[str, str] = {}
    for each in _COMMA.split(written):
        key, equals, value = each.partition("=")
        if not (key.isidentifier() and equals and value):
            raise ValueError(
                f"{each!r} in {name!r} is not an option: write @key=value,key=value (a path in a "
                "name must be without @key=)"
            )
        if key in options:
            raise ValueError(f"option {key!r} is given twice in {name!r}")
        options[key] = value
    return options


def names_agent(text: str) -> bool:
    """Whether a text is the name of an agent of ours, without a label."""
    return re.split("[:@]", text)[0] in AGENTS


def make_agent(name: str, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights, and options.

    Examples:
        >>> make_agent("heuristic").act(games, masks, rng).shape
        (4,)
        >>> make_agent("rollout@worlds=4", "czarina", moves=2).mask
        'distinct'

    Args:
        name: a registered name, as in "heuristic", "maskable_ppo:runs/x" or
            "rollout@worlds=64"; or an agent of another package, "my_package.module:MyAgent"; or a
            `Name`.
        rules: the rule set to play.
        **options: passed to the agent; they override those in the name.

    Raises:
        ValueError: for an unknown agent, option or rule set, or weights that cannot be used
            (`four_seasons_env.agents.policy_files.PolicyFileError`).
        FileNotFoundError: where there are no weights.
        ImportError: naming the extra that installs what the agent needs.
    """
    name, rules = Name(name), get_rules(rules)
    place, is_ours = name.registered, name.registered in AGENTS
    try:
        maker = find_maker(place)
        # 1. The options: those in the name, then those of this call.
        given = ("rules", "card", "weights") if is_ours else ("rules",)
        in_no_name = (*given, *maker.chooses)
        chosen = read_options(place, maker.make, name.options, in_no_name, text=True)
        chosen |= read_options(place, maker.make, options, given, text=False)
        # 2. The agent, by weights if it learns.
        if not is_ours:
            return _make_foreign(place, maker, rules, chosen)
        if folder := name.weights(rules):
            from four_seasons_env.agents.policy_files import load_policy  # which needs an extra

            return make_player(rules, *load_policy(folder, place, rules), chosen)
        ours: Agent = maker.make(rules, **chosen)
    except ModuleNotFoundError as error:
        raise missing_extra(f"agent {place!r}", error) from None
    return ours


def make_player(
    rules: Rules, card: PolicyCard, weights: Weights, options: Mapping[str, Any]
) -> Agent:
    """Make the agent that plays a trained policy.

    Examples:
        >>> from four_seasons_env.agents import load_policy
        >>> folder = bundled_weights("planner", "czarina")
        >>> card, weights = load_policy(folder, "planner", RULES["czarina"])
        >>> make_player(RULES["czarina"], card, weights, {"positions": 40}).kind
        'learned + search'

    Args:
        rules: the rule set to play.
        card: of the policy; names the agent.
        weights: of its network, by name.
        options: of the agent.

    Raises:
        PolicyFileError: if the weights do not fit the card or the rules.
    """
    made: Agent = find_maker(card.agent).make(rules, card, weights, **options)
    return made


def _make_foreign(
    place: str, maker: registry.Maker, rules: Rules, options: dict[str, Any]
) -> Agent:
    """Make an agent of another package; the options have been checked.

    Raises:
        ValueError: see `check_agent`.
        RuntimeError: for an error in making it, which is its cause.
    """
    parameters = inspect.signature(maker.make).parameters
    if inspect.isfunction(maker.make) and "observations" in parameters:
        raise ValueError(
            f"agent {place!r} is a function of observations: say for which environment, with "
            '@policy("FourSeasonsNextDeal-v0", plays=("stochastic",)), see docs/reference/agents.md'
        )
    given: dict[str, Any] = dict.fromkeys(maker.chooses, True)
    if "rules" in parameters:
        given["rules"] = rules
    with registry.blamed(place):
        agent = maker.make(**given | options)
    return registry.check_agent(place, agent)


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
        # 1. Its name is an argument of the maker.
        if name in reserved or not (takes_any or name in known):
            hint = nearest(name, known) if known else "it takes none"
            if name == "deterministic" and name in reserved:
                hint = "choose how it plays with --play, or make_agent(..., deterministic=False)"
            raise ValueError(f"agent {agent!r} has no option {name!r}: {hint}")
        # 2. Its value is of the annotated kind.
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
