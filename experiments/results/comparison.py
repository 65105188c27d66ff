"""The folder of a comparison: its manifest (`compare.json`), its rows and its summary.

`results.csv` has one row per game; the manifest lists the players and deals. A comparison may grow
by agents, rule sets and deals. Its seed, its version and the weights of its agents stay the same.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import four_seasons_env
from four_seasons_env.agents.names import Name, split_name
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.experiments.results.out_folder import check_holds, provenance, write_json
from four_seasons_env.schemas import read_json

if TYPE_CHECKING:
    import pandas as pd

MANIFEST, RESULTS = "compare.json", "results.csv"
"""Files of a comparison: its players and deals, and a row per game."""

COLUMNS = (
    *("agent", "play", "rules", "train_seed", "deal"),
    *("won", "cards_up", "moves", "seconds"),
)
"""Columns of `results.csv`; `seconds` is the agent's own time for a game."""

PUBLIC = "all that is public"
"""Observation of a player that does not name its observation."""


@dataclass(frozen=True)
class Player:
    """One policy and one way of playing it."""

    agent: str
    """Label in tables; the same for all training seeds of an algorithm."""
    name: str
    """Name for `make_agent`, with the path to the weights of one policy."""
    play: str
    """`deterministic` or `stochastic`."""
    train_seed: int | None
    kind: str
    """Method of play; see `four_seasons_env.agents.registry.Entry`."""
    weights: tuple[str, ...] = ()
    """SHA-256, in hex, of its weights and of the weights of agents in its options."""
    observation: str = PUBLIC
    """Description of what the agent observes."""
    mask: str = ""
    """The mask of `FourSeasonsEnv` that it plays with; "" where a folder does not say."""
    block: int = 1000
    """Deals that a task plays in lockstep; see `four_seasons_env.agents.registry.Entry`."""

    @property
    def key(self) -> tuple[str, str, int | None]:
        """Unique key in the table of one rule set."""
        return self.agent, self.play, self.train_seed

    @functools.cached_property
    def parts(self) -> Name:
        """The parts of its name; workers receive them with the player."""
        return split_name(self.name)

    @property
    def method(self) -> tuple[str, str]:
        """Agent and options, without the path to the weights."""
        return self.parts.registered, self.parts.written_options

    @property
    def folder(self) -> str:
        """Name of the folder of its results, unique on any file system."""
        text = "-".join(str(each) for each in self.key if each is not None)
        # Labels may differ only in letters that a file system rejects or does not distinguish.
        mark = hashlib.sha256(str(self.key).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', text)[:100]}-{mark}"


@dataclass
class Manifest:
    """The players and deals of a comparison: the schema of `compare.json`."""

    players: dict[str, list[Player]]
    """The players of each rule set."""
    deals: str
    """A range of deals."""
    seed: int = 0
    """Seed of the agents' random numbers and of the reshuffled stock."""
    recorded: bool = False
    """Whether the moves of all games are stored."""
    luck: dict[str, str] = field(default_factory=dict)
    """The meter of luck for each rule set; empty if luck is not measured."""
    version: str = four_seasons_env.__version__
    origin: dict[str, Any] = field(default_factory=provenance)
    """Command, versions, machine and git state of the latest run."""

    @property
    def numbers(self) -> range:
        """The numbers of the deals."""
        return parse_deals(self.deals)

    @property
    def games(self) -> int:
        """Number of games of the whole comparison."""
        return len(self.numbers) * sum(map(len, self.players.values()))


def open_comparison(
    out: Path,
    players: dict[str, list[Player]],
    deals: str,
    seed: int,
    record: bool,
    luck: dict[str, str] | None = None,
) -> Manifest:
    """Write the manifest of a comparison, new or grown, and return it.

    Args:
        out: folder of the comparison.
        players: players of each rule set.
        deals: a range of deals.
        seed: seed of the agents' random numbers and of the reshuffled stock.
        record: store the moves of all games; stays true for a folder once it is.
        luck: meter of luck for each rule set.

    Raises:
        ValueError: if the folder holds a comparison that this one contradicts, naming the first
            difference, or a damaged manifest.
    """
    found = read_manifest(out) if (out / MANIFEST).is_file() else None
    manifest = Manifest(players, deals, seed=seed, luck=luck or {})
    if found is not None:
        difference = _difference(found, manifest)
        if difference:
            raise ValueError(f"{out} holds a comparison {difference}: choose a new folder (--out)")
        manifest.recorded = found.recorded
        manifest.luck = found.luck | manifest.luck
    manifest.recorded |= record
    write_json(out / MANIFEST, dataclasses.asdict(manifest))
    return manifest


def _difference(found: Manifest, now: Manifest) -> str | None:
    """How the stored comparison contradicts this one; None if this one only adds to it."""
    # First what concerns all games, then players.
    if found.version != now.version:
        return f"of version {found.version}, not {now.version}"
    if found.seed != now.seed:
        return f"with seed {found.seed}, not {now.seed}"
    for rules, name in found.luck.items():
        if now.luck.get(rules, name) != name:
            return f"with luck by {name}, not {now.luck[rules]}"
    if not {found.numbers[0], found.numbers[-1]} <= set(now.numbers):
        return f"on the deals {found.deals}, which {now.deals} leaves out"
    for rules, before in found.players.items():
        players = {each.key: each for each in now.players.get(rules, ())}
        for player in before:
            same = players.get(player.key)
            if same is None:
                return f"of {_described(player, rules)}, which this one leaves out"
            if same.method != player.method:
                return f"of {_described(player, rules)} as {player.name}, not as {same.name}"
            if same.weights != player.weights:
                return f"of {_described(player, rules)} with other weights of {same.name}"
    return None


def _described(player: Player, rules: str) -> str:
    seed = "" if player.train_seed is None else f", training seed {player.train_seed}"
    return f"{player.agent!r} ({rules}, {player.play}{seed})"


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a comparison.

    Raises:
        FileNotFoundError: if the folder has no comparison.
        ValueError: if its manifest is damaged.
    """
    check_holds(Path(folder), "comparison")
    return read_json(Path(folder) / MANIFEST, Manifest)


def read_results(folder: str | Path) -> pd.DataFrame:
    """The results of a comparison, a row per game.

    Raises:
        FileNotFoundError: if there are none.
        ValueError: if rows are missing.
    """
    from four_seasons_env.experiments.results.tables import read_table

    path, games = Path(folder) / RESULTS, read_manifest(folder).games
    results = read_table(path)
    if len(results) != games:
        raise ValueError(f"{path} has {len(results):,} rows for {games:,} games: compare again")
    return results


def summarise_folder(
    folder: str | Path, results: pd.DataFrame, census: pd.DataFrame | None
) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set.

    Args:
        folder: folder of the comparison.
        results: its results, or those of one rule set.
        census: results of a census, for the ceiling, or None.
    """
    from four_seasons_env.experiments.results.ceiling import with_ceiling
    from four_seasons_env.experiments.results.summary import summarise

    summary = summarise(results)
    players = [each for own in read_manifest(folder).players.values() for each in own]
    summary["kind"] = summary["agent"].map({each.agent: each.kind for each in players})
    masks = {(each.agent, each.play): each.mask for each in players}
    summary["mask"] = [
        masks.get(row) for row in zip(summary["agent"], summary["play"], strict=True)
    ]
    return with_ceiling(summary, results, census)
