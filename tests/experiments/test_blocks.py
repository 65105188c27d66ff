"""Blocks of deals: rule sets, deals, finished and failed blocks."""

from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments.blocks import Block, run_blocks
from four_seasons_env.experiments.command_line import rule_set_names
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES


def write_even(block: Block) -> None:
    if block.deals[0] % 2:
        raise ValueError("odd")
    block.write(pd.DataFrame({"deal": list(block.deals)}))


def test_all_means_every_rule_set() -> None:
    assert rule_set_names(["all"]) == list(RULES)
    assert rule_set_names(["Czarina".lower(), "corners"]) == ["czarina", "corners"]
    assert rule_set_names([]) == []


def test_the_first_failed_block_is_named(tmp_path: Path) -> None:
    work = [Block(tmp_path, "four-seasons", range(i, i + 1)) for i in range(5)]
    message = r"^2 of 5 blocks failed, the first parts/.*/1-1\.csv; .*: .*odd"
    with pytest.raises(RuntimeError, match=message):
        run_blocks(write_even, work, "working", Workers(n_jobs=1), print)
    assert [block.stored() is not None for block in work] == [True, False, True, False, True]
