"""One game of an agent as an animation: a GIF with a picture per move."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

from four_seasons_env.experiments.matches.play import play_games
from four_seasons_env.experiments.matches.players import find_players
from four_seasons_env.game import Game
from four_seasons_env.records import Record
from four_seasons_env.rendering.picture import paint
from four_seasons_env.rules import get_rules

_FRAME, _LAST = 140, 3000
"""Milliseconds of a picture, and of the last picture."""
_COLOURS = 24


def play_out(agent: str, rules: str, deal: int) -> list[Game]:
    """The positions of an agent's game, first to last, played as in a comparison."""
    (player,) = find_players([agent], rules, ["deterministic"])
    record: Record = play_games(player, get_rules(rules), [deal])["game"].item()
    return record.positions()


def save_animation(positions: list[Game], path: Path, **how: Any) -> None:
    """Write a game as a GIF: a picture per move, one for several cards put up in a row.

    Args:
        positions: positions of the game, first to last.
        path: file of the GIF.
        **how: arguments of `four_seasons_env.rendering.draw_svg`.
    """
    shown = [
        game
        for game, after in zip(positions, [*positions[1:], None], strict=True)
        if after is None or after.cards_up == game.cards_up
    ]
    pictures = [Image.fromarray(paint(game, **how)) for game in shown]
    palette = pictures[len(pictures) // 2].quantize(_COLOURS)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    path.parent.mkdir(parents=True, exist_ok=True)
    times = [_FRAME] * (len(frames) - 1) + [_LAST]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0)
