import copy
import random
import sys
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from hypothesis import given

from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.layout import CARD, layout
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.text import FourSeasonsTextEnv
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import biased_choice, deck_with, mostly_slow, positions, restocked, stock_codes

SVG = "{http://www.w3.org/2000/svg}"

OPENING = deck_with("2S 8H 4S JD 6H 2C 9C TD")


def lines(game: Game) -> list[str]:
    return [line.rstrip() for line in str(game).split("\n")]


def test_the_cross_between_its_four_corners():
    assert lines(Game(deck=OPENING)) == [
        "four-seasons, custom deck: 1 of 52 cards up, 0 moves",
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
        "custom, custom deck: 2 of 52 cards up, 6 moves",
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


@pytest.mark.parametrize("piles", [1, 4, 11])
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
    assert silent.render() == (None, None)


def pictured(deck: list[str], rules: str = "four-seasons", moves: int = 0):
    env = FourSeasonsEnv(rules, render_mode="rgb_array")
    _, info = env.reset(options={"deck": deck})
    for _ in range(moves):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    return env.render()


def test_pictures_show_nothing_hidden():
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


def test_pictures_without_pygame(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    monkeypatch.delitem(sys.modules, "four_seasons_env.rendering.picture", raising=False)
    for env in (
        gym.make("FourSeasons-v0", render_mode="rgb_array"),
        gym.make("FourSeasonsText-v0", render_mode="rgb_array"),
        gym.make_vec("FourSeasonsNextDeal-v0", num_envs=2, render_mode="rgb_array"),
    ):
        env.reset(seed=0)
        with pytest.raises(ImportError, match="pictures need pygame-ce: pip install"):
            env.render()


# --- the drawing ----------------------------------------------------------------------------------


def parts(svg: str, name: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    return [e for e in ElementTree.fromstring(svg).iter() if name in e.get("class", "").split()]


def shown(svg: str) -> list[tuple[str, str]]:
    """The cards of a drawing and the places where they lie, bottom first."""
    return [(e.get("data-card", ""), e.get("data-at", "")) for e in parts(svg, "card")]


def under_way(rules: str, moves: int = 60, deal: int = 3) -> Game:
    game, rng = Game(rules, deal=deal), random.Random(deal)
    for _ in range(moves):
        if not game.is_over:
            game.play(biased_choice(game.legal_moves(), rng))
    return game


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_drawing_shows_what_a_player_may_see(rules):
    game = under_way(rules)
    svg = draw_svg(game, unseen=True, legal=True)
    cards = shown(svg)
    for number, pile in enumerate(game.tableau):
        assert [card for card, at in cards if at == f"T{number}"] == pile
    for suit, built in game.foundations.items():
        assert [card for card, at in cards if at == f"F:{suit}"] == built[-1:]
    waste = [card for card, at in cards if at == "W"]
    assert waste == game.waste[len(game.waste) - len(waste) :]
    assert len(waste) == len(game.waste) or len(waste) >= 10
    levels = [len(built) for built in game.foundations.values()]
    assert len(parts(svg, "level")) == sum(levels)
    assert not any(f'"{card}"' in svg for card in game.stock)
    assert "<text" not in svg


@given(positions())
def test_drawings_hide_the_order_of_the_stock(game):
    svg = draw_svg(game, unseen=True, legal=True)
    ElementTree.fromstring(svg)
    other = restocked(game, stock_codes(game)[::-1])
    assert draw_svg(other, unseen=True, legal=True) == svg


def test_the_waste_that_has_no_room_is_counted():
    game = Game(deal=17)
    for _ in range(46):
        game.play("deal")
    svg = draw_svg(game)
    waste = [card for card, at in shown(svg) if at == "W"]
    assert 10 <= len(waste) < 46
    (more,) = parts(svg, "more")
    assert len(more) == 1 + len(str(46 - len(waste)))  # the strokes of "+26"
    assert not parts(draw_svg(Game(deal=17)), "more")


def test_the_last_move_is_marked():
    before = Game(deck=OPENING)
    after = before.copy()
    after.play("T0>F")
    assert not parts(draw_svg(after), "mark")
    corners = {(e.get("data-at"), e.get("transform")) for e in parts(draw_svg(after), "card")}
    places = {(e.get("data-at"), e.get("transform")) for e in parts(draw_svg(after), "place")}
    rings = ElementTree.fromstring(draw_svg(after, before=before))
    ringed = {e.get("transform") for e in rings if len(e) and e[0].get("class") == "mark"}
    assert ringed == {
        next(where for at, where in corners if at == "F:S"),
        next(where for at, where in places if at == "T0"),
    }


@pytest.mark.parametrize("rules", ["four-seasons", "pysolfc/simplicity"])
def test_legal_moves_are_marked(rules):
    game = under_way(rules, 40)
    svg = draw_svg(game, legal=True)
    moves = [str(move) for move in game.legal_moves(distinct=True)]
    assert len(parts(svg, "arrow")) == len([move for move in moves if move != "deal"])
    assert len(parts(svg, "mark")) == ("deal" in moves)
    assert not parts(draw_svg(game), "arrow")


@pytest.mark.parametrize("piles", [1, 5, 12])
def test_places_do_not_overlap(piles):
    table = layout(piles)
    corners = [*table.places.values(), table.stock, table.waste]
    for i, (x, y) in enumerate(corners):
        assert 0 < x <= table.width - CARD[0]
        assert 0 < y <= table.height - CARD[1]
        for a, b in corners[:i]:
            assert abs(x - a) > CARD[0] or abs(y - b) > CARD[1]
    for cards in (2, 5, 13, 30):
        fan = CARD[1] + (cards - 1) * table.pile_step(cards)
        for place, (x, y) in table.places.items():
            if isinstance(place, int):
                below = [b for a, b in corners if a == x and b > y]
                assert y + fan < min(below, default=table.height)
        count, step = table.waste_step(cards)
        assert table.waste[1] + (count - 1) * step + CARD[1] < table.height
        assert step >= 20


def test_notebooks_show_the_drawing():
    game = Game(deal=17)
    assert game._repr_svg_() == draw_svg(game)


# --- pictures, files and windows ------------------------------------------------------------------


def test_pictures_come_in_several_sizes():
    from four_seasons_env.rendering.picture import paint

    game = under_way("four-seasons")
    plain, small, large = paint(game), paint(game, width=262), paint(game, width=1048)
    height, width, _ = plain.shape
    assert (width, height) == (layout(5).width, layout(5).height)
    assert small.shape == (height // 2, 262, 3)
    assert large.shape == (2 * height, 1048, 3)
    halved = plain.reshape(height // 2, 2, 262, 2, 3).mean(axis=(1, 3))
    assert np.abs(halved - small).mean() < 8  # the same drawing
    with pytest.raises(ValueError, match="1 pixel or more, not 0"):
        paint(game, width=0)


def test_pictures_are_kept_as_files(tmp_path):
    import pygame

    from four_seasons_env.rendering.picture import paint, save_picture

    game = under_way("czarina")
    save_picture(game, tmp_path / "game.svg", legal=True)
    assert (tmp_path / "game.svg").read_text() == draw_svg(game, legal=True)
    save_picture(game, tmp_path / "game.png", width=300)
    kept = pygame.surfarray.array3d(pygame.image.load(tmp_path / "game.png"))
    np.testing.assert_array_equal(kept.transpose(1, 0, 2), paint(game, width=300))
    with pytest.raises(ValueError, match=r"\.svg or \.png, not '\.gif'"):
        save_picture(game, tmp_path / "game.gif")


@pytest.fixture
def screen(monkeypatch):
    """pygame without a screen, as on a server."""
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield pygame.display
    pygame.display.quit()


def surface_pixels(screen) -> np.ndarray:
    import pygame

    return pygame.surfarray.array3d(screen.get_surface()).transpose(1, 0, 2)


def fast(monkeypatch) -> None:
    """No waiting between pictures."""
    monkeypatch.setitem(FourSeasonsEnv.metadata, "render_fps", 10_000)


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", "FourSeasonsNextDeal-v0"])
def test_gymnasium_shows_a_window(screen, monkeypatch, env_id):
    from four_seasons_env.rendering.picture import paint

    fast(monkeypatch)
    env = gym.make(env_id, render_mode="human")
    env.reset(options={"deal": 17})
    env.step(0)
    np.testing.assert_array_equal(surface_pixels(screen), paint(env.unwrapped.game))
    env.close()
    assert not screen.get_init()


def test_closing_a_window_never_ends_the_process(screen, monkeypatch):
    """Gymnasium has one window in a process; the others raise an error."""
    import pygame

    fast(monkeypatch)
    envs = [gym.make(each, render_mode="human") for each in ("FourSeasons-v0", "CartPole-v1") * 2]
    for env in envs:
        env.reset(seed=0)
    twin = copy.deepcopy(envs[0].unwrapped)
    envs[0].close()
    for env in envs[1:]:
        with pytest.raises((pygame.error, ValueError)):
            env.step(0)
        env.close()
    twin.step(0)


def test_a_window_needs_gymnasium():
    for make in (FourSeasonsEnv, FourSeasonsVectorEnv, FourSeasonsTextEnv):
        with pytest.raises(ValueError, match=r"use gymnasium\.make"):
            make(render_mode="human")


@pytest.mark.slow
def test_gymnasium_records_videos(tmp_path):
    pytest.importorskip("moviepy", reason="RecordVideo needs moviepy")
    env = RecordVideo(
        FourSeasonsEnv(render_mode="rgb_array"), str(tmp_path / "videos"), lambda _: True
    )
    env.reset(options={"deal": 17})
    for _ in range(4):
        env.step(0)
    env.close()
    (video,) = (tmp_path / "videos").glob("*.mp4")
    assert video.stat().st_size > 1000
