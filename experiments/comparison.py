"""The folder of a comparison, and the summary of its games. Two parts:

1. The manifest, `compare.json`, lists players and deals; `results.csv` has a row per game. A
   comparison may grow by agents, rule sets and deals. Its seed, its version and the weights of its
   agents stay the same.
2. The summary has a row for each player, and rows for the best possible play: the ceiling is what a
   player who sees every card could win, by a census that solves the deals one by one. It is
   computed from the rows per game each time; a file that holds one is for people.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, cast

import numpy as np
import pandas as pd
from msgspec import Meta

import four_seasons_env
from four_seasons_env.engine.deals import parse_deals, split_of
from four_seasons_env.experiments.folders import (
    DATA,
    MARKS,
    portable,
    provenance,
    read_table,
    write_json,
)
from four_seasons_env.experiments.players import Player, check_distinct, check_label
from four_seasons_env.experiments.summary import (
    BASELINE,
    CEILING,
    OPTIMUM,
    summarise,
    summarise_seeds,
)
from four_seasons_env.files import expanded
from four_seasons_env.game import MAX_MOVES
from four_seasons_env.optima import small_games
from four_seasons_env.rules import get_rules
from four_seasons_env.schemas import Amount, Count, Number, Seed, one_of, read_json

MANIFEST, RESULTS = MARKS["comparison"], "results.csv"
"""Files of a comparison: its players and deals, and a row per game."""

_GAMES: dict[str, Any] = {
    **{"agent": str, "play": str, "rules": str, "train_seed": Seed | None, "deal": Count},
    **{"won": bool, "cards_up": Annotated[int, Meta(ge=0, le=52)]},
    **{"moves": Annotated[int, Meta(ge=0, le=MAX_MOVES)], "seconds": Amount},
}
"""Columns of `results.csv`, and the types of their cells; `seconds` is the agent's processor time
for a game."""
COLUMNS = tuple(_GAMES)
_LUCK: dict[str, Any] = {"luck": Number | None, "luck_variance": Amount | None}
"""Columns that follow if luck is measured; it may be for some of the rule sets."""

CENSUS: dict[str, Any] = {
    **{"rules": str, "deal": Count},
    "status": Annotated[str, one_of(("won", "lost", "unknown"))],
}
"""Columns of the `results.csv` of a census, which has others, and the types of their cells."""

MAX_DEALS = 10_000_000
"""Of a comparison: its rows are kept in memory."""


class Git(TypedDict):
    """The state of the clone that played."""

    commit: str | None
    changed: str | None


class Origin(TypedDict):
    """What `provenance` returns; a report shows command and commit."""

    command: str
    git: Git
    python: NotRequired[Any]
    versions: NotRequired[Any]
    machine: NotRequired[Any]


@dataclass
class Manifest:
    """The players and deals of a comparison: the schema of `compare.json`."""

    players: dict[str, list[Player]]
    """The players of each rule set."""
    deals: str
    """A range of deals, such as "10000-10999"."""
    seed: Seed = 0
    """Seed of the agents' random numbers and of the reshuffled stock."""
    recorded: bool = False
    """Whether the moves of all games are stored."""
    luck: dict[str, str] = field(default_factory=dict)
    """The meter of luck for each rule set; empty if luck is not measured."""
    split: str = ""
    """The split of the deals: "test", "validation" or "" for any other."""
    version: str = ""
    """Version of this package in the latest run, as `open_comparison` writes it."""
    origin: Origin | None = None
    """Command, versions, machine and git state of the latest run, which it writes too."""
    against: str = BASELINE
    """Label of the baseline of the tables."""

    def __post_init__(self) -> None:
        # As numbers, so that a folder says the same whether a range or a split was asked for.
        self.deals, self.split = f"{self.numbers[0]}-{self.numbers[-1]}", split_of(self.numbers)
        # A folder of another person may say anything.
        if not (self.players and all(self.players.values())):
            raise ValueError("a comparison must have at least one player for each rule set")
        for rules, players in self.players.items():
            get_rules(rules)
            check_distinct(players)
            for each in players:
                check_label(each.agent, each.name.registered)

    @property
    def numbers(self) -> range:
        """The numbers of the deals."""
        return parse_range(self.deals)


def parse_range(deals: str) -> range:
    """The deals of a comparison, written as for `parse_deals`.

    Raises:
        ValueError: see `parse_deals`; or for more than `MAX_DEALS`.
    """
    numbers = parse_deals(deals)
    if numbers[-1] - numbers[0] >= MAX_DEALS:
        raise ValueError(f"--deals must be {MAX_DEALS:,} deals or fewer, not {deals}")
    return numbers


