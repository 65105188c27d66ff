"""Play agents on the same deals and compare them.

    four-seasons compare --agents random heuristic maskable_ppo:runs/moves --out runs/compared

Every agent plays every deal, many deals side by side, and sees only public information. The command
prints a table of win rates, and writes `results.csv`, a row per game. If you start it again, it
plays only what is missing.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from four_seasons_env.arguments import nearest
from four_seasons_env.engine.deals import deals_in_words
from four_seasons_env.experiments import blocks, command_line, comparison, folders, tables
from four_seasons_env.experiments.play import own_generators
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.summary import BASELINE, what_is_certain
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.files import refuse_links, write_atomically


@dataclass
class Compare(command_line.Run):
    """Play agents on the same deals and compare them."""

    out: Path
    """Folder of the results. Deals that are finished there are not played again."""
    agents: list[str] = field(default_factory=lambda: ["random", "heuristic", "maskable_ppo"])
    """Agents by name. NAME:FOLDER plays with the weights in a folder.
    LABEL=NAME gives the row in tables a label. Agents with one label are the training seeds of one
    algorithm: ppo=maskable_ppo:runs/a ppo=maskable_ppo:runs/b, or own=my_module:net0
    own=my_module:net1."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name, or `all`. Put a changed one in quotes, as in 'czarina(piles=4)'."""
    deals: str = "10000-10999"
    """A range of deals, `test` (0-9999) or `validation` (10000-19999)."""
    play: list[Literal["deterministic", "stochastic"]] = field(
        default_factory=lambda: ["deterministic", "stochastic"]
    )
    """How trained networks play: deterministic (the best action), stochastic (drawn), or both."""
    seed: int = 0
    """Seed of the agents' random numbers and of the reshuffled stock."""
    record: bool = False
    """Store the moves of every game; `four-seasons verify` replays them."""
    luck: bool = False
    """Measure the luck of every game, for luck-adjusted win rates and a test for peeking.
    This takes nearly as long as if the planner played the games."""
    against: str | None = None
    """Label of the baseline: all other agents are compared with this one, deal by deal.
    Without this flag it is heuristic, if heuristic plays. To change the baseline later, repeat the
    command with this flag."""
    census: Path | None = None
    """Folder of a census, the solver's answer for each deal (experiments/studies/census.py).
    If it has all deals, the table shows the ceiling: what a player who sees every card could win.
    Without this flag, the stored census of the test deals is used."""
    workers: Workers = field(default_factory=Workers)


@own_generators()
def compare(run: Compare) -> pd.DataFrame:
    """Play the blocks that are missing, and save and print the tables of all games.

    Returns:
        All results, a row per game.

    Raises:
        ValueError: for a wrong flag, an unknown agent or rule set, weights that cannot be used, a
            damaged census, or a folder with another comparison or with links in place of files.
        FileNotFoundError: if there are no weights.
        RuntimeError: if a block of deals could not be played, or if another process uses the
            folder.
    """
    # 1. Whatever is wrong is reported before hours of play.
    census = comparison.read_census(run.census)
    manifest = _checked(run)
    manifest.against = _baseline(run.against, manifest)
    own = blocks.files_of(run.out, manifest)
    own += [run.out / name for name in (comparison.RESULTS, *tables.FILES)]
    with folders.locked(run.out, "comparison", own):
        # 2. Players, in blocks of deals, to one table of games.
        manifest = _open(run.out, manifest)
        todo = [block for player in blocks.blocks_of(run.out, manifest) for block in player]
        games = blocks.run_blocks(todo, "playing", run.workers)
        # 3. Games to one summary, and the summary to files.
        summary, seeds = comparison.summaries(manifest, games, census)
        for name, text in tables.exports(summary, seeds, manifest.numbers).items():
            write_atomically(run.out / name, text.encode())
    # 4. The same for people.
    for rules, rows in summary.groupby("rules", sort=False):
        tables.print_summary(rows, f"{rules}, {deals_in_words(manifest.numbers)}")
        print(f"{rules}, {what_is_certain(rows, seeds[seeds['rules'] == rules])}")
    print(f"saved in {run.out}: results.csv, a row per game; {', '.join(tables.FILES)}")
    return games


def _checked(run: Compare) -> comparison.Manifest:
    """The manifest of a comparison whose flags, agents and meters of luck can be used."""
    rule_sets = command_line.rule_set_names(run.rules)
    if not (run.agents and rule_sets and run.play):
        raise ValueError("name at least one agent, one rule set and one way to play")
    command_line.check_stored_seed(run.seed)
    run.workers.check()
    comparison.parse_range(run.deals)
    players = {rules: find_players(run.agents, rules, run.play) for rules in rule_sets}
    luck = {rules: blocks.meter_for(rules).name for rules in rule_sets if run.luck}
    return comparison.Manifest(players, run.deals, run.seed, run.record, luck)


def _baseline(against: str | None, manifest: comparison.Manifest) -> str:
    """The label of the baseline, by default `heuristic`.

    Raises:
        ValueError: for a label that no agent has, with the nearest one.
    """
    labels = {each.agent: None for players in manifest.players.values() for each in players}
    if against is not None and against not in labels:
        raise ValueError(
            f"--against must be the label of an agent, not {against!r}: {nearest(against, labels)}"
        )
    return against or BASELINE


def _open(out: Path, manifest: comparison.Manifest) -> comparison.Manifest:
    """Write the manifest, new or grown, and delete the files of blocks that it no longer has."""
    is_new = not (out / comparison.MANIFEST).is_file()
    before = manifest if is_new else comparison.read_manifest(out)
    # A range that has grown replaces the block that was its end; the old file would mislead.
    old = {*blocks.files_of(out, before)} - {*blocks.files_of(out, manifest)}
    refuse_links(out, old)
    manifest = comparison.open_comparison(out, manifest)
    for path in old:
        if path.is_file():
            path.unlink()
    return manifest


main = command_line.command(
    compare, "finished blocks of deals are saved in {run.out}; resume: {command}"
)
