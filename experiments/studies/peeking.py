"""How soon does luck expose a player that sees hidden cards?

    python experiments/studies/peeking.py --out runs/peeking

Plays training deals as three players that see hidden cards and as a fair one, all with the
planner's network, and tests each for peeking. Writes peeking.csv, a row for each player and number
of games; docs/results/peeking.csv holds it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents.luck import LuckMeter
from four_seasons_env.agents.planner.lookahead import choose
from four_seasons_env.agents.planner.search import new_evaluator, reach
from four_seasons_env.agents.planner.weights import bundled_network
from four_seasons_env.agents.search.determinization import hide_unseen
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, play
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.experiments.statistics.luck import peeking
from four_seasons_env.game import Game
from four_seasons_env.next_deal.reach import Search, new_search
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver import solve

RULE_SET = RULES["four-seasons"]
HEARTS = 2
_POSITIONS, _EXPANSIONS = 50, 20
_ALL = np.float32(1)
"""Margin of `choose` that leaves out no position."""
_FEWER = (30, 100, 300, 1000)
"""Numbers of games after which the test is shown as well."""

Seen = Callable[[int], bool]
"""Whether a player sees that this card comes next."""
Player = Callable[[Game], list[int]]
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
    """The moves of a player who sees all cards: those that the solver finds."""
    return [move.number for move in solve(game, max_positions=200_000).moves or ()]


class Peeker:
    """Plays the planner's best position, or the best for the next card where it sees that card.

    Args:
        rules: the rule set.
        sees: which cards it sees before they are turned.
    """

    def __init__(self, rules: Rules, sees: Seen) -> None:
        self._evaluator = new_evaluator(rules, bundled_network(rules))
        self._search = new_search(rules, _POSITIONS)
        self._meter, self._sees = LuckMeter(rules), sees
        self._chosen = np.zeros(_POSITIONS, np.int64)
        self._after = np.zeros(_POSITIONS, GAME)

    def __call__(self, game: Game) -> list[int]:
        """Play a game to its end, and return the moves."""
        moves: list[int] = []
        while game.stock_size > 1 and (decision := self._decide(game)):
            for move in decision:
                game.play(move)
            moves += decision
        solution = solve(game, max_positions=20_000)
        return moves + [move.number for move in solution.moves or ()]

    def _decide(self, game: Game) -> list[int]:
        """The moves up to the turn of the next card."""
        (record,), search = game.record.copy(), self._search
        card = int(record["deck"][record["dealt"]])
        hide_unseen(record, self._evaluator.rule)
        _, count = reach(record, self._evaluator, search, _POSITIONS, _EXPANSIONS)
        most = _POSITIONS if self._sees(card) else 1
        found = choose(search, count, most, _ALL, self._chosen)
        best = 0
        if found > 1:
            _turn(search, self._chosen[:found], card, self._evaluator.rule, self._after)
            best = int(self._meter.worth(self._after[:found]).argmax())
        return self._moves_to(int(self._chosen[best])) if found else []

    def _moves_to(self, row: int) -> list[int]:
        """The moves to a position of the search, with the one that turns a card."""
        search = self._search
        moves = [int(search.turns[row])]
        # A move with a refill is played from the position before it.
        at = int(search.parents[row]) if moves[0] > 0 else row
        while at > 0:
            moves.insert(0, int(search.moves[at]))
            at = int(search.parents[at])
        return moves


@jit
def _turn(
    search: Search, rows: NDArray[np.int64], card: int, rule: Any, after: NDArray[Any]
) -> None:
    """Write the positions that follow if this card is turned in these rows."""
    for i in range(len(rows)):
        move = search.turns[rows[i]]
        after[i] = search.positions[search.parents[rows[i]] if move > 0 else rows[i]]
        deck, first = after[i].deck, np.int64(after[i].dealt)
        for k in range(first, np.int64(after[i].deck_size)):
            if deck[k] == card:
                deck[first], deck[k] = deck[k], deck[first]
        play(after[i], rule, move)


def play_and_measure(player: Player, first: int, games: int) -> Iterator[dict[str, float]]:
    """The result and the luck of each game, as a row for `peeking`."""
    meter = LuckMeter(RULE_SET)
    for deal in range(first, first + games):
        start = Game(RULE_SET, deal=deal)
        end, moves = start.copy(), player(start.copy())
        for move in moves:
            end.play(move)
        luck = meter.measure(start.record, moves)
        row = {"won": float(end.is_won), "luck": luck.total, "luck_variance": luck.variance}
        yield row | {"train_seed": 0}


def main() -> None:
    """Write peeking.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the games, to try it")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    players: list[tuple[str, Player, int]] = [
        ("the cards of one suit", Peeker(RULE_SET, one_suit), 2000),
        ("the next card", Peeker(RULE_SET, any_card), 300),
        ("all cards", all_cards, 100),
        ("nothing", Peeker(RULE_SET, no_card), 300),
    ]
    rows = []
    for name, player, most in players:
        count = int(most * run.share)
        played = pd.DataFrame(play_and_measure(player, TRAIN_FROM, count))
        for games in (*(fewer for fewer in _FEWER if fewer < count), count):
            z, p = peeking(played[:games])
            won = played["won"][:games].mean()
            rows.append({"sees": name, "games": games, "won": won, "luck_z": z, "luck_p": p})
        write_csv(run.out / "peeking.csv", pd.DataFrame(rows))
        print(f"sees {name}: z {z:.1f} after {count:,} games", flush=True)


if __name__ == "__main__":
    main()
