"""`MovePolicy`: a policy for Stable-Baselines3 that reads `places` and scores moves.

Examples:
    >>> env = FourSeasonsVecEnv(512, observation="places", mask="no_repeats")
    >>> model = MaskablePPO(MovePolicy, env)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from torch import Tensor

from four_seasons_env.agents.learned.candidate_policy import OwnLayers
from four_seasons_env.agents.network.places import MoveNetwork
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.observations import observation_space as space_of
from four_seasons_env.rules import Rules, get_rules

Masks = np.ndarray[Any, Any] | Tensor | None


class MovePolicy(OwnLayers):
    """A `MoveNetwork` with the interface of sb3-contrib's policies.

    Args:
        observation_space: of an environment of moves with `observation="places"`.
        action_space: its moves.
        lr_schedule: the learning rate.
        rules: its rule set. None: the one that the observation space names
            (`four_seasons_env.observations.observation_space`), else four-seasons.
        layers: see `MoveNetwork`.
        **kwargs: `optimizer_class` and `optimizer_kwargs`, as for the policies of sb3-contrib.

    Raises:
        ValueError: for spaces that are not those of the rule set.
        TypeError: for another argument.
    """

    unused = OwnLayers.unused | {"features_extractor_class", "features_extractor_kwargs"}
    remedy = "choose its units by `layers`"

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        rules: str | Rules | None = None,
        layers: Sequence[int] = (128, 64, 64),
        **kwargs: Any,
    ) -> None:
        # The space of our environments names its rule set, also in a saved model.
        found: Any = getattr(observation_space, "rules", "four-seasons")
        known = get_rules(found if rules is None else rules)
        needed, moves = space_of(known, "places"), len(all_moves(known))
        if (observation_space, action_space) != (needed, spaces.Discrete(moves)):
            raise ValueError(
                f'MovePolicy needs observation="places" of {known.name!r}, {needed.dtype} of shape '
                f"{needed.shape} with {moves} moves, not {observation_space.dtype} of shape "
                f"{observation_space.shape} with {action_space}: choose other rules by "
                'policy_kwargs={"rules": ...}'
            )
        self._rules, self._layers, self._moves = known, list(layers), moves
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters()
        return parameters | {"rules": self._rules, "layers": self._layers}

    def _build(self, lr_schedule: Any) -> None:
        self.network = MoveNetwork(self._rules, self._layers)
        self._make_optimizer(lr_schedule)

    def _read(self, obs: Tensor, masks: Masks) -> tuple[Tensor, Tensor]:
        """Scores and values; see `MoveNetwork.forward`."""
        if masks is None:
            marked = torch.ones(len(obs), self._moves, dtype=torch.bool)
        else:
            marked = torch.as_tensor(masks, dtype=torch.bool).reshape(len(obs), -1)
        scores, values = self.network(obs, marked)
        return scores, values

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and log-probabilities."""
        scores, values = self._read(obs, action_masks)
        logs = torch.log_softmax(scores, dim=1)
        if not deterministic:
            # The highest of log-odds plus Gumbel noise is a draw from the policy. The noise must be
            # finite: that of a move that is not marked could win otherwise.
            scores = scores - torch.empty_like(scores).exponential_().clamp_(min=1e-30).log()
        actions = scores.argmax(dim=1)
        return actions, values, logs.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Masks = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities of the actions, and entropies."""
        scores, values = self._read(obs, action_masks)
        logs = torch.log_softmax(scores, dim=1)
        chosen = logs.gather(1, actions.long().reshape(-1, 1)).squeeze(1)
        # Of log-probabilities as low as these, `exp` would take ten times as long as `softmax`.
        return values, chosen, -(torch.softmax(scores, dim=1) * logs).sum(dim=1)

    def get_distribution(self, obs: Any, action_masks: Masks = None) -> MaskableDistribution:
        """The distribution over moves."""
        distribution: MaskableDistribution = self.action_dist.proba_distribution(
            self._read(obs, action_masks)[0]
        )
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Any) -> Tensor:
        """The values of positions."""
        none = np.zeros((len(obs), self._moves), np.bool_)
        return self._read(obs, none)[1]
