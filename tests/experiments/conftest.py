"""One comparison for all tests of this folder: played once, and copied to be changed."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.workers import Workers


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """The flags of a finished comparison, with recorded games; its folder stays as it is."""
    out = tmp_path_factory.mktemp("compared") / "c"
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 19}"
    run = Compare(out, ["heuristic", "A=greedy"], deals=deals, record=True)
    run.workers = Workers(n_jobs=1)
    compare(run)
    return run


@pytest.fixture
def copied(compared: Compare, tmp_path: Path) -> Compare:
    """The same in a copy of its folder, to damage or go on with."""
    return replace(compared, out=Path(shutil.copytree(compared.out, tmp_path / "c")))
