"""Verified results: edited, damaged and missing games and rows are found."""

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, play_all
from four_seasons_env.experiments.folders import read_table, write_csv
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.experiments.verify import main as verify_command
from four_seasons_env.experiments.workers import Workers

ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 19}"


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of a sender."""
    out = tmp_path_factory.mktemp("sent") / "c"
    play_all(Compare(out, ["heuristic", "greedy"], deals=DEALS, record=True, workers=ALONE))
    return out


@pytest.fixture
def folder(sent: Path, tmp_path: Path) -> Path:
    """A copy of the comparison, to damage."""
    return Path(shutil.copytree(sent, tmp_path / "copy"))


def games_in(folder: Path, player: str = "heuristic") -> Path:
    (path,) = folder.glob(f"parts/*/{player}-*/*.jsonl.gz")
    return path


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def forge(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress("\n".join(lines).encode()))


def forge_results(folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    path = folder / "results.csv"
    write_csv(path, change(read_table(path)))


def differences(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert not verify(Verify(folder))
    printed = capsys.readouterr().out
    assert "NOT verified" in printed
    return printed


def test_untouched_results_are_verified(sent: Path, capsys) -> None:
    assert verify(Verify(sent))
    assert "verified: 40 games replayed" in capsys.readouterr().out


# --- games ----------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-60])


def gone(path: Path) -> None:
    path.unlink()


def one_less(path: Path) -> None:
    forge(path, lines_of(path)[:-1])


def doubled(path: Path) -> None:
    lines = lines_of(path)
    forge(path, [*lines, lines[3]])


def changed(**fields: object) -> Callable[[Path], None]:
    """Another value in the third game."""

    def harm(path: Path) -> None:
        lines = lines_of(path)
        lines[2] = json.dumps(json.loads(lines[2]) | fields)
        forge(path, lines)

    return harm


def moves_changed(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Other moves in a lost game with an unchanged result."""

    def harm(path: Path) -> None:
        lines = lines_of(path)
        at = next(i for i, line in enumerate(lines) if json.loads(line)["result"] == "lost")
        record = json.loads(lines[at])
        lines[at] = json.dumps(record | {"moves": change(record["moves"])})
        forge(path, lines)

    return harm


def broken_off(path: Path) -> None:
    lines = lines_of(path)
    record = json.loads(lines[0])
    lines[0] = json.dumps(record | {"moves": record["moves"][:10], "result": "open"})
    forge(path, lines)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (cut, "is damaged after line"),
        (gone, "deals without a game: 20, the first is 4294967296"),
        (one_less, "deals without a game: 1, the first is 4294967315"),
        (doubled, "line 21: deal 4294967299 occurs twice"),
        (changed(rules="czarina"), "line 3: "),
        (changed(player="ada"), "was played by 'ada', not 'heuristic'"),
        (changed(moves=[], result="won"), "the moves end in 'open', the record says 'won'"),
        (changed(undone=1), "cards taken back"),
        (moves_changed(lambda moves: ["W>F", *moves]), "not a game by its rules"),
        (broken_off, "breaks off after 10 moves"),
    ],
)
def test_edited_games_are_found(
    folder: Path, capsys, harm: Callable[[Path], None], message: str
) -> None:
    harm(games_in(folder))
    assert message in " ".join(differences(folder, capsys).split())


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
        (with_value("won", True), "results.csv says won True; the game says won False"),
        (with_value("cards_up", 52), "results.csv says cards_up 52; the game says"),
        (with_value("deal", 17), "does not have each deal of the manifest once"),
        (with_value("agent", "ada"), "which the manifest does not name"),
    ],
)
def test_edited_rows_are_found(
    folder: Path, capsys, change: Callable[[pd.DataFrame], pd.DataFrame], message: str
) -> None:
    forge_results(folder, change)
    assert message in " ".join(differences(folder, capsys).split())


def test_exit_status(folder: Path) -> None:
    verify_command([str(folder)])
    forge_results(folder, with_value("won", True))
    with pytest.raises(SystemExit, match="1"):
        verify_command([str(folder)])


# --- recorded games -------------------------------------------------------------------------------


@pytest.mark.slow
def test_games_do_not_depend_on_workers(tmp_path: Path, monkeypatch) -> None:
    for name in ("heuristic", "random"):
        monkeypatch.setitem(AGENTS, name, replace(AGENTS[name], block=5))
    for n_jobs in (1, 2):
        run = Compare(tmp_path / str(n_jobs), ["heuristic", "random"], deals=DEALS, record=True)
        play_all(replace(run, workers=Workers(n_jobs=n_jobs)))
    paths = [path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.jsonl.gz")]
    assert len(paths) == 10
    for path in paths:
        assert (tmp_path / "1" / path).read_bytes() == (tmp_path / "2" / path).read_bytes()


def test_missing_games_are_played(sent: Path, folder: Path) -> None:
    run = Compare(folder, ["heuristic", "greedy"], deals=DEALS, record=True, workers=ALONE)
    for harm in (gone, cut, one_less):
        harm(games_in(folder))
        kept = games_in(folder, "greedy").stat().st_mtime_ns
        play_all(run)
        assert games_in(folder).read_bytes() == games_in(sent).read_bytes()
        assert games_in(folder, "greedy").stat().st_mtime_ns == kept
        assert verify(Verify(folder))


def test_games_can_be_recorded_later(tmp_path: Path, sent: Path) -> None:
    run = Compare(tmp_path, ["heuristic", "greedy"], deals=DEALS, workers=ALONE)
    play_all(run)
    assert not list(tmp_path.rglob("*.gz"))
    with pytest.raises(ValueError, match="has no games: compare with --record"):
        verify(Verify(tmp_path))
    play_all(replace(run, record=True))
    assert games_in(tmp_path).read_bytes() == games_in(sent).read_bytes()


def test_rule_sets_and_blocks_are_verified(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setitem(AGENTS, "random", replace(AGENTS["random"], block=4))
    rules = ["czarina", "pysolfc/corners", "simplicity"]
    play_all(Compare(tmp_path, ["random"], rules, "0-9", record=True, workers=ALONE))
    assert verify(Verify(tmp_path))
    assert "verified: 30 games" in capsys.readouterr().out
