"""Results that others have sent: each way in which a folder can lie, or be damaged, is found."""

import gzip
import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import BLOCK, Compare, play_all
from four_seasons_env.experiments.parallel.parts import digest_of, write_part, write_stamped
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.verification.replay import verify_folder
from four_seasons_env.experiments.verify import main as verify_command

ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 19}"


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison as it is sent."""
    out = tmp_path_factory.mktemp("sent") / "c"
    play_all(Compare(out, ["heuristic", "greedy"], deals=DEALS, record=True, workers=ALONE))
    return out


@pytest.fixture
def folder(sent: Path, tmp_path: Path) -> Path:
    """A copy of it to do harm to."""
    return Path(shutil.copytree(sent, tmp_path / "copy"))


def games_in(folder: Path, player: str = "heuristic") -> Path:
    (path,) = folder.glob(f"parts/*/{player}-*/*.jsonl.gz")
    return path


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def forge(path: Path, lines: list[str]) -> None:
    """Write lines with a stamp that fits them, as who wants to deceive would."""
    write_stamped(path, gzip.compress("\n".join(lines).encode()), len(lines), "forged")


def forge_results(folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    path = folder / "results.csv"
    write_part(path, change(read_table(path)), digest_of("forged"))


def differences(folder: Path) -> str:
    found = verify_folder(folder, BLOCK)
    assert found.verified == (not found.differences)
    assert sum(each.differences for each in found.players) >= 0
    return "\n".join(found.differences)


def test_what_was_played_is_verified(sent: Path) -> None:
    found = verify_folder(sent, BLOCK)
    assert found.verified
    assert [(each.agent, each.deals, each.games) for each in found.players] == [
        ("heuristic", 20, 20),
        ("greedy", 20, 20),
    ]
    results = read_table(sent / "results.csv")
    assert [each.won for each in found.players] == [
        results["won"][results["agent"] == agent].sum() for agent in ("heuristic", "greedy")
    ]
    assert sum(each.moves for each in found.players) == results["moves"].sum()
    assert set(found.files) == {"results.csv"} | {
        str(games_in(sent, agent).relative_to(sent)) for agent in ("heuristic", "greedy")
    }


# --- games ----------------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-60])


def cut_and_stamped(path: Path) -> None:
    write_stamped(path, path.read_bytes()[:-60], 20, "forged")


def no_gzip(path: Path) -> None:
    write_stamped(path, b"games", 1, "forged")


def gone(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def without_stamp(path: Path) -> None:
    path.with_suffix(".json").unlink()


def swapped_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def one_less(path: Path) -> None:
    forge(path, lines_of(path)[:-1])


def doubled(path: Path) -> None:
    lines = lines_of(path)
    forge(path, [*lines, lines[3]])


def twice_over(path: Path) -> None:
    forge(path, lines_of(path) * 5)


def changed(**fields: object) -> Callable[[Path], None]:
    """Another value in the third game."""

    def harm(path: Path) -> None:
        lines = lines_of(path)
        lines[2] = json.dumps(json.loads(lines[2]) | fields)
        forge(path, lines)

    return harm


def moves_changed(change: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    """Other moves in a game that was lost, its result as it was."""

    def harm(path: Path) -> None:
        lines = lines_of(path)
        at = next(i for i, line in enumerate(lines) if json.loads(line)["result"] == "lost")
        told = json.loads(lines[at])
        lines[at] = json.dumps(told | {"moves": change(told["moves"])})
        forge(path, lines)

    return harm


def swapped_deals(path: Path) -> None:
    lines = lines_of(path)
    first, second = json.loads(lines[0]), json.loads(lines[1])
    first["deal"], second["deal"] = second["deal"], first["deal"]
    forge(path, [json.dumps(first), json.dumps(second), *lines[2:]])


def broken_off(path: Path) -> None:
    lines = lines_of(path)
    told = json.loads(lines[0])
    lines[0] = json.dumps(told | {"moves": told["moves"][:10], "result": "open"})
    forge(path, lines)


def after_its_end(path: Path) -> None:
    lines = lines_of(path)
    won = next(i for i, line in enumerate(lines) if json.loads(line)["result"] == "won")
    told = json.loads(lines[won])
    lines[won] = json.dumps(told | {"moves": [*told["moves"], "deal"]})
    forge(path, lines)


def bomb(path: Path) -> None:
    data = gzip.compress(b" " * (1 << 22))
    write_stamped(path, data, 20, "forged")


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (cut, "is not what was written"),
        (cut_and_stamped, "is damaged after line"),
        (no_gzip, "is damaged after line 0"),
        (gone, "is missing, with its 20 games"),
        (a_folder, "is missing, with its 20 games"),
        (without_stamp, "has no 4294967296-4294967315.jsonl.json"),
        (swapped_bit, "is not what was written"),
        (one_less, "lacks 1 games: deals 4294967315"),
        (doubled, "line 21: deal 4294967299 is there twice"),
        (twice_over, "has more lines than deals"),
        (changed(rules="czarina"), "line 3: "),
        (changed(deal=5), "line 3: "),
        (changed(deal=None), "'deal' is not what it should be"),
        (changed(player="ada"), "was played by 'ada', not by 'heuristic'"),
        (changed(moves=["fly"]), "unknown move 'fly'"),
        (changed(moves=[], result="won"), "the moves end in 'open', the record says 'won'"),
        (changed(undone=1), "an agent takes no cards back"),
        (moves_changed(lambda moves: ["W>F", *moves]), "not a game by its rules"),
        (moves_changed(lambda moves: moves[1:]), "not a game by its rules"),
        (moves_changed(lambda moves: moves * 2), "not a game by its rules"),
        (swapped_deals, "not a game by its rules"),
        (broken_off, "breaks off after 10 moves"),
        (after_its_end, "not a game by its rules"),
        (bomb, "longer than 1,048,576 bytes"),
    ],
)
def test_games_that_are_not_what_they_should_be(
    folder: Path, harm: Callable[[Path], None], told: str
) -> None:
    harm(games_in(folder))
    assert told in differences(folder)


def test_games_of_another_seed_are_found(folder: Path, tmp_path: Path) -> None:
    """Also where they are all that they should be, by a stamp of their own."""
    run = Compare(tmp_path / "other", ["heuristic", "greedy"], deals=DEALS, record=True, seed=1)
    play_all(replace(run, workers=ALONE))
    for suffix in (".gz", ".json"):
        path = games_in(folder).with_suffix(suffix)
        path.write_bytes(games_in(run.out).with_suffix(suffix).read_bytes())
    assert "was produced by something else" in differences(folder)


def test_games_of_another_player_are_no_proof(folder: Path) -> None:
    own, others = games_in(folder), games_in(folder, "greedy")
    forge(own, lines_of(others))
    assert "was played by 'greedy'" in differences(folder)
    forge(own, [line.replace("greedy", "heuristic") for line in lines_of(others)])
    assert "results.csv says moves" in differences(folder)


# --- results --------------------------------------------------------------------------------------


def with_value(column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(results: pd.DataFrame) -> pd.DataFrame:
        lost = results.index[~results["won"]][0]
        results.loc[lost, column] = value
        return results

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (with_value("won", True), "results.csv says won True, the game says False"),
        (with_value("cards_up", 52), "results.csv says cards_up 52, the game says"),
        (with_value("moves", 1), "results.csv says moves 1, the game says"),
        (with_value("deal", 17), "has deal 17, which the folder does not claim"),
        (with_value("deal", TRAIN_FROM + 19), "has deal 4294967315 twice"),
        (with_value("agent", "ada"), "whom the folder does not name"),
        (with_value("play", "stochastic"), "whom the folder does not name"),
        (with_value("rules", "czarina"), "whom the folder does not name"),
        (with_value("train_seed", 7), "whom the folder does not name"),
        (with_value("seconds", -1.0), "results.csv says seconds -1.0"),
        (with_value("seconds", float("inf")), "results.csv says seconds inf"),
        (with_value("seconds", None), "results.csv says seconds nan"),
        (lambda results: results[~results["won"]], "lacks"),
        (lambda results: pd.concat([results, results]), "twice"),
    ],
)
def test_results_that_are_not_those_of_the_games(
    folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame], told: str
) -> None:
    forge_results(folder, change)
    assert told in differences(folder)


def test_results_that_were_edited_are_named(folder: Path) -> None:
    path = folder / "results.csv"
    path.write_text(path.read_text().replace("False", "True", 1))
    assert "results.csv is not what was written" in differences(folder)
    assert "says won True, the game says False" in differences(folder)


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,2\n", "\0", "agent,play,rules,train_seed,deal,won,cards_up,moves,seconds\nx"],
)
def test_results_that_are_none_are_refused(folder: Path, text: str) -> None:
    (folder / "results.csv").write_text(text)
    with pytest.raises(ValueError, match=r"results\.csv is no table of results"):
        verify_folder(folder, BLOCK)


# --- claims ---------------------------------------------------------------------------------------


def claim(folder: Path, **fields: object) -> None:
    path = folder / "compare.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"deals": [TRAIN_FROM, TRAIN_FROM + 20]}, "is missing, with its 21 games"),
        ({"deals": [0, 2**62]}, "10,000,000 can be checked"),
        ({"deals": [5, 1]}, "no rising list of deals"),
        ({"deals": ["a", 1]}, "is damaged"),
        ({"deals": 7}, "is damaged"),
        ({"sealed": [3, 4], "deals": [3, 4]}, "calls deals sealed that are none"),
        ({"sealed": [2**40, 2**33]}, "no rising list of deals"),
        ({"players": {}}, "are not the same"),
        ({"made_by": {}, "players": {}}, "are not the same"),
        ({"made_by": [], "players": []}, "is damaged"),
        ({"recorded": False}, "keeps no games: compare with --record"),
        ({"kinds": 3}, "is damaged"),
        ({"kinds": {"heuristic": "a |\n| forged", "greedy": "b"}}, "is damaged"),
        ({"observations": {"heuristic": "tops"}}, "what all agents are made of and see"),
    ],
)
def test_claims_that_cannot_be_are_refused_or_found(
    folder: Path, fields: dict[str, object], told: str
) -> None:
    claim(folder, **fields)
    try:
        found = differences(folder)
    except ValueError as error:
        found = str(error)
    assert told in found


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("rules", "0" * 64, "is of other rules than 'four-seasons'"),
        ("train_seed", "x", "is no training seed"),
        ("label", 3, "is damaged"),
        ("label", "a |\n| b", "is damaged"),
        ("label", "ada", "what all agents are made of and see"),
        ("play", "stochastic", "results.csv has 20 rows of"),
        ("agent", "human", "is damaged"),
    ],
)
def test_players_that_cannot_be(folder: Path, key: str, value: object, told: str) -> None:
    about = json.loads((folder / "compare.json").read_text())
    about["made_by"]["four-seasons: heuristic-deterministic"][key] = value
    claim(folder, made_by=about["made_by"])
    try:
        found = differences(folder)
    except ValueError as error:
        found = str(error)
    assert told in found


@pytest.mark.parametrize("where", ["../../x", "..", "a/b", "/etc"])
def test_no_file_outside_the_folder_is_read(folder: Path, where: str) -> None:
    about = json.loads((folder / "compare.json").read_text())
    made_by = {f"four-seasons: {where}": next(iter(about["made_by"].values()))}
    claim(folder, made_by=made_by, players=dict.fromkeys(made_by, "heuristic"))
    with pytest.raises(ValueError, match="names no folder of a player"):
        verify_folder(folder, BLOCK)


# --- the command ----------------------------------------------------------------------------------


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["verify", *arguments])
    try:
        verify_command()
    except SystemExit as stopped:
        return stopped.code
    return 0


def test_the_command_says_what_differs(folder: Path, monkeypatch, capsys) -> None:
    assert call(monkeypatch, str(folder)) == 0
    assert "verified: 40 games" in capsys.readouterr().out
    told = json.loads((folder / "verified.json").read_text())
    assert (told["verified"], told["sealed"], told["deals"]["count"]) == (True, False, 20)
    digest = told["digest"]
    forge_results(folder, with_value("won", True))
    assert call(monkeypatch, str(folder)) == 1
    printed = capsys.readouterr().out
    assert "NOT verified" in printed
    assert "says won True, the game says False" in printed
    told = json.loads((folder / "verified.json").read_text())
    assert (told["verified"], len(told["differences"])) == (False, 1)
    assert told["digest"] != digest
    assert call(monkeypatch, str(folder / "nowhere")) == 2


# --- games that are kept --------------------------------------------------------------------------


@pytest.mark.slow
def test_games_are_alike_however_many_play_at_once(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("four_seasons_env.experiments.compare.BLOCK", 5)
    for n_jobs in (1, 2):
        run = Compare(tmp_path / str(n_jobs), ["heuristic", "random"], deals=DEALS, record=True)
        play_all(replace(run, workers=Workers(n_jobs=n_jobs)))
    paths = [path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*.jsonl.gz")]
    assert len(paths) == 8
    for path in paths:
        assert (tmp_path / "1" / path).read_bytes() == (tmp_path / "2" / path).read_bytes()


def test_games_that_are_missing_are_played_and_the_others_stay(sent: Path, folder: Path) -> None:
    run = Compare(folder, ["heuristic", "greedy"], deals=DEALS, record=True, workers=ALONE)
    for harm in (gone, cut, without_stamp, swapped_bit):
        harm(games_in(folder))
        kept = games_in(folder, "greedy").stat().st_mtime_ns
        play_all(run)
        assert games_in(folder).read_bytes() == games_in(sent).read_bytes()
        assert games_in(folder, "greedy").stat().st_mtime_ns == kept
        assert verify_folder(folder, BLOCK).verified


def test_a_folder_that_keeps_games_keeps_those_of_all_that_comes(folder: Path) -> None:
    run = Compare(folder, ["heuristic", "greedy", "random"], deals=DEALS, workers=ALONE)
    play_all(run)
    found = verify_folder(folder, BLOCK)
    assert found.verified
    assert [each.agent for each in found.players] == ["heuristic", "greedy", "random"]


def test_games_may_be_asked_for_later(tmp_path: Path, sent: Path) -> None:
    run = Compare(tmp_path, ["heuristic", "greedy"], deals=DEALS, workers=ALONE)
    play_all(run)
    assert not list(tmp_path.rglob("*.gz"))
    with pytest.raises(ValueError, match="keeps no games"):
        verify_folder(tmp_path, BLOCK)
    play_all(replace(run, record=True))
    assert games_in(tmp_path).read_bytes() == games_in(sent).read_bytes()


def test_sealed_deals_are_verified(tmp_path: Path) -> None:
    run = Compare(tmp_path, ["heuristic"], deals="sealed:12", record=True, workers=ALONE)
    results = play_all(run)
    found = verify_folder(tmp_path, BLOCK)
    assert found.verified
    assert found.claims.sealed
    assert list(results["deal"]) == list(found.claims.deals)
    (path,) = tmp_path.glob("parts/*/*/*.jsonl.gz")
    one_less(path)
    assert "lacks 1 games" in differences(tmp_path)


def test_rule_sets_and_blocks_are_verified(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("four_seasons_env.experiments.compare.BLOCK", 4)
    rules = ["czarina", "pysolfc/corners", "simplicity"]
    play_all(Compare(tmp_path, ["random"], rules, "0-9", record=True, workers=ALONE))
    found = verify_folder(tmp_path, 4)
    assert found.verified
    assert [(each.rules, each.games) for each in found.players] == [(name, 10) for name in rules]
