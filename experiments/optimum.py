"""Compute how well small games can be played fairly, and the regret of agents.

    four-seasons optimum --out runs/optimum
    four-seasons optimum --agents random heuristic planner maskable_ppo --out runs/optimum

For each opening of a small game, the exact chance of winning by the best play from public
information (`four_seasons_env.solver.fair_value`). Then agents play test deals with these openings,
and each decision is compared with the best one: the mean cost of an agent's decisions in a game is
its regret. Agents that learn are trained for each game first, unless they are named with a folder
of weights, or a pattern for those of several games: planner:runs/small/planner-*
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.registry import split_name
from four_seasons_env.engine.deals import TEST
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.compare import GamesTask, play_block
from four_seasons_env.experiments.matches.openings import (
    check_rules,
    deals_with,
    game_of,
    openings,
)
from four_seasons_env.experiments.matches.players import find_players, split_label
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.parallel.blocks import rule_set_names, run_blocks
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.train import Train, check_minutes, train
from four_seasons_env.experiments.training.run_folder import DONE, RUN, provenance, write_json
from four_seasons_env.rules import SMALL, get_rules, nearest

if TYPE_CHECKING:
    import pandas as pd

    from four_seasons_env.solver import Known

COLUMNS = ("rules", "cards", "alike", "value", "nodes", "seconds")
"""Of openings.csv: `cards` are those of the tableau, with the base card as 0; `alike` is the number
of sets of cards that the opening stands for, `value` the chance of winning by the best play, and
`seconds` is processor time."""
PLAY = ["deterministic"]
"""How trained networks play."""
SETTINGS = {
    "maskable_ppo": ["games=128", "batch_size=512", "layers=[64, 64]"],
    "next_deal_ppo": ["games=64", "batch_size=256"],
}
"""Hyperparameters for trainings of about a minute; the others keep their defaults."""

_HERE = Workers(n_jobs=1)  # searches of one process share their results
_EVERY = 10.0  # seconds between two writings of a result file


@dataclass
class Optimum:
    """Compute how well small games can be played fairly, and the regret of agents."""

    out: Path
    """Folder of the results; openings that are valued there are not valued again."""
    rules: list[str] = field(default_factory=lambda: list(SMALL))
    """Small games by name; all by default."""
    agents: list[str] = field(default_factory=lambda: ["random", "greedy", "heuristic"])
    """Agents that play. Those that learn, without a folder, are trained for each game first."""
    games: int = 200
    """Games of each agent: the first test deals whose openings are valued."""
    core_minutes: float = 1.0
    """Minutes of processor time of a training."""
    openings: int | None = None
    """Value the openings of this number of sets of cards, drawn at random; by default all."""
    gigabytes: float = 6.0
    """Memory for the values of a game's positions."""


def optimum(run: Optimum) -> None:
    """Train, play, value and compare; print the table, and save everything.

    Raises:
        ValueError: for a wrong flag.
        MemoryError: if the value of a position takes more memory than is allowed.
    """
    _check(run)

    import pandas as pd

    from four_seasons_env.experiments.reporting.plots.odds import plot_regret
    from four_seasons_env.experiments.reporting.tables import print_table, write_csv
    from four_seasons_env.experiments.statistics.regret import regret_as_text, summarise_regret
    from four_seasons_env.solver import Known

    chosen = {name: _deals(run, name) for name in rule_set_names(run.rules)}
    write_json(run.out / "optimum.json", provenance())
    agents = [_trained(run, agent) for agent in run.agents]
    values, played, kinds = [], [], dict[str, str]()
    for name, deals in chosen.items():
        players = find_players(agents, name, PLAY)
        tasks = [
            GamesTask(run.out / "play", name, deals, each, seed=0, record=True) for each in players
        ]
        run_blocks(play_block, tasks, f"playing {name}", _HERE)
        kinds |= {player.agent: player.kind for player in players}
        known = Known()
        values.append(value_openings(run, name, known))
        winnable = _winnable(name, deals)
        for task in tasks:
            games = task.stored()
            assert games is not None
            regrets = weigh_games(task, known, run.gigabytes)
            played.append(games.merge(regrets, on="deal").merge(winnable, on="deal"))
    games = pd.concat(played, ignore_index=True)
    summary = summarise_regret(pd.concat(values), games, kinds)
    write_csv(run.out / "results.csv", games)
    write_csv(run.out / "summary.csv", summary)
    plot_regret(summary, run.out / "regret.png")
    for table in regret_as_text(summary):
        print_table(table, "small games, test deals")
    print(f"saved in {run.out}: openings.csv, results.csv (all games), summary.csv, regret.png")


def _check(run: Optimum) -> None:
    """Refuse invalid flags before anything is computed or written."""
    if not (run.rules and run.agents):
        raise ValueError("name at least one rule set and one agent")
    for name in rule_set_names(run.rules):
        if name not in SMALL:
            raise ValueError(f"unknown small game {name!r}: {nearest(name, SMALL)}")
        check_rules(get_rules(name))
    named = [agent for agent in run.agents if not _is_trained(agent)]
    if not run.gigabytes > 0:
        raise ValueError(f"--gigabytes must be more than 0, not {run.gigabytes:g}")
    if run.openings is not None and run.openings < 2:
        raise ValueError(f"--openings must be 2 or more, not {run.openings}")
    if run.games < 2:
        raise ValueError(f"--games must be 2 or more, not {run.games}")
    check_minutes(core_minutes=run.core_minutes)
    check_out(run.out, "optimum")
    for name in rule_set_names(run.rules):
        find_players(named, name, PLAY)


