"""Players of a comparison: names such as "ppo=maskable_ppo:runs/study/ppo-*" as `Player`s."""

from __future__ import annotations

import functools
import glob
import hashlib
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.registry import AGENTS, BOTH, Agent, Name, make_agent, split_name
from four_seasons_env.rules import Rules, get_rules

if TYPE_CHECKING:
    import pandas as pd

    from four_seasons_env.records import Record

PLAYS = BOTH

PUBLIC = "all that is public"
"""What a player sees that does not say."""

_LONGEST = 60
"""Characters of a label, at most."""


@dataclass(frozen=True)
class Player:
    """One policy, in one way of playing it."""

    agent: str
    """Its label in tables; the same for all training seeds of an algorithm."""
    name: str
    """Name that `make_agent` knows, with the path to one policy's weights."""
    play: str
    """One of `PLAYS`."""
    train_seed: int | None
    kind: str
    """The method that it plays by; see `four_seasons_env.agents.registry.Entry`."""
    weights: tuple[str, ...] = ()
    """SHA-256, in hex, of its weights, and of those of agents that its options name."""
    observation: str = PUBLIC
    """The observation of the agent."""

    def make(self, rules: Rules) -> Agent:
        """The agent itself."""
        entry = split_name(self.name).entry
        options: dict[str, Any] = {}
        if len(entry.plays) > 1:
            options["deterministic"] = self.play == "deterministic"
        return make_agent(self.name, rules, **options)

    def play_games(
        self, rules: Rules, deals: Sequence[int], seed: int = 0
    ) -> tuple[pd.DataFrame, list[Record]]:
        """Play deals fairly.

        Deterministic players get the guard of `four_seasons_env.experiments.matches.repeats`. The
        global generators of Python, NumPy and torch are seeded, because libraries draw from them:
        the same seed and deals give the same games.

        Args:
            rules: the rule set.
            deals: the deals' numbers.
            seed: of the agent's chance and of the stock's reshuffles.

        Returns:
            The results, see `four_seasons_env.experiments.matches.play.play_deals`, and the
            games in the same order.
        """
        from four_seasons_env.experiments.matches.play import play_recorded

        _warm_up(self, rules)
        guarded = self.play == "deterministic"
        _seed_libraries([seed, int(deals[0]), 1])
        return play_recorded(self.make(rules), self.agent, rules, deals, seed, guarded)

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Its unique key in the table of one rule set."""
        return self.agent, self.play, self.train_seed

    @property
    def method(self) -> tuple[str, str]:
        """The agent and its options, without the path to its weights."""
        name, _, options = self.name.partition("@")
        registered = name.partition(":")[0]
        return registered if registered in AGENTS else name, options

    @property
    def folder(self) -> str:
        """A name for the folder of its results: unique on any file system."""
        text = "-".join(str(each) for each in self.key if each is not None)
        mark = hashlib.sha256(str(self.key).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', text)[:100]}-{mark}"


@functools.cache
def _warm_up(player: Player, rules: Rules) -> None:
    """Have another agent of this kind play a training deal, once in this process.

    Otherwise the time of the first deal would include compiling and loading.
    """
    from four_seasons_env.engine.deals import TRAIN_FROM
    from four_seasons_env.experiments.matches.play import play_deals

    guarded = player.play == "deterministic"
    agent = player.make(rules)
    play_deals(agent, rules, [TRAIN_FROM], forbid_repeats=guarded, name=player.agent)


def _seed_libraries(seed: list[int]) -> None:
    """Seed the generators that libraries share, if the agent has imported them."""
    drawn = np.random.PCG64(seed).random_raw(3)
    random.seed(int(drawn[0]))
    np.random.seed(int(drawn[1]) % 2**32)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(int(drawn[2]) % 2**63)


def find_players(
    names: Iterable[str], rules: str | Rules, plays: Iterable[str] = PLAYS
) -> list[Player]:
    """The players of a comparison under one rule set.

    Args:
        names: agents' names, which may have a label in front and, for agents with weights, a path
            after a colon: "heuristic", "maskable_ppo:runs/x/best", "ppo=maskable_ppo:runs/ppo-*". A
            pattern stands for the runs, or policies, that it matches and that are for these rules.
            Agents from other packages: "mine=my_package.module:MyAgent"
            (`four_seasons_env.agents.plugins`).
        rules: the rule set.
        plays: ways in which trained networks are to play.

    Raises:
        ValueError: for an unknown name, two runs of one seed, or weights that cannot be used.
        FileNotFoundError: where there are no weights.
    """
    rules, plays = get_rules(rules), list(plays)
    players: list[Player] = []
    for text in names:
        label, name = split_label(text)
        parts = split_name(name)
        if label:
            check_label(label, parts.registered)
        ways = [play for play in plays if play in parts.entry.plays] or parts.entry.plays
        for full in _policies(name, parts, rules):
            agent = make_agent(full, rules)  # or says what is wrong with it
            players += [
                Player(
                    label or name,
                    full,
                    play,
                    train_seed=getattr(agent, "train_seed", None),
                    kind=getattr(agent, "kind", parts.entry.kind),
                    weights=tuple(_weights(split_name(full), rules)),
                    observation=getattr(agent, "observation", PUBLIC),
                )
                for play in ways
            ]
    check_distinct(players)
    return players


def check_label(label: str, registered: str) -> None:
    """Reject a label that a table cannot show, or that is the name of another row.

    Raises:
        ValueError: for a label that is not printable text, or is the name of another row.
    """
    from four_seasons_env.experiments.matches.ceiling import CEILING

    is_plain = label.isprintable() and label == label.strip()
    if not is_plain or label.startswith("_") or len(label) > _LONGEST:  # plots hide _names
        raise ValueError(
            f"an agent's label is printable, does not begin with _, has no space at its ends and "
            f"at most {_LONGEST} characters: not {label!r}"
        )
    if label == CEILING or (label in AGENTS and label != registered):
        raise ValueError(
            f"{label!r} is the name of another row of the table: choose another label for "
            f"{registered!r}"
        )


def _weights(parts: Name, rules: Rules) -> Iterator[str]:
    """See `Player.weights`."""
    from four_seasons_env.agents.policy_files import load_policy_card

    if parts.entry.learns:
        folder = parts.path or bundled_weights(parts.registered, rules.name)
        yield load_policy_card(folder, parts.registered, rules.name).sha256
    for value in parts.options.values():
        if value.partition(":")[0] in AGENTS:
            yield from _weights(split_name(value), rules)


def split_label(text: str) -> tuple[str, str]:
    """Split "label=name"; the label is "" if there is none. An "=" after "@" is an option's."""
    label, equals, name = text.partition("=")
    return (label, name) if equals and "@" not in label else ("", text)


