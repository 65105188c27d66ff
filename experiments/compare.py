"""Play agents on the same deals and compare them.

    four-seasons compare --agents random heuristic maskable_ppo:runs/x --out runs/y

Every agent plays every deal, many deals in lockstep, and sees only public information.
`results.csv` has a row per game; the table and the plots are made from it. A comparison
that is started again plays only missing blocks of deals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from four_seasons_env.agents.registry import split_name
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.matches.players import find_players, split_label
from four_seasons_env.experiments.parallel.blocks import (
    Block,
    collect_blocks,
    rule_set_names,
    run_blocks,
    split_deals,
)
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.results.comparison import Player
from four_seasons_env.experiments.results.out_folder import check_out
from four_seasons_env.rules import file_name, get_rules

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 1000
"""Deals that one task plays in lockstep. Another size gives other reshuffles, and other games."""

COLUMNS = (
    *("agent", "play", "rules", "train_seed", "deal"),
    *("won", "cards_up", "moves", "seconds"),
)
"""Of results.csv; `seconds` is the agent's own time for a game."""


@dataclass
class Compare:
    """Play agents on the same deals and compare them."""

    out: Path
    """Folder of the results. Of a comparison that it holds, finished blocks of deals are not played
    again."""
    agents: list[str] = field(default_factory=lambda: ["random", "heuristic", "maskable_ppo"])
    """Agents by name. Those with weights may have a path, or a pattern that matches several
    training seeds. A label for tables may precede the name: ppo=maskable_ppo:runs/study/ppo-*."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name; `all` for every one."""
    deals: str = "0-9999"
    """A range of deals; 0-9999 are the test deals."""
    play: list[Literal["deterministic", "stochastic"]] = field(
        default_factory=lambda: ["deterministic", "stochastic"]
    )
    """How trained networks play: deterministic (greedily), stochastic, or both."""
    seed: int = 0
    """Seed of the agents' chance and of the stock's reshuffles."""
    record: bool = False
    """Store the moves of every game, so that `four-seasons verify` can replay it."""
    luck: bool = False
    """Measure the luck of every game: win rates without most of the luck, and a test for peeking.
    It takes about 0.1 seconds per game."""
    census: Path | None = None
    """A folder of `four-seasons census`: if it has all the deals, the table shows how many can be
    won at all. By default the stored census of the test deals."""
    workers: Workers = field(default_factory=Workers)


@dataclass(frozen=True)
class GamesTask(Block):
    """A block of deals, played by one player."""

    player: Player
    seed: int
    record: bool = False
    luck: bool = False

    @property
    def folder(self) -> str:
        """Folder of the player's result files."""
        return self.player.folder

    @property
    def games(self) -> Path:
        """The file of the recorded games."""
        return self.part.with_suffix(".jsonl.gz")

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """The deals to play: all, unless the block's results, games and luck are whole."""
        if self.record and not self._has_games():
            return self.deals
        if self.luck and (stored is None or "luck" not in stored):
            return self.deals
        return super().left(stored)

    def _has_games(self) -> bool:
        from four_seasons_env.records import RecordError, read_lines

        try:
            return sum(1 for _ in read_lines(self.games)) == len(self.deals)
        except (FileNotFoundError, RecordError):
            return False


def play_block(task: GamesTask) -> None:
    """Play a block of deals, and write its result file."""
    from four_seasons_env.experiments.matches.play import play_games
    from four_seasons_env.files import write_atomically
    from four_seasons_env.records import to_lines

    rules, player = get_rules(task.rules), task.player
    results = play_games(player, rules, task.deals, task.seed)
    games = results.pop("game").tolist()
    results["agent"] = player.agent
    results["play"] = player.play
    results["rules"] = rules.name
    results["train_seed"] = player.train_seed
    columns = list(COLUMNS)
    if task.luck:
        from four_seasons_env.experiments.matches.luck import LUCK, luck_of

        results[list(LUCK)] = luck_of(games)
        columns += LUCK
    if task.record:
        write_atomically(task.games, to_lines(games))
    task.write(results[columns])


