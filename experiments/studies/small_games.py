"""Measure the regret of agents in small games, whose best fair play is known.

    python experiments/studies/small_games.py --agents random greedy heuristic \\
        planner=planner:runs/small/planner-RULES --out runs/small-games.csv

Agents play the first test deals. A decision costs the value of the position minus the value of the
chosen move (`four_seasons_env.solver.fair_value`). The costs of a game add up to its regret; the
mean regret is the loss in win rate against the best player. When the costs of a game reach 1, the
value of the last chosen move minus the result (1 if the game was won) takes the place of all later
costs. The mean stays the same, and no regret exceeds 2, so there is an interval that needs no more
than this bound (`bounded`). Train learning agents first, and name them with the path to their
weights; RULES in a path stands for the name of the game.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import tyro

from four_seasons_env.arguments import check_choice
from four_seasons_env.engine.deals import TEST
from four_seasons_env.experiments import folders, play, players
from four_seasons_env.experiments.studies.bounded import bounded_interval
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
    """The regret of a game, from 0 to 2.

    Args:
        game: its first position, without redeals; it is not changed.
        moves: to its end, or until the player gave up.
        known: the results of earlier searches.
    """
    moves = list(moves)
    game, regret = game.copy(), 0.0
    value = exact_value(game, known=known)
    for i in range(len(moves)):
        if value == 0:  # lost: no later move can cost anything
            break
        after = game.after(moves[i])
        if after.stock_size < game.stock_size and game.stock_size >= 2:  # turns a hidden card
            rest = exact_value(game, moves[i], known=known)
            regret += value - rest
            if regret >= 1:
                for move in moves[i:]:
                    game.play(move)
                return regret + rest - game.is_won
            value = exact_value(after, known=known) if rest else 0.0
        game = after
    return regret + value - game.is_won


def regrets(
    player: players.Player, rules: Rules, deals: list[int], known: Known
) -> dict[str, object]:
    """A row for an agent: games won, and regret."""
    agent = player.new_agent(rules)
    results = play.play_deals(agent, rules, deals, mask=player.mask, record=True)
    found = np.array([regret_of(each.start(), each.moves, known) for each in results["game"]])
    row: dict[str, object] = {"rules": rules.name, "agent": player.agent, "kind": player.kind}
    row |= {"deals": len(deals), "win_rate": results["won"].mean(), "regret": found.mean()}
    low, high = bounded_interval(np.clip(found / 2, 0, 1))  # sums of rounded numbers
    return row | {"regret_low": 2 * low, "regret_high": 2 * high}


def main(
    agents: list[str], out: Path, rules: tuple[str, ...] = tuple(SMALL), games: int = 1000
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
        for player in able:
            rows.append(regrets(player, small, list(TEST[:games]), known))
            print("{rules}, {agent}: regret {regret:.4f}".format_map(rows[-1]), flush=True)
    folders.write_csv(out, pd.DataFrame(rows).assign(**folders.measured_by()))


if __name__ == "__main__":
    tyro.cli(main)
