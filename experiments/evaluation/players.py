"""Who plays in a comparison: names such as "ppo=maskable_ppo:runs/study/ppo-*" as `Player`s."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from four_seasons_env.agents import brought
from four_seasons_env.agents.best import MEASURED
from four_seasons_env.agents.bundled import all_bundled_weights, bundled_weights
from four_seasons_env.agents.policy_files import (
    CARD_FILE,
    WEIGHTS_FILE,
    load_policy_card,
    rules_fields,
)
from four_seasons_env.agents.registry import AGENTS, BOTH, Agent, Name, make_agent, split_name
from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.evaluation.deciding_code import code_digest
from four_seasons_env.experiments.training.run_folder import BEST
from four_seasons_env.rules import Rules, get_rules, nearest

PLAYS = BOTH

PUBLIC = "all that is public"
"""What a player sees that does not say."""

_ROOM = 150
"""Letters of a folder's name, at most, its digest aside."""
_LONGEST = 60
"""Letters of a label, at most."""


@dataclass(frozen=True)
class Player:
    """One policy, in one way of playing it."""

    agent: str
    """What it is called in tables; the same for all training seeds of an algorithm."""
    name: str
    """Name that `make_agent` knows, with the path to one policy's weights."""
    play: str
    """One of `PLAYS`."""
    train_seed: int | None
    kind: str
    """What its play consists of; see `four_seasons_env.agents.registry.Entry`."""
    digest: str
    """The SHA-256, in hex, of its weights, of those of the agents that its options name, of its
    options, and of the file of an agent that others bring; empty without any."""
    trust: bool = False
    observation: str = PUBLIC
    """What it sees of a position."""

    def make(self, rules: Rules) -> Agent:
        """The agent itself."""
        entry = split_name(self.name).entry
        options: dict[str, Any] = {}
        if entry.learns:
            options["trust"] = self.trust
        if len(entry.plays) > 1:
            options["deterministic"] = self.play == "deterministic"
        return make_agent(self.name, rules, **options)

    @property
    def forbids_repeats(self) -> bool:
        """Whether the guard of `four_seasons_env.experiments.evaluation.repeats` is for it."""
        return self.play == "deterministic"

    def deals_in(self, block: range | tuple[int, ...]) -> range | tuple[int, ...]:
        """Those deals of a block that it plays."""
        return block

    @property
    def folder(self) -> str:
        """A name for the folder of its results: another for each player, in any file system."""
        parts = [self.agent, self.play, self.train_seed, self.digest[:8]]
        text = "-".join(str(part) for part in parts if part not in (None, ""))
        name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text)
        is_plain = name == text and name == name.lower()
        return name if is_plain else f"{name[:_ROOM]}-{_sha256(text.encode())[:8]}"

    @property
    def made_by(self) -> dict[str, Any]:
        """All that its play comes from, rules and seed aside; where its weights lie is no matter.

        The label belongs to it, as the results carry it.
        """
        return {
            "label": self.agent,
            "agent": split_name(self.name).registered,
            "play": self.play,
            "train_seed": self.train_seed,
            "weights and options": self.digest,
            "code": code_digest(),
        }


