"""The demo in small: what it leaves is what it announces."""

import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments import demo as demo_module
from four_seasons_env.experiments.demo import PLAYED, SHOWN, TRAINED, Demo, demo, expectations
from four_seasons_env.experiments.reporting.animation import play_out, save_game
from four_seasons_env.experiments.training.monitor import Monitor


@pytest.mark.slow
def test_the_demo_leaves_table_curve_report_and_a_game(tmp_path: Path, capsys) -> None:
    folder = demo(Demo(minutes=0.25, out=tmp_path, deals="0-199"))
    printed = capsys.readouterr().out
    assert folder.parent == tmp_path

    table = (folder / "compare" / "table.md").read_text()
    for name in (*PLAYED, *SHOWN, TRAINED, "ceiling"):
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
    for told in ("ceiling", "rule of thumb", "learned + search", "kept", "Learning four-seasons"):
        assert told in page
    with Image.open(folder / "game.gif") as animation:
        assert animation.n_frames > 20


@pytest.mark.slow
def test_ctrl_c_while_it_plays_reports_what_there_is(tmp_path: Path, monkeypatch, capsys) -> None:
    """Stopped after the first blocks, the comparison is of the deals that all have played."""
    from four_seasons_env.experiments import compare as compare_module

    def stop_half_way(function, tasks, *arguments) -> None:
        for task in tasks:
            if task.deals[0] < 40:
                function(task)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "BLOCK", 20)
    monkeypatch.setattr(compare_module, "run_blocks", stop_half_way)
    monkeypatch.setattr(demo_module, "PLAYED", ("heuristic",))
    folder = demo(Demo(minutes=0.05, out=tmp_path, deals="0-99"))
    told = "ended early, with the deals that all have played; Ctrl-C again stops it"
    assert told in capsys.readouterr().out
    results = pd.read_csv(folder / "compare" / "results.csv")
    assert (results.groupby("agent")["deal"].max() == 39).all()
    assert (folder / "report.html").is_file()


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard, though the tests may run in a background that does not hear it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.parametrize("second", [signal.SIGINT, None])
def test_ctrl_c_while_it_learns(second, heard, tmp_path: Path, monkeypatch, capsys) -> None:
    """The demo goes on with what has been learned; a second one in the same step ends it."""
    between, finish = Monitor.between_updates, Monitor.finish

    def pressed(monitor: Monitor) -> bool:
        if monitor.learner.steps:
            signal.raise_signal(signal.SIGINT)
        return between(monitor)

    def pressed_again(monitor: Monitor) -> None:
        if second:
            signal.raise_signal(second)
        finish(monitor)

    monkeypatch.setattr(Monitor, "between_updates", pressed)
    monkeypatch.setattr(Monitor, "finish", pressed_again)
    monkeypatch.setattr(demo_module, "PLAYED", ("heuristic",))
    small = Demo(minutes=60, out=tmp_path, deals="0-19")
    if second:
        with pytest.raises(KeyboardInterrupt):
            demo(small)
        assert not list(tmp_path.glob("*/compare"))
    else:
        assert (demo(small) / "report.html").is_file()
    printed = capsys.readouterr().out
    assert "a second Ctrl-C within the step ends the demo" in " ".join(printed.split())
    assert "ended early, with what has been learned; Ctrl-C again stops it" in printed


@pytest.mark.slow
def test_sigterm_is_for_the_whole_demo(tmp_path: Path, monkeypatch) -> None:
    between = Monitor.between_updates

    def told(monitor: Monitor) -> bool:
        signal.raise_signal(signal.SIGTERM)
        return between(monitor)

    monkeypatch.setattr(Monitor, "between_updates", told)
    with pytest.raises(KeyboardInterrupt):
        demo(Demo(minutes=60, out=tmp_path))
    assert not list(tmp_path.glob("*/compare"))
    assert len(list(tmp_path.glob("*/train/checkpoint"))) == 1


def test_expectations_come_from_the_kept_results() -> None:
    told = expectations("four-seasons")
    kept = pd.read_csv(demo_module.RESULTS / "four-seasons.csv").set_index("agent")
    for name in SHOWN:
        rate = kept.loc[[name], "win_rate"].iloc[0]
        assert f"{name} {rate:.1%}" in told
    assert expectations("czarina") == ""


def test_an_animation_shows_each_position_of_a_game(tmp_path: Path) -> None:
    positions = play_out("heuristic", "corners", TRAIN_FROM)
    assert positions[0].moves_played == 0
    assert positions[-1].is_over or positions[-1].moves_played == 500
    moves = [each.moves_played for each in positions]
    np.testing.assert_array_equal(moves, np.arange(len(positions)))
    path = save_game("heuristic", "corners", TRAIN_FROM, tmp_path / "x" / "game.gif")
    with Image.open(path) as animation:
        assert 1 < animation.n_frames <= len(positions)
