import sys
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.layout import CARD, layout
from four_seasons_env.rendering.picture import paint
from four_seasons_env.rules import Rules
from tests.helpers import REPRESENTATIVES, deck_with, later, random_moves, same, small

OPENING = deck_with("2S 8H 4S JD 6H 2C 9C TD")


def lines(game: Game) -> list[str]:
    return [line.rstrip() for line in str(game).split("\n")]


def test_the_cross_between_its_four_corners():
    moves = ("T0>F", "deal", "deal", "T4>T0", "W>T3", "W>T3")
    game = later(Game(Rules(redeals=1), deck=OPENING), moves)
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
    game = later(Game("czarina", deck=OPENING), 14 * ["deal"])
    stock, shown = lines(game)[-2:]
    assert stock == "   stock: 32"
    assert shown.startswith("   waste: (2 more) ")
    assert shown.endswith(" ".join(game.waste[2:]))


@pytest.mark.parametrize("piles", [1, 4, 11, 12])
def test_any_number_of_piles_is_drawn(piles):
    game = Game(Rules(piles=piles), deal=1)
    rows = [row.split() for row in lines(game)[3:-3]]
    assert [cell for row in rows for cell in row] == [pile[-1] for pile in game.tableau]
    assert max(map(len, rows)) <= 6


@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array"])
def test_environments_render_the_game(mode):
    draw = {None: lambda game: None, "ansi": str, "rgb_array": paint}[mode]
    env = FourSeasonsEnv(render_mode=mode)
    env.reset(options={"deck": OPENING})
    assert same(env.render(), draw(Game(deck=OPENING)))
    env.step(0)
    assert same(env.render(), draw(env.game))


def test_every_card_has_a_face_of_its_own():
    decks = [[card, *(c for c in OPENING if c != card)] for card in OPENING[5:]]
    assert len({paint(Game(deck=deck)).tobytes() for deck in decks}) == len(decks)


def test_pictures_without_pygame(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    monkeypatch.delitem(sys.modules, "four_seasons_env.rendering.picture", raising=False)
    for env in (
        gym.make("FourSeasons-v0", render_mode="rgb_array"),
        gym.make("FourSeasonsText-v0", render_mode="rgb_array"),
        gym.make_vec("FourSeasonsNextDeal-v0", num_envs=2, render_mode="rgb_array"),
    ):
        env.reset(seed=0)
        with pytest.raises(ImportError, match='a picture needs the extra "render": pip install'):
            env.render()


# --- the drawing ----------------------------------------------------------------------------------


def parts(svg: str, name: str) -> list[ElementTree.Element]:
    """The elements of a class."""
    return [e for e in ElementTree.fromstring(svg).iter() if name in e.get("class", "").split()]


def shown(svg: str) -> list[tuple[str, str]]:
    """The cards of a drawing and the places where they lie, bottom first."""
    return [(e.get("data-card", ""), e.get("data-at", "")) for e in parts(svg, "card")]


def under_way(rules: str, moves: int = 60, deal: int = 3) -> Game:
    game = Game(rules, deal=deal)
    return later(game, random_moves(game, deal, moves))


@pytest.mark.parametrize("rules", [*REPRESENTATIVES, "czarina-1898"])
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


def test_after_a_redeal_no_card_is_listed_as_unseen():
    game = Game(Rules(redeals=1), deal=17)
    turned = later(game, [*46 * ["deal"], "redeal"])
    for each, left in ((game, 46), (turned, 0)):
        listed = draw_svg(each, unseen=True).count("\n") - draw_svg(each).count("\n")
        assert listed == 4 + left  # a sign for each suit


def test_the_waste_that_has_no_room_is_counted():
    game = later(Game(deal=17), 46 * ["deal"])
    svg = draw_svg(game)
    waste = [card for card, at in shown(svg) if at == "W"]
    assert 10 <= len(waste) < 46
    (more,) = parts(svg, "more")
    assert len(more) == 1 + len(str(46 - len(waste)))  # the strokes of "+26"
    assert not parts(draw_svg(Game(deal=17)), "more")
    assert game._repr_svg_() == svg  # in notebooks


def test_the_card_face_up_in_a_limited_redeal_is_shown():
    game = Game(small("czarina-1898", ranks=4, piles=1), deal=0)
    game = later(game, [*game.stock_size * ["deal"], "redeal"])
    assert f"face up: {game.face_up}" in str(game)
    assert (game.face_up, "stock") in shown(draw_svg(game))


def corners(svg: str, name: str) -> dict[str | None, str | None]:
    """Where the elements of a class lie, by their places."""
    return {e.get("data-at"): e.get("transform") for e in parts(svg, name)}


def test_the_last_move_is_marked():
    before = Game(deck=OPENING)
    after = before.after("T0>F")
    svg = draw_svg(after)
    assert not parts(svg, "mark")
    rings = ElementTree.fromstring(draw_svg(after, before=before))
    ringed = {e.get("transform") for e in rings if len(e) and e[0].get("class") == "mark"}
    assert ringed == {corners(svg, "card")["F:S"], corners(svg, "place")["T0"]}


@pytest.mark.parametrize("rules", ["four-seasons", "pysolfc/simplicity"])
def test_legal_moves_are_marked(rules):
    game = under_way(rules, 40)
    svg = draw_svg(game, legal=True)
    moves = [str(move) for move in game.legal_moves(distinct=True)]
    assert len(parts(svg, "arrow")) == len([move for move in moves if move != "deal"])
    assert len(parts(svg, "mark")) == ("deal" in moves)
    assert not parts(draw_svg(game), "arrow")


@pytest.mark.parametrize("piles", [1, 5, 12])
def test_long_piles_cover_no_other(piles):
    table = layout([1] * piles)
    corners = [*table.places.values()]
    for cards in (2, 5, 13, 30):
        fan = CARD[1] + (cards - 1) * table.pile_step(cards)
        for place, (x, y) in table.places.items():
            if place.startswith("T"):
                below = [b for a, b in corners if a == x and b > y]
                assert y + fan < min(below, default=table.height)
        count, step = table.waste_step(cards)
        assert table.places["W"][1] + (count - 1) * step + CARD[1] < table.height
        assert step >= 20


@pytest.mark.parametrize("piles", [1, 4, 5, 12])
def test_compact_tables_show_the_waste(piles):
    count, step = layout([1] * piles, compact=True).waste_step(20)
    assert count >= 9 and step >= 20


# --- pictures, files and windows ------------------------------------------------------------------


def test_pictures_come_in_several_sizes():
    game = under_way("four-seasons")
    plain, small = paint(game), paint(game, width=262)
    height, width, _ = plain.shape
    assert (width, height) == (layout([1] * 5).width, layout([1] * 5).height)
    assert small.shape == (height // 2, 262, 3)
    halved = plain.reshape(height // 2, 2, 262, 2, 3).mean(axis=(1, 3))
    assert np.abs(halved - small).mean() < 8  # the same drawing