def open_comparison(out: Path, manifest: Manifest) -> Manifest:
    """Write the manifest of a comparison, new or grown, and return it.

    What a folder records, moves or luck, it keeps recording.

    Raises:
        ValueError: if the folder holds a comparison that this one contradicts, naming the first
            difference, or a damaged manifest.
    """
    manifest.version = four_seasons_env.__version__
    manifest.origin = cast(Origin, provenance())
    if (out / MANIFEST).is_file():
        stored = read_manifest(out)
        # It may add players, rule sets and deals, and may not change what was played.
        if difference := _difference(stored, manifest):
            raise ValueError(f"{out} holds a comparison {difference}: choose a new folder (--out)")
        manifest.recorded |= stored.recorded
        manifest.luck = stored.luck | manifest.luck
    values = asdict(manifest)
    for player in (each for players in values["players"].values() for each in players):
        player["name"] = portable(player["name"])
    write_json(out / MANIFEST, values)
    return manifest


def _difference(stored: Manifest, now: Manifest) -> str | None:
    """How the stored comparison contradicts this one; None if this one only adds to it."""
    # 1. What concerns all games.
    if stored.version != now.version:
        return f"of version {stored.version}, not {now.version}"
    if stored.seed != now.seed:
        return f"with seed {stored.seed}, not {now.seed}"
    for rules, name in stored.luck.items():
        if now.luck.get(rules, name) != name:
            return f"with luck by {name}, not {now.luck[rules]}"
    if not {stored.numbers[0], stored.numbers[-1]} <= set(now.numbers):
        return f"on the deals {stored.deals}, which {now.deals} leaves out"
    # 2. Each player must still be there, with the same options, weights and code.
    for rules, before in stored.players.items():
        players = {each.key: each for each in now.players.get(rules, ())}
        for player in before:
            same = players.get(player.key)
            if same is None:
                return f"of {described(player, rules)}, which this one leaves out (name all again)"
            if same.method != player.method:
                return f"of {described(player, rules)} as {player.name}, not as {same.name}"
            if same.weights != player.weights:
                return f"of {described(player, rules)} with other weights of {same.name}"
            if same.code != player.code:
                return f"of {described(player, rules)} by other code of {same.name}"
    return None


def described(player: Player, rules: str) -> str:
    """A player under a rule set, for messages."""
    seed = "" if player.train_seed is None else f", training seed {player.train_seed}"
    return f"{player.agent!r} ({rules}, {player.play}{seed})"


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a comparison.

    Raises:
        FileNotFoundError: if the folder has no comparison.
        ValueError: if its manifest is damaged.
    """
    path = expanded(folder) / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no comparison: {MANIFEST} is missing")
    return read_json(path, Manifest)


def read_results(folder: str | Path) -> pd.DataFrame:
    """The results of a comparison, a row per game.

    Raises:
        FileNotFoundError: if there are none.
        ValueError: if rows are missing, or a cell cannot be of a game.
    """
    path, manifest = expanded(folder) / RESULTS, read_manifest(folder)
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no {RESULTS}: repeat the comparison to finish it")
    results = read_games(path)
    games = len(manifest.numbers) * sum(map(len, manifest.players.values()))
    if len(results) != games:
        raise ValueError(f"{path} has {len(results):,} rows for {games:,} games: compare again")
    return results


def read_games(path: Path) -> pd.DataFrame:
    """A table of games: `results.csv` or that of a block.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file and the first cell that cannot be of a game.
    """
    games = read_table(path, _GAMES, _LUCK)
    if more := [name for name in games if name not in _GAMES | _LUCK]:
        raise ValueError(f"{path} must not have the column {more[0]}")
    return games


# --- summary --------------------------------------------------------------------------------------


@dataclass
class Comparison:
    """A finished comparison, with tables that were computed from its games."""

    folder: Path
    manifest: Manifest
    summary: pd.DataFrame
    """Rows of `summarise_players`."""
    seeds: pd.DataFrame
    """Rows of `summarise_seeds`."""


def read_comparison(folder: Path, census: pd.DataFrame) -> Comparison:
    """Read a comparison whose games are finished.

    Args:
        folder: its folder.
        census: results of a census, for the ceiling.

    Raises:
        FileNotFoundError: if the folder has no comparison or no results.
        ValueError: if its manifest or its results are damaged, or contradict each other.
    """
    manifest, results = read_manifest(folder), read_results(folder)
    # Each player has its rows together, a row for each deal.
    players = [(rules, each) for rules in manifest.players for each in manifest.players[rules]]
    keys = results[["rules", "agent", "play", "train_seed"]].astype(object)
    keys, count = keys.where(keys.notna(), None), len(manifest.numbers)
    for i, (rules, player) in enumerate(players):
        own = slice(i * count, (i + 1) * count)
        rows, all_cards = results[own], get_rules(rules).cards
        if (
            {*keys[own].itertuples(index=False, name=None)} != {(rules, *player.key)}
            or not np.array_equal(rows["deal"], manifest.numbers)
            or not rows["won"].equals(rows["cards_up"] == all_cards)
        ):
            raise ValueError(
                f"{folder / RESULTS} must have the games of {described(player, rules)} in lines "
                f"{own.start + 2:,} to {own.stop + 1:,}, one for each of the deals "
                f"{manifest.deals}, won with {all_cards} cards up: compare again"
            )
    return Comparison(folder, manifest, *summaries(manifest, results, census))


def summaries(
    manifest: Manifest, results: pd.DataFrame, census: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of `summarise_players` and `summarise_seeds` of a comparison.

    Args:
        manifest: its players and their baseline.
        results: a row per game.
        census: results of a census, for the ceiling.
    """
    against = manifest.against
    summary = summarise_players(results, manifest.players, census, against)
    return summary, summarise_seeds(results, against)


