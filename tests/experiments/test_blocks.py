"""Blocks of deals: rule sets, finished and failed blocks."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from four_seasons_env.experiments.blocks import Block, run_blocks
from four_seasons_env.experiments.command_line import rule_set_names
from four_seasons_env.experiments.folders import write_csv
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES

ALONE = Workers(n_jobs=1)


def write_even(block: Block) -> None:
    if block.deals[0] % 2:
        raise ValueError("odd")
    write_csv(block.part, pd.DataFrame({"deal": list(block.deals)}))


def test_all_means_every_rule_set() -> None:
    assert rule_set_names(["all"]) == list(RULES)
    assert rule_set_names(["Czarina".lower(), "corners"]) == ["czarina", "corners"]
    assert rule_set_names([]) == []


@pytest.mark.parametrize("backend", ["loky", pytest.param("ray", marks=pytest.mark.slow)])
def test_a_failed_block_is_named(backend: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    work = [Block(tmp_path, "four-seasons", "", range(i, i + 1)) for i in range(3)]
    message = r"^block parts/four-seasons/1-1\.csv failed, .* saved: ValueError: odd"
    workers = ALONE if backend == "loky" else Workers(backend, n_jobs=2)
    with pytest.raises(RuntimeError, match=message) as failed:
        run_blocks(write_even, work, "working", workers, print)
    assert "in write_even" in failed.value.__notes__[0]
    if workers == ALONE:
        assert [block.stored() is not None for block in work] == [True, False, True]
