"""The leaderboard: verified folders only, and a page that is what its rows say."""

from pathlib import Path

import pytest

from four_seasons_env.experiments import leaderboard
from four_seasons_env.experiments.compare import BLOCK, Compare, play_all
from four_seasons_env.experiments.leaderboard import (
    PAGE,
    ROWS,
    Leaderboard,
    update_leaderboard,
    with_leaderboard,
)
from four_seasons_env.experiments.parallel.parts import write_part
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.leaderboard_page import (
    COLUMNS,
    leaderboard_part,
    merged,
    rows_of,
)
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.verification.replay import verify_folder


@pytest.fixture
def board(tmp_path: Path, monkeypatch) -> Path:
    """An empty leaderboard of one's own."""
    monkeypatch.setattr(leaderboard, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(leaderboard, "ROWS", tmp_path / "rows.csv")
    (tmp_path / "page.md").write_text("# L\n\n<!-- leaderboard -->\n<!-- /leaderboard -->\n")
    return tmp_path


def comparison(out: Path, *agents: str, deals: str = "0-4") -> Path:
    play_all(Compare(out, list(agents), deals=deals, record=True, workers=Workers(n_jobs=1)))
    return out


def test_the_page_is_that_of_the_kept_rows() -> None:
    page, rows = PAGE.read_text(), read_table(ROWS)
    assert with_leaderboard(page, rows) == page
    assert tuple(rows) == COLUMNS
    assert {"random", "greedy", "heuristic", "finisher"} <= set(rows["agent"])
    assert (rows["games"] == rows["deals"] * rows["seeds"]).all()


def test_rows_come_from_verified_folders(board: Path) -> None:
    first = comparison(board / "a", "heuristic", "mine=greedy")
    update_leaderboard(Leaderboard([first]))
    page, rows = (board / "page.md").read_text(), read_table(board / "rows.csv")
    assert list(rows["agent"]) == ["heuristic", "mine"]
    assert set(rows["which"]) == {"0-4"}
    assert "| mine | rule of thumb |" in page
    assert "all that is public" in page
    assert page.count("yes, 5 games") == 2
    sealed = comparison(board / "b", "mine=greedy", deals="sealed:4")
    again = comparison(board / "c", "mine=finisher")
    update_leaderboard(Leaderboard([sealed, again]))
    rows = read_table(board / "rows.csv")
    assert list(zip(rows["agent"], rows["which"], rows["kind"], strict=True)) == [
        ("heuristic", "0-4", "rule of thumb"),
        ("mine", "4 sealed", "rule of thumb"),
        ("mine", "0-4", "rule of thumb + search"),
    ]
    before = (board / "page.md").read_bytes()
    update_leaderboard(Leaderboard())
    assert (board / "page.md").read_bytes() == before


def test_what_is_not_verified_leaves_the_page_as_it_is(board: Path) -> None:
    good, bad = comparison(board / "a", "heuristic"), comparison(board / "b", "greedy")
    results = read_table(bad / "results.csv")
    write_part(bad / "results.csv", results.assign(won=True), "forged")
    (bad / "verified.json").write_text('{"verified": true}')
    before = (board / "page.md").read_bytes()
    with pytest.raises(ValueError, match=f"{bad} is not verified"):
        update_leaderboard(Leaderboard([good, bad]))
    assert (board / "page.md").read_bytes() == before
    assert not (board / "rows.csv").exists()


def test_sealed_rows_stand_beside_each_other(tmp_path: Path) -> None:
    rows = rows_of(verify_folder(comparison(tmp_path / "a", "greedy", deals="sealed:3"), BLOCK))
    other = rows.assign(digest="0" * 64)
    both = merged(rows, other)
    assert len(both) == 2
    assert len(merged(both, other)) == 2
    assert "| 3 sealed |" in leaderboard_part(both)
    some = rows.assign(which="0-9", kind="people")
    assert "| 3 of 0-9 |" in leaderboard_part(some)
