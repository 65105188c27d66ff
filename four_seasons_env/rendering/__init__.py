"""Positions drawn for people: as text, or as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from four_seasons_env.game import Game

RENDER_MODES = (None, "ansi", "rgb_array")
"""The environments' render modes."""


def prepare_rendering(render_mode: str | None) -> None:
    """Load what a render mode needs.

    Raises:
        ImportError: where that is not installed, with the command that installs it.
    """
    if render_mode == "rgb_array":
        import four_seasons_env.rendering.picture  # noqa: F401


def draw_as(render_mode: str, game: Game) -> Any:
    """A position as text (`ansi`) or as an RGB array (`rgb_array`)."""
    if render_mode == "ansi":
        return str(game)
    from four_seasons_env.rendering.picture import paint

    return paint(game)
