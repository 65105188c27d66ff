"""The recipes for other libraries: pages that agree with scripts and runs, and scripts that run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments import libraries
from four_seasons_env.experiments.libraries import names, run_recipe, versions
from four_seasons_env.experiments.pages import with_part
from four_seasons_env.experiments.reporting.libraries_page import (
    INDEX,
    RECIPES,
    STORED,
    glue_lines,
    libraries_table,
    pages,
    parts,
    requirements,
)
from four_seasons_env.experiments.reporting.tables import read_table
from tests.helpers import ROOT

SCRIPTS = sorted(path.stem for path in RECIPES.glob("with_*.py"))
RUN = sorted({page.stem for page in pages().values()})


def test_every_script_is_quoted_and_every_recipe_linked() -> None:
    assert sorted(pages()) == SCRIPTS
    index = INDEX.read_text()
    navigation = (ROOT / "mkdocs.yml").read_text()
    for name in names():
        assert f"recipes/{name}.md" in navigation
        assert name == INDEX.stem or (f"({name}.md)" in index and requirements(RECIPES / name))


@pytest.mark.parametrize("name", names())
def test_a_page_agrees_with_its_scripts_and_runs(name: str) -> None:
    path = RECIPES / f"{name}.md"
    page = path.read_text()
    for part, text in parts(path).items():
        assert with_part(page, part, text) == page, (
            "python -m four_seasons_env.experiments.libraries"
        )


def test_what_is_stored_was_run_as_the_scripts_are_now() -> None:
    rows = read_table(STORED)
    assert set(rows["page"]) == set(names())
    assert set(rows["script"]) - {"-"} == {f"{each}.py" for each in SCRIPTS}
    for row in rows[rows["script"] != "-"].itertuples():
        assert row.glue == glue_lines((RECIPES / row.script).read_text())
        listed = ", ".join(each.replace("==", " ") for each in requirements(RECIPES / row.page))
        assert row.versions == (listed or "-").replace("[rllib]", "")
    assert (rows["illegal"] == 0).all()


def test_glue_is_counted_between_its_marks() -> None:
    code = "a = 1\n# glue: why\nb = 2\n\n# said\nc = 3\n# end of glue\nd = 4\n    # glue\n    e\n"
    assert glue_lines(code + "    # end of glue\n") == 3
    assert glue_lines("a = 1\n") == 0


def row(page: str, games: int, **more: object) -> dict[str, object]:
    return {
        "page": page,
        "script": "with_it.py",
        "versions": "it 1.0",
        "environment": "FourSeasons-v0",
        "glue": 2,
        "masked_training": False,
        "illegal": 0,
        "steps": 4096,
        "games": games,
        "cards_up": 9.25,
        "won": 0.04,
    } | more


def test_the_table_tells_what_was_run_and_what_could_not_be() -> None:
    rows = [row("it", 100, illegal=3), row("gone", 0), row(INDEX.stem, 100)]
    lines = libraries_table(pd.DataFrame(rows)).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:5]]
    assert cells[0][0] == "none: legal actions at random"
    assert cells[0][4:6] == ["-", "-"]
    assert cells[1][0] == "[it](it.md)"
    assert cells[1][3:] == ["FourSeasons-v0", "2", "no", "no", "4,096", "9.2", "4"]
    assert cells[2][3:] == ["-"] * 7


def test_a_recipe_whose_library_is_missing_is_refused(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(libraries, "requirements", lambda page: ["no-such-package==1.0"])
    with pytest.raises(RuntimeError, match="no-such-package: not all of them are installed"):
        run_recipe("sb3", None)


def test_a_script_that_fails_is_told_by_its_last_line(monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "with_it.py").write_text("print('{}')\nassert False, 'illegal moves'\n")
    monkeypatch.setattr(libraries, "RECIPES", tmp_path)
    with pytest.raises(RuntimeError, match="with_it: AssertionError: illegal moves"):
        libraries.run_script("with_it", "python3")
    (tmp_path / "with_it.py").write_text(f"print('begin')\nprint({json.dumps({'steps': 1})!r})\n")
    assert libraries.run_script("with_it", "python3") == [{"steps": 1}]


@pytest.mark.slow
def test_the_right_way_runs_as_the_index_shows_it() -> None:
    example = INDEX.read_text().partition("```python\n")[2].partition("```")[0]
    assert "evaluate(" in example
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", RUN)
def test_a_recipe_trains_and_never_plays_an_illegal_action(name: str) -> None:
    """With the library of here, or of `$RECIPE_VENVS/NAME`; see
    `four_seasons_env.experiments.libraries`."""
    venvs = Path(os.environ["RECIPE_VENVS"]) if "RECIPE_VENVS" in os.environ else None
    if venvs and not (venvs / name).exists():
        pytest.skip(f"{venvs} has no environment {name}")
    try:
        versions(name, libraries.interpreter(name, venvs))
    except RuntimeError as missing:
        pytest.skip(str(missing))
    for told in run_recipe(name, venvs):
        assert told["games"] == 100
        assert told["illegal"] == 0
        assert told["masked_training"] == (name not in ("minari", INDEX.stem))
