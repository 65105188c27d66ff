import gzip
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from four_seasons_env.game import Game
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
from tests.helpers import REPRESENTATIVES, random_moves


def some_record(rules: str, deal: int, player: str = "") -> Record:
    moves = [str(move) for move in random_moves(Game(rules, deal=deal), deal, 40)]
    return Record(rules, tuple(moves), deal=deal, times=tuple(range(len(moves))), player=player)


@pytest.mark.parametrize("rules", REPRESENTATIVES)
def test_a_record_is_read_as_it_was_written(rules):
    record = some_record(rules, 3, "Ada ♠ \n")
    line = record.to_json()
    assert "\n" not in line
    assert parse_record(line) == record
    assert parse_record('{"hinted": 1, ' + line[1:]) == record  # as 3.0.0 wrote it
    assert replace(record, moves=tuple(map(str.lower, record.moves))).end == record.end
    twin = Game(rules, deal=3)
    for move, position in zip(record.moves, record.positions()[1:], strict=True):
        twin.play(move)
        assert position == twin


@pytest.mark.parametrize(("name", "pack"), [("a.jsonl", bytes), ("a.jsonl.gz", gzip.compress)])
@pytest.mark.parametrize("torn", [False, True])
def test_a_file_without_last_break(tmp_path, name, pack, torn):
    path = tmp_path / name
    records = [some_record("czarina", deal) for deal in range(4)]
    lines = "\n\n".join(record.to_json() for record in records[:3]).encode()
    path.write_bytes(pack(lines[: len(lines) - 9 * torn]))
    append_record(str(path), records[3])
    found = []
    if torn:
        with pytest.raises(RecordError, match=rf"{name}, line 5: .* this is not JSON"):
            found.extend(read_records(path))
    else:
        found.extend(read_records(str(path)))
    assert found == records[: 2 + (not torn)] + records[3:]


def test_compressed_files(tmp_path):
    path = tmp_path / "games.jsonl.gz"
    records = [some_record("czarina", deal) for deal in range(3)]
    path.write_bytes(to_lines(records))
    assert path.read_bytes() == to_lines(iter(records))
    path.write_bytes(damaged := path.read_bytes()[:-9])
    for use in (lambda: list(read_records(path)), lambda: append_record(path, records[1])):
        with pytest.raises(RecordError, match=r"games.jsonl.gz is damaged after line"):
            use()
    assert path.read_bytes() == damaged
    (tmp_path / "latin.jsonl").write_bytes(b'{"player": "\xe9"}')
    with pytest.raises(RecordError, match=r"latin.jsonl, line 1: .* not JSON"):
        list(read_records(tmp_path / "latin.jsonl"))


def test_a_line_that_is_too_long_for_a_game(tmp_path):
    """A compressed file of a few kilobytes may have one of gigabytes."""
    path, record = tmp_path / "games.jsonl.gz", some_record("czarina", 0)
    path.write_bytes(to_lines([record]) + gzip.compress(bytes(2**25)))
    tracemalloc.start()
    with pytest.raises(RecordError, match=r"games.jsonl.gz, line 2 must be 4,194,304 bytes or"):
        list(read_records(path))
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


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


def some_lines() -> list[bytes]:
    lines = []
    for name, deal in (("four-seasons", 17), ("pysolfc/simplicity", 3), ("czarina-1898", 5)):
        moves = random_moves(Game(name, deal=deal), deal, 40)
        lines.append(Record(name, tuple(map(str, moves)), deal=deal).to_json().encode())
    return lines


BYTE = st.sampled_from([b"", *(bytes([each]) for each in b'0123456789TWF>",[]:')])
CUTS = st.tuples(st.integers(0, 1000), st.integers(0, 2), BYTE | st.binary(max_size=2))


@settings(max_examples=500)
@given(st.sampled_from(some_lines()), st.lists(CUTS, max_size=3))
def test_damaged_lines_are_refused_or_are_games(line, cuts):
    """Bytes are changed, left out or added; compiled code plays what is left."""
    damaged = bytearray(line)
    for place, length, new in cuts:
        at = place % len(damaged)
        damaged[at : at + length] = new
    try:
        record = parse_record(bytes(damaged))
    except RecordError:
        assert damaged != line
        return
    assert record.positions()[-1].is_won == record.end.won
    assert parse_record(record.to_json()) == record


def test_a_move_out_of_range_is_not_played():
    game = Game(deal=17)
    assert play_through(game.record.copy(), game.rules, [0, 10**6]) == (1, True)
    with pytest.raises(TypeError, match="moves must be integers"):
        play_through(game.record.copy(), game.rules, [0.7])
