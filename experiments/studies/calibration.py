"""Does the planner win as often after a move as a hint says?

    python experiments/studies/calibration.py --out runs/calibration.csv

Takes a position from each of 154 games of the planner and of weaker agents on validation deals.
There the planner's move and up to three others, dealing at once among them, are played, and the
planner plays on from reshuffled stocks. Writes a row per move, for docs/results.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.agents import Agent, make_agent
from four_seasons_env.agents.names import split_name
from four_seasons_env.agents.planner.chances import Judge
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.folders import write_csv
from four_seasons_env.experiments.play import play_games
from four_seasons_env.experiments.players import find_players
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.games import Games
from four_seasons_env.rules import RULES

RULE_SET = RULES["four-seasons"]
DEALS = {
    "planner": range(10_000, 10_045),
    "heuristic": range(10_500, 10_545),
    "greedy": range(11_000, 11_032),
    "random": range(11_500, 11_532),
}
"""The validation deals of each player whose games give positions."""
OTHERS = 3
"""Maximum number of moves compared with the planner's in a position."""
COLUMNS = ["player", "deal", "moves", "hidden", "move", "chosen", "chance", "games", "won"]


def games_won(position: Game, move: int, agent: Agent, games: int, seed: int) -> int:
    """Play a move and then an agent's moves in reshuffled copies; returns the games won."""
    copies, rng = Games.of(position, games), np.random.default_rng(seed)
    copies.reshuffle(rng)
    copies.play(np.full(games, move))
    for _ in range(MAX_MOVES):
        alive = np.flatnonzero(~copies.is_over)
        if not len(alive):
            break
        moves, masks = np.full(games, -1), copies.action_masks(distinct=True)
        moves[alive] = agent.act(copies.records[alive], masks[alive], rng)
        copies.play(moves)
    return int(copies.is_won.sum())


def moves_compared(
    player: str, deals: int, games: int, agent: Agent, judge: Judge
) -> Iterator[tuple[Any, ...]]:
    """A row per move of the positions from a player's games; see `COLUMNS`."""
    (found,) = find_players([split_name(player)], RULE_SET, ["deterministic"])
    for record in play_games(found, RULE_SET, DEALS[player][:deals])["game"]:
        rng, reached = np.random.default_rng(record.deal), record.positions()
        hidden = [i for i, each in enumerate(reached) if each.stock_size > 1]
        choices = [i for i in hidden if len(reached[i].legal_moves(distinct=True)) > 1]
        if not choices:
            continue
        at = int(rng.choice(choices))
        position = reached[at]
        mask = position.action_mask(distinct=True)[None]
        chosen = all_moves(RULE_SET)[int(agent.act(position.record.copy(), mask, rng)[0])]
        others = [move for move in position.legal_moves(distinct=True) if move != chosen]
        rng.shuffle(others)
        # Dealing at once comes first, so it is always among the compared moves.
        others.sort(key=lambda move: move.text != "deal")
        chances = judge.values(position)
        for move in [chosen, *others[:OTHERS]]:
            won = games_won(position, move.number, agent, games, record.deal)
            about = player, record.deal, at, position.stock_size, move.text
            yield *about, move == chosen, chances[move.number], games, won


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deals", type=int, default=45, help="of each player, at most")
    parser.add_argument("--games", type=int, default=40)
    flags = parser.parse_args()
    games, agent, judge = flags.games, make_agent("planner", RULE_SET), Judge(RULE_SET)
    players = [moves_compared(player, flags.deals, games, agent, judge) for player in DEALS]
    rows = list(itertools.chain(*players))
    write_csv(flags.out, pd.DataFrame(rows, columns=COLUMNS))


if __name__ == "__main__":
    main()
