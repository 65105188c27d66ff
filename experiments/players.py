"""Players of a comparison: names such as "ppo=maskable_ppo:runs/a" as `Player`s."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from four_seasons_env.agents.agent import PLAYS, Agent
from four_seasons_env.agents.names import AGENTS, Name, make_agent, make_to_play, names_agent
from four_seasons_env.agents.policy_files import PolicyCard, load_policy_card
from four_seasons_env.engine.jit import module_digest
from four_seasons_env.experiments import folders
from four_seasons_env.experiments.command_line import check_stored_seed
from four_seasons_env.experiments.summary import CEILING, OPTIMUM
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.schemas import Amount, Positive, Seed, one_of, read_json


@dataclass(frozen=True)
class Player:
    """One policy and one way of playing it."""

    agent: str
    """Label in tables; the same for all training seeds of an algorithm."""
    name: Name
    """Name for `make_agent`, with the path to the weights of one policy; in files, its text without
    an absolute path."""
    play: Annotated[str, one_of(PLAYS)]
    """`deterministic` or `stochastic`."""
    train_seed: Seed | None
    kind: str
    """Method of play; see `four_seasons_env.agents.Agent`."""
    weights: tuple[str, ...] = ()
    """SHA-256, in hex, of its weights and of the weights of agents in its options."""
    code: tuple[str, ...] = ()
    """SHA-256, in hex, of the module of an agent of another package, with what it imports from its
    folder, and of those of agents in its options."""
    observation: str = Agent.observation
    """Description of what the agent observes."""
    mask: str = ""
    """The mask of `FourSeasonsEnv` that it plays with; "" where a folder does not say."""
    train_steps: Amount | None = None
    """Moves, decisions or games of its training; None if its weights do not say."""
    core_seconds: Amount | None = None
    """Processor time of its training."""
    block: Positive = 1000
    """Deals that a task plays in lockstep; see `four_seasons_env.agents.Agent`."""

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Unique key in the table of one rule set."""
        return self.agent, self.play, self.train_seed

    @property
    def method(self) -> tuple[str, str]:
        """Agent and options, without paths."""
        return self.name.registered, folders.portable(self.name.written_options)

    @property
    def folder(self) -> str:
        """Name of the folder of its results, unique on any file system."""
        text = "-".join(str(each) for each in self.key if each is not None)
        # Labels may differ only in letters that a file system rejects or does not distinguish.
        mark = hashlib.sha256(str(self.key).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', text)[:100]}-{mark}"

    def new_agent(self, rules: Rules) -> Agent:
        """Make the agent that plays for it."""
        return make_to_play(self.name, rules, self.play)


def find_players(
    names: Iterable[str], rules: str | Rules, plays: Iterable[str] = PLAYS
) -> list[Player]:
    """The players of a comparison under one rule set.

    Args:
        names: names of agents, with an optional label in front and, for agents with weights, an
            optional path after a colon: "heuristic", "ppo=maskable_ppo:runs/x". Agents from other
            packages: "mine=my_package.module:MyAgent" (`four_seasons_env.agents.names`). Several
            with one label are the training seeds of one algorithm.
        rules: the rule set.
        plays: how trained networks play.

    Raises:
        ValueError: for an unknown agent or option, two runs with one seed, or weights that cannot
            be used.
        FileNotFoundError: if there are no weights.
    """
    rules, plays, named = get_rules(rules), list(plays), [Name(each) for each in names]
    players: list[Player] = []
    for name in named:
        if name.label:
            check_label(name.label, name.registered)
        # 1. The agent itself says what it is, and its weights how long it was trained.
        agent = make_agent(name, rules)  # raises if the agent cannot play
        trained = list(_weights(name, rules))
        steps, core_seconds = _budget(*trained[0]) if trained else (None, None)
        # 2. A player for each way of playing; the agent's only way, if none of those is asked for.
        players += [
            Player(
                name.label or folders.portable(name),
                name.unlabelled,
                play,
                train_seed=_train_seed(agent, name, named),
                kind=agent.kind,
                weights=tuple(card.sha256 for _, card in trained),
                code=tuple(_code(name)),
                observation=agent.observation,
                # A network that always prefers the move back would go round until the move limit.
                mask="no_repeats" if play == "deterministic" else agent.mask,
                train_steps=steps,
                core_seconds=core_seconds,
                block=agent.block,
            )
            for play in [play for play in plays if play in agent.plays] or agent.plays
        ]
    check_distinct(players)
    return players


def _train_seed(agent: Agent, name: Name, names: list[Name]) -> int | None:
    """The training seed that an agent states, or its number under a label; None for neither.

    Agents of other packages with one label are numbered. A label with a single policy may be of an
    agent that was not trained.
    """
    if agent.train_seed is not None:
        return check_stored_seed(agent.train_seed, f"train_seed of agent {name}")
    alike = list(dict.fromkeys(each for each in names if each.label == name.label))
    if name.registered in AGENTS or not name.label or len(alike) < 2:
        return None
    return alike.index(name)


def check_label(label: str, registered: str) -> None:
    """Reject a label that a table cannot show, or that is the name of another row.

    Raises:
        ValueError: naming the fault.
    """
    if not label.isprintable() or label != label.strip():
        raise ValueError(f"a label must be printable, without spaces at its ends, not {label!r}")
    if label in (CEILING, OPTIMUM) or (label in AGENTS and label != registered):
        raise ValueError(
            f"{label!r} is the name of another row of the table: choose another label for "
            f"{registered!r}"
        )


def _agents_of(name: Name) -> Iterator[Name]:
    """The agent, and those in its options, as in finisher@base=maskable_ppo."""
    yield name
    for value in name.options.values():
        if names_agent(value):
            yield from _agents_of(Name(value))


def _weights(name: Name, rules: Rules) -> Iterator[tuple[Path, PolicyCard]]:
    """The folders and cards of the weights of these agents."""
    for each in _agents_of(name):
        if folder := each.weights(rules):
            yield folder, load_policy_card(folder, each.registered, rules.name)


def _code(name: Name) -> Iterator[str]:
    """The digests of the modules of those of these agents that are of other packages."""
    for each in _agents_of(name):
        if each.registered not in AGENTS:
            yield module_digest(each.registered.partition(":")[0])


def _budget(folder: Path, card: PolicyCard) -> list[float | None]:
    """Steps and processor time of a training: of the whole run, or as its card says."""
    about, done = card.training, folder / folders.DONE
    if done.is_file():  # the card is of the best policy, which the rest of the run did not beat
        about = vars(read_json(done, folders.Done))
    found = about.get("steps"), about.get("core_seconds")
    return [each if isinstance(each, (int, float)) else None for each in found]


def check_distinct(players: list[Player]) -> None:
    """Reject players that look the same in a table, and two agents with one label."""
    seen: dict[tuple[str, str, int | None], Player] = {}
    named: dict[str, Player] = {}
    for player in players:
        first = named.setdefault(player.agent, player)
        same = seen.get(player.key) if _one_algorithm(first, player) else first
        if same is not None:
            twice = same.key == player.key and player.train_seed is not None
            seed = f" of training seed {player.train_seed}" if twice else ""
            raise ValueError(
                f"{same.name} and {player.name} have the same label {player.agent!r}{seed}: rename "
                f"one, as in other={player.name}"
            )
        seen[player.key] = player


def _one_algorithm(one: Player, other: Player) -> bool:
    """Whether two players with one label can be two training seeds of it."""
    if {one.name.registered, other.name.registered} & set(AGENTS):
        return one.method == other.method
    return one.kind == other.kind  # another package may name each of its policies
