"""Training with `four-seasons train`: run folder, workers, warm starts, and the report."""

import copy
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pandas as pd
import pytest
import torch
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from four_seasons_env import __version__
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.agents.training import get_learner
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import read_results
from four_seasons_env.experiments.folders import RUN, STEPS, last_checkpoint, read_log, read_state
from four_seasons_env.experiments.monitor import Progress
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.train import Train, train, validate
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.rules import RULES
from tests.agents.fakes import SMALL_RUNS, move_card, move_weights
from tests.helpers import ROOT, documented, generators, training_deals

pytestmark = pytest.mark.slow

HERE = Workers(n_jobs=1)


def run(out: Path, **flags: object) -> Train:
    about = {"agent": "planner", "steps": "24", "validations": 3, "validation_deals": 8}
    return Train(out, **about | {"set": SMALL_RUNS["planner"], "workers": HERE} | flags)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out, before = tmp_path_factory.mktemp("planner") / "run", generators()
    train(run(out))
    assert generators() == before, "a training leaves the program's random numbers alone"
    return out


def test_run_folder(finished: Path) -> None:
    about = json.loads((finished / RUN).read_text())
    assert set(about) == documented(RUN)
    assert about["rules"]["name"] == "four-seasons"
    assert about["run"]["agent"] == "planner"
    assert about["hyperparameters"]["final_td_lambda"] == 0.3
    assert about["hyperparameters"]["positions"] == 10
    assert about["command"].startswith("four-seasons")
    assert about["versions"]["four-seasons-env"] == __version__
    done = json.loads((finished / "done.json").read_text())
    assert done["steps"] == done["games"] == 24
    log = read_log(finished)
    assert log[STEPS].iloc[-1] == 24
    assert log["validation/win_rate"].count() == 3
    assert log["train/loss"].dropna().between(0, 1).all()
    card = json.loads((finished / "best" / "model.json").read_text())
    assert card["training"]["validation"] == done["best"]


def test_a_validation_is_saved_for_a_resumed_run(finished: Path) -> None:
    """However little time has passed since the last checkpoint."""
    checkpoint = last_checkpoint(finished)
    assert checkpoint
    assert json.loads((checkpoint / "monitor.json").read_text())["validations"] == 2


def test_cards_up_decide_between_equal_win_rates(tmp_path: Path, monkeypatch) -> None:
    played = [pd.DataFrame({"won": [False], "cards_up": [cards]}) for cards in (20, 30, 25)]
    monkeypatch.setattr(f"{validate.__module__}._play_policy", lambda *_: played.pop(0))
    learner: Any = SimpleNamespace(rules=RULES["czarina"], steps=1, unit="games")
    card = move_card(learner.rules)
    learner.policy = lambda about: (replace(card, training=about), move_weights())
    progress = Progress()
    best = [validate(run(tmp_path), learner, progress, MagicMock()) for _ in range(3)]
    assert [each.cards_up for each in best] == [20, 30, 30]
    saved = json.loads((tmp_path / "best" / "model.json").read_text())
    assert saved["training"]["validation"]["cards_up"] == 30


def test_a_run_does_not_tell_of_this_machine(tmp_path: Path, monkeypatch) -> None:
    """Neither by names of its files nor in them; it may be sent to others."""
    monkeypatch.setattr("socket.gethostname", lambda: "ada-laptop")
    monkeypatch.setattr("platform.node", lambda: "ada-laptop")
    out = tmp_path / "home" / "run"
    monkeypatch.setattr(sys, "argv", ["four-seasons", "train", "--out", str(out)])
    save_policy(tmp_path / "home" / "start", move_card(RULES["czarina"]), move_weights())
    start = f"maskable_ppo:{tmp_path / 'home' / 'start'}"
    flags = {"agent": "maskable_ppo", "rules": "czarina", "validations": 1, "warm_start": start}
    train(run(out, set=SMALL_RUNS["maskable_ppo"], **flags))
    for path in out.rglob("*"):
        told = path.read_bytes() if path.is_file() else b""
        for name in ("ada-laptop", str(tmp_path)):
            assert name not in path.name and name.encode() not in told, path


TRAIN = """
import sys
from four_seasons_env.experiments import train

train.CHECKPOINT_SECONDS = 0.0  # after every update
train.main(sys.argv[1:])
"""


