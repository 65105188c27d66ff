"""Measure the regret of agents in small games, whose best fair play is known.

    python experiments/studies/small_games.py --agents random greedy heuristic \\
        planner=planner:runs/small/planner-RULES --out runs/small-games.csv

Agents play the first test deals. A decision costs the value of the position minus the value of the
chosen move (`four_seasons_env.solver.fair_value`). The costs of a game add up to its regret; the
mean regret is the loss in win rate against the best player. Train learning agents first, and name
them with the path to their weights; RULES in a path stands for the name of the game.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import tyro
from numpy.typing import NDArray
from scipy import stats

from four_seasons_env.arguments import check_choice
from four_seasons_env.engine.deals import TEST
from four_seasons_env.experiments import folders, play, players
from four_seasons_env.game import Game
from four_seasons_env.rules import SMALL, Rules
from four_seasons_env.solver import Known, fair_value

MEMORY = 6 * 2**30
"""Bytes for the values of a game's positions."""


def exact_value(game: Game, move: str | None = None, *, known: Known) -> float:
    """The exact value of a position, or of a move in it; a MemoryError above `MEMORY`."""
    value = fair_value(game, move, max_positions=2**62, memory=MEMORY, known=known).value
    if value is None:
        raise MemoryError(f"{game.rules.name} takes more than {MEMORY / 2**30:g} GiB")
    return value


def regret_of(game: Game, moves: Iterable[str], known: Known) -> float:
    """The regret of a game.

    Args:
        game: its first position, without redeals; it is not changed.
        moves: to its end, or until the player gave up.
        known: the results of earlier searches.
    """
    game, regret = game.copy(), 0.0
    value = exact_value(game, known=known)
    for move in moves:
        if value == 0:  # lost: no later move can cost anything
            break
        after = game.after(move)
        if after.stock_size < game.stock_size and game.stock_size >= 2:  # turns a hidden card
            rest = exact_value(game, move, known=known)
            regret += value - rest
            value = exact_value(after, known=known) if rest else 0.0
        game = after
    return regret + value - game.is_won


def interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95% interval of a mean of shares; if all are equal, that of an event never observed."""
    ends = stats.ttest_1samp(values, 0).confidence_interval()
    if np.ptp(values) == 0:
        unseen = stats.binomtest(0, len(values)).proportion_ci().high
        ends = values[0] - unseen, values[0] + unseen
    low, high = np.clip(ends, 0, 1)
    return float(low), float(high)


def regrets(
    player: players.Player, rules: Rules, deals: list[int], known: Known
) -> dict[str, object]:
    """A row for an agent: games won, and regret."""
    agent = player.new_agent(rules)
    results = play.play_deals(agent, rules, deals, mask=player.mask, record=True)
    found = np.array([regret_of(each.start(), each.moves, known) for each in results["game"]])
    row: dict[str, object] = {"rules": rules.name, "agent": player.agent, "kind": player.kind}
    row |= {"deals": len(deals), "win_rate": results["won"].mean(), "regret": found.mean()}
    return row | dict(zip(("regret_low", "regret_high"), interval(found), strict=True))


def main(
    agents: list[str], out: Path, rules: tuple[str, ...] = tuple(SMALL), games: int = 100
) -> None:
    """Write a row for each agent in each small game.

    Args:
        agents: agents by name; RULES in a path to weights stands for the name of the game.
        out: file of the rows.
        rules: small games by name.
        games: number of test deals.
    """
    chosen = [SMALL[check_choice("rules", name, tuple(SMALL))] for name in rules]
    rows = []
    for small in chosen:
        named, known = [each.replace("RULES", small.name) for each in agents], Known()
        able = players.find_players(named, small, ["deterministic"])
        rows += [regrets(player, small, list(TEST[:games]), known) for player in able]
    folders.write_csv(out, pd.DataFrame(rows))


if __name__ == "__main__":
    tyro.cli(main)
