"""Training the planner: its run folder, and a run that is stopped and resumed."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from safetensors.numpy import load_file

from agents.planner.learner import Learner, Settings
from agents.registry import make_agent
from experiments.evaluation.play import play_deals
from experiments.train_planner import TrainPlanner, open_folder, train
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.rules import RULES

TINY = Settings(
    games=24,
    games_at_a_time=4,
    positions=10,
    openings=5,
    end_positions=50,
    end_openings=25,
    batch=32,
)


def run(out: Path) -> TrainPlanner:
    return TrainPlanner(out, validate_every=8, validation_deals=8, settings=TINY)


def test_a_run_that_is_stopped_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    log = train(open_folder(run(whole)))
    assert log["games"].tolist() == [8, 16, 24]

    go_on, calls = Learner.go_on, iter(range(100))

    def stopped(self: Learner) -> tuple[float, float]:
        if next(calls) == 3:
            raise KeyboardInterrupt
        return go_on(self)

    monkeypatch.setattr(Learner, "go_on", stopped)
    with pytest.raises(KeyboardInterrupt):
        train(open_folder(run(parts)))
    monkeypatch.undo()
    resumed = train(open_folder(TrainPlanner(parts, resume=True)))
    same = [column for column in log if column != "seconds"]
    pd.testing.assert_frame_equal(resumed[same], log[same])
    for policy in ("best", "last"):
        expected, found = (
            load_file(folder / policy / "model.safetensors") for folder in (whole, parts)
        )
        assert expected.keys() == found.keys()
        assert all((expected[name] == found[name]).all() for name in expected)

    card = json.loads((whole / "last" / "model.json").read_text())
    assert card["training"]["games"] == 24
    agent = make_agent(f"planner:{whole / 'last'}", positions=20, end_positions=50)
    games = play_deals(agent, RULES["four-seasons"], range(TRAIN_FROM, TRAIN_FROM + 2), seed=0)
    assert len(games) == 2


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path):
    open_folder(run(tmp_path))
    before = (tmp_path / "run.json").read_text()
    with pytest.raises(FileExistsError, match="--resume"):
        open_folder(replace(run(tmp_path), seed=5))
    assert (tmp_path / "run.json").read_text() == before
    with pytest.raises(FileNotFoundError, match="no run to resume"):
        open_folder(TrainPlanner(tmp_path / "none", resume=True))
