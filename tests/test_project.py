"""Files at the root agree with pyproject.toml: citation, and the lowest tested versions."""

import re
import tomllib

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
