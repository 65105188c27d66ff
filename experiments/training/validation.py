"""Games of a policy on validation deals. Workers import this file, so it does not import torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents.policy_files import PolicyCard
from four_seasons_env.agents.registry import make_player
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.rules import Rules


def validate(
    pool: Pool,
    rules: Rules,
    card: PolicyCard,
    weights: dict[str, NDArray[np.float32]],
    options: dict[str, Any],
    deals: range,
) -> pd.DataFrame:
    """Play deals with a policy; see `four_seasons_env.experiments.matches.play.play_deals`.

    Args:
        pool: workers that play.
        rules: rule set to play.
        card: card of the policy.
        weights: weights of the policy.
        options: options of the player.
        deals: deals to play.
    """
    about = rules, card, tuple(weights), options
    return pd.concat(pool.over_deals(_play, about, deals, *weights.values()), ignore_index=True)


def _play(task: tuple[Any, range], *weights: NDArray[np.float32]) -> pd.DataFrame:
    (rules, card, names, options), deals = task
    named = dict(zip(names, weights, strict=True))
    return play_deals(make_player(rules, card, named, options), rules, deals)
