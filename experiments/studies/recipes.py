"""Run recipes of docs/recipes, and store their results in docs/results/libraries.csv.

    python experiments/studies/recipes.py sb3 cleanrl

Recipes are named by their pages. Their packages must be installed (`pip install -r
docs/recipes/requirements/sb3.txt`), best in a virtual environment per recipe, because libraries
need conflicting versions. A script prints a line of JSON for each agent that it has trained.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.reporting.tables import print_table
from four_seasons_env.experiments.results.tables import read_table, write_csv

RECIPES = ROOT / "docs" / "recipes"
STORED = ROOT / "docs" / "results" / "libraries.csv"


def versions(name: str) -> str:
    """The packages of a recipe, with their installed versions.

    Raises:
        PackageNotFoundError: if one is missing.
    """
    listed = RECIPES / "requirements" / f"{name}.txt"
    packages = re.findall(r"^[\w-]+", listed.read_text(), re.MULTILINE) if listed.is_file() else []
    found = {each: importlib.metadata.version(each).partition("+")[0] for each in packages}
    return ", ".join(f"{package} {version}" for package, version in found.items()) or "no library"


def run_recipe(name: str) -> list[dict[str, Any]]:
    """Run the scripts that a page quotes, and return their rows.

    Raises:
        CalledProcessError: if a script fails.
    """
    rows = []
    page = (RECIPES / f"{name}.md").read_text()
    for script in re.findall(r"<!-- (with_\w+\.py) -->", page):
        row = {"page": name, "script": script, "versions": versions(name)}
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, str(RECIPES / script)],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
        printed = [line for line in done.stdout.splitlines() if line.startswith("{")]
        rows += [row | json.loads(line) for line in printed]
    return rows


def main() -> None:
    """Run recipes, and replace their rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pages", nargs="+", help="such as sb3")
    parser.add_argument("--out", type=Path, default=STORED)
    run = parser.parse_args()
    for name in run.pages:
        rows = pd.DataFrame(run_recipe(name))
        stored = read_table(STORED if run.out == STORED or not run.out.is_file() else run.out)
        both = pd.concat([stored[stored["page"] != name], rows])
        write_csv(run.out, both.sort_values(["page", "script"], kind="stable"))
        print_table(rows.map(str), name, run.out)


if __name__ == "__main__":
    main()
