"""The solver against brute force on small games.

`solve` and a complete search in plain Python decide every small game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce

UNHURRIED = 60.0  # seconds, for games that take milliseconds


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in both ways, and count how they ended.

    Raises:
        AssertionError: for the first deal with two different answers, or none.
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
