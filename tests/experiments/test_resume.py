"""An interrupted training continues; nothing is overwritten."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.agents.learned.sb3_state import ARRAYS
from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.results.training_run import DONE, STEPS, last_checkpoint
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.training import monitor

pytestmark = pytest.mark.slow

SMALL = {
    "next_deal_ppo": [
        *("games=8", "n_steps=8", "batch_size=32", "layers=[8,4,8,8]", "candidates=8"),
        *("expansions=10", "ending_expansions=20", "play_candidates=8", "play_expansions=10"),
        *("play_endings=search", "averaging=0.3"),
    ],
    "maskable_ppo": ["games=8", "n_steps=8", "batch_size=32", "layers=[16]", "max_moves=40"],
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
from four_seasons_env.experiments.training import monitor

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


@pytest.mark.parametrize("agent", SMALL)
def test_a_killed_run_learns_the_same(agent: str, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(*flags(agent, whole)).wait() == 0
    kill_later(start(*flags(agent, killed)), killed, 5)
    kill_later(start("--resume", "--out", str(killed)), killed, checkpoints_of(killed) + 10)
    assert not (killed / DONE).exists()
    assert start("--resume", "--out", str(killed)).wait() == 0

    assert learned(killed) == learned(whole)
    logs = [pd.read_csv(out / "progress.csv") for out in (whole, killed)]
    compared = [name for name in logs[0] if not name.startswith("time/") or name == STEPS]
    pd.testing.assert_frame_equal(logs[0][compared], logs[1][compared], check_exact=True)
    states = [last_checkpoint(out) for out in (whole, killed)]
    arrays = [np.load(each / ARRAYS, allow_pickle=False) for each in states if each]
    assert arrays[0].files == arrays[1].files
    for name in arrays[0].files:
        np.testing.assert_array_equal(arrays[0][name], arrays[1][name], err_msg=name)


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
    with pytest.raises(FileNotFoundError, match="no run to resume"):
        train(Train(out=out, resume=True))
    train(tiny(out))
    with pytest.raises(FileExistsError, match=r"is finished.*--resume.*--out"):
        train(tiny(out))
    before = learned(out)
    train(Train(out=out, resume=True))
    assert learned(out) == before
    with pytest.raises(ValueError, match="started with seed 0, not 5"):
        train(Train(out=out, resume=True, seed=5))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        train(Train(out=tmp_path / "other"))
