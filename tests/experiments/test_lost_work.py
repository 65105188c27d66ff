"""Work that is done stays done: kills at every system call, full disks, and resuming after both."""

import os
from pathlib import Path

import pandas as pd
import pytest
from safetensors.numpy import load_file

from four_seasons_env.agents.files import recover_folder
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.experiments.training.checkpoint_folder import (
    State,
    new_checkpoint,
    read_state,
)
from four_seasons_env.experiments.training.planner import PlannerLearner
from tests.faults import Killed, fail_at, kill_at, moments, system_calls

OLD = pd.DataFrame({"deal": [1, 2], "won": [True, False]})
NEW = pd.DataFrame({"deal": [1, 2, 3], "won": [True, False, True]})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the disk: here processes die, not machines."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.mark.parametrize("fault", [kill_at, fail_at])
def test_a_table_that_is_being_replaced_is_the_old_or_the_new(tmp_path: Path, fault) -> None:
    """A census writes a block's results every few seconds; they may have taken an hour."""
    path = tmp_path / "part.csv"
    write_csv(path, OLD)
    found = set()
    for k in range(system_calls(lambda: write_csv(path, NEW))):
        write_csv(path, OLD)
        try:
            with fault(k):
                write_csv(path, NEW)
        except (Killed, OSError):
            pass
        rows = len(read_table(path))
        assert rows in (len(OLD), len(NEW)), k
        found.add(rows)
    assert len(OLD) in found


# --- checkpoints


def save(folder: Path, number: int) -> None:
    with new_checkpoint(folder, State(watcher={"number": number})) as new:
        (new / "arrays.npz").write_bytes(bytes([number]) * 100)


@pytest.mark.parametrize("fault", [kill_at, fail_at])
def test_a_checkpoint_survives_a_fault_at_any_system_call(tmp_path: Path, fault) -> None:
    folder = tmp_path / "checkpoint"
    save(folder, 1)
    calls = system_calls(lambda: save(folder, 2))
    found = []
    for k in range(calls):
        save(folder, 1)
        try:
            with fault(k):
                save(folder, 2)
        except (Killed, OSError):
            pass
        recover_folder(folder)
        number = read_state(folder, State).watcher["number"]
        assert (folder / "arrays.npz").read_bytes() == bytes([number]) * 100
        found.append(number)
    assert set(found) == {1, 2}


TINY = [
    *("games=4", "nodes=10", "expansions=5", "batch_size=32"),
    *("endgame_nodes=50", "endgame_expansions=25"),
]


HERE = Workers(n_jobs=1)


def run(out: Path) -> Train:
    return Train(
        out, agent="planner", steps="12", validations=1, validation_deals=4, checkpoint_every=0,
        set=TINY, workers=HERE,
    )  # fmt: skip


def weights(out: Path) -> dict:
    return load_file(out / "last" / "model.safetensors")


def killed_in_second_save(out: Path, k: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Train, and die at system call number k of the second checkpoint; the moments to die at."""
    calls: list[int] = []
    real = PlannerLearner.save

    def save(learner: PlannerLearner, folder: Path, state: dict) -> None:
        nonlocal calls
        if learner.steps != 8:
            real(learner, folder, state)
        elif k < 0:
            calls = moments(lambda: real(learner, folder, state))
        else:
            with kill_at(k):
                real(learner, folder, state)

    with monkeypatch.context() as patched:
        patched.setattr(PlannerLearner, "save", save)
        if k < 0:
            train(run(out))
        else:
            with pytest.raises(Killed):
                train(run(out))
    return calls


def resumed_from(out: Path, whole: dict, capsys) -> int:
    """Resume a run; it ends as if it never had been killed. The step at which it went on."""
    capsys.readouterr()
    train(Train(out, resume=True, workers=HERE))
    found = weights(out)
    assert found.keys() == whole.keys()
    assert all((found[name] == whole[name]).all() for name in whole)
    words = " ".join(capsys.readouterr().out.split())
    return int(words.partition("from game ")[2].partition(";")[0])


@pytest.mark.slow
def test_a_run_killed_between_the_two_renames_goes_on(tmp_path: Path, monkeypatch, capsys) -> None:
    train(run(tmp_path / "whole"))
    whole = weights(tmp_path / "whole")
    train(run(tmp_path / "x"))
    for name in ("done.json", "last", "best"):
        path = tmp_path / "x" / name
        path.rename(path.with_name(f".{name}.old"))
    checkpoint = tmp_path / "x" / "checkpoint"
    checkpoint.rename(checkpoint.with_name(".checkpoint.old"))
    assert resumed_from(tmp_path / "x", whole, capsys) == 12
    assert (tmp_path / "x" / "best").is_dir()


@pytest.mark.slow
def test_a_run_killed_at_any_system_call_of_a_checkpoint_goes_on(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    calls = killed_in_second_save(tmp_path / "whole", -1, monkeypatch)
    whole = weights(tmp_path / "whole")
    assert len(calls) > 20
    went_on = []
    for k in calls:
        out = tmp_path / str(k)
        killed_in_second_save(out, k, monkeypatch)
        went_on.append(resumed_from(out, whole, capsys))
    assert set(went_on) == {4, 8}
    assert went_on == sorted(went_on)
