"""The game in text, for language models.

- `env`: `FourSeasonsTextEnv`, whose observations and actions are text.
- `words`: rules and positions in words.
- `replies`: what a reply asks for, and what is said to one that cannot be read.
"""

from four_seasons_env.text.env import FourSeasonsTextEnv

__all__ = ["FourSeasonsTextEnv"]
