"""Play agents on the same deals and compare them.

    four-seasons compare --agents random heuristic maskable_ppo:runs/x --out runs/y

Every agent plays every deal, many deals in lockstep, and sees only public information.
`results.csv` has a row per game; the table and the plots are made from it. If the command is
started again, it plays only the missing blocks of deals.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pandas as pd

from four_seasons_env.agents.names import Name
from four_seasons_env.experiments import blocks, command_line, comparison, folders, tables
from four_seasons_env.experiments.play import own_generators
from four_seasons_env.experiments.players import find_players
from four_seasons_env.experiments.plots import plot_win_rates
from four_seasons_env.experiments.summary import OPTIMUM, summarise_seeds, what_is_certain
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.files import file_name, write_atomically


@dataclass
class Compare(command_line.Run):
    """Play agents on the same deals and compare them."""

    out: Path
    """Folder of the results. Finished blocks of deals in it are skipped."""
    agents: list[str] = field(default_factory=lambda: ["random", "heuristic", "maskable_ppo"])
    """Agents by name. A path to weights follows a colon; a label for tables comes before =.
    For several training seeds, give all the same label: ppo=maskable_ppo:runs/a
    ppo=maskable_ppo:runs/b, or own=my_module:net0 own=my_module:net1."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name, changed ones in quotes, as in 'czarina(piles=4)'; or `all`."""
    deals: str = "10000-10999"
    """A range of deals, or `test` (0-9999) or `validation` (10000-19999)."""
    play: list[Literal["deterministic", "stochastic"]] = field(
        default_factory=lambda: ["deterministic", "stochastic"]
    )
    """How trained networks play: deterministic (best action), stochastic (drawn), or both."""
    seed: int = 0
    """Seed of the agents' random numbers and of the reshuffled stock."""
    record: bool = False
    """Store the moves of every game; `four-seasons verify` replays them."""
    luck: bool = False
    """Measure the luck of every game, for luck-adjusted win rates and a test for peeking.
    Takes about 0.1 seconds per game."""
    against: str | None = None
    """Label of the agent that the others are compared with, deal by deal.
    Without this flag: heuristic, if it plays. Repeat a comparison to show it against another."""
    census: Path | None = None
    """Folder of a census (experiments/studies/census.py). If it has all of the deals, the table
    shows the ceiling.
    Without this flag: the stored census of the test deals."""
    workers: Workers = field(default_factory=Workers)


@own_generators()
def compare(run: Compare) -> pd.DataFrame:
    """Play the blocks that are missing, print the table, and save it and plots with the results.

    Returns:
        All results, a row per game.

    Raises:
        ValueError: for a wrong flag, an unknown agent or rule set, weights that cannot be used, a
            damaged census, or a folder with another comparison.
        FileNotFoundError: if there are no weights.
        RuntimeError: if a block of deals could not be played, or if another process uses the
            folder.
    """
    # The census first: a wrong folder is reported before hours of play.
    census = comparison.read_census(run.census)
    manifest, against = _checked(run)
    with folders.locked(run.out, "comparison"):
        results = _play(run, manifest)
        summary = comparison.summarise_folder(run.out, results, census, against)
        folders.write_csv(run.out / "summary.csv", summary)
        folders.write_csv(run.out / "seeds.csv", summarise_seeds(results, against))
        markdown = tables.as_markdown(tables.as_text(summary))
        write_atomically(run.out / "table.md", markdown.encode())
        note = tables.note_of(summary, results)
        latex = tables.as_latex(tables.to_print(summary, tables.PAPER), note)
        write_atomically(run.out / "table.tex", latex.encode())
        plots = []
        for rules, played in results.groupby("rules", sort=False):
            title, name = f"{rules}, {tables.deals_as_text(played)}", file_name(str(rules))
            own = summary[summary["rules"] == rules]
            tables.print_table(tables.to_print(own, tables.PRINTED), title)
            measured = own[own["adjusted"].notna()] if "adjusted" in own else own[:0]
            if len(measured):
                luck = tables.to_print(measured, tables.LUCK_PRINTED)
                tables.print_table(luck, "without the luck of the cards")
            print(f"{rules}, {what_is_certain(played, run.against)}")
            for kind in own.loc[own["agent"] == OPTIMUM, "kind"]:
                print(
                    f"optimum: the best fair play, {kind}; the optimum minus a win rate estimates "
                    "the regret of an agent, no more certain than both"
                )
            plots.append((own, title, run.out / f"win_rates-{name}.png"))
        for plot in plots:
            plot_win_rates(*plot)
        print(
            f"saved in {run.out}: results.csv (a row per game), summary.csv, seeds.csv, table.md, "
            "table.tex and win_rates-*.png"
        )
        return results


def _checked(run: Compare) -> tuple[comparison.Manifest, str]:
    """The manifest of a comparison whose flags, agents and meters can be used, and the baseline."""
    rule_sets = command_line.rule_set_names(run.rules)
    if not (run.agents and rule_sets and run.play):
        raise ValueError("name at least one agent, one rule set and one way to play")
    command_line.check_stored_seed(run.seed)
    run.workers.check()
    comparison.read_deals(run.deals)
    names = [Name(each) for each in run.agents]
    players = {rules: find_players(names, rules, run.play) for rules in rule_sets}
    against = comparison.check_against(
        run.against, (each.agent for own in players.values() for each in own)
    )
    luck = {rules: blocks.meter_for(rules).name for rules in rule_sets if run.luck}
    return comparison.Manifest(players, run.deals, run.seed, run.record, luck), against


def _play(run: Compare, manifest: comparison.Manifest) -> pd.DataFrame:
    """Play the blocks of a checked comparison that are missing, and return all results."""
    manifest = comparison.open_comparison(run.out, manifest)
    tasks = [task for own in blocks.tasks_of(run.out, manifest) for task in own]
    results = blocks.run_blocks(blocks.play_block, tasks, "playing", run.workers, blocks.load_block)
    listed = {path for task in tasks for path in (task.part, task.games)}
    for path in (run.out / "parts").rglob("*-*.*"):
        if path.is_file() and path not in listed:  # a block at an end that has grown since
            path.unlink()
    return results


main = command_line.command(
    compare, "finished blocks of deals are saved in {run.out}; resume: {command}"
)
