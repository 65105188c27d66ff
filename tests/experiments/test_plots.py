"""Plots are drawn whatever Matplotlib's settings are, and their ticks and lines are right."""

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

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


def draw_curves(path: Path, *names: str, **options: Any) -> None:
    """Draw a learning curve for each name."""
    points = {"spent": [0, 100, 200], "win_rate": [0, 0.1, 0.3]}
    curves = pd.concat([pd.DataFrame({"name": name, "run": name, **points}) for name in names])
    plots.plot_curves(curves, "title", path, ("steps", "won"), {"heuristic": 0.2}, **options)


def test_equal_tables_give_equal_files(tmp_path: Path) -> None:
    for ending in ("svg", "png"):
        paths = [tmp_path / f"{i}.{ending}" for i in range(2)]
        for path in paths:
            draw_curves(path, "a", "b")
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_many_curves_are_told_apart(tmp_path: Path, monkeypatch) -> None:
    """Also variants of an agent, which have one colour."""
    figures: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: figures.append(figure))
    names = [*"abcdefghijklmnop", "planner", "planner@lookahead=1"]
    draw_curves(tmp_path / "x.png", *names)
    (axes,) = figures[0].axes
    lines = {each.get_label(): (each.get_color(), each.get_linestyle()) for each in axes.lines}
    assert len({lines[plots.in_lines(name)] for name in names}) == len(names)
    (legend,) = figures[0].legends  # below the plot, where it hides none of them
    assert len(legend.get_texts()) == len(names)


def test_labels_in_other_scripts(tmp_path: Path, monkeypatch) -> None:
    """What no font has is escaped, without a warning for each size and file."""
    monkeypatch.setattr(plots, "_OTHER_SCRIPTS", ())
    for each in (plots._families, plots._characters):
        each.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw_curves(tmp_path / "x.svg", "\u6211\u7684", "ещё", "a\x07")
    assert plots.in_lines("\u6211\u7684 ещё\x07") == "\\u6211\\u7684 ещё\\x07"
    for each in (plots._families, plots._characters):
        each.cache_clear()


def test_a_curve_of_one_point(tmp_path: Path) -> None:
    one = pd.DataFrame({"name": ["a"], "run": ["a"], "spent": [0], "win_rate": [0.5]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plots.plot_curves(one, "title", tmp_path / "x.png", ("steps", "won"), {})
