"""Fair values against brute force on small games.

Random play leads to positions in which few cards are hidden. `fair_value` and expectimax in plain
Python must give each the same value.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import Known, fair_value
from tests.helpers import numbered_deck
from tests.reference.brute_force import position_of
from tests.reference.fair_brute_force import FairBruteForce, TooLarge

MOST = 3_000
"""Positions that brute force may look at for a value; harder positions are skipped."""


def positions(rules: Rules, deal: int, hidden: int) -> Iterator[Game]:
    """A deal played at random: its positions with few cards hidden, one after each card turned."""
    game = Game(rules, deck=numbered_deck(deal, rules.ranks))
    rng = random.Random(deal)
    last = -1
    while last and not game.is_over and game.moves_played < 300:
        if game.redeals_left != rules.redeals:
            return
        if game.stock_size <= hidden and game.stock_size != last:
            last = game.stock_size
            yield game.copy()
        moves = [str(move) for move in game.legal_moves(distinct=True)]
        up = [move for move in moves if move.endswith(">F")]
        game.play(rng.choice(up if up and rng.random() < 0.5 else moves))


def compare(rules: Rules, deals: Iterable[int], hidden: int, most: int = MOST) -> list[float]:
    """Compute values in both ways; returns them.

    Raises:
        AssertionError: for the first position whose two values differ, or that has no exact value.
    """
    values = []
    known = Known()  # what is found out about one deal must hold for the others
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        for game in reversed(list(positions(rules, deal, hidden))):
            try:
                expected = float(FairBruteForce(rules, deck, most).value(position_of(game)))
            except TooLarge:
                break
            found = fair_value(game)
            assert found.value == expected, (rules, deal, found, expected, str(game))
            shared = fair_value(game, known=known)
            assert shared.value == expected, (rules, deal, shared, expected, str(game))
            for decision in found.best:
                after = game.copy()
                for move in decision.moves[:-1]:
                    after.play(move)
                last = fair_value(after, move=decision.moves[-1])
                assert last.value == expected, (rules, deal, decision, last, expected)
            values.append(expected)
    return values