def find_players(
    names: Iterable[str], rules: str | Rules, plays: Iterable[str] = PLAYS, trust: bool = False
) -> list[Player]:
    """The players of a comparison under one rule set.

    Args:
        names: agents' names, which may have a label in front and, for agents with weights, a path
            behind: "heuristic", "maskable_ppo:runs/x/best", "ppo=maskable_ppo:runs/ppo-*". A
            pattern stands for the runs, or policies, that it matches and that are for these rules.
            Agents that others bring: "mine=my_package.module:MyAgent"
            (`four_seasons_env.agents.brought`).
        rules: the rule set.
        plays: ways in which trained networks are to play.
        trust: open zips.

    Raises:
        ValueError: for an unknown name, two runs of one seed, or weights that cannot be used.
        FileNotFoundError: where there are no weights.
    """
    rules = get_rules(rules)
    plays = list(plays)
    for play in plays:
        if play not in PLAYS:
            raise ValueError(f"unknown way to play {play!r}: {nearest(play, PLAYS)}")
    players: list[Player] = []
    for text in names:
        label, name = split_label(text)
        parts = split_name(name)
        if label:
            check_label(label, parts.registered)
        else:
            label = name
        registered, path, entry = parts.registered, parts.path, parts.entry
        options = name.partition("@")[2]
        if not entry.learns:
            agent = make_agent(name, rules)  # or say what is wrong with it
            code = b"" if registered in AGENTS else brought.source(entry.maker)
            digest = _digest(name, None, rules, code)
            kind = getattr(agent, "kind", entry.kind)
            sees = getattr(agent, "observation", PUBLIC)
            players += [
                Player(label, name, play, None, kind, digest, False, sees) for play in entry.plays
            ]
            continue
        for found in _policies(registered, path, rules):
            full = f"{registered}:{found}" if path else registered
            full += f"@{options}" if options else ""
            folder = found or bundled_weights(registered, rules.name)
            agent = make_agent(full, rules, trust=trust)
            seed = getattr(agent, "train_seed", None)
            weights = folder if folder.suffix == ".zip" else folder / WEIGHTS_FILE
            digest = _digest(full, weights, rules)
            ways = [play for play in plays if play in entry.plays] or entry.plays
            sees = getattr(agent, "observation", PUBLIC)
            players += [
                Player(label, full, play, seed, entry.kind, digest, trust, sees) for play in ways
            ]
    check_distinct(players)
    return players


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check_label(label: str, registered: str) -> None:
    """Refuse a label that cannot be read in a table, or that means something else there.

    Raises:
        ValueError: for a label that is no printable text, or stands for another agent already.
    """
    if not label.isprintable() or label != label.strip() or label.startswith("_"):
        raise ValueError(
            f"an agent's label is printable, does not begin with _ and has no space at its ends: "
            f"not {label!r}"
        )
    if len(label) > _LONGEST:
        raise ValueError(f"an agent's label has {_LONGEST} letters at most: not {label!r}")
    if label == CEILING or (label in AGENTS and label != registered):
        raise ValueError(
            f"{label!r} is the name of another row of the table: choose another label for "
            f"{registered!r}"
        )


def _digest(name: str, weights: Path | None, rules: Rules, code: bytes = b"") -> str:
    """Of an agent's weights and options, of the weights of agents that they name, and of code."""
    digest = hashlib.sha256(code)
    for path in [weights] if weights else []:
        digest.update(path.read_bytes())
    parts = split_name(name)
    found = list(_named_weights(parts, rules))
    for path in found:
        digest.update(path.read_bytes())
    options = name.partition("@")[2]
    digest.update(options.encode())
    return digest.hexdigest() if code or weights or found or options else ""


def _named_weights(parts: Name, rules: Rules) -> Iterator[Path]:
    """Files, beside its own weights, that an agent plays by."""
    if parts.registered == "best":
        yield MEASURED
        yield from (folder / WEIGHTS_FILE for folder in all_bundled_weights(rules.name))
    for value in parts.options.values():
        base = value if isinstance(value, str) else ""
        if base.partition(":")[0] in AGENTS:
            named = split_name(base)
            if named.entry.learns:
                folder = _policy_in(named.path) if named.path else None
                folder = folder or bundled_weights(named.registered, rules.name)
                yield folder if folder.suffix == ".zip" else folder / WEIGHTS_FILE


def split_label(text: str) -> tuple[str, str]:
    """What stands before the first "=", unless that belongs to an option; and the name."""
    label, equals, name = text.partition("=")
    return (label, name) if equals and "@" not in label else ("", text)


def _policies(registered: str, path: Path | None, rules: Rules) -> list[Path | None]:
    """The policies that a path or pattern stands for; None: the bundled weights."""
    if path is None or not glob.has_magic(str(path)):
        return [_policy_in(path) if path else None]
    matching = sorted(Path(path.anchor).glob(_within(path)))
    found = [_policy_in(each) for each in matching if each.is_dir() or each.suffix == ".zip"]
    if not found:
        raise FileNotFoundError(f"no weights at {path}: nothing matches")
    fits = [
        each
        for each in found
        if each.suffix == ".zip"
        or load_policy_card(each, registered, rules.name).rules == rules_fields(rules)
    ]
    if not fits:
        raise ValueError(f"of the {len(found)} policies at {path} none is for {rules.name!r}")
    return list(fits)


def _within(path: Path) -> str:
    """A path without its anchor, as `Path.glob` takes it."""
    return str(path.relative_to(path.anchor))


def _policy_in(path: Path) -> Path:
    """The policy itself: of a run, its best."""
    return path / BEST if (path / BEST / CARD_FILE).is_file() else path


def check_distinct(players: list[Player]) -> None:
    """Refuse two players that look the same in a table."""
    seen: dict[tuple[str, str, int | None], Player] = {}
    for player in players:
        key = (player.agent, player.play, player.train_seed)
        if key in seen:
            raise ValueError(
                f"{seen[key].name} and {player.name} are both {player.agent!r} of training seed "
                f"{player.train_seed}: give one a name of its own, as in other={player.name}"
            )
        seen[key] = player
