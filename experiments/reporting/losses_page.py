"""Why deals are lost: the part of docs/solver.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.engine.cards import SIGNS, SUITS
from four_seasons_env.game import Game
from four_seasons_env.solver import Reason

_SIGNS = str.maketrans(SUITS, SIGNS)


def reasons_of(table: pd.DataFrame) -> dict[int, Reason]:
    """The reasons that a table of `four_seasons_env.experiments.losses` tells, those of the fewest
    moments first.

    Args:
        table: of one rule set.

    Returns:
        The reasons by deal.
    """
    known = table.dropna(subset="moments")
    reasons = {
        int(deal): Reason(tuple(moments.split()), tuple(waiting.split()))
        for deal, moments, waiting in known[["deal", "moments", "waiting"]].itertuples(index=False)
    }
    return dict(sorted(reasons.items(), key=lambda each: len(each[1].moments)))


def losses_part(table: pd.DataFrame, pictures: Sequence[Path]) -> str:
    """What is told of all losses, and the pictures of some.

    Args:
        table: of `four_seasons_env.experiments.losses`.
        pictures: files whose names end with the deal.
    """
    (rules,) = table["rules"].unique()
    reasons = reasons_of(table)
    counts = np.array([len(reason.moments) for reason in reasons.values()])
    opening = {deal: Game(rules, deal).stock for deal in reasons}
    places = [opening[deal].index(card) for deal in reasons for card in reasons[deal].moments]
    early = np.mean(np.array(places) < len(next(iter(opening.values()))) / 3)
    lines = [
        f"Of the {len(table)} test deals that are lost, {len(reasons)} have such a reason. It has "
        f"{counts.min()} to {counts.max()} moments, {np.median(counts):.0f} in the middle. "
        f"{100 * early:.0f}% of the moments are cards of the first third of the stock, which come "
        "to lie at the bottom of the waste.",
        "",
    ]
    for path in pictures:
        deal = int(path.stem.rpartition("-")[2])
        moments = ", ".join(card.translate(_SIGNS) for card in reasons[deal].moments)
        lines += [
            f"Deal {deal:,}: {moments}.",
            "",
            f"![deal {deal}: the cards that lock each other](pictures/{path.name})",
            "",
        ]
    return "\n".join(lines)
