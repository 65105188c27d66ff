"""A window that follows a game (`render_mode="human"`; needs pygame-ce, the extra `render`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pygame
from numpy.typing import NDArray


class Window:
    """A window for pictures of one size, opened by the first.

    A copy, also a pickled one, has no window until it shows a picture.

    Args:
        title: in the window's bar.
        fps: the most pictures per second; `show` waits.
    """

    def __init__(self, title: str, fps: int) -> None:
        self._title, self._fps = title, fps
        self._surface: pygame.Surface | None = None
        self._clock: pygame.time.Clock | None = None
        self._dismissed = False

    def show(self, picture: NDArray[np.uint8]) -> None:
        """Show a picture, uint8 of shape (height, width, 3); nothing once the user closed it."""
        if self._dismissed:
            return
        height, width, _ = picture.shape
        if self._surface is None or self._clock is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
            self._surface = pygame.display.set_mode((width, height))
            self._clock = pygame.time.Clock()
        pygame.surfarray.blit_array(self._surface, picture.transpose(1, 0, 2))
        pygame.display.flip()
        if pygame.event.get(pygame.QUIT):
            self._dismissed = True
            self.close()
            return
        pygame.event.pump()
        self._clock.tick(self._fps)

    def close(self) -> None:
        """Close the window, if it is open."""
        if self._surface is not None:
            pygame.display.quit()
        self._surface = self._clock = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_surface": None, "_clock": None}
