"""Plots are drawn whatever Matplotlib's settings are, and a failed one costs nothing else."""

import os
import sys
from pathlib import Path

from four_seasons_env.experiments import plots
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.report import Report, report
from tests.helpers import run_python

ENDING = """
from four_seasons_env.experiments.plots import matplotlib, plot_learning
import pandas as pd, pathlib, sys
curves = pd.DataFrame(columns=["name", "run", "spent", "win_rate"])
plot_learning(curves, "title", pathlib.Path(sys.argv[1]), "minutes", {})
"""


def test_settings_of_the_user(tmp_path: Path) -> None:
    """A notebook's backend that is not installed, and LaTeX that is not."""
    settings, picture = tmp_path / "matplotlibrc", tmp_path / "plot.png"
    settings.write_text("text.usetex: True\nsavefig.format: nonsense\n")
    own = {"MPLBACKEND": "module://nowhere.backend", "MATPLOTLIBRC": str(settings)}
    run_python("-c", ENDING, str(picture), **own)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_plots_the_table_is_printed(copied: Compare, capsys, tmp_path: Path) -> None:
    picture = copied.out / "win_rates-four-seasons.png"
    picture.unlink()
    picture.mkdir()  # so that it cannot be written
    compare(copied)
    printed = capsys.readouterr()
    assert "won % [95%]" in printed.out
    assert printed.err.startswith("warning: plot_win_rates could not draw: IsADirectoryError: ")
    assert printed.err.count("\n") == 1
    if sys.platform == "linux":
        out = copied.out.rename(tmp_path / os.fsdecode(b"no UTF-8: \xff"))
        assert "<table" in report(Report([out])).read_text(encoding="utf-8")


def test_ticks_say_what_they_are() -> None:
    """A tick at 82.5% is not called 82%."""
    figure, axes = plots.new_axes()
    axes.set_yticks([0, 0.07, 0.8, 0.825])
    plots.in_percent(axes, y=True)
    figure.draw_without_rendering()
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert ticks == ["0%", "7%", "80%", "82.5%"]
