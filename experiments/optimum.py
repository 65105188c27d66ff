"""Work out how well small games can be played fairly, and hold agents against that.

    python -m experiments.optimum --out runs/optimum
    python -m experiments.pages --optimum runs/optimum       # into docs/small-games.md

For each opening of a small game, the exact chance to win by the best play of one who sees only what
a player may see (`four_seasons_env.solver.fair_value`). Then agents play test deals, planner and
next_deal_ppo (`--agents`) after a short training of their own. An agent's regret on a deal is the
chance to win that its opening offers, less 1 if the agent wins it: the mean over many deals is what
its play costs.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.census import Census, take_census
from experiments.command_line import check_seed, run_command
from experiments.compare import Compare, play_all
from experiments.evaluation.openings import check_rules, game_of, openings
from experiments.out_folder import check_out
from experiments.parallel.blocks import Block, collect_blocks, rule_set_names, run_blocks
from experiments.parallel.workers import Workers
from experiments.reporting.plots import plot_regret
from experiments.reporting.tables import print_table, write_csv
from experiments.statistics.regret import regret_as_text, summarise_regret
from experiments.train import Train, parse_steps, train
from experiments.training.run_folder import DONE, RUN, provenance, write_json
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.rules import SMALL, get_rules, nearest
from four_seasons_env.solver import Known, fair_value

ABOUT = "optimum.json"
COLUMNS = ("rules", "opening", "cards", "alike", "value", "nodes", "seconds")
"""Of openings.csv: `cards` are those of the tableau, with the base card as 0, `alike` the number of
sets of cards that it stands for, `value` the chance to win by the best play."""
LEARNERS = {"next_deal_ppo": "steps", "planner": "games"}
"""Agents that are trained first, and the flag that says for how long."""

_EVERY = 10.0  # seconds between two writings of a result file
_GIB = 2**30


@dataclass
class Optimum:
    """Work out how well small games can be played fairly, and hold agents against that."""

    out: Path
    """Folder of the results; openings that are valued there are not valued again."""
    rules: list[str] = field(default_factory=lambda: list(SMALL))
    """Small games by name; all by default."""
    agents: list[str] = field(default_factory=lambda: ["random", "greedy", "heuristic"])
    """Agents that play; planner and next_deal_ppo would be trained for each game first."""
    deals: str = "0-1999"
    """Deals; those are played whose openings are valued. 0-9999 are the test deals."""
    steps: str = "50k"
    """Decisions that next_deal_ppo learns from."""
    games: str = "1k"
    """Games that the planner learns from."""
    openings: int | None = None
    """Value the openings of so many sets of cards, drawn at random; of all by default."""
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
    every, todo, known = list(openings(rules, task.draws).items()), task.left(stored), Known()
    written = time.monotonic()
    for number in todo:
        cards, alike = every[number]
        game = game_of(cards, rules)
        memory = int(task.gigabytes * _GIB)
        found = fair_value(game, max_positions=2**62, memory=memory, known=known)
        if not found.is_exact:
            raise MemoryError(
                f"{rules.name} takes more than {task.gigabytes:g} GiB: its opening {number} is "
                f"worth {found.low:.4f} to {found.high:.4f}; allow more (--gigabytes)"
            )
        rows[number] = {
            "rules": rules.name,
            "opening": number,
            "cards": " ".join(map(str, cards)),
            "alike": alike,
            "value": found.value,
            "nodes": found.nodes,
            "seconds": found.seconds,
        }
        if number == todo[-1] or time.monotonic() - written > _EVERY:
            table = pd.DataFrame(list(rows.values()), columns=list(COLUMNS))
            task.write(table.sort_values("opening"))
            written = time.monotonic()


def optima(run: Optimum) -> pd.DataFrame:
    """The values of openings, `COLUMNS`, a row an opening.

    Raises:
        RuntimeError: if a game could not be valued, once all others are.
    """
    tasks = []
    for name in rule_set_names(run.rules):
        numbers = range(len(openings(get_rules(name), run.openings)))
        tasks.append(Task(run.out, name, numbers, run.openings, run.gigabytes))
    run_blocks(value_openings, tasks, "valuing", run.workers)
    return collect_blocks(tasks, run.out / "openings.csv")


def _trained(run: Optimum, agent: str) -> str:
    """An agent's name with its policies; those that are missing are trained first."""
    if agent not in LEARNERS:
        return agent
    for name in rule_set_names(run.rules):
        folder = run.out / "runs" / f"{agent}-{name}"
        if (folder / DONE).is_file():
            continue
        if (folder / RUN).is_file():
            train(Train(folder, resume=True))
        else:
            steps = getattr(run, LEARNERS[agent])
            train(Train(folder, agent, name, run.seed, steps, validation_deals=500))
    return f"{agent}:{run.out / 'runs' / agent}-*"


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
    if not run.gigabytes > 0:
        raise ValueError(f"--gigabytes is more than 0, not {run.gigabytes:g}")
    if run.openings is not None and run.openings < 2:
        raise ValueError(f"--openings is 2 or more, not {run.openings}")
    for text in (run.steps, run.games):
        parse_steps(text)
    parse_deals(run.deals)
    check_seed(run.seed)
    run.workers.check()
    check_out(run.out, "optimum")


def optimum(run: Optimum) -> None:
    """Value, train, play, print the table, and save all of it."""
    _check(run)
    write_json(run.out / ABOUT, provenance())
    values = optima(run)
    agents = [_trained(run, agent) for agent in run.agents]
    played = play_all(
        Compare(
            run.out / "play",
            agents,
            run.rules,
            run.deals,
            play=["deterministic"],
            seed=run.seed,
            workers=run.workers,
        )
    )
    solved = take_census(
        Census(run.out / "open", run.rules, run.deals, seed=run.seed, workers=run.workers)
    )
    summary = summarise_regret(values, played, solved)
    write_csv(run.out / "summary.csv", summary)
    plot_regret(summary, run.out / "regret.png")
    print_table(regret_as_text(summary), f"small games, deals {run.deals}")
    print(f"saved in {run.out}: openings.csv (a row an opening), summary.csv, regret.png")


def main() -> None:
    """Run the command."""
    run_command(optimum, Optimum, __doc__, "what is done is saved in {run.out}; resume: {command}")


if __name__ == "__main__":
    main()
