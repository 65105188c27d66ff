"""Printed tables, and the texts in them."""

import re

import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.reporting.cells import deals_as_text, win_rates
from four_seasons_env.experiments.reporting.tables import as_markdown, print_table
from four_seasons_env.experiments.results.ceiling import CEILING

LONG = "ppo=maskable_ppo:runs/a study of mine/ppo-seed-*/and-a-long-one"
WIDE = pd.DataFrame(
    [
        ["four-seasons", LONG, "learned + search", "deterministic", "3", "66.87 [65.94, 67.79]"],
        ["czarina", "heuristic", "rule of thumb", "stochastic", "-", "100.00 [99.94, 100.00]"],
    ],
    columns=["rules", "agent", "method", "play", "seeds", "won % [95%]"],
).assign(**{"vs heuristic [95%]": "+34.21 [33.10, 35.32]", "ms/game": "1182.31"})


def printed(cells: pd.DataFrame, capsys, monkeypatch, columns: int | None) -> list[list[str]]:
    """The lines of a printed table, cut into cells; none is longer than the terminal."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(columns))
    print_table(cells, "title")
    lines = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= (columns or 200)
    return [[cell.strip() for cell in re.split("[┃│]", line)[1:-1]] for line in lines]


@pytest.mark.parametrize("columns", [80, 60, 120])
@pytest.mark.parametrize("force", ["", "1"])
def test_narrow_table_keeps_names_and_numbers(capsys, monkeypatch, columns, force) -> None:
    monkeypatch.setenv("FORCE_COLOR", force)
    lines = [cells for cells in printed(WIDE, capsys, monkeypatch, columns) if len(cells) > 1]
    text = "".join(cells[1] for cells in lines)
    assert LONG.replace(" ", "") in text.replace(" ", "")
    shown = {cell for cells in lines for cell in cells}
    assert {"66.87 [65.94, 67.79]", "100.00 [99.94, 100.00]"} <= shown or columns == 60
    assert not any("…" in cell for cell in shown)


def test_columns_without_room_are_named(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_table(WIDE, "title")
    assert "no room for method, seeds, vs heuristic [95%], ms/game" in capsys.readouterr().out


def test_file_gets_the_whole_table(capsys, monkeypatch) -> None:
    (row,) = [each for each in printed(WIDE, capsys, monkeypatch, None) if LONG in each]
    assert row == WIDE.iloc[0].tolist()


def test_a_table_as_markdown() -> None:
    cells = pd.DataFrame([["a|b", "1"], ["c", "2"]], columns=["name", "won $"])
    lines = ["| name | won \\$ |", "| --- | --- |", r"| a\|b | 1 |", "| c | 2 |"]
    assert as_markdown(cells).splitlines() == lines


def test_only_the_ceiling_has_bounds() -> None:
    agents = ["a", CEILING, "z"]
    summary = pd.DataFrame({"agent": agents, "win_rate": 0.5, "win_low": 0.25, "win_high": 0.75})
    interval = "50.00 [25.00, 75.00]"
    assert win_rates(summary) == [interval, "25.00 to 75.00", interval]


@pytest.mark.parametrize(
    ("deals", "text"),
    [
        ([0, 1, 2], "deals 0-2"),
        ([7], "deals 7-7"),
        ([1000, 1001, 1001], "deals 1,000-1,001"),
        ([TRAIN_FROM, TRAIN_FROM + 1], f"deals {TRAIN_FROM:,}-{TRAIN_FROM + 1:,}"),
    ],
)
def test_deals_in_words(deals: list[int], text: str) -> None:
    assert deals_as_text(pd.DataFrame({"deal": deals})) == text
