"""The solver against brute force on small games: `python -m tests.reference.solver_differential`.

Every small game is decided twice, by `solve` and by a search in plain Python that cuts nothing off.
The first difference ends the run with the game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import tyro

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve
from tests.helpers import numbered_deck, small_rules
from tests.reference.brute_force import BruteForce
from tests.reference.comparison_table import print_comparison

UNHURRIED = 60.0  # seconds, for games that take milliseconds


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in both ways, and count how they ended.

    Raises:
        AssertionError: for the first that is decided differently, or not at all.
    """
    found: Counter[str] = Counter()
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        game = Game(rules, deck=deck)
        solution = solve(game, seconds=UNHURRIED)
        for move in solution.moves:
            game.play(move)
        assert (solution.status == "won") == game.is_won, (rules, deal)
        expected = "won" if BruteForce(rules, deck).can_be_won() else "lost"
        assert solution.status == expected, (rules, deal, solution.status, expected)
        found[solution.status] += 1
    return found


def small_games() -> Iterable[Rules]:
    """Rule sets that are decided by brute force in a fraction of a second or in seconds."""
    return small_rules(wraps=((4, 1), (5, 2), (6, 2)), rows=((4, 1), (5, 2)))


def one_way_games() -> Iterator[Rules]:
    """Those of them in which no card comes back: no redeals, no worrying back."""
    for rules in small_games():
        if not (rules.redeals or rules.worrying_back):
            yield rules


def main(deals: int = 1000, first: int = TRAIN_FROM) -> None:
    """Compare rule set after rule set.

    Args:
        deals: deals of each rule set.
        first: number of the first deal.
    """

    def count(rules: Rules) -> list[int]:
        found = compare(rules, range(first, first + deals))
        return [found["won"], found["lost"], 0]

    print_comparison(("won", "lost", "differences"), small_games(), count)


if __name__ == "__main__":
    tyro.cli(main)
