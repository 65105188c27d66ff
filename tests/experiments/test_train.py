"""Training with `four-seasons train`: run folder, workers, warm starts, and the report."""

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from safetensors.numpy import load_file

from four_seasons_env import __version__
from four_seasons_env.agents.planner.learner import PlannerLearner
from four_seasons_env.agents.training import Update
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments import monitor
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import summarise_folder
from four_seasons_env.experiments.folders import RUN, STEPS, last_checkpoint, read_log
from four_seasons_env.experiments.monitor import Progress, validate
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.tables import as_markdown, as_text
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.schemas import read_json
from tests.agents.policies import SMALL_RUNS

pytestmark = pytest.mark.slow

HERE = Workers(n_jobs=1)


def run(out: Path, **flags: object) -> Train:
    about = {"agent": "planner", "steps": "24", "validations": 3, "validation_deals": 8}
    return Train(out, **about | {"set": SMALL_RUNS["planner"], "workers": HERE} | flags)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("planner") / "run"
    train(run(out))
    return out


def test_run_folder(finished: Path) -> None:
    about = json.loads((finished / RUN).read_text())
    assert about["rules"]["name"] == "four-seasons"
    assert about["run"]["agent"] == "planner"
    assert about["hyperparameters"]["final_td_lambda"] == 0.3
    assert about["hyperparameters"]["positions"] == 10
    assert about["command"].startswith("four-seasons")
    assert about["versions"]["four-seasons-env"] == __version__
    assert about["run"]["workers"] == {"backend": "loky", "n_jobs": 1, "cluster": None}
    done = json.loads((finished / "done.json").read_text())
    assert done["steps"] == done["games"] == 24
    log = read_log(finished)
    assert log[STEPS].iloc[-1] == 24
    assert log["validation/win_rate"].count() == 3
    assert log["train/loss"].dropna().between(0, 1).all()
    card = json.loads((finished / "best" / "model.json").read_text())
    assert card["training"]["validation"] == done["best"]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_interrupted_run_continues(
    seconds: float, finished: Path, tmp_path: Path, monkeypatch
) -> None:
    """A run continues from a checkpoint, or starts again without one."""
    update, calls = PlannerLearner.update, itertools.count()

    def interrupted(self: PlannerLearner, done: float) -> Update:
        if self.steps and next(calls) == 3:
            raise KeyboardInterrupt
        return update(self, done)

    monkeypatch.setattr(PlannerLearner, "update", interrupted)
    monkeypatch.setattr(monitor, "CHECKPOINT_SECONDS", seconds)
    with pytest.raises(KeyboardInterrupt):
        train(run(tmp_path))
    monkeypatch.undo()
    assert not (tmp_path / "done.json").exists()
    assert bool(last_checkpoint(tmp_path)) == (seconds == 0.0)
    train(Train(tmp_path, agent="planner", resume=True, workers=HERE))
    assert same_outcome(tmp_path, finished)


