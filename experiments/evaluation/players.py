"""Who plays in a comparison: names such as "ppo=maskable_ppo:runs/study/ppo-*" as `Player`s."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import brought
from agents.bundled import bundled_weights
from agents.policy_files import CARD_FILE, WEIGHTS_FILE, load_policy_card, rules_fields
from agents.registry import AGENTS, BOTH, Agent, make_agent, split_name
from experiments.training.run_folder import BEST
from four_seasons_env.rules import Rules, get_rules, nearest

PLAYS = BOTH


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
    """What its play consists of; see `agents.registry.Entry`."""
    digest: str
    """The first letters of the SHA-256 of its weights and options, and of the file of an agent that
    others bring; empty without any."""
    trust: bool = False

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
        """Whether the guard of `experiments.evaluation.repeats` is for it."""
        return self.play == "deterministic"

    @property
    def folder(self) -> str:
        """A name for the folder of its results."""
        parts = [self.agent, self.play, self.train_seed, self.digest]
        text = "-".join(str(part) for part in parts if part not in (None, ""))
        return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in text)


def find_players(
    names: Iterable[str], rules: str | Rules, plays: Iterable[str] = PLAYS, trust: bool = False
) -> list[Player]:
    """The players of a comparison under one rule set.

    Args:
        names: agents' names, which may have a label in front and, for agents with weights, a path
            behind: "heuristic", "maskable_ppo:runs/x/best", "ppo=maskable_ppo:runs/ppo-*". A
            pattern stands for the runs, or policies, that it matches and that are for these rules.
            Agents that others bring: "mine=my_package.module:MyAgent" (`agents.brought`).
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
        label, name = _label(text)
        if not label:
            label = name
        parts = split_name(name)
        registered, path, entry = parts.registered, parts.path, parts.entry
        options = name.partition("@")[2]
        if not entry.learns:
            agent = make_agent(name, rules)  # or say what is wrong with it
            code = b"" if registered in AGENTS else brought.source(entry.maker)
            made_by = code + options.encode()
            digest = _digest(made_by) if made_by else ""
            kind = getattr(agent, "kind", entry.kind)
            players += [
                Player(label, name, play, None, kind, digest, False) for play in entry.plays
            ]
            continue
        for found in _policies(registered, path, rules):
            full = f"{registered}:{found}" if path else registered
            full += f"@{options}" if options else ""
            folder = found or bundled_weights(registered, rules.name)
            agent = make_agent(full, rules, trust=trust)
            seed = getattr(agent, "train_seed", None)
            weights = folder if folder.suffix == ".zip" else folder / WEIGHTS_FILE
            digest = _digest(weights.read_bytes() + options.encode())
            ways = [play for play in plays if play in entry.plays] or entry.plays
            players += [Player(label, full, play, seed, entry.kind, digest, trust) for play in ways]
    _check_distinct(players)
    return players


def _digest(what: bytes) -> str:
    return hashlib.sha256(what).hexdigest()[:8]


def _label(text: str) -> tuple[str, str]:
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


def _check_distinct(players: list[Player]) -> None:
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
