"""Play agents on the same deals and compare them.

    four-seasons compare --agents random heuristic maskable_ppo:runs/x --out runs/y

Every agent plays every deal, many deals side by side, and sees only what a player may see.
`results.csv` has a row a game; table and plots are made from it. Started again, a comparison plays
only the blocks of deals that are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.policy_files import rules_fields
from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.ceiling import CENSUS, read_census
from four_seasons_env.experiments.evaluation.games import has_games, write_games
from four_seasons_env.experiments.evaluation.people import find_all_players
from four_seasons_env.experiments.evaluation.play import sealed_count, sealed_deals
from four_seasons_env.experiments.evaluation.players import PLAYS, Player
from four_seasons_env.experiments.evaluation.recording import play_recorded, warm_up
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.parallel.blocks import (
    Block,
    collect_blocks,
    rule_set_names,
    run_blocks,
    split_deals,
)
from four_seasons_env.experiments.parallel.parts import digest_of
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.plots.comparison import plot_cards_up, plot_win_rates
from four_seasons_env.experiments.reporting.summary_page import (
    ABOUT,
    BESIDE,
    read_about,
    summarise_folder,
)
from four_seasons_env.experiments.reporting.tables import (
    as_markdown,
    print_table,
    read_table,
    write_csv,
)
from four_seasons_env.experiments.statistics.seeds import improvements
from four_seasons_env.experiments.statistics.summary import (
    BASELINE,
    KEPT,
    RESULT_COLUMNS,
    as_text,
    deals_as_text,
    summarise_seeds,
)
from four_seasons_env.experiments.training.run_folder import provenance, write_json
from four_seasons_env.rules import file_name, get_rules, nearest

BLOCK = 1000
"""Deals that one task plays side by side. Another size gives other reshuffles, and other games."""

BRIEF = (
    *("rules", "agent", "made of", "play", "played", "deals", "seeds", "won % [95%]"),
    *(f"vs {BASELINE} [95%]", "ms/game"),
)
"""Columns that are printed; table.md has all."""


@dataclass
class Compare:
    """Play agents on the same deals and compare them."""

    out: Path
    """Folder of the results; results of the same comparison that it holds are not played again."""
    agents: list[str] = field(default_factory=lambda: ["random", "heuristic", "maskable_ppo"])
    """Agents by name. Those with weights may have a path, or a pattern that matches several
    training seeds; any may have a name for tables: ppo=maskable_ppo:runs/study/ppo-*. Games of
    people stand beside them: human:games, a folder that `play --record` has written to."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name; `all` for every one."""
    deals: str = "0-9999"
    """A range of deals; 0-9999 are the test deals. sealed:2000 draws so many at random once the
    agents are loaded, which nobody can have prepared for, and keeps their numbers."""
    play: list[str] = field(default_factory=lambda: list(PLAYS))
    """How trained networks play: deterministic (greedily), stochastic, or both."""
    seed: int = 0
    """Seed of the agents' chance and of the stock's reshuffles."""
    trust: bool = False
    """Open zips of Stable-Baselines3, which can run any code."""
    record: bool = False
    """Keep every game as moves, so that `four-seasons verify` can replay it. A folder that has
    games keeps those of whatever it grows by."""
    isolate: bool = False
    """Run each agent in a process of its own, which cannot read this one's memory; same results."""
    workers: Workers = field(default_factory=Workers)
    census: Path = CENSUS
    """A folder of `four-seasons census`: if it has all the deals, the table shows how many can be
    won at all. The repository has that of the test deals."""
    beside: Path | None = None
    """A `summary.csv` with stored results of agents that do not play now."""
    show: list[str] = field(default_factory=list)
    """Agents of that file to show in the table, marked "kept"; NAME=LABEL if the file has another
    label for the agent."""


