"""The game in text, for language models.

- `env`: `FourSeasonsTextEnv`, whose observations and actions are text.
- `words`: rules and positions in words.
- `replies`: the moves of a reply, and the messages for one that cannot be read.
"""

from four_seasons_env.text.env import FourSeasonsTextEnv

__all__ = ["FourSeasonsTextEnv"]
