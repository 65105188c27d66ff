"""OpenEnv: `app` is the server; any client of OpenEnv plays on it.

The manifest `openenv.yaml` in this folder names the server for OpenEnv's tools.
"""

from openenv.core import create_fastapi_app
from openenv.core.env_server import Action, Environment, Observation, State

from four_seasons_env.text import FourSeasonsTextEnv


class Reply(Action):
    """A player's reply."""

    text: str


class Prompt(Observation):
    """The rules and how to reply, the position, and how far the game is."""

    instructions: str
    message: str
    cards_up: int
    won: bool


class FourSeasonsEnvironment(Environment[Reply, Prompt, State]):
    """The game of one session."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self._env = FourSeasonsTextEnv(unit="position")
        self._state = State()

    def reset(self, seed=None, episode_id=None, **options):
        """Start a game; the options are those of `FourSeasonsEnv.reset`, such as `deal`."""
        _, info = self._env.reset(seed=seed, options=options or None)
        self._state = State(episode_id=episode_id)
        return self._prompt(info, 0.0, False)

    def step(self, action, timeout_s=None, **rest):
        """Play a reply."""
        _, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        return self._prompt(info, reward, terminated or truncated)

    def _prompt(self, info, reward, done):
        shown = {"instructions": self._env.instructions, "message": self._env.message}
        seen = {name: info[name] for name in ("cards_up", "won")}
        return Prompt(**shown, **seen, reward=reward, done=done)

    @property
    def state(self):
        """How many replies there were."""
        return self._state


app = create_fastapi_app(FourSeasonsEnvironment, Reply, Prompt, max_concurrent_envs=64)
