import json
import random
from dataclasses import replace

import pytest

from four_seasons_env.engine.moves import all_moves
from four_seasons_env.game import Game
from four_seasons_env.play.server import make_app
from four_seasons_env.play.session import Session
from four_seasons_env.records import (
    Record,
    RecordError,
    append_record,
    parse_record,
    play_through,
    read_records,
    to_lines,
)
from four_seasons_env.rules import RULES
from four_seasons_env.solver import solve
from tests.helpers import biased_choice, deck_with, mostly_slow

DECK = " ".join(deck_with("2S 8H 4S JD 6H 2C 9C TD"))
LINE = {"rules": "four-seasons", "deal": 17, "moves": ["deal", "T3>T0"], "result": "open"}


def some_record(rules: str, deal: int, player: str = "") -> Record:
    game, rng, moves = Game(rules, deal=deal), random.Random(deal), []
    while not game.is_over and len(moves) < 40:
        moves.append(str(biased_choice(game.legal_moves(), rng)))
        game.play(moves[-1])
    return Record(rules, tuple(moves), deal=deal, times=tuple(range(len(moves))), player=player)


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_record_is_read_as_it_was_written(rules):
    record = some_record(rules, 3, "Ada ♠ \n")
    line = record.to_json()
    assert "\n" not in line
    assert parse_record(line) == record
    twin = Game(rules, deal=3)
    for move, position in zip(record.moves, record.positions()[1:], strict=True):
        twin.play(move)
        assert position == twin


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"rules": "czarena"}, "did you mean 'czarina'"),
        ({"deal": True}, "'deal' must be of type int"),
        ({"deck": DECK}, "a deal or a deck, and not both"),
        ({"moves": ["deal", "T0>F"]}, "T0>F is not legal"),
        ({"moves": ["fly"]}, "unknown move 'fly'"),
        ({"result": "won"}, "the moves end in 'open', the record says 'won'"),
        ({"times": [1]}, "one for each move"),
        ({"times": ["a", "b"]}, "times must be seconds"),
        ({"undone": -1}, "'undone' must be 0 or more, not -1"),
        ({"hinted": 2, "by_agent": 1}, "more moves than the record has"),
        ({"playr": "Ada"}, "unknown field 'playr': did you mean 'player'"),
    ],
)
def test_wrong_records(changes, error):
    with pytest.raises(RecordError, match=error):
        parse_record(json.dumps(LINE | changes))
    parse_record(json.dumps(LINE))


@pytest.mark.parametrize("line", ["", "[]", "[" * 100_000])
def test_garbage(line):
    with pytest.raises(RecordError):
        parse_record(line)


def test_files_of_records(tmp_path):
    path = tmp_path / "games" / "ada.jsonl"
    records = [some_record(rules, 5) for rules in ("czarina", "simplicity")]
    for record in records:
        append_record(path, record)
    assert list(read_records(path)) == records
    with path.open("a") as file:
        file.write("\n{}\n")
    with pytest.raises(RecordError, match=r"ada.jsonl, line 4: fields are missing: moves"):
        list(read_records(path))


def test_compressed_files(tmp_path):
    path = tmp_path / "games.jsonl.gz"
    records = [some_record("czarina", deal) for deal in range(3)]
    path.write_bytes(to_lines(records))
    assert list(read_records(path)) == records
    assert path.read_bytes() == to_lines(iter(records))
    append_record(path, records[0])
    assert list(read_records(path)) == [*records, records[0]]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RecordError, match=r"games.jsonl.gz is damaged after line"):
        list(read_records(path))
    (tmp_path / "long.jsonl").write_bytes(b" " * (1 << 21))
    with pytest.raises(RecordError, match=r"long.jsonl, line 1: longer than 1,048,576 bytes"):
        list(read_records(tmp_path / "long.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes(b'{"player": "\xe9"}')
    with pytest.raises(RecordError, match=r"latin.jsonl, line 1: .* not JSON"):
        list(read_records(tmp_path / "latin.jsonl"))


def test_cards_that_are_taken_back_are_counted():
    """A move back that had turned no card shows nothing that was hidden."""
    session = Session("four-seasons", 17)
    session.play("T3>T0")
    session.undo()
    assert session.record().undone == 0
    session.play("deal")
    session.undo()
    session.redo()
    session.undo()
    record = session.record("Ada")
    assert (record.moves, record.undone) == ((), 2)
    assert parse_record(record.to_json()) == record
    assert '"undone"' not in replace(record, undone=0).to_json()


def test_games_that_end_are_kept(tmp_path):
    testclient = pytest.importorskip("starlette.testclient", reason="needs the extra 'play'")
    path = tmp_path / "games.jsonl"

    def keep(session: Session, is_new: bool) -> None:
        assert is_new
        append_record(path, session.record("Ada"))

    client = testclient.TestClient(make_app(keep=keep), base_url="http://localhost")
    moves = [str(move) for move in solve(Game(deal=17), seconds=30).moves]
    body = {"rules": "four-seasons", "deal": 17, "moves": moves[:-1]}
    name = client.post("/api/sessions", json=body).json()["id"]
    assert not path.exists()
    client.post(f"/api/sessions/{name}/move", json={"move": moves[-1]})
    (record,) = read_records(path)
    assert (record.player, record.moves, record.result) == ("Ada", tuple(moves), "won")
    assert record.times == (), "those of the first moves are not known"
    again = client.post("/api/sessions", json=body | {"moves": moves})  # a reload
    assert again.json()["won"]
    assert len(list(read_records(path))) == 1


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_game_is_played_through(rules: str) -> None:
    for deal in range(5):
        rng, game, numbers = random.Random(deal), Game(rules, deal=deal), []
        while not game.is_over and len(numbers) < 300:
            move = biased_choice(game.legal_moves(), rng)
            game.play(move)
            numbers.append(int(move))
        again = Game(rules, deal=deal).record.copy()
        assert play_through(again, game.rules, numbers) == (len(numbers), not game.is_over)
        assert Game.from_record(again, rules) == game


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_replay_stops_at_an_illegal_move(rules: str) -> None:
    game, rng = Game(rules, deal=3), random.Random(3)
    numbers = []
    for _ in range(6):
        numbers.append(int(rng.choice(game.legal_moves())))
        game.play(numbers[-1])
    illegal = {int(move) for move in all_moves(game.rules)} - set(map(int, game.legal_moves()))
    for number in sorted(illegal):
        again = Game(rules, deal=3).record.copy()
        assert play_through(again, game.rules, [*numbers, number, 0]) == (6, True)
        assert Game.from_record(again, rules) == game
