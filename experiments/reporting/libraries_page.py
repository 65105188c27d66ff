"""The pages of docs/recipes: scripts quoted whole, and the table of what came of running them."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.reporting.tables import as_markdown, read_table

RECIPES = ROOT / "docs" / "recipes"
INDEX = RECIPES / "index.md"
STORED = ROOT / "docs" / "results" / "libraries.csv"

GLUE = re.compile(r"# glue.*?\n(.*?)# end of glue", re.DOTALL)
"""What a script adds so that a library honours masks."""
MASKED_GAMES = re.compile(r"""illegal(?:=|": )"raise\"""")
"""What makes an illegal action in training an error."""
QUOTED = re.compile(r"<!-- (with_\w+)\.py -->\n")


def pages() -> dict[str, Path]:
    """The page that quotes each script."""
    found = {}
    for path in sorted(RECIPES.glob("*.md")):
        for script in QUOTED.findall(path.read_text(encoding="utf-8")):
            found[script] = path
    return found


def requirements(page: Path) -> list[str]:
    """The packages of a recipe with the versions that it was tested with, as pip takes them."""
    path = RECIPES / "requirements" / f"{page.stem}.txt"
    return path.read_text(encoding="utf-8").split() if path.is_file() else []


def quoted(script: str) -> str:
    """A script as a page has it."""
    code = (RECIPES / f"{script}.py").read_text(encoding="utf-8")
    return f"```python\n{code}```\n\n"


def glue_lines(code: str) -> int:
    """Lines of code, docstrings included, between the marks of glue."""
    lines = [line.strip() for part in GLUE.findall(code) for line in part.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def libraries_table(rows: pd.DataFrame) -> str:
    """The table of the index, of stored rows (see `four_seasons_env.experiments.libraries`)."""
    rows = rows.sort_values(
        "page", key=lambda names: names != INDEX.stem, kind="stable", ignore_index=True
    )
    bare = rows["page"] == INDEX.stem
    yes = {True: "yes", False: "no"}
    cells = pd.DataFrame(
        {
            "library": [f"[{page}]({page}.md)" for page in rows["page"]],
            "tested": rows["versions"],
            "script": rows["script"].map("`{}`".format),
            "environment": rows["environment"],
            "lines of glue": rows["glue"].astype(str),
            "masks in training": rows["masked_training"].map(yes),
            "masks in evaluation": (rows["illegal"] == 0).map(yes),
            "steps": rows["steps"].map("{:,}".format),
            "cards up": rows["cards_up"].map("{:.1f}".format),
            "won %": (100 * rows["won"]).map("{:.0f}".format),
        }
    )
    cells.loc[bare, "library"] = "none: legal actions at random"
    cells.loc[bare, ["lines of glue", "masks in training"]] = "-"
    cells.loc[rows["games"] == 0, cells.columns[3:]] = "-"
    return as_markdown(cells) + "\n"


def parts(page: Path) -> dict[str, str]:
    """What stands between the marks of a page, by name."""
    found = {f"{each}.py": quoted(each) for each, home in pages().items() if home == page}
    if page == INDEX:
        found["libraries"] = libraries_table(read_table(STORED))
    return found
