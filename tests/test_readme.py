"""The README's Python examples run, each in a fresh interpreter."""

import re
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers import ROOT, run_python


def examples(page: str) -> list[str]:
    """The Python examples of a page."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


GAME, TRAINING, PLAYER = examples("README.md")
_, POLICY, AGENT = examples("docs/reference/agents.md")
(TUTORIAL,) = examples("docs/tutorials/benchmark.md")
LONG, SHORT = "model.learn(300_000)", "model.learn(8_192)"


def test_first_example_runs(tmp_path: Path) -> None:
    run_python("-c", GAME, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_pages_install_the_clone_editable() -> None:
    """Scripts of docs and studies read files of the clone, and no index has the package."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    commands = [line for page in pages for line in re.findall("pip install.*", page.read_text())]
    own = [each for each in commands if ".[" in each or "four-seasons-env" in each]
    assert len(own) >= 7
    assert all("-e '.[" in each for each in own)


@pytest.mark.slow
def test_agents_of_docs_repeat_their_games(tmp_path: Path) -> None:
    assert LONG in TRAINING
    (tmp_path / "train.py").write_text(TRAINING.replace(LONG, SHORT))
    written = {"my_module": PLAYER, "drawn": POLICY, "other": AGENT, "tutorial": TUTORIAL}
    for name, code in written.items():
        (tmp_path / f"{name}.py").write_text(code)
    run_python("train.py", cwd=tmp_path)
    players = ["my_module:my_policy", "drawn=drawn:my_policy", "other:MyAgent", "tutorial:MyAgent"]
    for out in "ab":
        command = ("-m", "four_seasons_env", "compare", "--deals", "10000-10019", "--agents")
        run_python(*command, *players, "--n-jobs", "1", "--out", out, cwd=tmp_path)
    first, second = (
        pd.read_csv(tmp_path / out / "results.csv").drop(columns="seconds") for out in "ab"
    )
    pd.testing.assert_frame_equal(first, second)
    assert first.groupby("agent")["cards_up"].mean()["my_module:my_policy"] > 10
