"""The schedule of `solve`: which searches run in which order, as data.

`FIRST` runs once; then `ROUND` is repeated until there is an answer or the budget is spent. The
time until a deal is won is heavy-tailed, and weights that fail on one deal win another. So beams
with different weights come before very wide ones. The beams of `FIRST` were chosen from runs of 42
candidates on training deals, greedily: the next is the one that wins most of the deals still open
for each second. Seeds that look best on few deals do not stay the best.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.solver.analysis.score import WEIGHTS, WIDE_WEIGHTS


class Step(NamedTuple):
    """A row of the schedule: one search."""

    method: str
    """`beam` or `formula` (docs/explanation/solver.md)."""
    width: int | None = None
    """Positions that a layer starts with. None: all, so that the search is a proof."""
    arrangements: int = 8
    """Positions that a beam keeps with the same cards in the tableau."""
    narrow: bool = False
    """Take the weights of narrow beams (`WEIGHTS`), not `WIDE_WEIGHTS`."""
    spread: float = 0.0
    """Each weight is multiplied by a random factor with mean 1 and this standard deviation."""
    seed: int = 0
    """Seed of the random factors."""
    positions: int | None = None
    """Positions after which the search is given up; twice as many in each further round. None: it
    runs to its end."""
    max_cards: int = 104
    """Skip this step if stock and waste hold more cards."""

    @property
    def name(self) -> str:
        """The name of the step, for `Solution.step`, such as `beam, width 100`."""
        width = "complete" if self.width is None else f"width {self.width}"
        return self.method if self.method == "formula" else f"{self.method}, {width}"

    def weights(self) -> NDArray[np.float64]:
        """The weights of the features, float64 (features,)."""
        rng = np.random.default_rng((77, self.seed))
        weights = WEIGHTS if self.narrow else WIDE_WEIGHTS
        return weights * (1 + self.spread * rng.standard_normal(len(weights)))


FIRST = (
    Step("beam", 30, narrow=True),
    Step("beam", None, positions=30_000, max_cards=24),
    Step("formula", max_cards=14),
    Step("beam", 100, 32),
    Step("beam", 100, 32, narrow=True),
    Step("beam", 200, 32, spread=0.2, seed=5),
    Step("formula", max_cards=34),
    Step("beam", None, positions=200_000, max_cards=30),
    Step("beam", 400),
    Step("beam", None, positions=1_000_000, max_cards=22),
    Step("beam", 800, 16, narrow=True),
    Step("beam", 400, 32, narrow=True),
    Step("beam", 1_600, 32, narrow=True),
    Step("formula"),
    Step("beam", 800, 16, spread=0.4, seed=3),
    Step("beam", 800, 64, spread=0.2, seed=1),
    Step("beam", 10_000, 100),
)
ROUND = (
    Step("beam", 800, 16, spread=0.4),
    Step("beam", 200, 32, spread=0.1),
    Step("beam", 800, 64, spread=0.2),
    Step("beam", 400, 32, spread=0.2),
    Step("beam", 3_200, 64, spread=0.2),
    Step("beam", 10_000, 100, spread=0.1),
    Step("beam", None, positions=200_000),
)


def steps() -> Iterator[Step]:
    """All steps in order; the weights differ in each round."""
    yield from FIRST
    for number in count():
        for row, step in enumerate(ROUND):
            positions = step.positions and step.positions << min(number, 30)
            seed = 1 + number * len(ROUND) + row
            yield step._replace(seed=seed, positions=positions)
