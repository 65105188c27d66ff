"""A policy for Stable-Baselines3 that scores candidates one by one.

In the next-deal environment an action is a position. One network encodes each candidate
(`TableEncoder`), and two linear heads turn the encoding into a score and a value
(`CandidateHeads`). The scores are the policy's log-odds. The value of the decision is the mean of
the candidates' values, weighted by the policy. What the network learns about a position does not
depend on the index of the candidate. So a saved model also plays with more candidates than in
training: load it with `custom_objects`, the spaces of the new environment
(docs/how-to/own-agent.md).

Examples:
    >>> encoder = {"features_extractor_class": TableEncoder}
    >>> model = MaskablePPO(CandidatePolicy, env, policy_kwargs=encoder)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import (
    MaskableActorCriticPolicy,
    MaskableMultiInputActorCriticPolicy,
)
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from four_seasons_env.agents.network.module import PositionNetwork, as_whole
from four_seasons_env.positions.features import pile_count, row_length


class OwnLayers(MaskableActorCriticPolicy):
    """Refuses the arguments of sb3-contrib's policies that would have no effect on its layers.

    The base of `CandidatePolicy` and of `MovePolicy`.

    Raises:
        TypeError: for such an argument.
    """

    unused = frozenset(("net_arch", "activation_fn"))
    remedy: str
    """How the layers are chosen instead, for the error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "use_sde" in kwargs:
            raise TypeError(f"{type(self).__name__} is for MaskablePPO, not for PPO or A2C")
        for name in sorted(kwargs.keys() & self.unused):
            raise TypeError(f"{type(self).__name__} has no {name!r}: {self.remedy}")
        super().__init__(*args, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        every = super()._get_constructor_parameters()
        return {name: each for name, each in every.items() if name not in self.unused}

    def _make_optimizer(self, lr_schedule: Any) -> None:
        """Make the optimiser of all weights; `optimizer_class` is an argument of the policy."""
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=lr_schedule(1),  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )


