"""The solver against brute force on two of the smallest games: the first that a mutant meets."""

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from tests.helpers import small
from tests.reference.solver_differential import compare

GAMES = [
    ("four-seasons", 1, 0, "won"),
    ("four-seasons", 1, 9, "lost"),
]
"""Row, piles, deal, end."""


@pytest.mark.parametrize(("row", "piles", "deal", "end"), GAMES)
def test_agrees_with_brute_force(row: str, piles: int, deal: int, end: str) -> None:
    first = TRAIN_FROM + deal
    assert compare(small(row, ranks=4, piles=piles), range(first, first + 1)) == {end: 1}
