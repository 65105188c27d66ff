"""Decisions near the end of the stock, held against fair values."""

import pandas as pd
import pytest

from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.endings import (
    Endings,
    decisions,
    endings_as_text,
    summarise_endings,
)


def test_each_decision_is_valued_between_its_bounds(tmp_path):
    deals = f"{VALIDATION[0]}-{VALIDATION[0] + 3}"
    table = pd.DataFrame(
        decisions(Endings(tmp_path, "heuristic", deals=deals, hidden=3, seconds=0.05))
    )
    assert set(table["hidden"]) <= {2, 3}
    assert len(table) >= 4
    assert (table["own_low"] <= table["own_high"]).all()
    assert (table["low"] <= table["high"]).all()
    assert (table["own_high"] <= table["high"]).all()
    assert table["nodes"].ge(0).all()


def test_what_a_decision_costs_is_judged_where_both_values_are_exact():
    table = pd.DataFrame(
        {
            "deal": range(4),
            "hidden": 2,
            "low": [1.0, 1.0, 0.5, 0.0],
            "high": [1.0, 1.0, 1.0, 0.0],
            "own_low": [1.0, 0.5, 0.5, 0.0],
            "own_high": [1.0, 0.5, 1.0, 0.0],
            "seconds": [0.01, 0.5, 10.0, 0.01],
            "nodes": 1,
        }
    )
    (row,) = summarise_endings(table).to_dict("records")
    assert (row["decisions"], row["both"]) == (4, 3)
    assert (row["within 0.1 s"], row["within 1 s"], row["exact"]) == (0.5, 0.75, 0.75)
    assert (row["won"], row["lost"]) == (0.5, 0.25)
    assert row["worse"] == pytest.approx(1 / 3)
    assert row["cost"] == pytest.approx(0.5 / 3)
    assert endings_as_text(pd.DataFrame([row]))["cost, points"].tolist() == ["16.67"]
