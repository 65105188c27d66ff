"""Blocks of deals: rule sets, finished and failed blocks."""

import errno
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from four_seasons_env.experiments.blocks import Block, run_blocks
from four_seasons_env.experiments.command_line import rule_set_names
from four_seasons_env.experiments.folders import write_csv
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES


class EvenBlock(Block):
    """Fails on an odd deal."""

    def load(self) -> None:
        pass

    def work(self) -> None:
        if self.deals[0] % 2:
            raise ValueError("odd")
        write_csv(self.part, pd.DataFrame({"deal": list(self.deals)}))


def test_all_means_every_rule_set() -> None:
    assert rule_set_names(["all"]) == list(RULES)
    assert rule_set_names(["Czarina".lower(), "corners"]) == ["czarina", "corners"]


@pytest.mark.parametrize(
    "workers", [Workers(n_jobs=1), pytest.param(Workers("ray", 2), marks=pytest.mark.slow)]
)
def test_a_failed_block_is_named(workers: Any, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    blocks = [EvenBlock(tmp_path, "four-seasons", "", range(i, i + 1)) for i in range(3)]
    message = r"^block parts/four-seasons/1-1\.csv failed, .* saved: ValueError: odd"
    with pytest.raises(RuntimeError, match=message) as failed:
        run_blocks(blocks, "working", workers)
    assert "in work" in failed.value.__notes__[0]
    assert [block.stored() is not None for block in blocks] == [True, False, True]


class FullBlock(EvenBlock):
    """Finds no space for its file."""

    def work(self) -> None:
        raise OSError(errno.ENOSPC, "No space left", str(self.part))


def test_a_file_that_cannot_be_written_needs_no_traceback(tmp_path: Path) -> None:
    block = FullBlock(tmp_path, "four-seasons", "", range(1))
    with pytest.raises(RuntimeError, match=r"0-0\.csv failed.*: No space left") as failed:
        run_blocks([block], "working", Workers(n_jobs=1))
    assert not hasattr(failed.value, "__notes__")
