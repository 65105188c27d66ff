"""Files at the root agree with pyproject.toml; workflows run only code that is named exactly."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from four_seasons_env import __version__
from tests.helpers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SB3 = ("sb3-contrib", "stable-baselines3")


def test_citation_agrees_with_project() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\d\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest
    assert {citation["version"], newest[1]} == {__version__}
    assert citation["date-released"].year >= 2026  # without it, BibTeX has no year


def test_lowest_versions_are_lower_bounds() -> None:
    allowed = PROJECT["dependencies"] + [
        each for each in PROJECT["optional-dependencies"]["train"] if each.startswith(SB3)
    ]
    bounds = dict(each.split(">=") for each in allowed)
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    lowest = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert lowest == {name: f"{version}.0" for name, version in bounds.items()}


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_named_by_commit(path: Path) -> None:
    """A tag can be moved to other code."""
    used = re.findall(r"uses: (.*)", path.read_text())
    assert used
    assert [each for each in used if not re.fullmatch(r"\S+@[0-9a-f]{40}  # v[\d.]+", each)] == []


def test_code_that_runs_has_no_token() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/publish.yml").read_text())["jobs"].values()
    for job in jobs:
        trusted = "id-token" in job.get("permissions", {}) or "environment" in job
        assert trusted != any("run" in step or "checkout" in step["uses"] for step in job["steps"])
