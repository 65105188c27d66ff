"""Small games: their ids and optima."""

import zipfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import four_seasons_env
from four_seasons_env.game import Game
from four_seasons_env.optima import small_games
from four_seasons_env.rules import RULES, SMALL, get_rules
from four_seasons_env.solver import Known, fair_value
from tests.helpers import ROOT, python_path, run_python


def test_each_has_ids_and_an_optimum() -> None:
    games = four_seasons_env.small_games()
    assert [game.name for game in games] == list(SMALL)
    for game in games:
        assert game.rules is get_rules(game.name) is SMALL[game.name]
        assert 0 < game.low <= game.optimum <= game.high <= 1
        assert 2 <= game.valued <= game.openings
        assert gym.spec(game.env_id).kwargs == {"rules": game.name}
        assert gym.spec(game.next_deal_id).kwargs == {"rules": game.name}
        assert str(game.rules.ranks) in game.env_id
    assert set(SMALL).isdisjoint(RULES)


def test_they_are_read_from_a_zip(tmp_path: Path) -> None:
    source = ROOT / "four_seasons_env"
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        for path in (*source.glob("*.py"), *source.glob("data/*.json")):
            archive.write(path, path.relative_to(ROOT))
    script = "import four_seasons_env as m; print(m.__file__, len(m.small_games()))"
    said = run_python("-c", script, cwd=tmp_path, **python_path(tmp_path / "some.zip"))
    assert "some.zip" in said and said.endswith(f" {len(SMALL)}\n")


@pytest.mark.slow
def test_the_optimum_is_the_mean_of_deals() -> None:
    (game,) = [each for each in small_games() if each.name == "small-4x4-cells"]
    known = Known()
    values = [
        fair_value(Game(game.rules, deal), max_positions=2**62, memory=2**33, known=known).value
        for deal in range(40)
    ]
    assert None not in values
    spread = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - game.optimum) < 4 * spread + (game.high - game.low)