def kill_at(text: str, *flags: str) -> None:
    """Train in another process until it has printed a text."""
    command = [sys.executable, "-c", TRAIN, *flags, "--n-jobs", "1"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    while text not in (line := process.stdout.readline()):
        assert line
    process.kill()
    process.communicate()


def test_a_killed_run_ends_as_if_it_had_not_been(finished: Path, tmp_path: Path) -> None:
    """Killed as it starts, and later. A damaged checkpoint is named."""
    flags = ["--agent", "planner", "--steps", "24", "--validations", "3", "--validation-deals", "8"]
    out = ["--out", str(tmp_path)]
    kill_at("learns four-seasons", *flags, *out, "--set", *SMALL_RUNS["planner"])
    kill_at("validation deals won", "--resume", *out)
    checkpoint = last_checkpoint(tmp_path)
    assert checkpoint
    again = Train(tmp_path, agent="planner", resume=True, workers=HERE)
    for path in checkpoint.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ValueError, match=r"checkpoints/\d+/\S+ is damaged"):
            train(again)
        path.write_bytes(whole)
    assert not (tmp_path / "done.json").exists()
    train(again)
    assert same_outcome(tmp_path, finished)
    before = (tmp_path / "last" / "model.safetensors").read_bytes()
    train(again)  # finished: nothing is overwritten
    assert (tmp_path / "last" / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize("agent", ["next_deal_ppo", "maskable_ppo"])
def test_ppo_continues_with_new_games(agent: str) -> None:
    """Weights, optimiser, steps and learning rate are those of the checkpoint."""
    kind: Any = get_learner(agent)
    settings = kind.read_settings(SMALL_RUNS[agent])

    def new() -> Any:
        return kind(RULES["four-seasons"], settings, seed=3)

    def state(learner: Any) -> list[Any]:
        return [learner.steps, learner.average.weights, learner.model.get_parameters()]

    learner = new()
    for _ in range(3):
        learner.update(0.1)
    saved = copy.deepcopy(state(learner))
    written = learner.saved()
    first = {
        deal for i in range(settings.games) for deal in training_deals(3 * settings.games + i, 100)
    }
    after = []
    for done, share in ((0.5, 1 / 2), (1.0, 1 / 20)):
        again = new()
        again.load(written)
        torch.testing.assert_close(state(again), saved, rtol=0, atol=0)
        again.update(done)
        assert again.steps == saved[0] + settings.games * settings.n_steps
        (rate,) = {each["lr"] for each in again.model.policy.optimizer.param_groups}
        assert rate == pytest.approx(share * settings.learning_rate)
        after.append(again.model.get_env().venv.games["deal"].tolist())
        assert not first & set(after[-1])
    assert after[0] == after[1]


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_workers_do_not_change_learning(backend: Any, finished: Path, tmp_path: Path) -> None:
    train(run(tmp_path, workers=Workers(backend, 2)))
    assert same_outcome(tmp_path, finished)
    where = json.loads((tmp_path / RUN).read_text())["run"]["workers"]
    assert where == {"backend": backend, "n_jobs": 2, "cluster": None}


@pytest.mark.parametrize("agent", SMALL_RUNS)
def test_a_training_that_diverges_stops(agent: str, tmp_path: Path) -> None:
    """Before a policy is saved that nobody can play."""
    settings = [*SMALL_RUNS[agent], "learning_rate=1e30"]
    says = r"must be finite, but are not after [\d,]+ \w+ at a learning rate of 1e\+30: choose"
    with pytest.raises(RuntimeError, match=says):
        train(run(tmp_path / "x", agent=agent, steps="200", set=settings))
    assert not list(tmp_path.glob("x/*/model.*"))


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


@pytest.mark.parametrize(
    ("agent", "rules", "rates"),
    [
        ("planner", "corner-patience", ["learning_rate", "final_learning_rate"]),
        ("maskable_ppo", "czarina", ["learning_rate"]),
        ("next_deal_ppo", "czarina", ["learning_rate"]),
    ],
)
def test_a_warm_start_uses_the_best_policy(
    agent: str, rules: str, rates: list[str], tmp_path: Path
) -> None:
    """Of other rules of the same size. The card names the start."""
    flags: dict[str, Any] = {"agent": agent, "validations": 1, "set": SMALL_RUNS[agent]}
    train(run(tmp_path / "first", **flags))
    start = f"{agent}:{tmp_path / 'first'}"
    still = [*SMALL_RUNS[agent], *(f"{rate}=1e-12" for rate in rates)]
    train(run(tmp_path / "on", **flags | {"set": still}, rules=rules, warm_start=start))
    before, after = (
        load_file(tmp_path / name / "model.safetensors") for name in ("first/best", "on/last")
    )
    assert before.keys() == after.keys()
    assert all(abs(before[name] - after[name]).max() < 1e-6 for name in before)
    card = json.loads((tmp_path / "on" / "last" / "model.json").read_text())
    assert card["training"]["warm_start"] == f"{agent}:first"


def test_the_report_shows_what_was_trained(tmp_path: Path) -> None:
    """Two seeds of PPO: from training to the page."""
    flags = {"steps": "300", "validations": 3, "validation_deals": 20, "rules": "czarina"}
    runs = [tmp_path / "study" / f"ppo-{seed}" for seed in (3, 4)]
    for seed, out in zip((3, 4), runs, strict=True):
        train(Train(out, seed=seed, set=SMALL_RUNS["maskable_ppo"], **flags))
        log, board = read_log(out), EventAccumulator(str(out)).Reload()
        shown = {each.step: each.value for each in board.Scalars("play/cards_up")}
        assert shown == pytest.approx(log.set_index(STEPS)["play/cards_up"].dropna().to_dict())
        assert log["validation/win_rate"].count() == 3
        assert log[STEPS].is_monotonic_increasing
        columns = documented("progress.csv")
        assert columns == {each for each in log if each in columns or "train/" not in each}
    agents = ["heuristic", *(f"ppo=maskable_ppo:{each}" for each in runs)]
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 29}"
    compared = Compare(tmp_path / "y", agents, ["czarina"], deals, workers=HERE)
    compare(compared)
    results = read_results(compared.out)
    assert set(results["train_seed"].dropna()) == {3, 4}
    assert len(results) == 30 * (1 + 2 * 2)
    text = report(Report([compared.out, tmp_path / "study"])).read_text()
    places = [text.index(each) for each in ("Games won under", "<h2>czarina", "Learning czarina")]
    assert places == sorted(places) and "Training seeds" in text
    for out in runs:
        best = json.loads((out / "done.json").read_text())["best"]
        assert f"<td>{100 * best['won']:.2f}</td>" in text[places[-1] :]
    assert text.count("data:image/png") == 2 + 1
    assert "http" not in text, "self-contained"


