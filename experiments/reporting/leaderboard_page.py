"""Rows of docs/leaderboard.md: what was found in folders that have been verified, nothing else."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.parallel.parts import digest_of
from four_seasons_env.experiments.reporting.tables import as_markdown
from four_seasons_env.experiments.statistics.summary import ranked, summarise, win_rates
from four_seasons_env.experiments.verification.replay import Verification

_KEY = ["rules", "agent", "play", "which"]
COLUMNS = (
    *("rules", "agent", "play", "kind", "observation", "seeds", "which", "deals", "games"),
    *("win_rate", "win_low", "win_high", "ms_per_game", "digest"),
)
"""Of the table that is kept: `which` names the deals, `games` is how many were replayed, `digest`
that of `verified.json`."""


def rows_of(found: Verification) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set.

    Args:
        found: of a folder.

    Raises:
        ValueError: if it is not verified.
    """
    if not found.verified:
        raise ValueError(
            f"{found.folder} is not verified, and only what is has a place here: "
            f"{found.differences[0]}"
        )
    claims, results = found.claims, found.results
    rows = summarise(results)
    key = ["rules", "agent", "play"]
    rows["games"] = [len(played) for _, played in results.groupby(key, sort=False)]
    rows["kind"] = rows["agent"].map(claims.kinds)
    rows["observation"] = rows["agent"].map(claims.observations)
    first, last, count = claims.deals[0], claims.deals[-1], len(claims.deals)
    rows["which"] = f"{count:,} sealed" if claims.sealed else f"{first:,}-{last:,}"
    rows["digest"] = digest_of(found.files)
    kept: pd.DataFrame = rows[list(COLUMNS)]
    return kept


def merged(before: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Rows in which new ones replace those of the same agent, way of playing, rules and deals.

    Sealed deals are others each time, so their rows stay beside each other.
    """
    rows = pd.concat([before, new], ignore_index=True)
    sealed = rows["which"].str.endswith("sealed")
    again = rows[_KEY].assign(digest=rows["digest"].where(sealed)).duplicated(keep="last")
    left: pd.DataFrame = rows[~again].reset_index(drop=True)
    return left


def leaderboard_part(rows: pd.DataFrame) -> str:
    """The generated part of the page: a table for each rule set, those that won most first."""
    parts = []
    for rules, played in rows.groupby("rules", sort=False):
        own = ranked(played)
        which = [
            name if name.endswith("sealed") or deals == _count(name) else f"{deals:,} of {name}"
            for name, deals in zip(own["which"], own["deals"], strict=True)
        ]
        table = pd.DataFrame(
            {
                "agent": own["agent"],
                "made of": own["kind"],
                "won % [95%]": win_rates(own),
                "deals": which,
                "play": own["play"],
                "observation": own["observation"],
                "seeds": own["seeds"].map(str),
                "ms/game": own["ms_per_game"].map("{:.2f}".format).replace("nan", "-"),
                "verified": own["games"].map("yes, {:,} games".format),
                "digest": own["digest"].str[:8],
            }
        )
        parts.append(f"## {rules}\n\n{as_markdown(table)}\n")
    return "".join(parts)


def _count(which: str) -> int:
    """How many deals a range has."""
    first, last = (int(end.replace(",", "")) for end in which.split("-"))
    return last - first + 1
