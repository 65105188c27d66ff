"""Printed tables, and the texts in them."""

from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments.folders import read_table, write_csv
from four_seasons_env.experiments.tables import PRINTED, as_latex, print_table, to_print

SUMMARY = pd.DataFrame(
    {
        "rules": "four-seasons",
        "agent": ["next_deal_ppo", "next_deal_ppo", "planner@lookahead=3,worlds=32,candidates=8"],
        "play": ["deterministic", "stochastic", "deterministic"],
        "seeds": 1,
        **{"win_rate": 1.0, "win_low": 0.9994, "win_high": 1.0},
        **{"win_difference": -0.34, "win_difference_low": -0.35, "win_difference_high": -0.33},
        **{"iqm": 0.5, "iqm_low": 0.5, "iqm_high": 0.5},
        **{"cards_up": 40.0, "cards_low": 39.0, "cards_high": 41.0},
        **{"ms_per_move": 1.0, "ms_per_game": 1182.31},
    }
)


@pytest.mark.parametrize("columns", [80, 60])
def test_every_cell_is_printed(columns: int, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_table(to_print(SUMMARY, PRINTED), "title")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    text = " ".join(" ".join(lines).split())
    assert text.count("1182.31") == text.count("100.00]") == text.count("-33.00]") == 3
    assert text.count("next_deal_ppo") == 2 and "stochastic" in text


def test_a_table_in_latex() -> None:
    cells = pd.DataFrame([["a_b<|>", "+1"], ["[c]^", "-1.0 [-2, 1]"]], columns=["agent", "won %"])
    lines = as_latex(cells).splitlines()
    assert lines[:3] == [r"\begin{tabular}{lr}", r"\toprule", r"agent & won \% \\"]
    assert lines[4:6] == [
        r"a\_b\textless{}\textbar{}\textgreater{} & +1 \\",
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
