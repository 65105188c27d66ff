"""The odds of winning a rule set, for players of all kinds, from the kept results."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.evaluation.ceiling import CEILING, ceiling_row
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.statistics.summary import win_rates
from four_seasons_env.rules import Rules

BOOK_ODDS = 0.1
"""Morehead and Mott-Smith's odds of winning Four Seasons."""

SIMPLE = ("random", "heuristic")
"""Players of whom each rule set has results."""

BEST = "best fair player"
"""The kind of the one that has won most without seeing the stock."""

OPEN = "sees every card"
"""The kind of the player whom the census tells of."""

_RESULTS = ROOT / "docs" / "results"
_KEPT = ("family", "recipes", "searches", "four-seasons", "ladder")


def kept_results() -> pd.DataFrame:
    """All kept results of players on test deals, as
    `four_seasons_env.experiments.statistics.summary` has them."""
    return pd.concat([read_table(_RESULTS / f"{name}.csv") for name in _KEPT], ignore_index=True)


def odds(rules: Rules, played: pd.DataFrame, solved: pd.DataFrame | None) -> pd.DataFrame:
    """The odds of a rule set: of simple players, of the best fair one, and with open cards.

    The best fair player may be the heuristic, where nothing has done better.

    Args:
        rules: the rule set.
        played: rows as of `four_seasons_env.experiments.statistics.summary.summarise`, of any rule
            sets.
        solved: a census of any rule sets, None for none.

    Returns:
        A row for each kind of player (`SIMPLE`, `BEST`, `OPEN`). Columns: kind; agent; wins, in
        percent as text; deals, as text.
    """
    own = played[(played["rules"] == rules.name) & (played["agent"] != CEILING)]
    most = own.sort_values("deals", ascending=False, kind="stable")
    most = most.drop_duplicates(["agent", "play"]).set_index("agent", drop=False)
    fair = most[most["agent"] != SIMPLE[0]].sort_values("win_rate", kind="stable").tail(1)
    simple = most.loc[[agent for agent in SIMPLE if agent in most.index]]
    shown = [simple, fair]
    kinds = [*simple["agent"], *[BEST] * len(fair)]
    known = None if solved is None else solved[solved["rules"] == rules.name]
    if known is not None and len(known):
        shown.append(pd.DataFrame([ceiling_row(rules.name, known)]))
        kinds.append(OPEN)
    rows = pd.concat(shown, ignore_index=True)
    return pd.DataFrame(
        {
            "kind": kinds,
            "agent": rows["agent"],
            "wins": win_rates(rows),
            "deals": [f"{deals:,.0f}" for deals in rows["deals"]],
        }
    )
