"""A build from a clone whose symbolic links are small text files, as Git on Windows leaves them."""

import shutil
from pathlib import Path

import pytest

from tests.helpers import ROOT, run_python


@pytest.mark.parametrize("name", ["agents", "experiments"])
def test_missing_link_stops_the_build(tmp_path: Path, name: str) -> None:
    shutil.copy(ROOT / "setup.py", tmp_path)
    for each in ("agents", "experiments"):
        (tmp_path / "four_seasons_env" / each).mkdir(parents=True)
        (tmp_path / "four_seasons_env" / each / "__init__.py").touch()
    link = tmp_path / "four_seasons_env" / name
    shutil.rmtree(link)
    link.write_text(f"../{name}")
    said = run_python("setup.py", "--name", cwd=tmp_path, status=1)
    assert f"four_seasons_env/{name} is not a symbolic link" in said
    assert "core.symlinks" in said
