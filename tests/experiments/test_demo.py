"""A short demo writes its files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.demo import (
    PLAYED,
    SHOWN,
    TRAINED,
    Demo,
    demo,
    expectations,
    save_animation,
)
from four_seasons_env.experiments.matches.play import play_game
from four_seasons_env.experiments.results.tables import DATA


@pytest.mark.slow
def test_the_demo_writes_its_files(tmp_path: Path, capsys) -> None:
    folder = demo(Demo(minutes=0.25, out=tmp_path, deals="0-199"))
    printed = capsys.readouterr().out
    assert folder.parent == tmp_path

    table = (folder / "compare" / "table.md").read_text()
    for name in (*PLAYED, TRAINED, "ceiling"):
        assert f"| {name} |" in table
    results = pd.read_csv(folder / "compare" / "results.csv")
    assert set(results["agent"]) == {*PLAYED, TRAINED}
    assert (results.groupby("agent")["deal"].nunique() == 200).all()

    curve = pd.read_csv(folder / "train" / "progress.csv")
    assert len(curve.dropna(subset=["validation/win_rate"])) >= 2
    assert curve["time/core_seconds"].is_monotonic_increasing

    report = folder / "report.html"
    assert f"report:         {report}" in printed.replace("\n", "")
    page = report.read_text()
    for text in ("rule of thumb", "learned + search", "Learning four-seasons"):
        assert text in page
    with Image.open(folder / "game.gif") as animation:
        assert animation.n_frames > 20


def test_expectations_are_stored_results() -> None:
    text = expectations("four-seasons")
    stored = pd.read_csv(DATA / "four-seasons.csv").set_index("agent")
    for name in SHOWN:
        rate = stored.loc[[name], "win_rate"].iloc[0]
        assert f"{name} {rate:.1%}" in text
    assert expectations("czarina") == ""


def test_an_animation_shows_each_position(tmp_path: Path) -> None:
    positions = play_game("heuristic", "corners", TRAIN_FROM).positions()
    assert positions[0].moves_played == 0
    assert positions[-1].is_over or positions[-1].moves_played == 500
    moves = [each.moves_played for each in positions]
    np.testing.assert_array_equal(moves, np.arange(len(positions)))
    path = tmp_path / "x" / "game.gif"
    save_animation(positions, path)
    with Image.open(path) as animation:
        assert 1 < animation.n_frames <= len(positions)
