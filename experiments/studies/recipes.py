"""Run a recipe of docs/recipes, and write its results, for docs/results/libraries.csv.

    python experiments/studies/recipes.py sb3 --out runs/sb3.csv

A recipe is named by its page. Its packages must be installed (`pip install -r
docs/recipes/requirements/sb3.txt`), best in a virtual environment per recipe, because libraries
need conflicting versions. A script prints a line of JSON for each agent that it has trained.
"""

import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile

import pandas as pd

from four_seasons_env.experiments.folders import ROOT, write_csv
from four_seasons_env.files import expanded

RECIPES = ROOT / "docs" / "recipes"


def versions(name: str) -> str:
    """The packages of a recipe, with their installed versions.

    Raises:
        PackageNotFoundError: if one is missing.
    """
    listed = RECIPES / "requirements" / f"{name}.txt"
    packages = re.findall(r"^[\w-]+", listed.read_text(), re.MULTILINE) if listed.is_file() else []
    found = {each: importlib.metadata.version(each).partition("+")[0] for each in packages}
    return ", ".join(f"{package} {version}" for package, version in found.items()) or "no library"


def run_recipe(name: str) -> list[dict[str, object]]:
    """Run the scripts that a page links to, and return their rows.

    Raises:
        CalledProcessError: if a script fails.
    """
    rows = []
    page = (RECIPES / f"{name}.md").read_text()
    for script in re.findall(r"^\[(with_\w+\.py)\]\(\1\)$", page, re.MULTILINE):
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
    """Run a recipe, and write a row for each agent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("page", choices=sorted(page.stem for page in RECIPES.glob("*.md")))
    parser.add_argument("--out", type=expanded, required=True)
    run = parser.parse_args()
    write_csv(run.out, table := pd.DataFrame(run_recipe(run.page)))
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
