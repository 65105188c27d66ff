"""The formula of the relaxed game against brute force.

A complete search in plain Python decides every small game. The formula must not call a game lost
that can be won.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import sat
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, Root
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce


def calls_lost(game: Game) -> bool:
    """Whether the formula of a position cannot be satisfied."""
    search = sat.FormulaSearch(Root(game.record[0], game.rules))
    while (status := search.go_on()) == SEARCHING:
        pass
    return status == LOST


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in both ways; count them as won, lost (by both) and missed (lost, no proof).

    Raises:
        AssertionError: for a game that can be won, if the formula calls it lost.
    """
    found: Counter[str] = Counter()
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        game = Game(rules, deck=deck)
        lost = calls_lost(game)
        winnable = BruteForce(rules, deck).can_be_won()
        assert not (lost and winnable), (rules, deal)
        found["won" if winnable else "lost" if lost else "missed"] += 1
    return found
