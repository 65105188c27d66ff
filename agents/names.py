"""Agents by name: the table of those that there are, a name and its parts, and `make_agent`.

An agent of another package is named by its place, `package.module:Class`. The class is derived
from `Agent`, or from `four_seasons_env.agents.training.Learner`, which names a `player` that plays
its policies.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import re
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from four_seasons_env.agents.agent import PLAYS, Agent, blamed, check_agent
from four_seasons_env.arguments import nearest
from four_seasons_env.extras import missing_extra
from four_seasons_env.files import expanded, file_name
from four_seasons_env.rules import Rules, get_rules

if TYPE_CHECKING:
    from four_seasons_env.agents.policy_files import PolicyCard, Weights


class Entry(NamedTuple):
    """Where an agent of ours is found, below `four_seasons_env.agents`."""

    agent: str
    """`module:class` that plays."""
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


# --- a name and its parts ------------------------------------------------------------------------

_NAME = re.compile(
    rf"({'|'.join(AGENTS)}|[^:@]+:[^:@]*)(?::(.*?))?(?:@([^\W\d]\w*=.*))?", re.DOTALL
)
"""Name or place of an agent, path, options. The path may have other colons, as on Windows, and an @
that no option follows."""
_COMMA = re.compile(r",(?=[^\W\d]\w*=)")
"""The comma between two options."""


class Name(str):
    """An agent's name, such as "mine=planner:runs/x@positions=400,lookahead=1", and its parts.

    A text is parsed where it enters the program; whether an agent of another package exists is not
    checked here. Then the name travels with its parts, into players and into workers.

    Examples:
        >>> name = Name("mine=planner:runs/x@positions=400,lookahead=1")
        >>> name.label, name.registered, name.path.name
        ('mine', 'planner', 'x')
        >>> name.unlabelled, name.options
        ('planner:runs/x@positions=400,lookahead=1', {'positions': '400', 'lookahead': '1'})

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
        # 2. Agent, path and options. What has no such form is refused below, or by `find_agent`.
        if parts := _NAME.fullmatch(rest):
            registered, path, written = parts.groups()
        else:
            registered, at, options = rest.partition("@")
            path, written = None, options if at else None
        if path and registered in AGENTS and not AGENTS[registered].learner:
            raise ValueError(f"agent {registered!r} has no weights: leave out {':' + path!r}")
        # 3. The text, with ~ in the path replaced.
        folder = expanded(path) if path else None
        weights, at = f":{folder}" if folder else "", "" if written is None else f"@{written}"
        name = super().__new__(cls, f"{label}{'=' * bool(label)}{registered}{weights}{at}")
        name.label, name.registered, name.path = label, registered, folder
        name.options = {} if written is None else _split_options(written, text)
        name.written_options = written or ""
        return name

    @property
    def unlabelled(self) -> Name:
        """The name without its label."""
        return Name(self.removeprefix(f"{self.label}=")) if self.label else self

    def weights(self, rules: Rules) -> Path | None:
        """The folder of its weights, by default that of the project; None if it has none."""
        if self.registered in AGENTS and AGENTS[self.registered].learner:
            return self.path or bundled_weights(self.registered, rules.name)
        return self.path


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


# --- from a name to an agent ---------------------------------------------------------------------


def make_agent(name: str, rules: str | Rules = "four-seasons", **options: Any) -> Agent:
    """Make an agent by its name, which may carry a path to its weights, and options.

    An agent that can play both ways plays deterministically, unless `deterministic=False` is given.

    Examples:
        >>> make_agent("heuristic").act(games, masks, rng).shape
        (4,)
        >>> make_agent("rollout@worlds=4", "czarina", moves=2).mask
        'distinct'

    Args:
        name: a registered name, as in "heuristic", "maskable_ppo:runs/x" or
            "rollout@worlds=64"; or an agent of another package, "my_package.module:MyAgent", with
            the path of its weights if it was trained by a learner, "my_module:MyLearner:runs/x"; or
            a `Name`.
        rules: the rule set to play.
        **options: passed to the agent; they override those in the name.

    Raises:
        ValueError: for an unknown agent, option or rule set, or weights that cannot be used
            (`four_seasons_env.agents.policy_files.PolicyFileError`).
        FileNotFoundError: where there are no weights.
        ImportError: naming the extra that installs what the agent needs.
        TypeError: for an agent of another package that is described by wrong types.
        RuntimeError: for an error in making an agent of another package, which is its cause.

    See Also:
        `Agent`: the base class, for agents of your own.
        `policy`: makes an agent of a function from observations to actions.
    """
    name, rules = Name(name), get_rules(rules)
    place = name.registered
    try:
        agent = find_agent(place)
        # 1. The options: those in the name, then those of this call.
        chosen = read_options(place, agent.parameters(), name.options, text=True)
        chosen |= read_options(place, agent.parameters(), options, text=False)
        # 2. The weights, if it has some.
        if {"card", "weights"} <= agent.parameters().keys():
            folder = name.weights(rules)
            if folder is None:
                raise ValueError(f"agent {place!r} needs weights: name them, as {place}:FOLDER")
            from four_seasons_env.agents.policy_files import load_policy  # which needs an extra

            return make_player(rules, *load_policy(folder, place, rules), chosen)
        if name.path:
            raise ValueError(f"agent {place!r} has no weights: leave out {f':{name.path}'!r}")
        return _made(place, agent, {"rules": rules}, chosen)
    except ModuleNotFoundError as error:
        raise missing_extra(f"agent {place!r}", error) from None


