"""The page "Change the network", followed step by step."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from tests.agents.fakes import SMALL_RUNS
from tests.helpers import ROOT, python_path, run_python

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "how-to" / "change-the-network.md").read_text()


def command(text: str) -> list[str]:
    """A command of the page, with its flags made small."""
    (line,) = re.findall(rf"^    four-seasons ({text}.*)$", PAGE, re.MULTILINE)
    words = str(line).split()
    if words[0] == "compare":
        return [*words[: words.index("--deals")], "--deals", "0-3", *words[-2:]]
    given = [word for word in words if "=" in word]
    words = [word for word in words if word not in ("--set", *given)]
    words += ["--steps", "32", "--validations", "1", "--validation-deals", "4"]
    return [*words, "--set", *SMALL_RUNS[words[2]], *given]


def four_seasons(words: list[str], source: Path, where: Path) -> None:
    run_python("-m", "four_seasons_env", *words, cwd=where, **python_path(source))


def test_a_width_is_a_flag(tmp_path: Path) -> None:
    four_seasons([*command("train .*--set"), "--n-jobs", "1"], ROOT, tmp_path)
    weights = load_file(tmp_path / "runs" / "narrow" / "best" / "model.safetensors")
    widths = [weights[name].shape[1] for name in ("suits", "piles", "game")]
    assert [*widths, len(weights["dense.bias"])] == [64, 32, 96, 32]
    four_seasons([*command("compare"), "--n-jobs", "1"], ROOT, tmp_path)


def test_a_feature_touches_one_file(tmp_path: Path) -> None:
    """Copy the sources: only what depends on the file is compiled again."""
    (diff,) = re.findall(r"```diff\n(.*?)```", PAGE, re.DOTALL)
    assert re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE) == [
        "four_seasons_env/positions/features.py"
    ]
    skipped = shutil.ignore_patterns("weights")
    source = tmp_path / "source"
    shutil.copytree(ROOT / "four_seasons_env", source / "four_seasons_env", ignore=skipped)
    subprocess.run(
        ["git", "apply", "--recount", "-"], cwd=source, input=diff, text=True, check=True
    )
    for agent, run in (("planner", "lone"), ("next_deal_ppo", "lone-ppo")):
        one = ["--n-jobs", "1"] if agent == "planner" else []  # two would compile the same twice
        four_seasons([*command(f"train --agent {agent} --out"), *one], source, tmp_path)
        weights = load_file(tmp_path / "runs" / run / "best" / "model.safetensors")
        assert len(weights["game"]) == 572 + 13
        assert (weights["game"][572:574] != 0).all()