class CandidatePolicy(OwnLayers, MaskableMultiInputActorCriticPolicy):
    """See the module. The arguments are those of Stable-Baselines3's policies.

    Raises:
        ValueError: for the observations of an environment of moves.
        TypeError: for an argument without effect, or a features extractor of another kind.
    """

    remedy = 'choose its layers by policy_kwargs={"features_extractor_kwargs": {"widths": ...}}'

    def __init__(self, observation_space: spaces.Space[Any], *args: Any, **kwargs: Any) -> None:
        if not isinstance(observation_space, spaces.Dict):
            raise ValueError(
                "CandidatePolicy needs FourSeasonsNextDeal-v0, not observations of "
                f"{observation_space}: MovePolicy is for moves"
            )
        super().__init__(observation_space, *args, **kwargs)

    def extract_features(self, obs: Any, features_extractor: Any = None) -> Any:
        """The encoded candidates. Unlike in SB3, integers stay integers and nothing is scaled."""
        return (features_extractor or self.features_extractor)(obs)

    def evaluate_actions(
        self, obs: Any, actions: Tensor, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Value of each chosen candidate, log-probability of the choice, and entropy.

        The value that is fitted is that of the chosen candidate, not of the decision, so that each
        return trains the network on one position. The value of the decision, from which advantages
        are computed, is the mean over candidates.
        """
        encoded = self.extract_features(obs)
        heads = self.mlp_extractor
        assert isinstance(heads, CandidateHeads)
        distribution = self._get_action_dist_from_latent(heads.forward_actor(encoded))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        values = heads.values(encoded).gather(1, actions.long().reshape(-1, 1))
        return values, distribution.log_prob(actions), distribution.entropy()

    def _build_mlp_extractor(self) -> None:
        space = self.action_space
        assert isinstance(space, spaces.Discrete)
        width = getattr(self.features_extractor, "width", None)
        if not isinstance(width, int):
            raise TypeError(
                'CandidatePolicy needs policy_kwargs={"features_extractor_class": TableEncoder}, '
                "or a class with a `width` whose output has the shape of TableEncoder's"
            )
        self.mlp_extractor = CandidateHeads(int(space.n), width)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        ortho, self.ortho_init = self.ortho_init, False
        super()._build(lr_schedule)
        self.ortho_init = ortho
        # The heads return log-odds and values: no layer follows them.
        self.action_net = self.value_net = nn.Identity()  # type: ignore[assignment]
        self._make_optimizer(lr_schedule)


class TableEncoder(BaseFeaturesExtractor):
    """Encodes candidates by sums of table rows, followed by a dense layer
    (`four_seasons_env.agents.network`).

    Its output, of shape (n, K, width + 1), is the encoding of each candidate followed by a 1, and
    zeros in unused places.

    Args:
        observation_space: of a next-deal environment with the observation `features`.
        widths: of the rows of suits, piles and game, and of the dense layer.

    Raises:
        ValueError: for another space.
    """

    def __init__(
        self, observation_space: spaces.Dict, widths: Sequence[int] = (64, 32, 64, 32)
    ) -> None:
        parts = getattr(observation_space, "spaces", {"observation": observation_space})
        rows = parts.get("observation", observation_space)
        found = rows.dtype == np.int16 and len(rows.shape) == 2
        candidates, slots = rows.shape if found else (0, 0)
        if slots == 0 or slots != row_length(pile_count(slots)):
            raise ValueError(
                'TableEncoder needs FourSeasonsNextDeal-v0 with observation="features", not '
                f"observations of {observation_space}"
            )
        super().__init__(observation_space, candidates * (widths[-1] + 1))
        self.width = widths[-1]
        self.network = PositionNetwork(widths)

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """See the class."""
        # 1. The used places of all decisions, one after the other.
        is_candidate = observations["action_mask"] != 0
        decisions, places = is_candidate.nonzero(as_tuple=True)
        # Stable-Baselines3 keeps some of them as floats.
        positions = as_whole(observations["observation"], torch.int16)
        rows = decisions * positions.shape[1] + places
        # 2. Their encodings, which share the sums of a decision.
        encoded = self.network.encode(positions.flatten(0, 1), decisions, rows)
        # 3. Back in their places; the last column marks the candidates.
        out = encoded.new_zeros(*is_candidate.shape, self.width + 1)
        out[decisions, places] = nn.functional.pad(encoded, (0, 1), value=1.0)
        return out


class CandidateHeads(nn.Module):
    """Log-odds and value of a decision from its encoded candidates; replaces SB3's MLP."""

    def __init__(self, candidates: int, width: int) -> None:
        super().__init__()
        self.latent_dim_pi, self.latent_dim_vf = candidates, 1
        self.score, self.value = nn.Linear(width, 1), nn.Linear(width, 1)
        for head in (self.score, self.value):
            nn.init.zeros_(head.weight)
            nn.init.zeros_(head.bias)

    def forward(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Log-odds of shape (n, K) and values of shape (n, 1)."""
        scores = self.forward_actor(encoded)
        return scores, self._mean_value(encoded, scores)

    def forward_actor(self, encoded: Tensor) -> Tensor:
        """Log-odds of shape (n, K); float32, also where autocast makes the layers bfloat16."""
        scores: Tensor = self.score(encoded[..., :-1]).squeeze(-1).float()
        return scores

    def forward_critic(self, encoded: Tensor) -> Tensor:
        """Values of shape (n, 1)."""
        return self._mean_value(encoded, self.forward_actor(encoded))

    def values(self, encoded: Tensor) -> Tensor:
        """The value of each candidate, of shape (n, K); float32."""
        values: Tensor = self.value(encoded[..., :-1]).squeeze(-1).float()
        return values

    def _mean_value(self, encoded: Tensor, scores: Tensor) -> Tensor:
        """The candidates' values, weighted by the probability that each is chosen; shape (n, 1)."""
        # The policy's weights are constants here: the value learns from returns, not through them.
        is_candidate = encoded[..., -1] != 0
        values = self.values(encoded)
        weights = scores.detach().masked_fill(~is_candidate, -1e9).softmax(dim=-1)
        mean: Tensor = (weights * values).sum(dim=-1, keepdim=True)
        return mean
