"""A training that is killed goes on as if it never had been; nothing is overwritten silently."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from four_seasons_env import FourSeasonsVectorEnv
from four_seasons_env.agents.learned.algorithms import ALGORITHMS, get_algorithm
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.training import checkpoints
from four_seasons_env.experiments.training.average import WeightAverage
from four_seasons_env.experiments.training.checkpoint_folder import STATE, CheckpointError
from four_seasons_env.experiments.training.checkpoints import restore_checkpoint, save_checkpoint
from four_seasons_env.experiments.training.run_folder import ROOT, STEPS
from four_seasons_env.rules import RULES

SMALL = {
    "next_deal_ppo": [
        *("games=8", "n_steps=8", "batch_size=32", "layers=[8,4,8,8]", "candidates=8"),
        *("expansions=10", "ending_expansions=20", "play_candidates=8", "play_expansions=10"),
        *("play_ending_expansions=20", "averaging=0.3"),
    ],
    "maskable_ppo": ["games=8", "n_steps=8", "batch_size=32", "layers=[16]", "max_moves=40"],
    "maskable_dqn": [
        "games=8",
        "batch_size=16",
        "layers=[16]",
        "learning_starts=100",
        "buffer_size=2000",
        "max_moves=40",
    ],
}
STEPS_OF_RUN = 3000


def flags(agent: str, out: Path) -> list[str]:
    """Of a run that takes a checkpoint at every chance, on the smallest of games."""
    return [
        *("--agent", agent, "--out", str(out), "--steps", str(STEPS_OF_RUN), "--seed", "3"),
        *("--checkpoint-every", "0", "--validations", "2", "--validation-deals", "20"),
        *("--set", *SMALL[agent]),
    ]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "four_seasons_env.experiments.train", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def steps_of(out: Path) -> int:
    state = out / "checkpoint" / "state.json"
    try:
        return int(json.loads(state.read_text())["counters"]["num_timesteps"])
    except FileNotFoundError:
        return 0


def kill_later(process: subprocess.Popen[bytes], out: Path, steps: int) -> None:
    """SIGKILL once a checkpoint of so many steps is there: perhaps while the next is written."""
    deadline = time.monotonic() + 120
    while steps_of(out) < steps:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def learned(out: Path) -> dict[str, bytes]:
    files = [*out.glob("policies/*/model.safetensors"), *out.glob("*/model.safetensors")]
    return {str(each.relative_to(out)): each.read_bytes() for each in files}


@pytest.mark.slow
@pytest.mark.parametrize("agent", ALGORITHMS)
def test_a_killed_run_goes_on_as_if_it_never_had_been(agent: str, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert start(*flags(agent, whole)).wait() == 0
    kill_later(start(*flags(agent, killed)), killed, 300)
    again = steps_of(killed)
    assert 300 <= again < STEPS_OF_RUN
    kill_later(start("--resume", "--out", str(killed)), killed, again + 700)
    assert start("--resume", "--out", str(killed)).wait() == 0

    assert learned(killed) == learned(whole)
    logs = [pd.read_csv(out / "progress.csv") for out in (whole, killed)]
    told = [name for name in logs[0] if not name.startswith("time/") or name == STEPS]
    pd.testing.assert_frame_equal(logs[0][told], logs[1][told], check_exact=True)
    states = [out / "checkpoint" for out in (whole, killed)]
    arrays = [np.load(each / "arrays.npz", allow_pickle=False) for each in states]
    assert arrays[0].files == arrays[1].files
    for name in arrays[0].files:
        np.testing.assert_array_equal(arrays[0][name], arrays[1][name], err_msg=name)


@pytest.mark.slow
def test_a_run_that_is_told_to_stop_keeps_what_it_has(tmp_path: Path) -> None:
    out = tmp_path / "x"
    endless = flags("maskable_ppo", out)
    endless[endless.index("--steps") + 1] = "1G"
    process = start(*endless)
    while steps_of(out) < 200:
        assert process.poll() is None
        time.sleep(0.005)
    busy = start("--resume", "--out", str(out))
    assert busy.wait() == 2
    assert busy.stderr is not None
    assert b"is being trained by another process" in busy.stderr.read()
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0
    stopped = steps_of(out)
    assert not (out / "done.json").exists()
    assert "Unfinished" in (out / "README.md").read_text()
    kill_later(start("--resume", "--out", str(out)), out, stopped + 64)


def model_of(agent: str, out: Path, games: int = 8) -> object:
    algorithm = get_algorithm(agent)
    settings = algorithm.read_settings(overrides=[*SMALL[agent], f"games={games}"])
    env = algorithm.make_games(settings, RULES["four-seasons"])
    return algorithm.make_model(env, settings, 0)


@pytest.mark.parametrize("agent", ALGORITHMS)
def test_a_checkpoint_holds_all_that_the_moves_to_come_depend_on(
    agent: str, tmp_path: Path
) -> None:
    """The same, in one process: two models go on from one checkpoint to the same weights."""
    first = model_of(agent, tmp_path)
    first.learn(512, log_interval=None)
    save_checkpoint(tmp_path / "c", first, WeightAverage(0.0), {"seconds": 1.0})
    weights = []
    for _ in range(2):
        model = model_of(agent, tmp_path)
        assert restore_checkpoint(tmp_path / "c", model, WeightAverage(0.0)) == {"seconds": 1.0}
        model.learn(512, log_interval=None, reset_num_timesteps=False)
        assert model.num_timesteps == 1024
        weights.append(model.policy.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    # The seeds alone would not have done it: without the checkpoint something else is learned.
    fresh = model_of(agent, tmp_path)
    fresh.learn(512, log_interval=None)
    assert any((weights[0][name] != fresh.policy.state_dict()[name]).any() for name in weights[0])


@pytest.mark.parametrize("name", [checkpoints._TENSORS, checkpoints._ARRAYS, STATE])
def test_damaged_checkpoints_are_refused_by_name(name: str, tmp_path: Path) -> None:
    model = model_of("maskable_dqn", tmp_path)
    model.learn(64, log_interval=None)
    save_checkpoint(tmp_path / "c", model, WeightAverage(0.0), {})
    whole = (tmp_path / "c" / name).read_bytes()
    (tmp_path / "c" / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match=r"c cannot be resumed from"):
        restore_checkpoint(tmp_path / "c", model_of("maskable_dqn", tmp_path), WeightAverage(0.0))


def test_a_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    model = model_of("maskable_ppo", tmp_path)
    model.learn(64, log_interval=None)
    save_checkpoint(tmp_path / "c", model, WeightAverage(0.0), {})
    with pytest.raises(CheckpointError, match="other arguments"):
        restore_checkpoint(
            tmp_path / "c", model_of("maskable_ppo", tmp_path, games=4), WeightAverage(0.0)
        )


def test_a_checkpoint_that_is_cut_off_leaves_the_one_before(tmp_path: Path, monkeypatch) -> None:
    """What a kill does while a checkpoint is written: nothing has its name before it is whole."""
    model = model_of("maskable_ppo", tmp_path)
    model.learn(64, log_interval=None)
    save_checkpoint(tmp_path / "c", model, WeightAverage(0.0), {"number": 1})

    def cut_off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", cut_off)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(tmp_path / "c", model, WeightAverage(0.0), {"number": 2})
    assert [each.name for each in tmp_path.iterdir()] == ["c"]
    assert restore_checkpoint(
        tmp_path / "c", model_of("maskable_ppo", tmp_path), WeightAverage(0.0)
    ) == {"number": 1}


@pytest.mark.parametrize(
    ("rules", "how"),
    [
        ("four-seasons", {}),
        ("czarina", {"observation": "cards", "copy": False}),
        ("pysolfc/simplicity", {"observation": "cards", "num_threads": 2, "mask": "distinct"}),
    ],
)
def test_games_go_on_from_their_state(rules: str, how: dict[str, object]) -> None:
    def play(env: FourSeasonsVectorEnv, steps: int) -> list[np.ndarray]:
        seen = []
        rng = np.random.default_rng(1)
        for _ in range(steps):
            masks = env.action_masks()
            answer = env.step(np.where(masks, rng.random(masks.shape), -1).argmax(axis=1))
            seen += [each.copy() for each in (*answer[:4], env.action_masks())]
            if "final_obs" in answer[4]:
                ended = answer[4]["_final_obs"]
                seen += [answer[4]["final_obs"][ended], answer[4]["final_info"]["deal"][ended]]
        return seen

    settings = {"rules": rules, "max_moves": 30} | how
    first = FourSeasonsVectorEnv(5, **settings)
    first.reset(seed=7)
    play(first, 47)
    state = first.state()
    expected = play(first, 70)
    second = FourSeasonsVectorEnv(5, **settings)
    second.restore(state)
    for here, there in itertools.zip_longest(play(second, 70), expected):
        np.testing.assert_array_equal(here, there)
    with pytest.raises(ValueError, match="other arguments"):
        FourSeasonsVectorEnv(6, **settings).restore(state)


def test_nothing_is_overwritten_silently(tmp_path: Path) -> None:
    out = tmp_path / "x"
    small = Train(out=out, steps="64", set=SMALL["maskable_ppo"], validation_deals=5, validations=1)
    with pytest.raises(FileNotFoundError, match="no run to resume"):
        train(Train(out=out, resume=True))
    train(small)
    with pytest.raises(FileExistsError, match=r"is finished.*--resume.*--out"):
        train(small)
    before = learned(out)
    train(Train(out=out, resume=True))
    assert learned(out) == before
    with pytest.raises(ValueError, match="started with seed 0, not 5"):
        train(Train(out=out, resume=True, seed=5))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(FileExistsError, match="not empty"):
        train(Train(out=tmp_path / "other"))
