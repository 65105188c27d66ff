"""Stable-Baselines3's own zip files, for users who trust their source.

Opening one unpickles it, which runs any code that it contains. Policies of this project are
safetensors and JSON (`four_seasons_env.agents.policy_files`) and need no trust.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gymnasium import spaces

from four_seasons_env.agents.learned.candidates.encoders import ENCODERS
from four_seasons_env.agents.learned.network_agent import ACTIVATION_MODULES
from four_seasons_env.agents.learned.next_deal_ppo import NAME as NEXT_DEAL
from four_seasons_env.agents.learned.next_deal_ppo import playing_arguments
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError, rules_fields
from four_seasons_env.next_deal.features import row_length
from four_seasons_env.observations import OBSERVATIONS, observation_length
from four_seasons_env.rules import Rules


def load_zip(path: Path, model_class: str, trust: bool) -> Any:
    """Open a model that was saved with ``model.save``.

    Raises:
        FileNotFoundError: if ``path`` is not a file.
        PolicyFileError: without trust, or for a damaged file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no weights at {path}")
    if not trust:
        raise PolicyFileError(
            f"{path} is a zip of Stable-Baselines3, and opening it can run any code: pass --trust "
            "if you trust its source"
        )
    module, _, name = model_class.partition(":")
    try:
        return getattr(importlib.import_module(module), name).load(path, device="cpu")
    except Exception as error:  # a damaged zip can raise anything
        raise PolicyFileError(f"{path} cannot be opened as a {name}: {error}") from None


def move_card(path: Path, model: Any, agent: str, rules: Rules) -> PolicyCard:
    """The card of a model whose actions are moves.

    A zip does not say which rules it was trained on. All that can be checked is that its
    observation is as long as one of these rules'.

    Raises:
        PolicyFileError: for a network of another shape.
    """
    (length,) = model.observation_space.shape or (None,)
    known = {observation_length(rules, each): each for each in OBSERVATIONS}
    if length not in known:
        raise PolicyFileError(
            f"{path} takes observations of {length} slots; {rules.name!r} has "
            + " and ".join(f"{each} ({size})" for size, each in known.items())
        )
    layers = model.policy.net_arch
    names = {module: word for word, module in ACTIVATION_MODULES.items()}
    return PolicyCard(
        agent=agent,
        rules=rules_fields(rules),
        observation=known[length],
        mask="distinct",
        layers=list(layers["pi"] if isinstance(layers, dict) else layers),
        activation=names[model.policy.activation_fn],
        exploration=getattr(model, "exploration_final_eps", None),
        training={"seed": model.seed},
    )


def candidate_card(path: Path, model: Any, settings: Any, rules: Rules) -> PolicyCard:
    """The card of a model whose actions are positions.

    Args:
        path: of the zip, for error messages.
        model: of Stable-Baselines3, with a `CandidatePolicy`.
        settings: hyperparameters that say how it plays.
        rules: the rule set to play.

    Raises:
        PolicyFileError: for a network of another class or shape.
    """
    options = model.policy_kwargs
    names = {kind: name for name, kind in ENCODERS.items()}
    network = names.get(options.get("features_extractor_class"))
    if network is None or not isinstance(model.observation_space, spaces.Dict):
        raise PolicyFileError(
            f"{path} does not hold a CandidatePolicy with one of {', '.join(ENCODERS)}"
        )
    one = model.observation_space["observation"]
    slots = {row_length(rules.piles): "features"}
    slots |= {observation_length(rules, each): each for each in OBSERVATIONS}
    length = (one.shape or (0,))[-1]
    if length not in slots:
        raise PolicyFileError(f"{path} reads {length} slots of a candidate, not {sorted(slots)}")
    widths = options.get("features_extractor_kwargs", {}).get("widths")
    return PolicyCard(
        agent=NEXT_DEAL,
        rules=rules_fields(rules),
        observation=slots[length],
        mask="distinct",
        layers=list(widths or model.policy.features_extractor.widths),
        activation="relu",
        network=network,
        decisions=playing_arguments(settings),
        training={"seed": model.seed},
    )
