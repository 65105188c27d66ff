"""`PlacesExtractor`: reads the observation `places` in policies of Stable-Baselines3."""

from __future__ import annotations

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from four_seasons_env.agents.network.places import PlacesEncoder
from four_seasons_env.rules import Rules, get_rules


class PlacesExtractor(BaseFeaturesExtractor):
    """The positive parts of the sums of `PlacesEncoder`, float32 of shape (n, width).

    >>> MaskablePPO("MlpPolicy", FourSeasonsVecEnv(512, observation="places", mask="no_repeats"),
    ...     policy_kwargs={"features_extractor_class": PlacesExtractor})

    Args:
        observation_space: of an environment of moves with `observation="places"`.
        rules: its rule set.
        width: of the sums.

    Raises:
        ValueError: for another space.
    """

    def __init__(
        self,
        observation_space: spaces.Box,
        rules: str | Rules = "four-seasons",
        width: int = 128,
    ) -> None:
        known = get_rules(rules)
        slots = 2 * known.cards + 3
        if observation_space.dtype != "uint8" or observation_space.shape != (slots,):
            raise ValueError(
                f'PlacesExtractor needs observation="places" of {known.name!r}, uint8 of shape '
                f"({slots},), not {observation_space}"
            )
        super().__init__(observation_space, width)
        self.encoder = PlacesEncoder(known, width)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """See the class."""
        return torch.relu(self.encoder(observations))