def _policies(name: str, parts: Name, rules: Rules) -> list[str]:
    """The names of the policies that an agent's name stands for, each with one path at most."""
    if parts.path is None:
        return [name]
    options = name[name.index("@") :] if "@" in name else ""
    found = _folders(parts.registered, parts.path, rules)
    return [f"{parts.registered}:{folder}{options}" for folder in found]


def _folders(registered: str, path: Path, rules: Rules) -> list[Path]:
    """The policies at a path, or of these rules at a pattern."""
    from four_seasons_env.agents.policy_files import load_policy_card, rules_fields

    if not glob.has_magic(str(path)):
        return [_policy_in(path)]
    matching = sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))
    found = [_policy_in(each) for each in matching if each.is_dir()]
    if not found:
        raise FileNotFoundError(f"no weights at {path}: nothing matches")
    fits = [
        each
        for each in found
        if load_policy_card(each, registered, rules.name).rules == rules_fields(rules)
    ]
    if not fits:
        raise ValueError(f"of the {len(found)} policies at {path} none is for {rules.name!r}")
    return fits


def _policy_in(path: Path) -> Path:
    """The policy itself: of a run, its best."""
    from four_seasons_env.agents.policy_files import CARD_FILE
    from four_seasons_env.experiments.training.run_folder import BEST

    return path / BEST if (path / BEST / CARD_FILE).is_file() else path


def check_distinct(players: list[Player]) -> None:
    """Reject players that look the same in a table, and two agents under one label."""
    seen: dict[tuple[str, str, int | None], Player] = {}
    named: dict[str, Player] = {}
    for player in players:
        first = named.setdefault(player.agent, player)
        same = first if first.method != player.method else seen.get(player.key)
        if same is not None:
            seed = "" if player.train_seed is None else f" of training seed {player.train_seed}"
            raise ValueError(
                f"{same.name} and {player.name} are both {player.agent!r}{seed}: give one another "
                f"label, as in other={player.name}"
            )
        seen[player.key] = player
