"""The planner as one more algorithm of `four-seasons train`: run folder, resume, sweep, report."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from safetensors.numpy import load_file

from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.planner.learner import Learner, read_hyperparameters
from four_seasons_env.agents.registry import make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.sweep import Sweep, read_jobs
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.training.planner_games import PlannerGames
from four_seasons_env.experiments.training.run_folder import RUN, STEPS, read_log
from four_seasons_env.rules import RULES

TINY = [
    *("games=4", "nodes=10", "expansions=5", "batch_size=32"),
    *("endgame_nodes=50", "endgame_expansions=25"),
]


HERE = Workers(n_jobs=1)


def run(out: Path, **flags: object) -> Train:
    about = {"agent": "planner", "steps": "24", "validations": 3, "validation_deals": 8}
    return Train(out, **about | {"set": TINY, "workers": HERE} | flags)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("planner") / "run"
    train(run(out))
    return out


DEFAULT = RULES["four-seasons"]


def weights(out: Path, policy: str) -> dict:
    return load_file(out / policy / "model.safetensors")


def test_the_run_folder_is_that_of_every_algorithm(finished: Path) -> None:
    about = json.loads((finished / RUN).read_text())
    assert about["rules"]["name"] == "four-seasons"
    assert about["run"]["agent"] == "planner"
    assert about["hyperparameters"]["td_lambda"] == 0.7
    assert about["hyperparameters"]["nodes"] == 10
    assert about["command"].startswith("four-seasons")
    assert about["where"] == {"backend": "loky", "n_jobs": 1, "cluster": None}
    assert not {"workers", "n_jobs"} & about["run"].keys()
    done = json.loads((finished / "done.json").read_text())
    assert done["steps"] == done["games"] == 24
    log = read_log(finished)
    assert log[STEPS].iloc[-1] == 24
    assert log["validation/win_rate"].count() == 3
    assert log["train/loss"].dropna().between(0, 1).all()
    games = pd.read_csv(finished / "validation.csv")
    assert list(games.columns) == ["deal", "won", "cards_up", "moves", "seconds"]
    assert len(games) == 8
    assert len(list(finished.glob("policies/*/model.json"))) == 3
    card = json.loads((finished / "best" / "model.json").read_text())
    assert card["training"]["validation"] == done["best"]
    assert "planner on four-seasons, training seed 0" in (finished / "README.md").read_text()


def test_its_policy_plays(finished: Path) -> None:
    agent = make_agent(f"planner:{finished / 'last'}")
    games = play_deals(agent, RULES["four-seasons"], range(TRAIN_FROM, TRAIN_FROM + 2), seed=0)
    assert len(games) == 2


def test_a_run_that_is_stopped_goes_on_to_the_same_weights(
    finished: Path, tmp_path: Path, monkeypatch
) -> None:
    update, calls = Learner.update, iter(range(100))

    def killed(self: Learner, done: float) -> tuple[int, float]:
        if next(calls) == 3:
            raise MemoryError
        return update(self, done)

    monkeypatch.setattr(Learner, "update", killed)
    out = tmp_path / "parts"
    with pytest.raises(MemoryError):
        train(run(out, checkpoint_every=0.0))
    monkeypatch.undo()
    train(Train(out, agent="planner", resume=True, workers=HERE))
    for policy in ("best", "last", "policies/000000000008"):
        expected, found = weights(finished, policy), weights(out, policy)
        assert expected.keys() == found.keys()
        assert all((expected[name] == found[name]).all() for name in expected)
    told = [name for name in read_log(out) if not name.startswith("time/") or name == STEPS]
    pd.testing.assert_frame_equal(read_log(out)[told], read_log(finished)[told])


def test_ctrl_c_stops_it_at_a_checkpoint(finished: Path, tmp_path: Path, monkeypatch) -> None:
    update = Learner.update

    def stopped(self: Learner, done: float) -> tuple[int, float]:
        if self.games == 12:
            signal.raise_signal(signal.SIGINT)
        return update(self, done)

    monkeypatch.setattr(Learner, "update", stopped)
    with pytest.raises(KeyboardInterrupt):
        train(run(tmp_path))
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not (tmp_path / "done.json").exists()
    assert read_log(tmp_path)[STEPS].iloc[-1] == 16
    train(Train(tmp_path, resume=True, workers=HERE))
    expected, found = weights(finished, "last"), weights(tmp_path, "last")
    assert all((expected[name] == found[name]).all() for name in expected)


class Dealt:
    """A pool of three that works here, its last task first."""

    size, core_seconds = 3, 0.0

    def map(self, function, tasks, *shared):
        assert len(tasks) > self.size
        return [function(task, *shared) for task in reversed(tasks)][::-1]


def test_games_are_the_same_however_they_are_split() -> None:
    settings = read_hyperparameters(overrides=TINY)
    games = PlannerGames(DEFAULT, settings, Dealt())
    here, split = Learner(DEFAULT, settings, 1), Learner(DEFAULT, settings, 1, games.play)
    for done in (0.0, 0.5):
        assert here.update(done) == split.update(done)
    for mine, theirs in zip(here.network, split.network, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    deals = range(TRAIN_FROM, TRAIN_FROM + 8)
    agent = PlannerAgent(DEFAULT, here.network, nodes=10, expansions=5, endgame=0)
    told = ["deal", "won", "cards_up", "moves"]
    pd.testing.assert_frame_equal(
        games.validate(split.network, deals)[told], play_deals(agent, DEFAULT, deals)[told]
    )


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("loky", 3), ("dask", 2), ("ray", 2)])
def test_the_same_is_learned_on_any_workers(
    backend: str, n_jobs: int, finished: Path, tmp_path: Path
) -> None:
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    train(run(tmp_path, workers=Workers(backend, n_jobs)))
    assert same_outcome(tmp_path, finished)
    where = json.loads((tmp_path / RUN).read_text())["where"]
    assert where == {"backend": backend, "n_jobs": n_jobs, "cluster": None}


_LEARN = """
import sys
from pathlib import Path
from four_seasons_env.experiments.train import train
from tests.experiments.test_planner_training import run

