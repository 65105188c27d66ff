"""Each Python example of the README runs by itself, in a fresh interpreter."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT

EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
TRAINING = "model.learn(200_000)"
SHORT = {TRAINING: "model.learn(8_192)", "n_eval_episodes=200": "n_eval_episodes=5"}
"""In the example's place: one update, and few games."""


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2
    for each in SHORT:
        assert sum(each in example for example in EXAMPLES) == 1


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs(number: int, tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    code += EXAMPLES[number]
    for each, shorter in SHORT.items():
        code = code.replace(each, shorter)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    saved = {path.name for path in tmp_path.iterdir()}
    assert saved == ({"four-seasons-ppo.zip"} if SHORT[TRAINING] in code else set())
