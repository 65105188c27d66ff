"""constraints-lowest.txt equals the lower bounds of pyproject.toml."""

import tomllib

from tests.helpers import ROOT

SB3 = ("sb3-contrib", "stable-baselines3")


def test_lowest_versions_are_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    allowed = project["dependencies"] + [
        each for each in project["optional-dependencies"]["train"] if each.startswith(SB3)
    ]
    bounds = dict(each.split(">=") for each in allowed)
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    lowest = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert lowest == {name: f"{version}.0" for name, version in bounds.items()}
