"""A word on tables whose players have changed since."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.evaluation.players import find_players


def told_of_former(table: pd.DataFrame, rules: str) -> str:
    """A paragraph on the agents of a table that played by other weights than they have now, or "".

    Args:
        table: with the columns "agent", its name, and "digest", that of the player (`Player`).
        rules: what they played.
    """
    rows = table[["agent", "digest"]].drop_duplicates().fillna("")
    former = [
        f"`{name}`"
        for name, digest in rows.itertuples(index=False)
        if all(player.digest != digest for player in find_players([name], rules))
    ]
    if not former:
        return ""
    return f"Played by former weights, not by those of today: {', '.join(former)}.\n\n"
