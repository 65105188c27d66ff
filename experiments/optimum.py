"""Work out how well small games can be played fairly, and hold agents against that.

    four-seasons optimum --out runs/optimum
    four-seasons optimum --agents random heuristic planner maskable_ppo --out runs/optimum
    pages --optimum runs/optimum       # into docs/small-games.md

For each opening of a small game, the exact chance to win by the best play of one who sees only what
a player may see (`four_seasons_env.solver.fair_value`). Then agents play deals with these openings,
and each decision is weighed against the best one: what an agent's decisions cost in a game, on
average, is its regret. Agents that learn are trained for each game first, unless they are named
with a folder of weights, or a pattern for those of several games: planner:runs/small/planner-*
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.agents.registry import split_name
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.experiments import census, compare
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.openings import (
    check_rules,
    deals_with,
    game_of,
    openings,
)
from four_seasons_env.experiments.evaluation.players import find_players, split_label
from four_seasons_env.experiments.evaluation.regrets import known_of, regret_of, value_exactly
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.parallel.blocks import (
    Block,
    collect_blocks,
    rule_set_names,
    run_blocks,
    split_deals,
)
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.plots.odds import plot_regret
from four_seasons_env.experiments.reporting.tables import print_table, write_csv
from four_seasons_env.experiments.statistics.regret import regret_as_text, summarise_regret
from four_seasons_env.experiments.train import Train, check_minutes, train
from four_seasons_env.experiments.training.run_folder import DONE, RUN, provenance, write_json
from four_seasons_env.play.records import read_records
from four_seasons_env.rules import SMALL, get_rules, nearest

ABOUT = "optimum.json"
COLUMNS = ("rules", "opening", "cards", "alike", "value", "nodes", "seconds")
"""Of openings.csv: `cards` are those of the tableau, with the base card as 0, `alike` the number of
sets of cards that it stands for, `value` the chance to win by the best play, `seconds` those of
processor time."""
REGRETS = ("rules", "agent", "deal", "regret", "costly")
"""Of regrets.csv: `regret` is what the decisions of a game cost, in chances to win, `costly` how
many of them cost something."""
PLAY = ["deterministic"]
"""How trained networks play."""
SETTINGS = {
    "maskable_ppo": ["games=128", "batch_size=512", "layers=[64, 64]"],
    "next_deal_ppo": ["games=64", "batch_size=256"],
}
"""Hyperparameters of trainings that are to take no longer than a minute; the others are as ever."""

_EVERY = 10.0  # seconds between two writings of a result file


@dataclass
class Optimum:
    """Work out how well small games can be played fairly, and hold agents against that."""

    out: Path
    """Folder of the results; openings that are valued there are not valued again."""
    rules: list[str] = field(default_factory=lambda: list(SMALL))
    """Small games by name; all by default."""
    agents: list[str] = field(default_factory=lambda: ["random", "greedy", "heuristic"])
    """Agents that play. Those that learn, without a folder, are trained for each game first."""
    deals: str = "0-9999"
    """Deals to choose from; 0-9999 are the test deals."""
    games: int = 200
    """Games of each agent: the first of these deals whose openings are valued."""
    core_minutes: float = 1.0
    """Minutes of processor time of a training."""
    openings: int | None = None
    """Value the openings of so many sets of cards, drawn at random; of all by default, and where
    there are no more."""
    gigabytes: float = 6.0
    """Memory for the values of positions of a game."""
    seed: int = 0
    """Seed of training, of the agents' chance and of the stock's reshuffles."""
    workers: Workers = field(default_factory=lambda: Workers(n_jobs=1))


@dataclass(frozen=True)
class Task(Block):
    """Openings of a game by number, in place of deals: they share what is found out."""

    draws: int | None
    gigabytes: float

    @property
    def folder(self) -> str:
        """Apart where openings are drawn."""
        return "" if self.draws is None else f"drawn-{self.draws}"

    def left(self, stored: pd.DataFrame | None) -> list[int]:
        """The openings whose value is not known."""
        if stored is None:
            return list(self.deals)
        known = set(stored["opening"])
        return [number for number in self.deals if number not in known]


def value_openings(task: Task) -> None:
    """Value the openings of a game; the result file is written every few seconds.

    Raises:
        MemoryError: if the value of one takes more memory than is allowed.
    """
    rules = get_rules(task.rules)
    stored = task.stored()
    rows: dict[int, dict[Any, Any]] = {}
    if stored is not None:
        rows = {row["opening"]: row for row in stored.to_dict("records")}
    every, todo = list(openings(rules, task.draws).items()), task.left(stored)
    written = time.monotonic()
    for number in todo:
        cards, alike = every[number]
        begun = time.process_time()
        found = value_exactly(
            game_of(cards, rules), known=known_of(rules.name), gigabytes=task.gigabytes
        )
        rows[number] = {
            "rules": rules.name,
            "opening": number,
            "cards": " ".join(map(str, cards)),
            "alike": alike,
            "value": found.value,
            "nodes": found.nodes,
            "seconds": time.process_time() - begun,
        }
        if number == todo[-1] or time.monotonic() - written > _EVERY:
            table = pd.DataFrame(list(rows.values()), columns=list(COLUMNS))
            task.write(table.sort_values("opening"))
            written = time.monotonic()


@dataclass(frozen=True)
class Weighing(Block):
    """Games that an agent has played, to be weighed decision by decision."""

    played: compare.Task
    gigabytes: float

    @property
    def folder(self) -> str:
        """That of the player."""
        return self.played.folder


def weigh_games(task: Weighing) -> None:
    """Work out the regret of games.

    Raises:
        MemoryError: if a value takes more memory than is allowed.
    """
    known = known_of(task.rules)
    rows = []
    for record in read_records(task.played.games):
        regret, costly = regret_of(
            record.start(), record.moves, known=known, gigabytes=task.gigabytes
        )
        rows.append((task.rules, task.played.player.agent, record.deal, regret, costly))
    task.write(pd.DataFrame(rows, columns=list(REGRETS)))


def _is_trained(agent: str) -> bool:
    """Whether an agent is trained first: whether it learns, and no folder of weights is named.

    Raises:
        ValueError: for an unknown agent, with the nearest.
    """
    parts = split_name(split_label(agent)[1])
    return parts.entry.learns and parts.path is None


def _trained(run: Optimum, agent: str) -> str:
    """An agent's name with its policies; those that are missing are trained first."""
    if not _is_trained(agent):
        return agent
    label, name = split_label(agent)
    parts = split_name(name)
    for rules in rule_set_names(run.rules):
        folder = run.out / "runs" / f"{parts.registered}-{rules}"
        if (folder / DONE).is_file():
            continue
        if (folder / RUN).is_file():
            train(Train(folder, resume=True, workers=Workers(n_jobs=1)))
            continue
        train(
            Train(
                folder,
                parts.registered,
                rules,
                run.seed,
                core_minutes=run.core_minutes,
                set=SETTINGS.get(parts.registered, []),
                validations=2,
                validation_deals=200,
                workers=Workers(n_jobs=1),
            )
        )
    options = name.partition("@")[2]
    pattern = f"{parts.registered}:{run.out / 'runs' / parts.registered}-*"
    return f"{label or name}={pattern}{'@' * bool(options)}{options}"


