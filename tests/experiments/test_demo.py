"""The demo: its words and plots. `test_wheel.py` runs it."""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.demo import SHOWN, expectations, save_animation
from four_seasons_env.experiments.matches.play import play_game
from four_seasons_env.experiments.results.tables import DATA


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
