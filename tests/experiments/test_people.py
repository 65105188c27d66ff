"""Games of people as one more player of a comparison, and how they are counted."""

from dataclasses import replace
from pathlib import Path

import pytest

from four_seasons_env.experiments.compare import Compare, compare, play_all
from four_seasons_env.experiments.matches.people import find_all_players
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.game import Game
from four_seasons_env.play.records import Record, append_record
from four_seasons_env.solver import solve
from tests.helpers import deck_with

ALONE = Workers(n_jobs=1)


def won_game(deal: int, player: str = "Ada") -> Record:
    moves = tuple(str(move) for move in solve(Game(deal=deal), seconds=30).moves)
    return Record(
        "four-seasons", moves, deal, times=tuple(map(float, range(len(moves)))), player=player
    )


def open_game(deal: int, player: str = "Ada", rules: str = "four-seasons") -> Record:
    return Record(rules, (str(Game(rules, deal=deal).legal_moves()[0]),), deal, player=player)


def keep(path: Path, *records: Record) -> Path:
    for record in records:
        append_record(path, record)
    return path


def comparison(folder: Path, *agents: str) -> Compare:
    return Compare(folder / "c", list(agents), deals="0-19", record=True, workers=ALONE)


def test_people_stand_in_the_same_table(tmp_path: Path, capsys) -> None:
    keep(tmp_path / "games" / "a.jsonl", won_game(17), open_game(3), open_game(99))
    keep(tmp_path / "games" / "b.jsonl", won_game(3))
    run = comparison(tmp_path, "heuristic", f"people=human:{tmp_path / 'games'}")
    compare(run)
    printed = capsys.readouterr().out
    assert "people: 2 of the compared deals, 4 games found" in printed
    results = read_table(run.out / "results.csv")
    own = results[results["agent"] == "people"].set_index("deal")
    assert own["won"].to_dict() == {3: False, 17: True}  # the first attempt at each
    assert own.loc[17, "seconds"] == own.loc[17, "moves"] - 1
    assert own["seconds"].isna().to_dict() == {3: True, 17: False}
    row = read_table(run.out / "summary.csv").set_index("agent").loc["people"]
    assert (row["deals"], row["win_rate"], row["kind"], row["play"]) == (
        2,
        0.5,
        "people",
        "by hand",
    )
    theirs = results[results["agent"] == "heuristic"].set_index("deal")["won"]
    assert row["win_difference"] == 0.5 - theirs[[3, 17]].mean()  # on the same two deals
    assert "| deals |" in (run.out / "table.md").read_text()
    assert verify(Verify(run.out))
    assert "verified: 22 games" in capsys.readouterr().out
    assert "Ada" not in (run.out / "compare.json").read_text()
    keep(tmp_path / "games" / "c.jsonl", won_game(5))
    with pytest.raises(ValueError, match="holds a comparison of"):
        play_all(run)


@pytest.mark.slow
def test_people_are_on_the_report(tmp_path: Path) -> None:
    path = keep(tmp_path / "a.jsonl", won_game(17), open_game(3))
    run = comparison(tmp_path, "heuristic", f"people=human:{path}")
    compare(run)
    markdown = report(Report([run.out])).with_suffix(".md").read_text()
    assert "| people | people | by hand | 2 | 50.00" in markdown


def test_cards_that_were_taken_back_win_nothing(tmp_path: Path) -> None:
    path = keep(tmp_path / "a.jsonl", replace(won_game(17), undone=1), won_game(3))
    run = comparison(tmp_path, f"human:{path}")
    results = play_all(run).set_index("deal")
    assert results["won"].to_dict() == {3: True, 17: False}
    assert set(results["agent"]) == {f"human:{path}"}
    assert verify(Verify(run.out))


def test_several_persons_stand_like_training_seeds(tmp_path: Path, capsys) -> None:
    ada, bob = won_game(17), open_game(17, "Bob")
    path = keep(tmp_path / "a.jsonl", ada, bob, won_game(3), open_game(3, "Bob"), open_game(5))
    run = comparison(tmp_path, f"people=human:{path}")
    compare(run)
    assert "people: 2 persons, 2 of the compared deals, 5 games found" in capsys.readouterr().out
    (row,) = read_table(run.out / "summary.csv").query("agent == 'people'").to_dict("records")
    assert (row["seeds"], row["deals"], row["win_rate"]) == (2, 2, 0.5)
    parts = {path: path.stat().st_mtime_ns for path in run.out.glob("parts/*/*/*")}
    play_all(run)  # nothing is read again
    assert parts == {path: path.stat().st_mtime_ns for path in run.out.glob("parts/*/*/*")}
    assert verify(Verify(run.out))


@pytest.mark.parametrize(
    ("games", "told"),
    [
        ([], "no games at"),
        ([open_game(17, rules="czarina")], "no games of 'four-seasons': its games are of czarina"),
        ([open_game(20)], "no games of the deals that are compared"),
        ([Record("four-seasons", (), deck=" ".join(deck_with("2S")))], "no games of the deals"),
        ([open_game(1), open_game(2, "Bob")], "no deal of .* was played by all of 'Ada', 'Bob'"),
    ],
)
def test_games_that_cannot_be_compared_are_refused(
    tmp_path: Path, games: list[Record], told: str
) -> None:
    path = keep(tmp_path / "a.jsonl", *games)
    run = comparison(tmp_path, "random", f"human:{path}")
    with pytest.raises((ValueError, FileNotFoundError), match=told):
        play_all(run)
    assert not run.out.exists()


def test_what_is_no_game_is_refused_and_sealed_deals_have_no_people(tmp_path: Path) -> None:
    path = keep(tmp_path / "a.jsonl", won_game(17))
    run = comparison(tmp_path, "random", f"human:{path}")
    with pytest.raises(ValueError, match="no games of the deals that are compared"):
        play_all(replace(run, deals="sealed:5"))
    with path.open("a") as file:
        file.write('{"rules": "four-seasons"}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl, line 2: fields are missing"):
        play_all(run)
    with pytest.raises(ValueError, match="another row of the table"):
        find_all_players([f"planner=human:{path}"], "four-seasons", [], False, range(20))
    assert not run.out.exists()