def _check(run: Compare) -> list[str]:
    """Reject wrong flags before anything is loaded, and return the names of the rule sets.

    Raises:
        ValueError: naming the nearest valid choice.
    """
    for agent in run.agents:
        split_name(split_label(agent)[1])
    rule_sets = rule_set_names(run.rules)
    if not (run.agents and rule_sets and run.play):
        raise ValueError("name at least one agent, one rule set and one way to play")
    check_seed(run.seed)
    run.workers.check()
    return rule_sets


def play_all(run: Compare) -> pd.DataFrame:
    """Play the blocks that are missing, and return all results, a row per game.

    Args:
        run: the comparison.

    Raises:
        ValueError: for an unknown agent or rule set, weights that cannot be used, or a folder with
            another comparison.
        FileNotFoundError: where there are no weights.
        RuntimeError: if a block of deals could not be played, once all others have been.
    """
    rule_sets = _check(run)
    # Imported here, as below, so that wrong flags are rejected without waiting for pandas.
    from four_seasons_env.engine.deals import parse_deals
    from four_seasons_env.experiments.results.comparison import open_comparison

    parse_deals(run.deals)
    check_out(run.out, "comparison")
    players = {rules: find_players(run.agents, rules, run.play) for rules in rule_sets}
    luck = {rules: _luck_by(rules) for rules in rule_sets} if run.luck else {}
    manifest = open_comparison(run.out, players, run.deals, run.seed, run.record, luck)
    blocks = split_deals(run.deals, BLOCK)
    tasks = [
        GamesTask(
            run.out, rules, block, player, run.seed, manifest.recorded, rules in manifest.luck
        )
        for rules in rule_sets
        for player in players[rules]
        for block in blocks
    ]
    run_blocks(play_block, tasks, "playing", run.workers)
    listed = {path for task in tasks for path in (task.part, task.games)}
    for path in (run.out / "parts").rglob("*-*.*"):
        if path.is_file() and path not in listed:  # of a last block that has grown since
            path.unlink()
    return collect_blocks(tasks, run.out / "results.csv")


def _luck_by(rules: str) -> str:
    """The meter of the luck of games."""
    from four_seasons_env.experiments.matches.luck import meter_for

    return meter_for(get_rules(rules)).name


def compare(run: Compare) -> None:
    """Play, print the table, and save the table and plots with the results; see `play_all`."""
    _check(run)
    from four_seasons_env.experiments.reporting.cells import (
        BRIEF,
        as_text,
        deals_as_text,
        luck_as_text,
    )
    from four_seasons_env.experiments.reporting.plots import comparison as plots
    from four_seasons_env.experiments.reporting.tables import as_markdown, print_table
    from four_seasons_env.experiments.results.ceiling import read_census
    from four_seasons_env.experiments.results.certainty import what_is_certain
    from four_seasons_env.experiments.results.comparison import summarise_folder
    from four_seasons_env.experiments.results.summary import summarise_seeds
    from four_seasons_env.experiments.results.tables import write_csv
    from four_seasons_env.files import write_atomically

    census = read_census(run.census)
    results = play_all(run)
    summary = summarise_folder(run.out, results, census)
    write_csv(run.out / "summary.csv", summary)
    write_csv(run.out / "seeds.csv", summarise_seeds(results))
    cells = as_text(summary)
    write_atomically(run.out / "table.md", as_markdown(cells).encode())
    for rules, played in results.groupby("rules", sort=False):
        title, name = f"{rules}, {deals_as_text(played)}", file_name(str(rules))
        own = summary[summary["rules"] == rules]
        plots.plot_win_rates(own, title, run.out / f"win_rates-{name}.png")
    print_table(cells[[name for name in BRIEF if name in cells]], deals_as_text(results))
    luck = luck_as_text(summary)
    if len(luck):
        print_table(luck, "without the luck of the cards")
    for rules, played in results.groupby("rules", sort=False):
        print(f"{rules}, {what_is_certain(played)}")
    print(f"saved in {run.out}: results.csv (a row per game), summary.csv, table.md, plots")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        compare,
        Compare,
        __doc__,
        "finished blocks of deals are saved in {run.out}; resume: {command}",
    )
