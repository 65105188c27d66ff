"""`four-seasons dataset`: the same bytes twice, files that other libraries read, wrong flags."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.experiments import dataset
from four_seasons_env.experiments.dataset import Dataset, digest_of, write_dataset
from four_seasons_env.experiments.expert_data.columns import COLUMNS
from four_seasons_env.experiments.parallel.workers import Workers
from tests.helpers import ROOT

FIRST = 2**32
DEALS = f"{FIRST}-{FIRST + 2}"
AGENT = "planner@positions=40,expansions=5,votes=0,ending_positions=1000"
NAME = "four-seasons/planner-v0"
MISSING = "the extra `dataset` is not installed"


def make(out: Path, jobs: int = 1, agent: str = AGENT, solve: int = 2000) -> Path:
    workers = Workers(n_jobs=jobs)
    write_dataset(Dataset(out, agent, deals=DEALS, solve=solve, workers=workers))
    return out


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The decisions of three games, in two files."""
    for module in ("minari", "pyarrow", "h5py"):
        pytest.importorskip(module, reason=MISSING)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "BLOCK", 2)
        yield make(tmp_path_factory.mktemp("dataset") / "one")


@pytest.mark.slow
def test_jobs_and_resumption_do_not_change_a_byte(made: Path, tmp_path: Path) -> None:
    other = make(tmp_path / "two", jobs=2)
    assert digest_of(made) == digest_of(other)
    next(other.glob("parquet/*")).unlink()
    assert digest_of(make(other)) == digest_of(made)
    assert len(list(made.glob("parquet/*.parquet"))) == 2


@pytest.mark.slow
def test_minari_loads_games_that_the_environment_repeats(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import minari

    monkeypatch.setenv("MINARI_DATASETS_PATH", str(made / "minari"))
    data = minari.load_dataset(NAME)
    env = data.recover_environment()
    assert len(data) == 3
    assert data.total_steps == sum(len(each) for each in data)
    for episode in data:
        (about,) = data.storage.get_episode_metadata([episode.id])
        seen, info = env.reset(options={"deal": int(about["options"]["deal"])})
        for step, action in enumerate(episode.actions):
            for name in ("observation", "action_mask"):
                assert (seen[name] == episode.observations[name][step]).all()
            seen, reward, terminated, truncated, info = env.step(action)
            assert reward == episode.rewards[step]
            assert terminated == episode.terminations[step]
            assert truncated == episode.truncations[step]
        assert terminated
        assert (seen["observation"] == episode.observations["observation"][-1]).all()
        assert info["won"] == about["won"]


@pytest.mark.slow
def test_parquet_holds_the_same_decisions(made: Path) -> None:
    import minari
    import pyarrow.parquet as pq

    rows = pq.read_table(made / "parquet").to_pylist()
    assert set(rows[0]) == {each.name for each in COLUMNS}
    data = minari.MinariDataset(made / "minari" / NAME / "data")
    at = 0
    for episode in data:
        values, masks = episode.infos["value"], episode.observations["action_mask"]
        assert (np.isnan(values) == (masks == 0)).all()
        for step in range(len(episode)):
            row, count = rows[at], masks[step].sum()
            assert (row["deal"], row["step"]) == (FIRST + episode.id, step)
            assert (row["observation"] == episode.observations["observation"][step, :count]).all()
            assert row["action_mask"] == masks[step].tolist()
            assert row["action"] == episode.actions[step] < count
            assert row["own"] == episode.infos["own"][step]
            assert row["value"] == pytest.approx(values[step, :count])
            if not row["own"]:
                assert row["action"] == np.argmax(row["value"])
            assert row["verdict"].encode() == episode.infos["verdict"][step]
            at += 1
        assert row["terminated"]
        assert not row["won"] or row["verdict"] == "won"
    assert at == len(rows)


@pytest.mark.slow
def test_the_metadata_are_valid_and_give_the_records(made: Path) -> None:
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    data = croissant.Dataset(jsonld=str(made / "croissant.json"))
    assert not data.metadata.ctx.issues.errors
    record = next(iter(data.records(record_set="decisions")))
    assert set(record) == {f"decisions/{each.name}" for each in COLUMNS}
    assert np.shape(record["decisions/observation"])[1] == 268
    assert record["decisions/deal"] == FIRST


@pytest.mark.slow
@pytest.mark.usefixtures("made")
def test_an_agent_without_values_gives_none(tmp_path: Path) -> None:
    import minari
    import pyarrow.parquet as pq

    out = make(tmp_path, agent="heuristic", solve=0)
    assert pq.read_table(out / "parquet")["value"].null_count > 0
    assert pq.read_table(out / "parquet")["verdict"].null_count > 0
    data = minari.MinariDataset(out / "minari" / "four-seasons/heuristic-v0" / "data")
    assert np.isnan(data[0].infos["value"]).all()
    assert "verdict" not in data[0].infos
    text = "".join(path.read_text() for path in out.rglob("*.json"))
    assert str(tmp_path) not in text


@pytest.mark.slow
def test_the_study_describes_it_and_clones_from_it(made: Path, tmp_path: Path) -> None:
    out = tmp_path / "dataset.csv"
    study = ROOT / "experiments" / "studies" / "expert_data.py"
    command = [sys.executable, str(study), str(made), "--out", str(out)]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True)
    told = dict(pd.read_csv(out).itertuples(index=False))
    assert told["games"] == "3"
    assert any(what.startswith("games that the clone wins") for what in told)


@pytest.mark.slow
def test_a_folder_of_other_data_is_refused(made: Path) -> None:
    with pytest.raises(ValueError, match="holds a dataset with agent planner, not heuristic"):
        make(made, agent="heuristic")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"deals": "9999-10001"}, "deal 9999 is a test deal"),
        ({"deals": "x"}, "deals are given as"),
        ({"seed": -1}, "--seed must be 0 or more"),
        ({"solve": -1}, "--solve must be 0 or more"),
    ],
)
def test_wrong_flags_are_refused_at_once(flags: dict, told: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=told):
        write_dataset(Dataset(tmp_path / "x", **flags))
    assert not (tmp_path / "x").exists()


def test_another_folder_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text(json.dumps({}))
    with pytest.raises(FileExistsError, match="holds no dataset"):
        write_dataset(Dataset(tmp_path))
