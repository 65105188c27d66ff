"""What has become of mutants, by the tests and by judgement, counted."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.experiments.pages import RESULTS
from four_seasons_env.experiments.reporting.tables import read_table

STAGES = QUICK, FULL = ("quick", "full")
JUDGED = RESULTS / "reliability" / "judged.csv"
"""Columns name, judgement: of mutants that no test has noticed, in a clause each."""
EQUIVALENT = "equivalent"
"""How the judgement of a mutant begins that no test can tell from the code as it is."""
LEFT = ("survived", "open")
"""Outcomes of a mutant that no test has noticed, but for those that are equivalent."""


def with_judgement(table: pd.DataFrame) -> pd.DataFrame:
    """The table with judgements; its outcome tells the stage of a kill, or that it is equivalent.

    Args:
        table: of `tests.mutation`.
    """
    told = table.merge(read_table(JUDGED), on="name", how="left")
    killed, left = told["outcome"] == "killed", told["outcome"].isin(LEFT)
    equivalent = left & told["judgement"].fillna("").str.startswith(EQUIVALENT)
    outcome = told["outcome"].mask(killed, "killed " + told["stage"].astype(str))
    return told.assign(outcome=outcome.mask(equivalent, EQUIVALENT))


def summary(told: pd.DataFrame) -> pd.DataFrame:
    """Mutants by target: tried, invalid, killed at each stage, equivalent, survived, open.

    Args:
        told: of `with_judgement`.
    """
    names = ["invalid", *(f"killed {stage}" for stage in STAGES), EQUIVALENT, *LEFT]
    counts = pd.crosstab(told["target"], told["outcome"]).reindex(columns=names, fill_value=0)
    counts.insert(0, "tried", counts.sum(axis=1))
    counts.loc["all"] = counts.sum()
    return counts.reset_index()
