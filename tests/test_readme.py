"""The README's Python examples run, each in a fresh interpreter."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers import ROOT

GAME, TRAINING, PLAYER = re.findall(
    r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
)
LONG, SHORT = "model.learn(130_000)", "model.learn(8_192)"


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr


def test_the_first_example_runs(tmp_path: Path) -> None:
    run(tmp_path, "-c", GAME)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_agent_of_the_readme_is_trained_and_compared_twice_with_equal_games(
    tmp_path: Path,
) -> None:
    assert LONG in TRAINING
    (tmp_path / "train.py").write_text(TRAINING.replace(LONG, SHORT))
    (tmp_path / "my_module.py").write_text(PLAYER)
    run(tmp_path, "train.py")
    command = "-m four_seasons_env compare --agents mine=my_module:my_policy --deals 10000-10019"
    for out in "ab":
        run(tmp_path, *command.split(), "--n-jobs", "1", "--out", out)
    first, second = (
        pd.read_csv(tmp_path / out / "results.csv").drop(columns="seconds") for out in "ab"
    )
    pd.testing.assert_frame_equal(first, second)
    assert first["cards_up"].mean() > 10
