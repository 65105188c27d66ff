"""A build from a clone whose symbolic links are small text files, as Git on Windows leaves them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT


def setup(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "setup.py", "--name"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files that the check reads, and those that setuptools needs."""
    shutil.copy(ROOT / "setup.py", tmp_path)
    for name in ("agents", "experiments"):
        package = tmp_path / "four_seasons_env" / name
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    return tmp_path


def test_whole_clone_builds(clone: Path) -> None:
    assert setup(clone).returncode == 0


@pytest.mark.parametrize("name", ["agents", "experiments"])
def test_missing_link_stops_the_build(clone: Path, name: str) -> None:
    link = clone / "four_seasons_env" / name
    shutil.rmtree(link)
    link.write_text(f"../{name}")
    done = setup(clone)
    assert done.returncode != 0
    assert f"four_seasons_env/{name} is not a symbolic link" in done.stderr
    assert "core.symlinks" in done.stderr
