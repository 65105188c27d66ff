"""The census, and the ceiling of a comparison."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM, deals_in_words, parse_deals
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_census, with_ceiling
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.studies.census import COLUMNS, Census, census
from four_seasons_env.experiments.summary import summarise
from four_seasons_env.experiments.tables import as_text
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.game import MAX_MOVES
from tests.experiments.test_summary import played

ALONE = Workers(n_jobs=1)


def test_a_census_retries_open_deals(tmp_path: Path, capsys) -> None:
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 119}"
    run = Census(out=tmp_path, rules=["corners"], deals=deals, seconds=1e-6, workers=ALONE)
    first = census(run)
    assert tuple(first.columns) == COLUMNS
    assert list(first["deal"]) == list(range(TRAIN_FROM, TRAIN_FROM + 120))
    assert (first["status"] == "unknown").all()
    assert census(run).equals(first)

    parts = sorted(tmp_path.glob("parts/corners/*.csv"))
    pd.read_csv(parts[0]).head(50).to_csv(parts[0], index=False)  # as if killed after 50 deals
    again = replace(run, seconds=0.5)
    census(again)
    assert f"{deals_in_words(parse_deals(deals))}: " in capsys.readouterr().out
    solved = pd.read_csv(tmp_path / "results.csv")
    assert list(solved["deal"]) == list(first["deal"])
    assert (solved["status"] != "unknown").sum() > 100


STATUSES = ["won"] * 6 + ["lost"] * 2 + ["unknown"] * 2


def solved(statuses: list[str] = STATUSES) -> pd.DataFrame:
    return pd.DataFrame({"rules": "r", "deal": range(len(statuses)), "status": statuses})


def test_the_ceiling_by_hand() -> None:
    """Ten deals: six can be won, two are open. Each open deal was won by one of the seeds."""
    games = [
        ("heuristic", "deterministic", None, [1, 1, 1, 0, 0, 0, 0, 0, 1, 0]),
        ("ppo", "deterministic", 0, [1, 1, 0, 0, 0, 0, 0, 0, 1, 0]),
        ("ppo", "deterministic", 1, [1, 0, 1, 1, 1, 1, 0, 0, 0, 1]),
        ("ppo", "stochastic", 0, [0, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
        ("ppo", "stochastic", 1, [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]),
    ]
    results = pd.concat(
        played(agent, won, 52 * np.array(won), seed).assign(play=play, rules="r")
        for agent, play, seed, won in games
    )
    summary = summarise(results)
    table = with_ceiling(summary, results, solved())
    assert list(table["agent"]) == ["heuristic", "ppo", "ppo", "ceiling"]
    assert tuple(table.loc[3, ["win_low", "win_high"]]) == pytest.approx((0.6, 0.8))
    pd.testing.assert_frame_equal(table[summary.columns].head(3), summary, check_dtype=False)
    cells = as_text(table)
    assert cells["seeds"].tolist() == ["1", "2", "2", "-"]
    ceiling = cells.set_index("agent").loc["ceiling"]
    assert ceiling.pop("won % [95%]") == "60.00 to 80.00"
    assert set(ceiling) == {"-"}

    known = with_ceiling(summary, results, solved(["won"] * 7 + ["lost"] * 3))
    assert as_text(known)["won % [95%]"].iloc[-1] == "70.00"
    for other in (solved(STATUSES[:9]), solved().assign(rules="others")):
        assert with_ceiling(summary, results, other).equals(summary)


def test_compare_and_report_show_the_ceiling(tmp_path: Path) -> None:
    folder, deals = tmp_path / "c", range(TRAIN_FROM, TRAIN_FROM + 4)
    folder.mkdir()
    known = {"rules": "four-seasons", "deal": deals, "status": ["won", "won", "lost", "unknown"]}
    pd.DataFrame(known).to_csv(folder / "results.csv", index=False)
    run = Compare(tmp_path / "y", ["random", "heuristic"], census=folder, workers=ALONE)
    run.deals = f"{deals[0]}-{deals[-1]}"
    compare(run)
    row = "| ceiling | - | - | - | - | 50.00 to 75.00 | - |"
    assert row in (run.out / "table.md").read_text()
    page = report(Report([run.out], census=folder)).read_text()
    assert "50.00 to 75.00" in page


def test_one_stored_solution_needs_more_than_the_move_limit() -> None:
    assert (read_census()["moves"] > MAX_MOVES).sum() == 1