train(run(Path(sys.argv[1])))
"""


@pytest.mark.slow
def test_the_same_is_learned_by_code_that_was_just_compiled(finished: Path, tmp_path: Path) -> None:
    """Numba inlines otherwise then, and the order of a sum must not hang on that."""
    subprocess.run(
        [sys.executable, "-c", _LEARN, str(tmp_path / "run")],
        check=True,
        cwd=ROOT,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert same_outcome(tmp_path / "run", finished)


def same_outcome(one: Path, other: Path) -> bool:
    """Whether two runs have kept the same policies, log and games, but for time."""
    policies = [sorted(out.glob("*/**/model.safetensors")) for out in (one, other)]
    assert len(policies[0]) == len(policies[1]) == 5
    for mine, theirs in zip(*policies, strict=True):
        assert mine.relative_to(one) == theirs.relative_to(other)
        assert mine.read_bytes() == theirs.read_bytes()
    told = [name for name in read_log(other) if not name.startswith("time/") or name == STEPS]
    pd.testing.assert_frame_equal(read_log(one)[told], read_log(other)[told])
    games = [pd.read_csv(out / "validation.csv").drop(columns="seconds") for out in (one, other)]
    pd.testing.assert_frame_equal(*games)
    return True


@pytest.mark.slow
def test_killed_it_goes_on_with_other_workers(tmp_path: Path) -> None:
    """SIGKILL with two workers at the table, then with three; one brings it to its end.

    A busy machine may be late with the second kill, which must not come after the end.
    """
    out, whole = tmp_path / "x", tmp_path / "whole"
    train(run(whole, steps="96"))
    begun = ["--agent", "planner", "--steps", "96", "--validations", "3", "--validation-deals", "8"]
    begun += ["--checkpoint-every", "0", "--set", *TINY]
    for n_jobs, flags, games in ((2, begun, 8), (3, ["--resume"], 16)):
        command = [
            sys.executable,
            "-m",
            "four_seasons_env.experiments.train",
            "--out",
            str(out),
            *flags,
        ]
        process = subprocess.Popen([*command[:5], "--n-jobs", str(n_jobs), *command[5:]], cwd=ROOT)
        while played(out) < games:
            assert process.poll() is None
            time.sleep(0.002)
        process.kill()
        process.wait()
    assert not (out / "done.json").exists()
    train(Train(out, resume=True, workers=HERE))
    assert same_outcome(out, whole)


def played(out: Path) -> int:
    """Games that the checkpoint has."""
    with suppress(FileNotFoundError):
        return int(json.loads((out / "checkpoint" / "state.json").read_text())["watcher"]["games"])
    return 0


def test_a_damaged_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    train(run(tmp_path, steps="8", validations=1))
    (tmp_path / "done.json").unlink()
    (tmp_path / "checkpoint" / "arrays.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match="checkpoint cannot be resumed from"):
        train(Train(tmp_path, resume=True, workers=HERE))


def test_the_report_takes_its_run(finished: Path, tmp_path: Path) -> None:
    page = report(Report([finished], out=tmp_path / "report.html"))
    text = page.read_text()
    assert "Learning four-seasons" in text
    assert text.count("data:image/png") == 4


def test_a_run_of_an_earlier_version_is_named(finished: Path, tmp_path: Path) -> None:
    about = json.loads((finished / RUN).read_text())
    del about["rules"]["name"]
    (tmp_path / RUN).write_text(json.dumps(about))
    with pytest.raises(ValueError, match=r"run\.json .* earlier version"):
        report(Report([tmp_path]))


@pytest.mark.parametrize("rules", ["four-seasons", "corner-patience"])
def test_a_warm_start_goes_on_from_a_planners_weights(tmp_path: Path, rules: str) -> None:
    """Whatever the rules that they were trained on."""
    first, second = tmp_path / "first", tmp_path / "second"
    train(run(first))
    frozen = ["learning_rate=1e-12", "final_learning_rate=1e-12"]
    teacher = f"planner:{first / 'last'}"
    train(run(second, rules=rules, warm_start=teacher, set=[*TINY, *frozen]))
    before, after = (load_file(each / "last" / "model.safetensors") for each in (first, second))
    assert all(abs(before[name] - after[name]).max() < 1e-6 for name in before)
    cards = [json.loads((each / "last" / "model.json").read_text()) for each in (first, second)]
    assert cards[1]["training"]["warm_start"].endswith(cards[0]["sha256"])


@pytest.mark.parametrize("teacher", ["heuristic", "planner@nodes=5", "next_deal_ppo"])
def test_it_starts_from_no_other_agent(tmp_path: Path, teacher: str) -> None:
    with pytest.raises(ValueError, match="starts from a planner's weights"):
        train(run(tmp_path / "x", warm_start=teacher))
    assert not (tmp_path / "x").exists()


def test_hyperparameters_are_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="did you mean 'td_lambda'"):
        train(Train(tmp_path / "x", agent="planner", set=["td_lamda=0.5"]))
    assert not (tmp_path / "x").exists()


def test_a_sweep_trains_it_too(tmp_path: Path) -> None:
    path = tmp_path / "jobs.yaml"
    fixed = {"agent": "planner", "core_minutes": 2, "td_lambda": 0.9}
    path.write_text(yaml.safe_dump({"fixed": fixed, "grid": {"seed": [0, 1]}}))
    jobs = read_jobs(Sweep(path, tmp_path / "s"))
    assert [job.name for job in jobs] == ["seed-0", "seed-1"]
    assert jobs[1].command == (
        *("--agent", "planner", "--core-minutes", "2", "--seed", "1", "--set", "td_lambda=0.9"),
    )
