"""The docs: their examples run, their links lead somewhere, their generated parts are fresh."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from four_seasons_env.experiments.pages import SPACES, with_part
from four_seasons_env.experiments.reporting.spaces_page import spaces_parts
from tests.helpers import ROOT

DOCS = ROOT / "docs"
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = sorted(path for path in DOCS.glob("*.md") if EXAMPLE.search(path.read_text()))
SHORTER = {
    'PolicyAgent\n\nmodel = MaskablePPO.load("four-seasons-ppo")': "PolicyAgent\n\nmodel = None",
    "n_steps=32,": "n_steps=2,",
    "model.learn(500_000)": "model.learn(512)",
    "seconds=10": "seconds=0.1",
}
"""What is put in an example's place, so that it takes seconds and needs no file."""
FROM_ELSEWHERE = re.compile(r"<(?:script|img|iframe|link)\b[^>]*(?:src|href)=[\"']?https?:[^>]*>")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[path.stem for path in PAGES])
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    code += "\n".join(EXAMPLE.findall(page.read_text()))
    for text, shorter in SHORTER.items():
        code = code.replace(text, shorter)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


def test_spaces_are_up_to_date() -> None:
    page = SPACES.read_text()
    for name, part in spaces_parts().items():
        assert with_part(page, name, part) == page


@pytest.mark.slow
def test_the_site_is_built_with_links_that_lead_somewhere_and_nothing_from_elsewhere(
    tmp_path: Path,
) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr  # strict: a warning fails
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.html")
    }
    assert "four_seasons_env.game.Game.play" in pages["reference/game.html"]
    assert "reference/environments.html#four_seasons_env.env" in pages["architecture.html"]
    for name, text in pages.items():
        assert not FROM_ELSEWHERE.findall(text), name
