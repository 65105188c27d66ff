"""Verified results: edited, damaged and missing games and rows are found."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.folders import read_table, write_csv
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.verify import main as verify_command
from four_seasons_env.experiments.workers import Workers
from tests.agents.fakes import HERE


def games_in(folder: Path, player: str = "heuristic") -> Path:
    (path,) = folder.glob(f"parts/*/{player}-*/*.jsonl.gz")
    return path


def forge_results(folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    path = folder / "results.csv"
    write_csv(path, change(read_table(path)))


def differences(run: Compare, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert not verify(Verify(run.out))
    printed = capsys.readouterr().out
    assert "NOT verified" in printed
    return " ".join(printed.split())


def test_untouched_results_are_verified(copied: Compare, capsys) -> None:
    """The exit status says so, too."""
    verify_command([str(copied.out)])
    assert "verified: 40 games replayed" in capsys.readouterr().out
    forge_results(copied.out, with_value("won", True))
    with pytest.raises(SystemExit, match="1"):
        verify_command([str(copied.out)])


# --- games ----------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-60])


def with_lines(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Other lines in a file of games."""

    def harm(path: Path) -> None:
        lines = gzip.decompress(path.read_bytes()).decode().splitlines()
        path.write_bytes(gzip.compress("\n".join(change(lines)).encode()))

    return harm


def with_record(**fields: Any) -> Callable[[Path], None]:
    """Other values in the third game; functions are called with the former value."""

    def change(lines: list[str]) -> list[str]:
        record = json.loads(lines[2])
        for name, value in fields.items():
            record[name] = value(record[name]) if callable(value) else value
        return [*lines[:2], json.dumps(record), *lines[3:]]

    return with_lines(change)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (cut, "is damaged after line"),
        (Path.unlink, "deals without a game: 20, the first is 4294967296"),
        (with_lines(lambda all: [*all, all[3]]), "line 21: deal 4294967299 occurs twice"),
        (with_record(rules="czarina"), "line 3: "),
        (with_record(player="ada"), "was played by 'ada', not 'heuristic'"),
        (with_record(undone=1), "cards taken back"),
        (with_record(moves=lambda moves: ["W>F", *moves]), "not a game by its rules"),
        (with_record(moves=lambda moves: moves[:10], result="open"), "breaks off after 10 moves"),
    ],
)
def test_edited_games_are_found(
    copied: Compare, capsys, harm: Callable[[Path], None], message: str
) -> None:
    harm(games_in(copied.out))
    assert message in differences(copied, capsys)


# --- results --------------------------------------------------------------------------------------


def with_value(column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(results: pd.DataFrame) -> pd.DataFrame:
        lost = results.index[~results["won"]][0]
        results.loc[lost, column] = value
        return results

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_value("won", True), "results.csv says won True; the game says False"),
        (with_value("deal", 17), "does not have each deal of the manifest once"),
        (with_value("agent", "ada"), "which the manifest does not name"),
    ],
)
def test_edited_rows_are_found(
    copied: Compare, capsys, change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    forge_results(copied.out, change)
    assert message in differences(copied, capsys)


def test_the_training_seed_that_differs_is_named(tmp_path: Path, capsys) -> None:
    agents = [f"own={HERE}:Dated", f"own={HERE}:Later"]  # two training seeds
    run = Compare(tmp_path, agents, deals="0-4", record=True, workers=Workers(n_jobs=1))
    compare(run)
    results = read_table(tmp_path / "results.csv")
    seed = str(results["train_seed"].max())
    harmed = results["train_seed"] == results["train_seed"].max()
    forge_results(tmp_path, lambda results: results.assign(moves=results["moves"] + harmed))
    found = differences(run, capsys)
    assert f"four-seasons, own, deterministic, train_seed {seed}: deal 0: results.csv" in found
    assert "5 differ" in found
    assert found.count("results.csv says") == 5 and "train_seed 20240917" not in found
    forge_results(tmp_path, lambda results: results.assign(train_seed=7))
    assert "rows of four-seasons, own, deterministic, train_seed 7, which" in differences(
        run, capsys
    )


# --- recorded games -------------------------------------------------------------------------------


@pytest.mark.slow
def test_games_do_not_depend_on_workers(tmp_path: Path) -> None:
    """Of an agent that draws random numbers, in blocks of 5 deals."""
    for n_jobs in (1, 2):
        run = Compare(tmp_path / str(n_jobs), [f"{HERE}:seeded"], deals="0-19", record=True)
        compare(replace(run, workers=Workers(n_jobs=n_jobs)))
    paths = [path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.jsonl.gz")]
    assert len(paths) == 2 * 4
    for path in paths:
        assert (tmp_path / "1" / path).read_bytes() == (tmp_path / "2" / path).read_bytes()


def test_games_can_be_recorded_later(tmp_path: Path, compared: Compare) -> None:
    """Also of several rule sets."""
    run = replace(compared, out=tmp_path, rules=["four-seasons", "czarina"], record=False)
    compare(run)
    assert not list(tmp_path.rglob("*.gz"))
    with pytest.raises(ValueError, match="has no games: compare with --record"):
        verify(Verify(tmp_path))
    compare(replace(run, record=True))
    (path,) = tmp_path.glob("parts/four-seasons/heuristic-*/*.jsonl.gz")
    assert path.read_bytes() == games_in(compared.out).read_bytes()
    assert verify(Verify(tmp_path))
