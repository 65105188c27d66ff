"""The demo: its words and plots. `test_wheel.py` runs it."""

import pandas as pd

from four_seasons_env.experiments.demo import SHOWN, expectations
from four_seasons_env.experiments.results.tables import DATA


def test_expectations_are_stored_results() -> None:
    text = expectations("four-seasons")
    stored = pd.read_csv(DATA / "four-seasons.csv").set_index("agent")
    for name in SHOWN:
        rate = stored.loc[[name], "win_rate"].iloc[0]
        assert f"{name} {rate:.1%}" in text
    assert expectations("czarina") == ""
