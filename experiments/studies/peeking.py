"""How soon does luck expose a player that sees hidden cards?

    python experiments/studies/peeking.py --out runs/peeking

Three players that see hidden cards and a fair one, all with the planner's network, play training
deals and are tested for peeking. Writes peeking.csv, a row per player, for docs/results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.results.summary import peeking
from four_seasons_env.experiments.results.tables import write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver import solve

RULE_SET = RULES["four-seasons"]
HEARTS = 2
PLANNER = "planner@positions=50,expansions=20,votes=0"
_EXPANSIONS = 20
"""Expansions of the search for positions in which a seen card is turned."""
_MOST_MOVES = 200

Seen = Callable[[int], bool]
"""Whether a player recognises this card before it is turned."""
Strategy = Callable[[Game], list[int]]
"""Plays a game to its end, and returns the moves."""


def no_card(card: int) -> bool:
    """Sees nothing: a fair player."""
    return False


def any_card(card: int) -> bool:
    """Sees the next card."""
    return True


def one_suit(card: int) -> bool:
    """Sees where the cards of one suit are."""
    return card & 3 == HEARTS


def all_cards(game: Game) -> list[int]:
    """The moves of a player who sees all cards: the solution of the solver."""
    return [move.number for move in solve(game, max_positions=200_000).moves or ()]


class Peeker:
    """Plays like the planner, or for the best value after the next card if it sees that card.

    Args:
        rules: the rule set.
        sees: the cards that it sees before they are turned.
    """

    def __init__(self, rules: Rules, sees: Seen) -> None:
        self._agent, self._rng = make_agent(PLANNER, rules), np.random.default_rng(0)
        self._meter, self._sees = LuckMeter(rules), sees

    def __call__(self, game: Game) -> list[int]:
        """Play a game to its end, and return the moves."""
        moves: list[int] = []
        while game.stock_size > 1:
            card = int(game.record["deck"][0, game.record["dealt"][0]])
            for move in self._peek(game) if self._sees(card) else self._decide(game):
                game.play(move)
                moves.append(move)
        # Nothing is hidden now, so the rest says nothing about peeking.
        solution = solve(game, max_positions=20_000)
        return moves + [move.number for move in solution.moves or ()]

    def _peek(self, game: Game) -> list[int]:
        """The moves to the best position for the true next card, and the move that turns it."""
        stops = game.stops(_EXPANSIONS)
        after = np.concatenate([stop.game.after(stop.turn).record for stop in stops])
        best = stops[int(self._meter.worth(after).argmax())]
        return [move.number for move in (*best.moves, best.turn)]

    def _decide(self, game: Game) -> list[int]:
        """The planner's moves up to the turn of the next card."""
        moves: list[int] = []
        for _ in range(_MOST_MOVES):
            mask = game.action_mask(distinct=True)[None]
            shown = game.reshuffled(self._rng).record.copy()
            moves.append(int(self._agent.act(shown, mask, self._rng)[0]))
            after = game.after(moves[-1])
            if after.stock_size < game.stock_size:
                break
            game = after
        return moves


def play_and_measure(strategy: Strategy, first: int, games: int) -> Iterator[dict[str, float]]:
    """The result and the luck of each game, as a row for `peeking`."""
    meter = LuckMeter(RULE_SET)
    for deal in range(first, first + games):
        start = Game(RULE_SET, deal=deal)
        end, moves = start.copy(), strategy(start.copy())
        for move in moves:
            end.play(move)
        luck = meter.measure(start, moves)
        row = {"won": float(end.is_won), "luck": luck.total, "luck_variance": luck.variance}
        yield row | {"train_seed": 0}


def main() -> None:
    """Write peeking.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="share of the games, for a trial")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    players: list[tuple[str, Strategy, int]] = [
        ("the cards of one suit", Peeker(RULE_SET, one_suit), 2000),
        ("the next card", Peeker(RULE_SET, any_card), 300),
        ("all cards", all_cards, 100),
        ("nothing", Peeker(RULE_SET, no_card), 300),
    ]
    rows = []
    for name, player, most in players:
        count = int(most * run.share)
        played = pd.DataFrame(play_and_measure(player, TRAIN_FROM, count))
        z, p = peeking(played)
        won = played["won"].mean()
        rows.append({"what": name, "games": count, "won": won, "luck_z": z, "luck_p": p})
        write_csv(run.out / "peeking.csv", pd.DataFrame(rows))
        print(f"sees {name}: z {z:.1f} after {count:,} games", flush=True)


if __name__ == "__main__":
    main()
