"""Plots are drawn whatever Matplotlib's settings are, and their ticks are right."""

from pathlib import Path

from four_seasons_env.experiments import plots
from tests.helpers import run_python

ENDING = """
from four_seasons_env.experiments.plots import plot_curves
import pandas as pd, pathlib, sys
curves = pd.DataFrame(columns=["name", "run", "spent", "win_rate"])
plot_curves(curves, "title", pathlib.Path(sys.argv[1]), ("minutes", "won"), {})
"""


def test_settings_of_the_user(tmp_path: Path) -> None:
    """A notebook's backend that is not installed, and LaTeX that is not."""
    settings, picture = tmp_path / "matplotlibrc", tmp_path / "plot.png"
    settings.write_text("text.usetex: True\nsavefig.format: nonsense\n")
    own = {"MPLBACKEND": "module://nowhere.backend", "MATPLOTLIBRC": str(settings)}
    run_python("-c", ENDING, str(picture), **own)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_ticks_say_what_they_are(tmp_path: Path) -> None:
    """A tick at 82.5% is not called 82%."""
    with plots.drawing(tmp_path / "x.png", "title") as axes:
        axes.set_yticks([0, 0.07, 0.8, 0.825])
        axes.yaxis.set_major_formatter(plots.percent)
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert ticks == ["0%", "7%", "80%", "82.5%"]
