"""The game in text, for language models.

- `text_env`: `FourSeasonsTextEnv`, whose observations and actions are text.
- `words`: rules and positions in words, and the moves of a reply.
"""

from four_seasons_env.text.text_env import FourSeasonsTextEnv

__all__ = ["FourSeasonsTextEnv"]
