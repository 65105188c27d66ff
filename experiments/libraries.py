"""Run the recipes for other libraries, and write docs/recipes: scripts, and what came of them.

    libraries --run sb3 cleanrl                  # with the packages of here
    libraries --run all --venvs runs/venvs       # each in one of its own
    libraries                                    # pages only

A recipe is a page of docs/recipes that quotes one script or more. A script prints a line of JSON
for what it has trained; those lines are stored in docs/results/libraries.csv, where they replace
those of the same page, and the table of docs/recipes is made of them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import ROOT, require_clone, run_command
from four_seasons_env.experiments.pages import with_part
from four_seasons_env.experiments.reporting.libraries_page import (
    INDEX,
    MASKED_GAMES,
    RECIPES,
    STORED,
    glue_lines,
    pages,
    parts,
    requirements,
)
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.rules import nearest

ALL = "all"
NOT_INSTALLED = "could not be installed"
_VERSIONS = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"


@dataclass
class Libraries:
    """Run the recipes for other libraries, and write docs/recipes."""

    run: list[str] = field(default_factory=list)
    """Recipes to run, by the names of their pages, or `all`."""
    venvs: Path | None = None
    """Folder of virtual environments, one a recipe; those that are missing are made."""


def names() -> list[str]:
    """All recipes, by the names of their pages."""
    return sorted(path.stem for path in RECIPES.glob("*.md"))


def interpreter(name: str, venvs: Path | None) -> str:
    """The Python of a recipe.

    Args:
        name: of its page.
        venvs: folder of virtual environments; without it, this interpreter.

    Raises:
        RuntimeError: if a virtual environment cannot be made.
    """
    if venvs is None:
        return sys.executable
    home = venvs.absolute() / name
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        listed = RECIPES / "requirements" / f"{name}.txt"
        wanted = ["--requirement", str(listed)] if listed.is_file() else []
        command = [str(python), "-m", "pip", "install", *wanted, "--editable", f"{ROOT}[train]"]
        if subprocess.run(command, check=False).returncode:
            shutil.rmtree(home)
            raise RuntimeError(f"{name}: pip cannot install what is listed in {listed}")
    return str(python)


def versions(name: str, python: str) -> str:
    """The packages of a recipe with the versions that an interpreter has, as text.

    Raises:
        RuntimeError: if one is not installed there.
    """
    listed = requirements(RECIPES / f"{name}.md")
    packages = [re.split(r"==|\[", each)[0] for each in listed]
    done = subprocess.run(
        [python, "-c", _VERSIONS, *packages], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(
            f"{', '.join(packages)}: not all of them are installed; give --venvs, or "
            f"pip install -r docs/recipes/requirements/{name}.txt"
        )
    released = [version.partition("+")[0] for version in done.stdout.split()]  # 2.13.0+cpu
    found = [f"{each} {at}" for each, at in zip(packages, released, strict=True)]
    return ", ".join(found) or "-"


def run_script(script: str, python: str) -> list[dict[str, Any]]:
    """Run a script in a folder that is removed, and read its lines of JSON.

    Raises:
        RuntimeError: with its last line, if it fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, str(RECIPES / f"{script}.py")],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"{script}: {done.stderr.strip().splitlines()[-1]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def run_recipe(name: str, venvs: Path | None) -> list[dict[str, Any]]:
    """Run the scripts of a recipe; returns its rows of docs/results/libraries.csv.

    Raises:
        RuntimeError: if its library is missing, or a script fails.
    """
    python = interpreter(name, venvs)
    tested = versions(name, python)
    rows = []
    for script in (each for each, page in pages().items() if page.stem == name):
        code = (RECIPES / f"{script}.py").read_text(encoding="utf-8")
        about = {
            "page": name,
            "script": f"{script}.py",
            "versions": tested,
            "glue": glue_lines(code),
            "masked_training": bool(MASKED_GAMES.search(code)),
        }
        rows += [about | told for told in run_script(script, python)]
    return rows


def missing_row(name: str, venvs: Path | None) -> dict[str, Any]:
    """Try to install a library that has no script; returns the row that says that it fails.

    Raises:
        RuntimeError: if it can be installed, or there is nowhere to try it.
    """
    if venvs is None:
        raise RuntimeError(f"{name} has no script; with --venvs its installation is tried again")
    try:
        interpreter(name, venvs)
    except RuntimeError as error:
        print(error)
    else:
        raise RuntimeError(f"{name} can be installed: write docs/recipes/with_{name}.py")
    wanted = requirements(RECIPES / f"{name}.md")[0].replace("==", " ")
    row = {"page": name, "script": "-", "versions": f"{wanted} {NOT_INSTALLED}"}
    told = {"environment": "-", "steps": 0, "games": 0, "won": 0.0, "cards_up": 0.0, "illegal": 0}
    return row | {"glue": 0, "masked_training": False} | told


def write_pages() -> None:
    """Put scripts and table into the pages."""
    for path in RECIPES.glob("*.md"):
        page = path.read_text(encoding="utf-8")
        for name, part in parts(path).items():
            page = with_part(page, name, part)
        write_atomically(path, page.encode())


def run_libraries(run: Libraries) -> None:
    """Run recipes, if any are named, store what came of them, and write the pages.

    Raises:
        ValueError: for an unknown recipe.
        RuntimeError: in an installed wheel, or for a recipe that cannot be run.
    """
    require_clone()
    known = names()
    for name in run.run:
        if name not in (*known, ALL):
            raise ValueError(f"unknown recipe {name!r}: {nearest(name, [*known, ALL])}")
    for name in known if ALL in run.run else run.run:
        scripts = [script for script, page in pages().items() if page.stem == name]
        rows = run_recipe(name, run.venvs) if scripts else [missing_row(name, run.venvs)]
        table = pd.DataFrame(rows)
        if STORED.is_file():
            before = read_table(STORED)
            table = pd.concat([before[before["page"] != name], table], ignore_index=True)
        write_csv(STORED, table.sort_values(["page", "script"], kind="stable"))
        for row in rows:
            print(f"{row['script']}: {row['cards_up']:.1f} cards up, {row['versions']}")
    write_pages()
    print(f"written: {INDEX.parent.relative_to(ROOT)}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        run_libraries,
        Libraries,
        __doc__,
        "recipes that have run are stored; resume: {command}",
    )


if __name__ == "__main__":
    main()
