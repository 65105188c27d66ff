"""Other files in folders of results stay, byte for byte; and nothing is written through a link."""

import os
from pathlib import Path
from typing import Any

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.folders import DONE
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.studies.census import Census, census
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.workers import Workers
from tests.agents.fakes import SMALL_RUNS
from tests.helpers import contents

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")

ALONE = Workers(n_jobs=1)


def compares(out: Path, again: bool = True) -> None:
    """A comparison, which grows at both ends."""
    first, last = (TRAIN_FROM - 10, TRAIN_FROM + 29) if again else (TRAIN_FROM, TRAIN_FROM + 19)
    compare(Compare(out, ["greedy"], deals=f"{first}-{last}", record=True, workers=ALONE))


def reports(out: Path, again: bool = True) -> None:
    """A comparison, which is verified and reported."""
    if again:
        assert verify(Verify(out))
        report(Report([out]))
    else:
        compares(out, again=False)
        (out / "report.html").write_text("old")


def counts(out: Path, again: bool = True) -> None:
    """A census, which grows."""
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + (24 if again else 9)}"
    census(Census(out, ["corners"], deals, seconds=1e-6, workers=ALONE))


def trains(out: Path, again: bool = True) -> None:
    """A training, which is resumed as if it had been killed before its end."""
    flags: Any = {"steps": "300", "validations": 3, "validation_deals": 4}
    train(Train(out, set=SMALL_RUNS["maskable_ppo"], resume=again, **flags))
    if not again:
        (out / DONE).unlink()


COMMANDS = [compares, reports, counts, pytest.param(trains, marks=pytest.mark.slow)]

STRANGE = (
    *("notes.txt", "2024-2025.csv", "0-9.csv.bak", "mine-1.tar.gz", "7.jsonl.gz", ".keep"),
    *("results.csv~", "report.html.old", "state.pt.old", "model.json.old", "own/1-2.csv"),
)
"""Files that somebody keeps beside ours, called like ours or not."""


def plant(folder: Path, outside: Path) -> dict[str, Any]:
    """Put files and links into a folder and into all folders in it, and return what is new."""
    before = set(contents(folder))
    for place in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        for name in STRANGE:
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(f"mine: {name}")
        (place / "linked").symlink_to(outside)
        (place / "1-2.csv").symlink_to(outside / "0-9.csv")
    return {name: each for name, each in contents(folder).items() if name not in before}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_not_ours_stays(command: Any, tmp_path: Path) -> None:
    out, outside = tmp_path / "x", tmp_path / "outside"
    outside.mkdir()
    (outside / "0-9.csv").write_text("mine")
    command(out, again=False)
    first, planted = contents(out), plant(out, outside)
    command(out)
    after = contents(out)
    assert planted.items() <= after.items()
    assert contents(outside) == {"0-9.csv": b"mine"}
    assert first.items() - after.items(), "what is ours is written again"


OURS = {
    "compares": [
        *("compare.json", "results.csv", "summary.csv", "seeds.csv", "table.md", "table.tex"),
        *(".holder", ".lock", "parts", "parts/*", "parts/*/*", "parts/*/*/*.csv"),
    ],
    "reports": ["report.html", "report-speed-four-seasons.svg", "report-curves.png"],
    "counts": ["census.json", "results.csv", "parts", "parts/*", "parts/*/*.csv"],
    "trains": [
        *("run.json", "progress.csv", "best", "best/model.json", "last", "checkpoints"),
        *("last/model.safetensors", "last/.model.json.next"),
    ],
}
"""Places that each command may write."""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_in_place_of_ours_is_refused(command: Any, tmp_path: Path) -> None:
    """Before anything is written; folders of results are sent to others, and come back."""
    out, outside = tmp_path / "x", tmp_path / "outside"
    command(out, again=False)
    for pattern in OURS[command.__name__]:
        ours = next(out.glob(pattern), out / pattern)
        if ours.exists():
            ours.rename(outside)
        ours.symlink_to(outside)
        before = contents(tmp_path)
        says = f"^{ours} must be a part of {out}, not a symbolic link: remove the link, or choose"
        with pytest.raises(ValueError, match=says):
            command(out)
        assert contents(tmp_path) == before
        ours.unlink()
        if outside.exists():
            outside.rename(ours)
