import json
import re
import time

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_game
from four_seasons_env.experiments.review import (
    LOST,
    UNKNOWN,
    WON,
    Reviewed,
    judge,
    review_game,
    review_page,
    useful_moves,
    verdicts_after_moves,
)
from four_seasons_env.experiments.review import main as review_command
from four_seasons_env.game import Game
from four_seasons_env.play.words import card_words
from four_seasons_env.records import Record
from four_seasons_env.rendering import draw_svg
from four_seasons_env.solver import solve
from tests.experiments.test_errors import games
from tests.helpers import random_moves, small

SMALL = small("four-seasons", ranks=5, piles=1)


def small_game(deal: int) -> list[Game]:
    """The positions of a random game."""
    positions = [Game(SMALL, deal=deal)]
    for move in random_moves(positions[0], deal, 60):
        positions.append(positions[-1].after(move))
    return positions


def with_verdicts(verdicts: list[str]) -> Reviewed:
    return Reviewed("", [], [], 0, [], verdicts, {}, {})


def test_verdicts_are_those_of_the_solver():
    lost = 0
    for deal in range(12):
        positions = small_game(deal)
        verdicts = judge(positions)
        assert verdicts == [solve(each, seconds=5).status for each in positions]
        at = with_verdicts(verdicts).losing_move
        if at is None:
            assert verdicts[0] == verdicts[-1]
            continue
        lost += 1
        assert verdicts[at : at + 2] == [WON, LOST]
        answers = verdicts_after_moves(positions[at])
        assert WON in answers.values()
        assert set(answers) == {str(m) for m in positions[at].legal_moves(distinct=True)}
    assert lost >= 3


def test_a_review_ends_in_time():
    game = play_game("heuristic", "four-seasons", TRAIN_FROM + 4)
    review_game(game, 1e-9)  # loads
    started = time.perf_counter()
    late = review_game(game, 1e-9)
    assert time.perf_counter() - started < 1
    assert set(late.chances[1:]) == {None}
    losing = verdicts_after_moves(late.positions[5], 0.0)
    assert set(losing.values()) == {UNKNOWN}


def test_an_unclear_losing_move_is_not_named():
    for verdicts in ([WON, WON, UNKNOWN, LOST], [WON, WON], [LOST, LOST], [UNKNOWN] * 40):
        assert with_verdicts(verdicts).losing_move is None


def test_useless_last_moves_are_omitted():
    positions = Record(
        "four-seasons", ("deal", "T3>T0", "T4>T1", "T0>T3", "T3>T0"), deal=17
    ).positions()
    assert useful_moves(positions) == 1
    assert useful_moves(positions[:1]) == 0


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reviewed() -> Reviewed:
    """A game that the heuristic loses late."""
    return review_game(play_game("heuristic", "four-seasons", 10_003), seconds=3.0)


def page_data(page: str) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found.group(1))


def test_a_page_shows_every_position(reviewed):
    page = review_page(reviewed).decode()
    assert len(page.encode()) < 2_000_000
    assert not re.findall(r'(?:src|href)="', page)
    assert not re.findall(r"\$[a-z$]", page)  # nothing is left to be filled in
    data = page_data(page)
    assert len(data["frames"]) == len(data["tables"]) == len(reviewed.positions)
    assert data["tables"][0].startswith("North pile: ")  # the name of the drawing
    assert len(re.findall(r'<button id="(?:back|on)"[^>]* aria-label="\w+"', page)) == 2
    for i in (0, 1, len(reviewed.positions) - 1):
        drawn = draw_svg(reviewed.positions[i], before=reviewed.positions[i - 1] if i else None)
        assert drawn.splitlines()[2:] == [data["parts"][part] for part in data["frames"][i]]
    assert len(re.findall(r'<td class="n">\d+</td>', page)) == len(reviewed.moves)
    assert len(reviewed.chances) == len(reviewed.positions)
    for move, after, words in zip(
        reviewed.moves, reviewed.positions[1:], data["words"], strict=True
    ):
        if move.turns:
            assert words == f"deal: {card_words(after.waste[-1])} comes to the waste"


def test_a_page_shows_the_losing_move(reviewed):
    game = Reviewed(
        **vars(reviewed)
        | {
            "verdicts": [WON] * 5 + [LOST] * (len(reviewed.positions) - 5),
            "alternatives": verdicts_after_moves(reviewed.positions[4]),
            "others": {"heuristic": reviewed.moves[4].text},
            "player": "<script>alert(1)</script>",
        }
    )
    page = review_page(game).decode()
    left = reviewed.positions[4].stock_size
    assert f"could be won until move 5, with {left} cards in the stock" in page
    assert "The moment the game was lost" in page
    assert "could still be won after" in page
    assert "<script>alert" not in page
    assert page_data(page)["first"] == 4
    unknown = [UNKNOWN] * len(reviewed.positions)
    page = review_page(Reviewed(**vars(reviewed) | {"verdicts": unknown})).decode()
    assert "The moment the game was lost" not in page


# --- the command ----------------------------------------------------------------------------------


def test_a_recorded_game_is_reviewed(tmp_path):
    games(tmp_path / "new")
    recorded, page = tmp_path / "new" / "games.jsonl", tmp_path / "pages" / "page.html"
    flags = ["--record", str(recorded), "--seconds", "1", "--out", str(page)]
    review_command([*flags, "--line", "3", "--gif", str(tmp_path / "game.gif")])
    assert (tmp_path / "game.gif").read_bytes().startswith(b"GIF")
    assert "Ada: simplicity, deal 17" in page.read_text()
    assert "is not known for these rules" in page.read_text()
