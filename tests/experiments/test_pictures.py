import pytest
from PIL import Image

from four_seasons_env.experiments.pictures import Pictures, draw_game
from four_seasons_env.rendering.layout import layout


@pytest.mark.slow
def test_a_won_game_is_animated_in_a_small_file(tmp_path):
    draw_game(Pictures(out=tmp_path))
    path = tmp_path / "game.gif"
    assert path.stat().st_size < 500_000
    with Image.open(path) as animation:
        assert animation.n_frames > 50
        assert animation.size == (280, round(280 * layout(5).height / layout(5).width))
        colours = []
        for frame in (0, animation.n_frames - 1):
            animation.seek(frame)
            colours.append(len(animation.convert("RGB").getcolors()))
    assert min(colours) > 8
    for name in ("position-light.svg", "position-dark.svg", "simplicity.svg"):
        assert (tmp_path / name).read_text().startswith("<svg")


def test_a_game_that_is_not_won_is_no_picture(tmp_path):
    with pytest.raises(ValueError, match="random does not win deal 17"):
        draw_game(Pictures(out=tmp_path, agent="random"))
