"""An interrupted training continues; nothing is overwritten."""

import copy
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from four_seasons_env.agents.training import get_learner
from four_seasons_env.experiments import monitor
from four_seasons_env.experiments.folders import DONE, ROOT, STEPS, last_checkpoint
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.rules import RULES
from tests.helpers import training_deals

pytestmark = pytest.mark.slow

SMALL = {
    "next_deal_ppo": [
        *("games=8", "n_steps=8", "batch_size=32", "layers=[8,4,8,8]", "candidates=8"),
        *("expansions=10", "ending_expansions=20", "play_candidates=8", "play_expansions=10"),
        *("play_endings=search", "averaging=0.3"),
    ],
    "maskable_ppo": ["games=8", "n_steps=8", "batch_size=32", "layers=[8,16,8]", "max_moves=40"],
}
STEPS_OF_RUN = 3000


def flags(agent: str, out: Path) -> list[str]:
    """Flags of a short run on the smallest game."""
    return [
        *("--agent", agent, "--out", str(out), "--steps", str(STEPS_OF_RUN), "--seed", "3"),
        *("--validations", "2", "--validation-deals", "20", "--set", *SMALL[agent]),
    ]


def tiny(out: Path, **others: Any) -> Train:
    settings = {"steps": "64", "validations": 1, "validation_deals": 5}
    return Train(out, **settings | {"set": SMALL["maskable_ppo"]} | others)


_TRAIN = """
import sys
from four_seasons_env.experiments.train import main
from four_seasons_env.experiments import monitor

monitor.CHECKPOINT_SECONDS = 0.0
main(sys.argv[1:])
"""


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """A training that writes a checkpoint after every update."""
    return subprocess.Popen(
        [sys.executable, "-c", _TRAIN, *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def checkpoints_of(out: Path) -> int:
    """The number of written checkpoints."""
    checkpoint = last_checkpoint(out)
    return int(checkpoint.name) if checkpoint else 0


def kill_later(process: subprocess.Popen[bytes], out: Path, checkpoints: int) -> None:
    """SIGKILL after a number of checkpoints, perhaps while the next is written."""
    deadline = time.monotonic() + 300
    while checkpoints_of(out) < checkpoints:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def learned(out: Path) -> dict[str, bytes]:
    return {each.parent.name: each.read_bytes() for each in out.glob("*/model.safetensors")}


def test_a_killed_run_ends_as_it_should(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    kill_later(start(*flags("next_deal_ppo", out)), out, 5)
    kill_later(start("--resume", "--out", str(out)), out, checkpoints_of(out) + 10)
    assert not (out / DONE).exists()
    assert start("--resume", "--out", str(out)).wait() == 0
    steps = pd.read_csv(out / "progress.csv")[STEPS]
    assert steps.is_monotonic_increasing
    assert steps.iloc[-1] >= STEPS_OF_RUN
    assert learned(out).keys() == {"best", "last"}


@pytest.mark.parametrize("agent", SMALL)
def test_ppo_continues_with_new_games(agent: str, tmp_path: Path) -> None:
    """Weights, optimiser, steps and learning rate are those of the checkpoint."""
    kind: Any = get_learner(agent)
    settings = kind.read_settings(SMALL[agent])

    def new() -> Any:
        return kind(RULES["four-seasons"], settings, seed=3)

    def state(learner: Any) -> list[Any]:
        return [learner.steps, learner.average.state(), learner.model.get_parameters()]

    learner = new()
    for _ in range(3):
        learner.update(0.1)
    saved = copy.deepcopy(state(learner))
    learner.save(tmp_path)
    first = {deal for i in range(8) for deal in training_deals(3 * settings.games + i, 100)}
    after = []
    for _ in range(2):
        again = new()
        again.load(tmp_path)
        torch.testing.assert_close(state(again), saved, rtol=0, atol=0)
        again.update(0.9)
        assert again.steps == saved[0] + settings.games * settings.n_steps
        assert {each["lr"] for each in again.model.policy.optimizer.param_groups} == {
            settings.rate(0.9)
        }
        after.append(again.model.get_env().venv.games["deal"].tolist())
        assert not first & set(after[-1])
    assert after[0] == after[1]


def test_damaged_checkpoints_are_named(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(monitor, "CHECKPOINT_SECONDS", 0.0)
    train(tiny(tmp_path, steps="256"))
    (tmp_path / DONE).unlink()
    checkpoint = last_checkpoint(tmp_path)
    assert checkpoint
    for path in checkpoint.iterdir():
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ValueError, match=r"checkpoints/\d+ cannot be resumed from"):
            train(Train(tmp_path, resume=True))
        path.write_bytes(whole)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "x"
    train(tiny(out))
    with pytest.raises(FileExistsError, match=r"is finished.*--resume.*--out"):
        train(tiny(out))
    before = learned(out)
    train(Train(out=out, resume=True))
    assert learned(out) == before
    with pytest.raises(ValueError, match="started with seed 0, not 5"):
        train(Train(out=out, resume=True, seed=5))