def _is_trained(agent: str) -> bool:
    """Whether an agent is trained first: it learns, and its name has no folder of weights.

    Raises:
        ValueError: for an unknown agent, with the nearest.
    """
    parts = split_name(split_label(agent)[1])
    return parts.entry.learns and parts.path is None


def _deals(run: Optimum, name: str) -> tuple[int, ...]:
    """The deals that are played of a game.

    Raises:
        ValueError: if no test deal has a valued opening.
    """
    rules = get_rules(name)
    deals = deals_with(openings(rules, run.openings), rules, TEST, run.games)
    if not deals:
        raise ValueError(f"no test deal has a valued opening of {name}: value more (--openings)")
    return deals


def _trained(run: Optimum, agent: str) -> str:
    """An agent's name with the pattern of its policies, after the trainings that are missing."""
    if not _is_trained(agent):
        return agent
    label, name = split_label(agent)
    parts = split_name(name)
    for rules in rule_set_names(run.rules):
        folder = run.out / "runs" / f"{parts.registered}-{rules}"
        if (folder / DONE).is_file():
            continue
        if (folder / RUN).is_file():
            train(Train(folder, resume=True, workers=_HERE))
            continue
        train(
            Train(
                folder,
                parts.registered,
                rules,
                core_minutes=run.core_minutes,
                set=SETTINGS.get(parts.registered, []),
                validations=2,
                validation_deals=200,
                workers=_HERE,
            )
        )
    options = name.partition("@")[2]
    pattern = f"{parts.registered}:{run.out / 'runs' / parts.registered}-*"
    return f"{label or name}={pattern}{'@' * bool(options)}{options}"


def value_openings(run: Optimum, name: str, known: Known) -> pd.DataFrame:
    """The values of a game's openings, a row an opening; new ones are added to openings.csv.

    Args:
        run: which openings to value.
        name: of the rule set.
        known: the results of earlier searches.

    Raises:
        MemoryError: if the value of one takes more memory than is allowed.
    """
    import pandas as pd
    from rich.progress import track

    from four_seasons_env.experiments.matches.exact_values import value_exactly
    from four_seasons_env.experiments.reporting.tables import read_table, write_csv

    path, rules = run.out / "openings.csv", get_rules(name)
    table = read_table(path) if path.is_file() else pd.DataFrame(columns=list(COLUMNS))
    alike = openings(rules, run.openings)
    wanted = {" ".join(map(str, cards)): cards for cards in alike}
    valued = set(table["cards"][table["rules"] == name])
    missing = [text for text in wanted if text not in valued]
    rows, written = table.to_dict("records"), time.monotonic()
    for text in track(missing, f"valuing {name}"):
        begun = time.process_time()
        game = game_of(wanted[text], rules)
        found = value_exactly(game, known=known, gigabytes=run.gigabytes)
        row: dict[Any, Any] = {"rules": name, "cards": text, "alike": alike[wanted[text]]}
        row |= {"value": found.value, "nodes": found.nodes}
        rows.append(row | {"seconds": time.process_time() - begun})
        if text == missing[-1] or time.monotonic() - written > _EVERY:
            write_csv(path, pd.DataFrame(rows, columns=list(COLUMNS)))
            written = time.monotonic()
    table = read_table(path)
    return table[(table["rules"] == name) & table["cards"].isin(wanted)]


def weigh_games(task: GamesTask, known: Known, gigabytes: float) -> pd.DataFrame:
    """The regret of recorded games, stored next to them.

    Args:
        task: the games.
        known: the results of earlier searches.
        gigabytes: memory for more.

    Returns:
        One row per game; columns deal, regret, and costly, the number of decisions that cost
        something.

    Raises:
        MemoryError: if a value takes more memory than is allowed.
    """
    import pandas as pd
    from rich.progress import track

    from four_seasons_env.experiments.matches.exact_values import regret_of
    from four_seasons_env.experiments.reporting.tables import read_table, write_csv
    from four_seasons_env.play.records import read_records

    path = task.part.with_suffix(".regret.csv")
    if not path.is_file():
        rows = []
        for game in track(list(read_records(task.games)), f"weighing {task.player.agent}"):
            regret = regret_of(game.start(), game.moves, known=known, gigabytes=gigabytes)
            rows.append((game.deal, *regret))
        write_csv(path, pd.DataFrame(rows, columns=["deal", "regret", "costly"]))
    return read_table(path)


def _winnable(name: str, deals: Sequence[int]) -> pd.DataFrame:
    """Whether the true deals can be won; one row per deal."""
    import pandas as pd

    from four_seasons_env.game import Game
    from four_seasons_env.solver import solve

    won = [solve(Game(name, deal), seconds=1.0).status == "won" for deal in deals]
    return pd.DataFrame({"deal": deals, "winnable": won})


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        optimum,
        Optimum,
        __doc__,
        "finished parts are saved in {run.out}; resume: {command}",
    )
