"""Four Seasons in OpenEnv: `app` is the server, `FourSeasonsClient` its client.

    uvicorn four_seasons_env.adapters.openenv:app --port 8000

>>> with FourSeasonsClient(base_url="http://localhost:8000") as client:
...     result = client.reset(deal=17)
...     result = client.step(Reply(text="Answer: deal"))
"""

from __future__ import annotations

import os
from typing import Any

from openenv.core import EnvClient, create_fastapi_app
from openenv.core.client_types import StepResult
from openenv.core.env_server import Action, Environment, Observation, State

from four_seasons_env.text.env import FourSeasonsTextEnv


class Reply(Action):
    """A player's reply."""

    text: str


class Prompt(Observation):
    """What the player is shown."""

    instructions: str
    message: str
    cards_up: int
    won: bool


class FourSeasonsState(State):
    """The game so far."""

    transcript: list[dict[str, str]] = []


class FourSeasonsEnvironment(Environment[Reply, Prompt, FourSeasonsState]):
    """A session's game; FOUR_SEASONS_RULES and FOUR_SEASONS_UNIT choose rules and unit of all."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._env = FourSeasonsTextEnv(
            rules=os.environ.get("FOUR_SEASONS_RULES", "four-seasons"),
            unit=os.environ.get("FOUR_SEASONS_UNIT", "move"),
        )
        self._state = FourSeasonsState()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **options: Any
    ) -> Prompt:
        """Start a game; `deal` or `deck` may be given as in `FourSeasonsEnv.reset`."""
        _, info = self._env.reset(seed=seed, options=options or None)
        self._state = FourSeasonsState(episode_id=episode_id)
        return self._prompt(info, 0.0, False)

    def step(self, action: Reply, timeout_s: float | None = None, **rest: Any) -> Prompt:
        """Play what a reply asks for."""
        _, reward, terminated, truncated, info = self._env.step(action.text)
        self._state.step_count += 1
        return self._prompt(info, reward, terminated or truncated)

    def _prompt(self, info: dict[str, Any], reward: float, done: bool) -> Prompt:
        env, seen = self._env, {name: info[name] for name in ("cards_up", "won")}
        shown: dict[str, Any] = {"instructions": env.instructions, "message": env.message}
        return Prompt(**shown, **seen, reward=reward, done=done)

    @property
    def state(self) -> FourSeasonsState:
        """The transcript so far, and how many replies there were."""
        self._state.transcript = self._env.transcript()
        return self._state


class FourSeasonsClient(EnvClient[Reply, Prompt, FourSeasonsState]):
    """Plays on a server."""

    def _step_payload(self, action: Reply) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Prompt]:
        result = {"reward": payload["reward"], "done": payload["done"]}
        return StepResult(Prompt(**payload["observation"], **result), **result)

    def _parse_state(self, payload: dict[str, Any]) -> FourSeasonsState:
        return FourSeasonsState(**payload)


app = create_fastapi_app(
    FourSeasonsEnvironment, Reply, Prompt, max_concurrent_envs=64, state_cls=FourSeasonsState
)
