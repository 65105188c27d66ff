"""The citation agrees with pyproject.toml, the changelog and the code."""

import re
import tomllib

import yaml

from four_seasons_env import __version__
from tests.helpers import ROOT


def test_citation_agrees_with_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest
    assert {citation["version"], newest[1]} == {__version__}
    assert citation["license"] == project["license"]
    assert citation["title"].startswith(f"{project['name']}: ")
    assert citation["authors"] == project["authors"]
    assert citation["keywords"] == project["keywords"]