@pytest.mark.parametrize("validation", [0, 2])
def test_ctrl_c_in_a_validation_saves(
    validation: int, finished: Path, tmp_path: Path, monkeypatch
) -> None:
    calls = itertools.count()

    def interrupted(*arguments: Any) -> Any:
        loads = arguments[-1][0] >= TRAIN_FROM  # before the run, with training deals
        if not loads and next(calls) == validation:
            raise KeyboardInterrupt
        return validate(*arguments)

    monkeypatch.setattr(monitor, "validate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(run(tmp_path))
    steps = [8, 16, 24][validation]
    assert read_json(last_checkpoint(tmp_path) / "monitor.json", Progress).logged_steps == steps
    train(Train(tmp_path, agent="planner", resume=True, workers=HERE))
    assert same_outcome(tmp_path, finished)


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_do_not_change_learning(backend: Any, finished: Path, tmp_path: Path) -> None:
    train(run(tmp_path, workers=Workers(backend, 2)))
    assert same_outcome(tmp_path, finished)
    where = json.loads((tmp_path / RUN).read_text())["run"]["workers"]
    assert where == {"backend": backend, "n_jobs": 2, "cluster": None}


def same_outcome(one: Path, other: Path) -> bool:
    """Whether two runs have saved the same policies and log, except for times."""
    policies = [sorted(out.glob("*/model.safetensors")) for out in (one, other)]
    assert len(policies[0]) == len(policies[1]) == 2
    for mine, theirs in zip(*policies, strict=True):
        assert mine.relative_to(one) == theirs.relative_to(other)
        assert mine.read_bytes() == theirs.read_bytes()
    names = [name for name in read_log(other) if not name.startswith("time/") or name == STEPS]
    pd.testing.assert_frame_equal(read_log(one)[names], read_log(other)[names])
    return True


def test_a_warm_start_uses_planner_weights(finished: Path, tmp_path: Path) -> None:
    """Those of other rules. A run stands for its best policy."""
    frozen = [*SMALL_RUNS["planner"], "learning_rate=1e-12", "final_learning_rate=1e-12"]
    teacher = f"planner:{finished}"
    train(run(tmp_path, rules="corner-patience", warm_start=teacher, set=frozen))
    policies = finished / "best", tmp_path / "last"
    before, after = (load_file(each / "model.safetensors") for each in policies)
    assert all(abs(before[name] - after[name]).max() < 1e-6 for name in before)
    card = json.loads((tmp_path / "last" / "model.json").read_text())
    assert card["training"]["warm_start"] == teacher


@pytest.mark.parametrize(
    ("teacher", "message"),
    [
        ("planner", r"other layers .*: add --set layers=\[128,64,64,32\]"),
        ("heuristic", "must be planner or planner:FOLDER"),
        ("planner@positions=5", "must be planner or planner:FOLDER"),
    ],
)
def test_a_wrong_warm_start_is_refused(teacher: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        train(run(tmp_path / "x", rules="florentine", warm_start=teacher))
    assert not (tmp_path / "x").exists()


def test_train_writes_what_the_report_needs(tmp_path: Path) -> None:
    """Two seeds: from training to the page."""
    import torch

    flags = {"steps": "300", "validations": 3, "validation_deals": 20}
    flags["set"] = SMALL_RUNS["maskable_ppo"]
    for seed in (3, 4):
        train(
            Train(tmp_path / "study" / f"maskable_ppo-{seed}", seed=seed, rules="czarina", **flags)
        )
    run = tmp_path / "study" / "maskable_ppo-3"
    for name in (
        *("run.json", "progress.csv", "done.json"),
        *("best/model.safetensors", "last/model.json"),
    ):
        assert (run / name).stat().st_size > 0
    assert list(run.glob("events.*")), "TensorBoard"
    about = json.loads((run / "run.json").read_text())
    assert about["run"]["seed"] == 3
    assert about["hyperparameters"]["layers"] == [8, 16, 8]
    assert about["versions"]["torch"] == torch.__version__
    log = read_log(run)
    assert log["validation/win_rate"].count() == 3
    assert log[STEPS].is_monotonic_increasing

    compared = Compare(
        out=tmp_path / "y",
        agents=[
            "heuristic",
            *(f"ppo=maskable_ppo:{tmp_path}/study/maskable_ppo-{i}" for i in (3, 4)),
        ],
        rules=["czarina"],
        deals=f"{TRAIN_FROM}-{TRAIN_FROM + 29}",
        workers=HERE,
    )
    compare(compared)
    results = pd.read_csv(compared.out / "results.csv")
    assert set(results["train_seed"].dropna()) == {3, 4}
    assert set(results["play"]) == {"deterministic", "stochastic"}
    assert len(results) == 30 * (1 + 2 * 2)
    page = report(Report([compared.out, tmp_path / "study"]))
    text = page.read_text()
    assert "Learning czarina" in text
    assert text.count("data:image/png") == 2 + 1
    assert "Training seeds" in text
    assert "http" not in text, "self-contained"
    table = (compared.out / "table.md").read_text()
    assert table == as_markdown(as_text(summarise_folder(compared.out, results, None)))
    with pytest.raises(FileNotFoundError, match="has no run"):
        report(Report([tmp_path]))