def make_to_play(name: str, rules: Rules, play: str) -> Agent:
    """Make an agent that plays in one of the ways of `PLAYS`, if it can play in both."""
    both = len(find_agent(Name(name).registered).plays) > 1
    return make_agent(name, rules, **({"deterministic": play == PLAYS[0]} if both else {}))


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
    given = {"rules": rules, "card": card, "weights": weights}
    return _made(card.agent, find_agent(card.agent), given, options)


def _made(
    place: str, agent: type[Agent], given: Mapping[str, Any], options: Mapping[str, Any]
) -> Agent:
    """Make an agent with what it has parameters for, and check what it says of itself."""
    asked = {name: value for name, value in given.items() if name in agent.parameters()}
    how = {"deterministic": True} if len(agent.plays) > 1 else {}
    if place in AGENTS:
        return agent(**asked | how | {**options})
    with blamed(place):
        made = agent(**asked | how | {**options})
    check_agent(made, repr(place))
    return made


def find_agent(name: str) -> type[Agent]:
    """The class of an agent: one of `AGENTS`, or one of another package by its place.

    Raises:
        ValueError: for an unknown agent, naming the nearest; or what is neither derived from
            `Agent` nor a learner with a `player`.
        RuntimeError: for an error in the module of another package, which is its cause.
    """
    if name in AGENTS:
        ours: type[Agent] = load_ours(AGENTS[name].agent)
        return ours
    found = load(name)
    agent = getattr(found, "player", found)  # of a learner: what plays its policies
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        remedy = "derive it from four_seasons_env.agents.Agent"
        if inspect.isfunction(agent) and "observations" in inspect.signature(agent).parameters:
            remedy = (
                "say for which environment it chooses, with "
                '@policy("FourSeasonsNextDeal-v0", plays=("stochastic",))'
            )
        raise ValueError(f"{name!r} is no agent: {remedy} (docs/reference/agents.md)")
    return agent


def load_ours(place: str) -> Any:
    """Import a class of ours by an `Entry`."""
    return pkgutil.resolve_name(f"{__package__}.{place}")


def load(place: str) -> Any:
    """Import a class of another package.

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
    found = getattr(module, attribute, None)
    if not callable(found):
        public = [name for name, each in vars(module).items() if callable(each) and name[0] != "_"]
        raise ValueError(
            f"module {word!r} has no class {attribute!r}: {nearest(attribute, public)}"
        )
    return found


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
    found = package.isidentifier() and importlib.util.find_spec(package)
    if found and (not colon or module.endswith(".py")):
        asked = f"{module.removesuffix('.py')}:{attribute or 'MyAgent'}"
        raise ValueError(f"an agent of a module is named as in {asked}, not {place!r}")
    if not found:
        lacks = f", and no module {module!r} in this folder or installed" if colon else ""
        raise ValueError(f"unknown agent {module!r}{lacks}: {nearest(module, AGENTS)}")
    if not attribute.isidentifier():
        raise ValueError(
            f"an agent of module {module!r} must be the name of one class, not {attribute!r}: give "
            f"the same label to each, as in own={module}:A own={module}:B"
        )
    return module, attribute


# --- options -------------------------------------------------------------------------------------

_KINDS = {
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    bool: "true or false",
    str: "a text",
}
_RESERVED = ("rules", "card", "weights")
"""Parameters of agents that are no options: `make_agent` has them."""


def read_options(
    agent: str,
    parameters: Mapping[str, inspect.Parameter],
    options: Mapping[str, Any],
    text: bool,
) -> dict[str, Any]:
    """Check options against the parameters of an agent, and convert them.

    Numbers are counts, times or shares, so none is below 0. The agent checks values whose
    annotation is no plain type.

    Args:
        agent: the agent's name.
        parameters: see `Agent.parameters`.
        options: values by name.
        text: whether the values are text to convert, as in an agent's name. Then `deterministic`
            is no option. Where there is no annotation, text that is JSON is read as such.

    Raises:
        ValueError: for an unknown option, naming the nearest one, or a value of another kind,
            naming the kind and the default.
    """
    reserved = (*_RESERVED, "deterministic") if text else _RESERVED
    known = [name for name in parameters if name not in reserved]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    converted = {}
    for name, value in options.items():
        # 1. Its name is a parameter of the agent.
        if name in reserved or not (takes_any or name in known):
            hint = nearest(name, known) if known else "it takes none"
            if name == "deterministic" and name in parameters:
                hint = "choose how it plays with --play, or make_agent(..., deterministic=False)"
            raise ValueError(f"agent {agent!r} has no option {name!r}: {hint}")
        # 2. Its value is of the annotated kind.
        parameter = parameters.get(name, _UNKNOWN)
        try:
            converted[name] = _convert(value, parameter.annotation, text)
        except ValueError as error:
            default = parameter.default
            hint = "" if default in (None, parameter.empty) else f" (default {default})"
            raise ValueError(
                f"{name} of agent {agent!r} must be {error}, not {value!r}{hint}"
            ) from None
    return converted


_UNKNOWN = inspect.Parameter("any", inspect.Parameter.KEYWORD_ONLY)
"""An option that only ``**options`` takes."""


def _convert(value: Any, hint: Any, text: bool) -> Any:
    """A value of an annotated kind.

    Raises:
        ValueError: whose message is the expected kind.
    """
    import msgspec

    from four_seasons_env.schemas import Amount, Count

    if hint is inspect.Parameter.empty:
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
