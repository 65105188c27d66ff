"""What others read about the project agrees with pyproject.toml and with the code."""

import json
import re
import tomllib

import yaml

from four_seasons_env import __version__
from tests.helpers import ROOT


def test_the_files_agree_with_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest
    assert {citation["version"], codemeta["version"], newest[1]} == {__version__}
    assert citation["license"] == project["license"] == codemeta["license"].rpartition("/")[2]
    assert citation["title"].startswith(f"{project['name']}: ")
    assert citation["authors"] == project["authors"]
    assert [each["name"] for each in codemeta["author"]] == [project["authors"][0]["name"]]
    assert citation["keywords"] == codemeta["keywords"] == project["keywords"]
    assert codemeta["name"] == project["name"]
    assert codemeta["description"] == project["description"]
    assert codemeta["softwareRequirements"] == project["dependencies"]


def test_the_paper_cites_what_its_bibliography_holds() -> None:
    text = (ROOT / "paper" / "paper.md").read_text()
    works = re.findall(r"^@\w+{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M)
    assert sorted(set(re.findall(r"(?<!\w)@(\w+)", text))) == sorted(works)
