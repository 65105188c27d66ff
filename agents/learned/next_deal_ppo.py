"""`next_deal_ppo`: sb3-contrib's MaskablePPO on the environment whose actions are positions.

The algorithm is unmodified. This project adds the environment (`four_seasons_env.next_deal`) and
the policy class (`four_seasons_env.agents.learned.candidates`). Hyperparameters are those of
`next_deal_ppo.yaml`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv
from four_seasons_env.agents.learned.candidates.encoders import PREFIXES, TableEncoder
from four_seasons_env.agents.learned.candidates.policy import CandidatePolicy
from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.learned.settings import NextDealPpoSettings


class NextDealPpo(Ppo):
    """MaskablePPO whose actions are positions.

    It trains in one thread: with its small batches two are no faster, and take nearly twice the
    processor time. Use more cores for more seeds.
    """

    name = "next_deal_ppo"
    schema = NextDealPpoSettings
    settings_file = Path(__file__).with_suffix(".yaml")
    unit = "decisions"
    threads = 1
    policy_class = CandidatePolicy
    device = "cpu"
    played_weights = dict.fromkeys(PREFIXES, "")

    def make_games(self, seed: int | None = None, threads: int = 1) -> FourSeasonsNextDealVecEnv:
        """The games to learn from."""
        names = (
            *("candidates", "expansions", "order", "endings", "ending_expansions"),
            *("reward", "max_moves"),
        )
        arguments = {name: getattr(self.settings, name) for name in names}
        return FourSeasonsNextDealVecEnv(
            self.settings.games, seed, rules=self.rules, num_threads=threads, **arguments
        )

    def policy_arguments(self) -> dict[str, Any]:
        """See `Ppo.policy_arguments`."""
        return {
            "features_extractor_class": TableEncoder,
            "features_extractor_kwargs": {"widths": self.settings.layers},
        }

    @classmethod
    def network_fields(cls, settings: NextDealPpoSettings) -> dict[str, Any]:
        """See `Ppo.network_fields`."""
        decisions = {
            "candidates": settings.play_candidates,
            "expansions": settings.play_expansions,
            "order": settings.order,
            "endings": settings.endings,
            "ending_expansions": settings.play_ending_expansions,
            "value_weight": settings.value_weight,
        }
        return {"observation": "features", "mask": "distinct", "decisions": decisions}