def _deals(run: Optimum, name: str) -> tuple[int, ...]:
    """The deals that are played of a game.

    Raises:
        ValueError: if none of those to choose from has a valued opening.
    """
    rules = get_rules(name)
    deals = deals_with(openings(rules, run.openings), rules, parse_deals(run.deals), run.games)
    if not deals:
        raise ValueError(
            f"none of the deals {run.deals} has a valued opening of {name}: choose from more "
            "(--deals), or value more (--openings)"
        )
    return deals


def _tasks(
    run: Optimum, name: str, deals: tuple[int, ...], agents: Sequence[str]
) -> tuple[Task, list[compare.Task], list[census.Task]]:
    """Of one game: its openings, the games of each agent, and the deals to solve."""
    numbers = range(len(openings(get_rules(name), run.openings)))
    valued = Task(run.out, name, numbers, run.openings, run.gigabytes)
    played = [
        compare.Task(run.out / "play", name, deals, player, run.seed, record=True)
        for player in find_players(agents, name, PLAY)
    ]
    solving = census.Census(run.out / "open")
    blocks = split_deals(deals, census.BLOCK)
    return valued, played, [census.Task(solving.out, name, block, solving) for block in blocks]


def _check(run: Optimum) -> None:
    """Refuse what cannot be right, before anything is worked out or written.

    Raises:
        ValueError: saying what.
    """
    if not (run.rules and run.agents):
        raise ValueError("there is at least one game to value, and one agent to play it")
    for name in rule_set_names(run.rules):
        if name not in SMALL:
            raise ValueError(f"{name!r} is no small game: {nearest(name, SMALL)}")
        check_rules(get_rules(name))
        find_players([agent for agent in run.agents if not _is_trained(agent)], name, PLAY)
    if not run.gigabytes > 0:
        raise ValueError(f"--gigabytes is more than 0, not {run.gigabytes:g}")
    if run.openings is not None and run.openings < 2:
        raise ValueError(f"--openings is 2 or more, not {run.openings}")
    if run.games < 2:
        raise ValueError(f"--games is 2 or more, not {run.games}")
    check_minutes(core_minutes=run.core_minutes)
    parse_deals(run.deals)
    check_seed(run.seed)
    run.workers.check()
    check_out(run.out, "optimum")


def optimum(run: Optimum) -> None:
    """Train, play, value and weigh, print the table, and save all of it."""
    _check(run)
    chosen = {name: _deals(run, name) for name in rule_set_names(run.rules)}
    write_json(run.out / ABOUT, provenance())
    agents = [_trained(run, agent) for agent in run.agents]
    every = [_tasks(run, name, deals, agents) for name, deals in chosen.items()]
    valued: list[Task] = []
    played: list[compare.Task] = []
    weighed: list[Weighing] = []
    solved: list[census.Task] = []
    for openings_, games, deals in every:  # one after the other: what is known of a game is kept
        weighings = [
            Weighing(run.out / "regrets", game.rules, game.deals, game, run.gigabytes)
            for game in games
        ]
        run_blocks(compare.play_block, games, f"playing {openings_.rules}", run.workers)
        run_blocks(value_openings, [openings_], "valuing", run.workers)
        run_blocks(weigh_games, weighings, "weighing", run.workers)
        run_blocks(census.solve_block, deals, "solving", run.workers)
        valued, played = [*valued, openings_], [*played, *games]
        weighed, solved = [*weighed, *weighings], [*solved, *deals]
    summary = summarise_regret(
        collect_blocks(valued, run.out / "openings.csv"),
        collect_blocks(played, run.out / "results.csv"),
        collect_blocks(weighed, run.out / "regrets.csv"),
        collect_blocks(solved, run.out / "open.csv"),
        {game.player.agent: game.player.kind for game in played},
    )
    write_csv(run.out / "summary.csv", summary)
    plot_regret(summary, run.out / "regret.png")
    for table in regret_as_text(summary):
        print_table(table, f"small games, deals {run.deals}")
    print(f"saved in {run.out}: openings.csv, regrets.csv (a row a game), summary.csv, regret.png")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        optimum,
        Optimum,
        __doc__,
        "what is done is saved in {run.out}; resume: {command}",
    )
