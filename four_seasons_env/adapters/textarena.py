"""Four Seasons in TextArena: `textarena.make("FourSeasons-v0")` after an import of this module.

>>> import textarena as ta
>>> import four_seasons_env.adapters.textarena
>>> env = ta.make("FourSeasons-v0", unit="position")
"""

from __future__ import annotations

from typing import Any

import textarena as ta

from four_seasons_env.text.env import FourSeasonsTextEnv

ENV_ID = "FourSeasons-v0"


class FourSeasonsTextArenaEnv(ta.Env):
    """One player's game. The reward is the sum of the rewards of `FourSeasonsTextEnv`.

    The answer to something that cannot be read or played is part of the game, so TextArena's own
    allowance for errors is not used.

    Args:
        deal: the deal's number; None: the seed of `reset` chooses one.
        **arguments: of `FourSeasonsTextEnv`.
    """

    def __init__(self, deal: int | None = None, **arguments: Any) -> None:
        super().__init__()
        self.deal = deal
        self.game = FourSeasonsTextEnv(**arguments)

    def reset(self, num_players: int = 1, seed: int | None = None) -> None:
        """Start a game."""
        self.state = ta.SinglePlayerState(num_players=num_players, seed=seed)
        options = None if self.deal is None else {"deal": self.deal}
        self.game.reset(seed=seed, options=options)
        self._total = 0.0
        self.state.reset(game_state={}, player_prompt_function=lambda **_: self.game.instructions)
        self._show()

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play what a reply asks for."""
        player = self.state.current_player_id
        kind = ta.ObservationType
        self.state.add_observation(action, kind.PLAYER_ACTION, from_id=player)
        _, reward, terminated, truncated, info = self.game.step(action)
        self._total += reward
        self.state.step_info = info
        self._show()
        if terminated or truncated:
            self.state.set_outcome(self._total, reason=self.game.message.split("\n\n")[0])
        done: tuple[bool, dict[str, Any]] = self.state.step()
        return done

    def _show(self) -> None:
        self.state.add_observation(self.game.message, ta.ObservationType.GAME_BOARD)


if not ta.envs.registration.ENV_REGISTRY.get(ENV_ID):
    ta.register(ENV_ID, FourSeasonsTextArenaEnv)