@dataclass(frozen=True)
class Task(Block):
    """A block of deals, played by one player."""

    player: Player
    seed: int
    record: bool = False

    @property
    def folder(self) -> str:
        """Folder of the player's result files."""
        return self.player.folder

    @property
    def made_by(self) -> dict[str, Any]:
        """The rules, the player, and the seed of its chance and of the reshuffles."""
        return super().made_by | self.player.made_by | {"seed": self.seed}

    def stored(self, say: Callable[[str], None] | None = None) -> pd.DataFrame | None:
        """Its results; None also where games are to be kept and are not."""
        results = super().stored(say)
        if results is None or not self.record or has_games(self.part, self.origin, say):
            return results
        return None


def play_block(task: Task) -> None:
    """Play a block of deals, and write its result file."""
    rules = get_rules(task.rules)
    player = task.player
    warm_up(player, rules)
    played, games = play_recorded(player, rules, task.deals, task.seed)
    played["agent"] = player.agent
    played["play"] = player.play
    played["rules"] = rules.name
    played["train_seed"] = player.train_seed
    if task.record:
        write_games(task.part, games, task.origin)
    task.write(played[list(RESULT_COLUMNS)])


def _claim(run: Compare, players: dict[str, list[Player]]) -> list[range | tuple[int, ...]]:
    """Check that the folder is for this comparison, and write who plays into it.

    A comparison may grow by agents, rule sets and deals; one on sealed deals may not, as an agent
    that comes later could know them. Results are never dropped.

    Returns:
        The blocks of deals to play.

    Raises:
        ValueError: if the folder holds results of another seed, of players or deals that this
            comparison leaves out, or of other agents, weights, rules or code under the same names;
            or if its compare.json cannot be read.
    """
    playing, made_by = {}, {}
    for rules, each in players.items():
        fields = rules_fields(get_rules(rules))
        for player in each:
            key = f"{rules}: {player.folder}"
            playing[key] = player.name
            made_by[key] = player.made_by | {"rules": digest_of(fields)}
    found = read_about(run.out) if (run.out / ABOUT).is_file() else None
    count = sealed_count(run.deals)
    sealed = tuple(found.get("sealed", ())) if found else sealed_deals(count or 0)
    deals = sealed or parse_deals("0" if count else run.deals)
    if found:
        lost = sorted(found["players"].keys() - playing.keys())
        first, last = found["deals"]
        what = None
        if found["seed"] != run.seed:
            what = f"seed {found['seed']}, not {run.seed}"
        elif lost:
            what = f"{', '.join(lost)}, which this one leaves out"
        elif len(sealed) != (count or 0):
            kept = f"{len(sealed):,} sealed deals" if sealed else f"the deals {first}-{last}"
            what = f"{kept}, not {run.deals}"
        elif sealed and playing.keys() != found["players"].keys():
            added = ", ".join(sorted(playing.keys() - found["players"].keys()))
            what = f"deals that were drawn before {added} came"
        elif first < deals[0] or last > deals[-1]:
            what = f"the deals {first}-{last}, not {run.deals}"
        else:
            what = _other_player(found, playing, made_by)
        if what:
            raise ValueError(
                f"{run.out} holds a comparison of {what}: choose a new folder (--out), or add it"
            )
    about = {
        "seed": run.seed,
        "deals": [deals[0], deals[-1]],
        "sealed": sealed,
        "recorded": run.record or bool(found and found.get("recorded")),
        "players": playing,
        "made_by": made_by,
        "kinds": {player.agent: player.kind for each in players.values() for player in each},
        "observations": {
            player.agent: player.observation for each in players.values() for player in each
        },
    }
    write_json(run.out / ABOUT, about | provenance())
    return split_deals(sealed or run.deals, BLOCK)


def _other_player(
    found: dict[str, Any], playing: dict[str, str], made_by: dict[str, dict[str, Any]]
) -> str | None:
    """Who, if anyone, has played under a name that now stands for something else."""
    for key, before in found["made_by"].items():
        now = made_by[key]
        if before == now:
            continue
        if before | {"code": None} == now | {"code": None}:
            return f"{key} as an earlier version of the code plays"
        return f"{key} as {found['players'][key]}, not as {playing[key]}"
    return None


