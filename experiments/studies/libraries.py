"""Train with another library, in a virtual environment of its own, and store what it reached.

    python experiments/studies/libraries.py sb3 --out runs/libraries/sb3.csv

The script is the one that the library's page in `docs/recipes` shows. It prints a line of JSON for
each agent that it has trained.
"""

import json
import re
import subprocess
import venv
from pathlib import Path

import pandas as pd
import tyro

from four_seasons_env.experiments.folders import ROOT, measured_by, write_csv

RECIPES = ROOT / "docs" / "recipes"


def script_of(page: str) -> str:
    """The script that a page shows: it has a line that is a link to it."""
    text = (RECIPES / f"{page}.md").read_text()
    (name,) = re.findall(r"^\[(with_\w+\.py)\]\(\1\)$", text, re.MULTILINE)
    return str(name)


def requirements_of(page: str) -> Path | None:
    """The file of the library's tested versions; None for a page without a library."""
    path = RECIPES / "requirements" / f"{page}.txt"
    return path if path.is_file() else None


def rows_of(page: str, printed: str) -> pd.DataFrame:
    """A row for each agent that the script of a page has trained.

    Args:
        page: the page's name.
        printed: the script's output.
    """
    path = requirements_of(page)
    packages = path.read_text().split() if path else ["no library"]
    versions = ", ".join(re.sub(r"\[.*\]", "", each).replace("==", " ") for each in packages)
    about = {"page": page, "script": script_of(page), "versions": versions}
    lines = [line for line in printed.splitlines() if line.startswith("{")]
    return pd.DataFrame([about | json.loads(line) for line in lines])


def main(page: tyro.conf.Positional[str], out: Path) -> None:
    """Run the script of a page.

    Args:
        page: name of a page in `docs/recipes`.
        out: file of the rows. The virtual environment is the folder beside it.
    """
    home = out.absolute().with_suffix("")
    python = home / "bin" / "python"
    venv.create(home, symlinks=True, with_pip=True)
    packages: list[str | Path] = ["--editable", f"{ROOT}[agents,experiments]"]
    if path := requirements_of(page):
        packages += ["--requirement", path]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    script = [python, RECIPES / script_of(page)]
    done = subprocess.run(script, cwd=home, stdout=subprocess.PIPE, text=True, check=True)
    write_csv(out, rows_of(page, done.stdout).assign(**measured_by()))


if __name__ == "__main__":
    tyro.cli(main)
