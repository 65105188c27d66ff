"""Printed tables, and the texts in them."""

import pandas as pd
import pytest
from rich.table import Table

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.reporting import tables
from four_seasons_env.experiments.reporting.cells import deals_as_text, win_rates
from four_seasons_env.experiments.reporting.tables import as_markdown, print_table
from four_seasons_env.experiments.results.ceiling import CEILING


def test_names_left_numbers_right(monkeypatch) -> None:
    printed: list[Table] = []
    monkeypatch.setattr(tables.Console, "print", lambda _, table: printed.append(table))
    print_table(pd.DataFrame([["a", "b", "1", "2"]], columns=["x", "agent", "won", "y"]), "title")
    (table,) = printed
    assert [column.justify for column in table.columns] == ["left", "left", "right", "right"]
    assert [column.no_wrap for column in table.columns] == [False, False, True, True]
    assert [list(column.cells) for column in table.columns] == [["a"], ["b"], ["1"], ["2"]]


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
