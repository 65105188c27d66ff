"""One game of an agent as a small animation: a picture a move, in a GIF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from four_seasons_env.agents.registry import make_agent
from four_seasons_env.engine import kernel
from four_seasons_env.episodes.settings import MAX_MOVES
from four_seasons_env.game import Game
from four_seasons_env.rendering.picture import paint
from four_seasons_env.rules import get_rules

_FRAME, _LAST = 140, 3000
"""Milliseconds that a picture stands, and the last."""
_COLOURS = 24


def play_out(agent: str, rules: str, deal: int, seed: int = 0) -> list[Game]:
    """The positions of an agent's game of a deal, first to last.

    The agent sees reshuffled stocks, as in every comparison.
    """
    player, rule_set = make_agent(agent, rules), get_rules(rules)
    rule = kernel.compile_rules(rule_set)
    rng = np.random.default_rng([seed, deal])
    game = Game(rule_set, deal=deal)
    positions = [game.copy()]
    while not game.is_over and game.moves_played < MAX_MOVES:
        shown = game.record.copy()
        kernel.reshuffle_unseen_all(shown, rule, rng.integers(0, 2**63, 1, np.uint64))
        mask = game.action_mask(distinct=player.mask == "distinct")[None]
        game.play(int(player.act(shown, mask, rng)[0]))
        positions.append(game.copy())
    return positions


def save_animation(positions: list[Game], path: Path, **how: Any) -> None:
    """Write a game as a GIF: a picture a move, a run of moves that put cards up in one.

    Args:
        positions: of the game, first to last.
        path: of the GIF.
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


def save_game(agent: str, rules: str, deal: int, path: Path) -> Path:
    """Play a deal and write its animation.

    Args:
        agent: its name, which may have the path to its weights.
        rules: name of the rule set.
        deal: the deal's number.
        path: of the GIF.

    Raises:
        ImportError: where pictures cannot be drawn (extra `render`).
    """
    save_animation(play_out(agent, rules, deal), path)
    return path
