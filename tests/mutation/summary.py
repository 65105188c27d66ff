"""What has become of mutants, counted."""

from __future__ import annotations

import pandas as pd

STAGES = QUICK, FULL = ("quick", "full")


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mutants by target: tried, invalid, killed at each stage, survived, open."""
    killed = table["outcome"] == "killed"
    outcomes = table["outcome"].mask(killed, "killed " + table["stage"].astype(str))
    names = ["invalid", *(f"killed {stage}" for stage in STAGES), "survived", "open"]
    counts = pd.crosstab(table["target"], outcomes).reindex(columns=names, fill_value=0)
    counts.insert(0, "tried", counts.sum(axis=1))
    counts.loc["all"] = counts.sum()
    return counts.reset_index()
