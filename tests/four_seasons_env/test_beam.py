"""Beams against brute force, in slices and without room."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, WON, Root
from four_seasons_env.solver.beam import Beam
from tests.helpers import numbered_deck, small
from tests.reference.brute_force import BruteForce

MEMORY = 2**22


def positions(rules: Rules, count: int, most: int = 9) -> Iterator[tuple[Game, bool]]:
    """Positions some random moves after the opening, and whether they can be won."""
    for number in range(count):
        deck = numbered_deck(TRAIN_FROM + number, rules.ranks)
        game, rng, moves = Game(rules, deck=deck), random.Random(number), list[str]()
        for _ in range(rng.randrange(most)):
            if not game.is_over:
                legal = list(map(str, game.legal_moves()))
                moves.append("deal" if "deal" in legal and rng.random() < 0.5 else legal[-1])
                game.play(moves[-1])
        yield game, BruteForce(rules, deck, moves).can_be_won()


ANY = [
    *(small(row, ranks=4, piles=1) for row in ("four-seasons", "corners", "czarina-1898")),
    small("florentine", ranks=4, piles=2),
]


def run(search: Beam) -> int:
    """The status of a search at its end."""
    status = SEARCHING
    while status == SEARCHING:
        status = search.go_on()
    return status


@pytest.mark.parametrize(("number", "end"), [(3, LOST), (7, WON)])
def test_skipped_arrangements_prove_no_loss(number: int, end: int) -> None:
    rules = small("four-seasons", ranks=7, piles=2)
    root = Root(Game(rules, deck=numbered_deck(TRAIN_FROM + number, 7)).record[0], rules)
    assert run(Beam(root, None)) == end
    assert run(Beam(root, 10_000, arrangements=1)) == UNDECIDED


@pytest.mark.parametrize("width", [1, 50])
@pytest.mark.parametrize("rules", ANY, ids=lambda rules: rules.name)
def test_narrow_beam_wins_or_is_incomplete(rules: Rules, width: int) -> None:
    found = Counter()
    for game, winnable in positions(rules, 6):
        if game.is_won:
            continue
        search = Beam(Root(game.record[0], rules, MEMORY), width)
        status = run(search)
        if status == WON:
            for move in search.moves():
                game.play(move)
            assert game.is_won
        elif status == LOST:
            assert not winnable
        found[status] += 1
    assert found[WON]