def play_all(run: Compare, finish_when_stopped: bool = False) -> pd.DataFrame:
    """Play the blocks that are missing, and return all results, a row for each policy and deal.

    Args:
        run: the comparison.
        finish_when_stopped: on Ctrl-C, return the blocks of deals that all agents have played, if
            there are any.

    Raises:
        ValueError: for an unknown agent, rule set or backend, or weights that cannot be used.
        FileNotFoundError: where there are no weights.
        RuntimeError: if a block of deals could not be played, once all others have been.
    """
    rule_sets = rule_set_names(run.rules)
    if not (run.agents and rule_sets and run.play):
        raise ValueError("a comparison has at least one agent, one rule set and one way to play")
    check_out(run.out, "comparison")
    check_seed(run.seed)
    deals = () if sealed_count(run.deals) else parse_deals(run.deals)
    players = {
        rules: find_all_players(run.agents, rules, run.play, run.trust, deals, isolate=run.isolate)
        for rules in rule_sets
    }
    run.workers.check()
    blocks = _claim(run, players)
    record = bool(read_about(run.out)["recorded"])
    tasks = [
        Task(run.out, rules, played, player, run.seed, record)
        for rules in rule_sets
        for player in players[rules]
        for block in blocks
        if (played := player.deals_in(block))
    ]
    try:
        run_blocks(play_block, tasks, "playing", run.workers)
    except KeyboardInterrupt:
        missing = {task.deals for task in tasks if task.left(task.stored())}
        tasks = [task for task in tasks if task.deals not in missing]
        if not (finish_when_stopped and tasks):
            raise
        print("ended early, with the deals that all have played; Ctrl-C again stops it")
    return collect_blocks(tasks, run.out / "results.csv")


def _stored(run: Compare) -> pd.DataFrame | None:
    """Stored results to show beside those of the agents that play.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: for an agent that it does not have, with the nearest one.
    """
    if run.beside is None:
        return None
    if not run.beside.is_file():
        raise FileNotFoundError(f"no stored results at {run.beside}")
    found = read_table(run.beside)
    names = {}
    for each in run.show:
        name, _, label = each.partition("=")
        names[label or name] = name
    for label in names:
        if label not in set(found["agent"]):
            hint = nearest(label, sorted(set(found["agent"])))
            raise ValueError(f"{run.beside} has no results of {label!r}: {hint}")
    stored = found[found["agent"].isin(names) & found["rules"].isin(run.rules)]
    plays_so = stored["play"].isin(run.play)
    stored = stored[plays_so | ~plays_so.groupby(stored["agent"]).transform("any")]
    stored = stored.assign(source=KEPT, agent=stored["agent"].map(names))
    return stored.assign(
        kind=[AGENTS[name].kind if name in AGENTS else "-" for name in stored["agent"]]
    )


def compare(run: Compare, finish_when_stopped: bool = False) -> None:
    """Play, print the table, and save table and plots beside the results; see `play_all`."""
    stored, census = _stored(run), read_census(run.census)
    results = play_all(run, finish_when_stopped)
    if stored is not None:
        write_csv(run.out / BESIDE, stored)
    summary = summarise_folder(run.out, results, census)
    write_csv(run.out / "summary.csv", summary)
    write_csv(run.out / "seeds.csv", summarise_seeds(results))
    write_csv(run.out / "improvement.csv", improvements(results))
    cells = as_text(summary)
    write_atomically(run.out / "table.md", as_markdown(cells).encode())
    for rules, played in results.groupby("rules", sort=False):
        title = f"{rules}, {deals_as_text(played)}"
        name = file_name(str(rules))
        plot_win_rates(summary[summary["rules"] == rules], title, run.out / f"win_rates-{name}.png")
        plot_cards_up(played, title, run.out / f"cards_up-{name}.png")
    brief = [name for name in BRIEF if name in cells]
    print_table(cells[brief], deals_as_text(results))
    print(f"saved in {run.out}: results.csv (a row a game), summary.csv, table.md, plots")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        compare,
        Compare,
        __doc__,
        "finished blocks of deals are saved in {run.out}; resume: {command}",
    )
