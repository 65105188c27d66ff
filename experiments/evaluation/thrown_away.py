"""Where winnable games are thrown away: the games of agents on many deals, each looked over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.command_line import check_seed
from four_seasons_env.experiments.evaluation.players import Player, find_players
from four_seasons_env.experiments.evaluation.review import (
    UNKNOWN,
    WON,
    judge,
    record_games,
    useful_moves,
)
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.parallel.blocks import (
    Block,
    collect_blocks,
    run_blocks,
    split_deals,
)
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.experiments.training.run_folder import provenance, write_json
from four_seasons_env.game import Game
from four_seasons_env.rules import get_rules
from four_seasons_env.solver import solve

PLAY = ("deterministic",)
"""How trained networks play here."""

BLOCK = 50
"""Deals in one task and file."""
_OPENINGS = 10
"""How many times as many positions as for a game are looked at for a deal that is open."""
COLUMNS = ("agent", "rules", "deal", "won", "start", "alive", "dead", "moves", "digest")
"""Of a results file: `start` is the solver's verdict on the deal, `alive` the cards in the stock at
the last position known to be winnable (-1: there is none), `dead` those at the first known to be
lost (-1 likewise), `moves` those of the game, `digest` the player's."""
_LEFT = (40, 30, 20, 10, 0)
"""Cards left in the stock, for the table."""


@dataclass(frozen=True)
class Task(Block):
    """A block of deals, played by one player and looked over."""

    player: Player
    in_all: int
    seed: int

    @property
    def folder(self) -> str:
        """Folder of the player's result files."""
        return f"{self.player.folder}-{self.in_all}-{self.seed}"


def beside_deals(positions: Sequence[Game]) -> list[Game]:
    """The first and the last position of a game with each number of cards in the stock.

    Their verdicts tell with how many cards left the game was thrown away.
    """
    stocks = [-1, *(position.stock_size for position in positions), -1]
    return [
        position
        for position, before, now, after in zip(
            positions, stocks, stocks[1:], stocks[2:], strict=False
        )
        if not before == now == after
    ]


def review_block(task: Task) -> None:
    """Play and look over a block of deals, and write its result file."""
    rows = []
    games = record_games(task.player, get_rules(task.rules), task.deals, task.seed)
    for deal, record in games.items():
        positions = record.positions()
        positions = beside_deals(positions[: useful_moves(positions) + 1])
        verdicts = judge(positions, seconds=math.inf, in_all=task.in_all)
        last, first = verdicts.last_won, verdicts.first_lost
        rows.append(
            {
                "agent": task.player.agent,
                "rules": task.rules,
                "deal": deal,
                "won": positions[-1].is_won,
                "start": verdicts.statuses[0],
                "alive": -1 if last is None else positions[last].stock_size,
                "dead": -1 if first is None else positions[first].stock_size,
                "moves": len(record.moves),
                "digest": task.player.digest,
            }
        )
    task.write(pd.DataFrame(rows, columns=list(COLUMNS)))


@dataclass(frozen=True)
class Openings(Block):
    """Deals of which no game has shown whether they can be won."""

    in_all: int

    @property
    def folder(self) -> str:
        """Folder of the result files."""
        return f"openings-{self.in_all}"


def solve_openings(task: Openings) -> None:
    """Ask the solver about deals, and write its answers."""
    rules = get_rules(task.rules)
    answers = [solve(Game(rules, deal), max_positions=task.in_all).status for deal in task.deals]
    task.write(pd.DataFrame({"rules": task.rules, "deal": list(task.deals), "start": answers}))


def with_openings(results: pd.DataFrame, out: Path, in_all: int, workers: Workers) -> pd.DataFrame:
    """Results in which the deals that no game has shown to be winnable or lost are looked at anew.

    They are not like the others: without them players would look better than they are.

    Args:
        results: a row for each agent and deal of one rule set; see `COLUMNS`.
        out: folder of the results.
        in_all: positions that the solver looks at for a deal, at most.
        workers: where the deals are solved.
    """
    known = results.loc[results["start"] != UNKNOWN, "deal"]
    left = sorted(set(results["deal"]) - set(known))
    name = str(results["rules"].iloc[0])
    tasks = [Openings(out, name, deals, in_all) for deals in split_deals(tuple(left), BLOCK)]
    run_blocks(solve_openings, tasks, "solving deals", workers)
    if not tasks:
        return results
    answers = pd.concat([read_table(task.part) for task in tasks]).set_index("deal")["start"]
    told = results["deal"].map(answers)
    return results.assign(start=results["start"].where(told.isna(), told))


def winnable_deals(results: pd.DataFrame) -> pd.DataFrame:
    """The results of the deals that are known to be winnable, whoever's game has shown it.

    So each of their games was alive with the most cards in the stock, if not later.
    """
    known = results.loc[results["start"] == WON, ["rules", "deal"]].drop_duplicates()
    games = results.merge(known, on=["rules", "deal"])
    return games.assign(alive=games["alive"].where(games["alive"] >= 0, results["alive"].max()))


def alive_at(games: pd.DataFrame, left: int) -> tuple[float, float]:
    """The share of games that can still be won with so many cards left: at least, at most.

    Args:
        games: results of deals that can be won.
        left: cards in the stock.
    """
    known = games["won"] | games["alive"].between(0, left)
    gone = ~games["won"] & (games["dead"] > left)
    return float(known.mean()), float(1 - gone.mean())


def thrown_away(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each agent, as text: of the deals known to be winnable, how many it won, and how
    many were not yet thrown away when so many cards were left: at least - at most.
    """
    rows = []
    deals = results["agent"].value_counts()
    for agent, winnable in winnable_deals(results).groupby("agent", sort=False):
        row = {"agent": str(agent), "deals": f"{deals[agent]:,}", "winnable": f"{len(winnable):,}"}
        for left in _LEFT:
            low, high = alive_at(winnable, left)
            row[f"alive with {left} left %"] = f"{100 * low:.1f}-{100 * high:.1f}"
        row["won %"] = f"{100 * winnable['won'].mean():.1f}"
        rows.append(row)
    return pd.DataFrame(rows)


def review_deals(
    out: Path,
    agents: Sequence[str],
    rules: str,
    deals: str,
    in_all: int,
    seed: int,
    workers: Workers,
) -> pd.DataFrame:
    """Play deals, look the games over, and store the results; what is done is not done again.

    Args:
        out: folder of the results.
        agents: their names.
        rules: name of the rule set.
        deals: a range of deals such as "10000-10199".
        in_all: positions that the solver looks at for its verdicts on one game, at most.
        seed: of the agents' chance.
        workers: where the tasks run.

    Returns:
        A row for each agent and deal; see `COLUMNS`.

    Raises:
        ValueError: for an unknown agent, rule set or backend, or a text that is no range of deals.
        RuntimeError: if a block failed, once all others are done.
    """
    rule_set = get_rules(rules)
    workers.check()
    check_seed(seed)
    check_out(out, "review")
    blocks = split_deals(deals, BLOCK)
    players = find_players(agents, rule_set, PLAY)
    tasks = [
        Task(out, rule_set.name, block, player, in_all, seed)
        for player in players
        for block in blocks
    ]
    write_json(out / "review.json", provenance())
    run_blocks(review_block, sorted(tasks, key=lambda task: task.deals[0]), "reviewing", workers)
    results = collect_blocks(tasks, out / "results.csv")
    results = with_openings(results, out, _OPENINGS * in_all, workers)
    write_csv(out / "results.csv", results)
    return results