def summarise_players(
    results: pd.DataFrame, players: dict[str, list[Player]], census: pd.DataFrame, against: str
) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set, then the best possible play.

    The columns of `summarise`, and of the players: kind, mask, train_steps and core_seconds (means
    over training seeds); rows `ceiling` and `optimum`.

    Args:
        results: a row per game.
        players: the players of each rule set.
        census: results of a census, for the ceiling.
        against: label of the baseline.
    """
    summary = summarise(results, against)
    # One row of facts for each player; the training seeds of an agent share kind and mask.
    facts = pd.DataFrame(
        {"rules": rules} | vars(each) for rules in players for each in players[rules]
    )
    keys, budget = ["rules", "agent", "play"], ["train_steps", "core_seconds"]
    by_player = facts.astype(dict.fromkeys(budget, float)).groupby(keys)
    summary = summary.join(by_player[["kind", "mask"]].last(), on=keys)
    summary = summary.join(by_player[budget].mean(), on=keys)
    # The best possible play follows the agents of its rule set.
    summary = with_optimum(with_ceiling(summary, results, census))
    order = {rules: i for i, rules in enumerate(players)}
    return summary.sort_values(
        "rules", key=lambda names: names.map(order), kind="stable", ignore_index=True
    )


def read_census(path: Path | None = None) -> pd.DataFrame:
    """The results of a census, a row per deal.

    Args:
        path: the folder; by default that of the stored census, of the test deals.

    Raises:
        FileNotFoundError: if the folder has no census.
        ValueError: if the file is not a census or is cut short.
    """
    results = expanded(path or DATA / "census") / RESULTS
    if not results.is_file():
        raise FileNotFoundError(
            f"{results.parent} has no census: experiments/studies/census.py writes {RESULTS}"
        )
    return read_table(results, CENSUS)


def ceiling_row(rules: str, solved: pd.DataFrame) -> dict[str, object]:
    """The ceiling of a rule set, from its deals in a census."""
    share = (solved["status"] == "won").mean()
    return {
        "agent": CEILING,
        "rules": rules,
        "deals": len(solved),
        "win_rate": share,
        "win_low": share,
        "win_high": 1 - (solved["status"] == "lost").mean(),
    }


def with_ceiling(
    summary: pd.DataFrame, results: pd.DataFrame, census: pd.DataFrame
) -> pd.DataFrame:
    """Add the ceiling to a summary, for each rule set whose deals are all in the census.

    The rows `ceiling` follow the agents. Their win_rate is the share of played deals that are known
    to be winnable; win_low and win_high bound the share of winnable deals.

    Args:
        summary: a row for each agent and way of playing under each rule set.
        results: the results behind the summary, a row per game.
        census: results of a census.
    """
    played = results[["rules", "deal"]].drop_duplicates()
    answers = played.merge(census, "left", on=["rules", "deal"]).groupby("rules", sort=False)
    # Only where all answers are known: a part of the deals has another ceiling.
    ceilings = [
        ceiling_row(str(rules), rows) for rules, rows in answers if rows["status"].notna().all()
    ]
    return pd.concat([summary, pd.DataFrame(ceilings)], ignore_index=True) if ceilings else summary


def with_optimum(summary: pd.DataFrame) -> pd.DataFrame:
    """Add a row `optimum` for each small game: how often the best fair play wins any deal."""
    games = [each for each in small_games() if each.name in set(summary["rules"])]
    rows = [(OPTIMUM, each.name, "exact", each.optimum) for each in games]
    best = pd.DataFrame(rows, columns=["agent", "rules", "kind", "win_rate"])
    best = best.assign(win_low=best["win_rate"], win_high=best["win_rate"])  # it is exact
    return pd.concat([summary, best], ignore_index=True) if rows else summary
