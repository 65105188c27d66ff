"""Printed tables, and the texts in them."""

import re
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments.reporting.cells import ADJUSTED
from four_seasons_env.experiments.reporting.tables import as_latex, print_table
from four_seasons_env.experiments.results.tables import read_table, write_csv

LONG = "ppo=maskable_ppo:runs/a study of mine/ppo-seed-*/and-a-long-one"
WIDE = pd.DataFrame(
    [
        ["four-seasons", LONG, "learned + search", "deterministic", "3", "66.87 [65.94, 67.79]"],
        ["czarina", "heuristic", "rule of thumb", "stochastic", "-", "100.00 [99.94, 100.00]"],
    ],
    columns=["rules", "agent", "method", "play", "seeds", "won % [95%]"],
).assign(**{"vs heuristic [95%]": "+34.21 [33.10, 35.32]", "ms/game": "1182.31"})


TWO_PLAYS = pd.concat([WIDE, WIDE.assign(play="stochastic")])
LUCK = WIDE[["agent"]].assign(**{ADJUSTED: "60.00 [55.00, 65.00]", "luck z (p)": "-1.23 (0.1234)"})
CENSUS = pd.DataFrame({"rules": ["solitaire-till-dawn(piles=4)"], "deals": "10,000"}).assign(
    **{"won": "3,467", "winnable %": "34.67 to 98.67", "of all deals % [95%]": "34.67 to 98.67"}
)
BENCH = pd.DataFrame({"what": ["vector environment, copy=False"], "games": "4,096"}).assign(
    **{"threads": "1", "observation": "cards", "moves per second": "10,116,400"},
    **{"slowest": "9,116,400", "fastest": "12,116,400", "per cpu second": "10,116,400"},
)


def printed(
    cells: pd.DataFrame, capsys, monkeypatch, columns: int | None
) -> tuple[dict[str, str], str]:
    """The text of each printed column, header first, without spaces; and the text of the note."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(columns))
    print_table(cells, "title", Path("runs/y/table.md"))
    lines = re.sub("\x1b\\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert columns is None or max(map(len, lines)) <= columns
    rows = [re.split("[┃│]", line)[1:-1] for line in lines if line[:1] in ("┃", "│")]
    texts = ["".join(column).replace(" ", "") for column in zip(*rows, strict=True)]
    whole = {str(name): "".join([str(name), *cells[name]]).replace(" ", "") for name in cells}
    shown = {name: text for name, text in whole.items() if text in texts}
    assert list(shown.values()) == texts  # every name and number is whole
    return shown, " ".join(" ".join(lines).split()).rpartition("┘")[2]


@pytest.mark.parametrize("columns", [120, 80, 60, 50])
@pytest.mark.parametrize("force", ["", "1"])
@pytest.mark.parametrize(
    ("cells", "stay"),
    [
        (WIDE, ["rules", "agent", "won % [95%]"]),
        (TWO_PLAYS, ["rules", "agent", "play", "won % [95%]"]),
        (LUCK, ["agent", ADJUSTED]),
        (CENSUS, ["rules", "winnable %"]),
        (BENCH, ["what", "games", "threads", "observation", "moves per second"]),
    ],
)
def test_narrow_table_keeps_names_and_numbers(
    capsys, monkeypatch, columns, force, cells, stay
) -> None:
    monkeypatch.setenv("FORCE_COLOR", force)
    shown, note = printed(cells, capsys, monkeypatch, columns)
    assert set(stay) <= set(shown)
    left_out = [name for name in cells if name not in shown]
    assert note.strip() == (
        f"no room for {', '.join(left_out)}: see runs/y/table.md" if left_out else ""
    )


def test_other_columns_get_room_before_play(capsys, monkeypatch) -> None:
    shown, _ = printed(WIDE.drop(columns="rules"), capsys, monkeypatch, 80)
    assert "vs heuristic [95%]" in shown and "play" not in shown


@pytest.mark.parametrize("force", ["", "1"])
def test_file_gets_the_whole_table(capsys, monkeypatch, force) -> None:
    monkeypatch.setenv("FORCE_COLOR", force)
    shown, note = printed(WIDE.assign(agent=5 * LONG), capsys, monkeypatch, None)
    assert list(shown) == list(WIDE) and not note


def test_a_table_in_latex() -> None:
    cells = pd.DataFrame([["a_b", "+1"], ["[c]^", "-1.0 [-2, 1]"]], columns=["agent", "won %"])
    lines = as_latex(cells).splitlines()
    assert lines[:3] == [r"\begin{tabular}{lr}", r"\toprule", r"agent & won \% \\"]
    assert lines[4:6] == [
        r"a\_b & +1 \\",
        r"{[}c]\textasciicircum{} & $-$1.0 [$-$2, 1] \\",
    ]


@pytest.mark.parametrize("seeds", [[20240917, 20240918], [20240917, None], [None, 2**63 - 1]])
def test_whole_numbers_survive_a_file(tmp_path: Path, seeds: list[int | None]) -> None:
    """Also as one column with those of agents that have none."""
    path, whole = tmp_path / "x.csv", pd.Series(seeds, dtype=object)
    table = pd.DataFrame({"train_seed": whole, "deals": 12_345_678})
    for _ in range(2):
        write_csv(path, table)
        table = pd.concat([read_table(path), pd.DataFrame({"won": [0.5]})])[:2]
        assert path.read_text().split()[1:] == [
            f"{'' if seed is None else seed},12345678" for seed in seeds
        ]
        table = table[["train_seed", "deals"]]
