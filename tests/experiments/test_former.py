"""Tables whose players have changed since say so."""

import pandas as pd

from four_seasons_env.experiments.evaluation.players import find_players
from four_seasons_env.experiments.reporting.former import told_of_former
from four_seasons_env.experiments.reporting.tables import read_table, write_csv


def test_only_agents_that_would_play_by_other_weights_now_are_named(tmp_path) -> None:
    names = ["heuristic", "planner", "planner@nodes=40"]
    players = {name: find_players([name], "four-seasons")[0].digest for name in names}
    rows = pd.DataFrame({"agent": names * 2, "digest": [*players.values()] * 2, "won": 0.5})
    write_csv(tmp_path / "x.csv", rows)
    assert told_of_former(read_table(tmp_path / "x.csv"), "four-seasons") == ""
    rows.loc[rows["agent"] == "planner@nodes=40", "digest"] = players["planner"]
    write_csv(tmp_path / "x.csv", rows)
    told = told_of_former(read_table(tmp_path / "x.csv"), "four-seasons")
    assert told == "Played by former weights, not by those of today: `planner@nodes=40`.\n\n"
