"""Printed tables, and the texts in them."""

import re
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments.folders import DATA, read_table, write_csv
from four_seasons_env.experiments.summary import summarise
from four_seasons_env.experiments.tables import PRINTED, as_latex, as_text, print_table, to_print
from tests.experiments.test_summary import played


@pytest.mark.parametrize("columns", [80, 60])
def test_every_cell_is_printed(columns: int, capsys, monkeypatch) -> None:
    long = "planner@lookahead=3,worlds=32,candidates=8"
    games = [played(name, [1, 1], [52, 52]) for name in ("heuristic", "next_deal_ppo", long)]
    games[0]["won"] = False
    games.append(games[1].assign(play="stochastic"))
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(to_print(summarise(pd.concat(games).assign(seconds=1.18231)), PRINTED), "title")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert text.count("1182.31") == 4
    assert text.count("+100.00]") == text.count("[+100.00,") == 3
    assert text.count("next_deal_ppo") == 2 and "stochastic" in text


def test_columns_that_a_report_names_exist() -> None:
    template = (DATA / "report.html").read_text()
    named = re.findall(r'columns\["(.+?)"\]', template)
    assert len(named) == template.count("columns[") > 2
    seeds = pd.concat([played("a", [1, 0], [52, 9], 0), played("a", [1, 0], [52, 9], 1)])
    both = pd.concat([seeds, played("heuristic", [1, 0], [52, 9])])
    assert {*named} <= {*as_text(summarise(both).assign(mask="legal"))}


def test_a_table_in_latex() -> None:
    cells = pd.DataFrame([["a_b&", "+1"], ["[c]", "-1.0 [-2, 1]"]], columns=["agent", "won %"])
    lines = as_latex(cells, "5% of a_b").splitlines()
    assert lines[-1] == r"\par\smallskip{\footnotesize 5\% of a\_b\par}"
    assert lines[:3] == [r"\begin{tabular}{lr}", r"\toprule", r"agent & won \% \\"]
    assert lines[4:6] == [
        r"a\_b\& & +1 \\",
        r"{[}c] & $-$1.0 [$-$2, 1] \\",
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
