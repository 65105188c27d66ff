"""The folder of a comparison, and the summary of its games. Two parts:

1. The manifest, `compare.json`, lists players and deals; `results.csv` has a row per game. A
   comparison may grow by agents, rule sets and deals. Its seed, its version and the weights of its
   agents stay the same.
2. The summary has a row for each player, and rows for the best possible play: the ceiling is what a
   player who sees every card could win, by a census that solves the deals one by one.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

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
from four_seasons_env.experiments.players import Player
from four_seasons_env.experiments.summary import CEILING, OPTIMUM, summarise
from four_seasons_env.files import expanded
from four_seasons_env.optima import small_games
from four_seasons_env.schemas import read_json

MANIFEST, RESULTS = MARKS["comparison"], "results.csv"
"""Files of a comparison: its players and deals, and a row per game."""

COLUMNS = (
    *("agent", "play", "rules", "train_seed", "deal"),
    *("won", "cards_up", "moves", "seconds"),
)
"""Columns of `results.csv`; `seconds` is the agent's processor time for a game."""


@dataclass
class Manifest:
    """The players and deals of a comparison: the schema of `compare.json`."""

    players: dict[str, list[Player]]
    """The players of each rule set."""
    deals: str
    """A range of deals, such as "10000-10999"."""
    seed: int = 0
    """Seed of the agents' random numbers and of the reshuffled stock."""
    recorded: bool = False
    """Whether the moves of all games are stored."""
    luck: dict[str, str] = field(default_factory=dict)
    """The meter of luck for each rule set; empty if luck is not measured."""
    split: str = ""
    """The split of the deals: "test", "validation" or "" for any other."""
    version: str = four_seasons_env.__version__
    origin: dict[str, Any] = field(default_factory=provenance)
    """Command, versions, machine and git state of the latest run."""

    def __post_init__(self) -> None:
        # As numbers, so that a folder says the same whether a range or a split was asked for.
        self.deals, self.split = f"{self.numbers[0]}-{self.numbers[-1]}", split_of(self.numbers)

    @property
    def numbers(self) -> range:
        """The numbers of the deals."""
        return parse_deals(self.deals)


def open_comparison(out: Path, manifest: Manifest) -> Manifest:
    """Write the manifest of a comparison, new or grown, and return it.

    What a folder records, moves or luck, it keeps recording.

    Raises:
        ValueError: if the folder holds a comparison that this one contradicts, naming the first
            difference, or a damaged manifest.
    """
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
    # 2. Each player must still be there, with the same options and weights.
    for rules, before in stored.players.items():
        players = {each.key: each for each in now.players.get(rules, ())}
        for player in before:
            same = players.get(player.key)
            if same is None:
                return f"of {_described(player, rules)}, which this one leaves out (name all again)"
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
    path = expanded(folder) / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{folder} has no comparison: {MANIFEST} is missing")
    return read_json(path, Manifest)


def read_results(folder: str | Path) -> pd.DataFrame:
    """The results of a comparison, a row per game.

    Raises:
        FileNotFoundError: if there are none.
        ValueError: if rows are missing.
    """
    path, manifest = expanded(folder) / RESULTS, read_manifest(folder)
    results = read_table(path)
    games = len(manifest.numbers) * sum(map(len, manifest.players.values()))
    if len(results) != games:
        raise ValueError(f"{path} has {len(results):,} rows for {games:,} games: compare again")
    return results


# --- summary --------------------------------------------------------------------------------------


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
    census = read_table(results)
    if not {"rules", "deal", "status"} <= set(census):
        raise ValueError(f"{results} must have the columns rules, deal and status")
    return census


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
