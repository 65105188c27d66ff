import sys

import numpy as np
import pytest

from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import deck_with

OPENING = deck_with("2S 8H 4S JD 6H 2C 9C TD")


def lines(game: Game) -> list[str]:
    return [line.rstrip() for line in str(game).split("\n")]


def test_the_cross_between_its_four_corners():
    assert lines(Game(deck=OPENING)) == [
        "four-seasons, a deck of one's own: 1 of 52 cards up, 0 moves",
        "",
        "   [2C]   2S   [ S]",
        "    8H    4S    JD",
        "   [ H]   6H   [ D]",
        "",
        "   stock: 46",
        "   waste: empty",
    ]


def test_a_game_under_way():
    game = Game(Rules(redeals=1), deck=OPENING)
    for move in ("T0>F", "deal", "deal", "T4>T0", "W>T3", "W>T3"):
        game.play(move)
    assert lines(game) == [
        "custom, a deck of one's own: 2 of 52 cards up, 6 moves",
        "",
        "   [2C]   6H   [2S]",
        "    8H    4S    9C",
        "   [ H]   --   [ D]",
        "",
        "   T3: JD TD 9C",
        "   stock: 44, redeals left: 1",
        "   waste: empty",
    ]


def test_only_the_end_of_a_long_waste_is_shown():
    game = Game("czarina", deck=OPENING)
    for _ in range(14):
        game.play("deal")
    shown = lines(game)[-1]
    assert shown.startswith("   waste: (2 more) ")
    assert shown.endswith(" ".join(game.waste[2:]))


def test_twelve_piles_stand_in_two_rows():
    game = Game("simplicity", deal=17)
    tops = [pile[-1] for pile in game.tableau]
    shown = lines(game)
    assert shown[0] == "simplicity, deal 17: 1 of 52 cards up, 0 moves"
    assert shown[2].split("[")[1:] and shown[2].count("[") == 4
    assert [row.split() for row in shown[3:5]] == [tops[:6], tops[6:]]


@pytest.mark.parametrize("piles", [1, 2, 3, 4, 6, 7, 11])
def test_any_number_of_piles_is_drawn(piles):
    game = Game(Rules(piles=piles), deal=1)
    drawn = [cell for row in lines(game)[3:-3] for cell in row.split()]
    assert drawn == [pile[-1] for pile in game.tableau]


def test_won_and_over_are_told():
    game = Game(Rules(ranks=4, piles=3), deck="AS AH AD AC 2C 2S 2H 2D 3C 3S 3H 3D 4C 4S 4H 4D")
    for move in ["T0>F", "T1>F", "T2>F"] + ["deal", "W>F"] * 12:
        game.play(move)
    assert lines(game)[0].endswith("16 of 16 cards up, 27 moves, won")


def test_the_stock_is_not_given_away():
    """A drawing shows no card that the player has not seen."""
    game = Game(deal=17)
    for card in game.stock:
        assert card not in str(game)


def test_environments_render_text():
    env = FourSeasonsEnv(render_mode="ansi")
    env.reset(options={"deck": " ".join(OPENING)})
    assert env.render() == str(Game(deck=OPENING))
    env.step(0)
    assert env.render() == str(env.game)
    silent = FourSeasonsEnv()
    silent.reset(seed=1)
    assert silent.render() is None


def test_vector_environments_render_texts():
    env = FourSeasonsVectorEnv(2, render_mode="ansi")
    env.reset(options={"deal": [3, 4]})
    assert env.render() == (str(Game(deal=3)), str(Game(deal=4)))
    silent = FourSeasonsVectorEnv(2)
    silent.reset(seed=1)
    assert silent.render() is None


def pictured(deck: list[str], rules: str = "four-seasons", moves: int = 0):
    env = FourSeasonsEnv(rules, render_mode="rgb_array")
    _, info = env.reset(options={"deck": deck})
    for _ in range(moves):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    return env.render()


def test_a_picture_shows_the_position_and_nothing_hidden():
    picture = pictured(OPENING)
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert picture.shape[2] == 3
    np.testing.assert_array_equal(picture, pictured(OPENING))
    assert (picture != pictured(OPENING, moves=1)).any()
    seen, stock = OPENING[:6], OPENING[6:]
    np.testing.assert_array_equal(picture, pictured(seen + stock[::-1]))
    other = [*OPENING[1::-1], *OPENING[2:]]  # two piles change places
    assert (picture != pictured(other)).any()


def test_twelve_piles_make_a_wider_picture():
    assert pictured(OPENING, "simplicity").shape[1] > pictured(OPENING).shape[1]


def test_every_card_has_a_face_of_its_own():
    faces = {pictured([card, *(c for c in OPENING if c != card)]).tobytes() for card in OPENING[5:]}
    assert len(faces) == len(OPENING[5:])


def test_without_pygame_pictures_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    monkeypatch.delitem(sys.modules, "four_seasons_env.rendering.picture", raising=False)
    with pytest.raises(ImportError, match=r"four-seasons-env\[render\]"):
        FourSeasonsEnv(render_mode="rgb_array")