OWN_LEARNER = """
from dataclasses import dataclass, field

import numpy as np
import torch

from four_seasons_env.agents import Agent
from four_seasons_env.agents.training import Learner, Update


class Player(Agent):
    def __init__(self, rules, card, weights):
        self.mean = weights["1.running_mean"]

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)


@dataclass
class Settings:
    games: int = 4
    averaging: float = 0.5
    double: bool = False


class Mine(Learner):
    schema, player = Settings, Player

    def __init__(self, rules, settings, seed, pool):
        super().__init__(rules, settings, seed, pool)
        self.module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
        if settings.double:
            self.module.double()

    def update(self, done):
        self.module(torch.ones(self.settings.games, 2).to(self.module[0].weight))
        self.steps += self.settings.games
        self.average.update(self.module, self.steps)
        return Update([], [], {})

    def card_fields(self):
        return {"observation": "places", "mask": "no_repeats"}

    def state(self):
        return {"module": self.module.state_dict()}

    def restore(self, state):
        self.module.load_state_dict(state["module"])
"""


def test_policies_of_ones_own_can_be_loaded(tmp_path: Path, monkeypatch) -> None:
    """With a BatchNorm, whose counter stays out; those of float64 are refused at the start."""
    (tmp_path / "own.py").write_text(OWN_LEARNER)
    monkeypatch.syspath_prepend(tmp_path)
    flags = {"agent": "own:Mine", "set": [], "validations": 1}
    train(run(tmp_path / "x", **flags))
    assert set(load_file(tmp_path / "x" / "best" / "model.safetensors")) == {
        *("0.weight", "0.bias", "1.weight", "1.bias", "1.running_mean", "1.running_var")
    }
    agents = [f"own=own:Mine:{tmp_path / 'x'}"]
    assert len(compare(Compare(tmp_path / "y", agents, deals="0-4", workers=HERE))) == 5
    with pytest.raises(ValueError, match=r"0.weight of the policy must .* not float64"):
        train(run(tmp_path / "z", **flags | {"set": ["double=true"], "steps": "1000G"}))
    assert not list(tmp_path.glob("z/*/model.*"))


def test_a_learner_of_ones_own(tmp_path: Path, monkeypatch) -> None:
    """That of the page: trained, resumed from its checkpoint, and its policy compared."""
    monkeypatch.syspath_prepend(ROOT / "docs" / "how-to")
    name, smaller = "masked_dqn:MaskedDqn", ["games=4", "layers=[8, 8]"]
    out = tmp_path / "run"
    train(run(out, agent=name, steps="9k", set=smaller, validations=2))
    assert json.loads((out / RUN).read_text())["hyperparameters"]["layers"] == [8, 8]
    assert read_log(out)["validation/win_rate"].count() == 2
    results = compare(Compare(tmp_path / "x", [f"dqn={name}:{out}"], deals="12000-12004"))
    assert set(results["agent"]) == {"dqn"} and (results["moves"] > 0).all()

    kind = get_learner(name)
    learner, resumed = (kind(RULES["four-seasons"], kind.read_settings(smaller), 0) for _ in "ab")
    checkpoint = last_checkpoint(out)
    assert checkpoint
    for each in (learner, resumed):
        each.load(read_state(checkpoint))
    assert learner.steps == resumed.steps > 0
    assert learner.update(0.5).records
    resumed.warm_up()  # a few steps, not the 4,096 of an update
    assert resumed.steps < learner.steps
