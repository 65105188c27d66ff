"""`maskable_ppo`: sb3-contrib's MaskablePPO on the environment whose actions are moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.network_agent import HIDDEN, LAST
from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.learned.settings import MaskablePpoSettings


class MoveLevelPpo(Ppo):
    """MaskablePPO whose actions are moves, and whose networks are multilayer perceptrons."""

    name = "maskable_ppo"
    schema = MaskablePpoSettings
    settings_file = Path(__file__).with_suffix(".yaml")
    unit = "moves"
    policy_class = "MlpPolicy"
    device = "auto"
    played_weights = {HIDDEN: HIDDEN, LAST: LAST}

    def make_games(self, seed: int | None = None, threads: int = 1) -> FourSeasonsVecEnv:
        """The games to learn from, in one thread: they take a hundredth of the training time."""
        del threads
        names = ("observation", "mask", "reward", "max_moves")
        arguments = {name: getattr(self.settings, name) for name in names}
        return FourSeasonsVecEnv(self.settings.games, seed, rules=self.rules, **arguments)

    def policy_arguments(self) -> dict[str, Any]:
        """See `Ppo.policy_arguments`."""
        layers = self.settings.layers
        return {
            "net_arch": {"pi": layers, "vf": layers},
            "activation_fn": torch.nn.ReLU,
        }

    @classmethod
    def network_fields(cls, settings: MaskablePpoSettings) -> dict[str, Any]:
        """See `Ppo.network_fields`."""
        return {"observation": settings.observation, "mask": settings.mask}
