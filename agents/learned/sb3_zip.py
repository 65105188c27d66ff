"""Stable-Baselines3's own zips, for those who trust where they come from.

Opening one unpickles it, which runs whatever code its maker put into it. Policies of this project
are safetensors and JSON (`policy_files.py`) and need no trust.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gymnasium import spaces

from agents.learned.candidates.encoders import ENCODERS
from agents.learned.network_agent import ACTIVATION_MODULES
from agents.learned.next_deal_ppo import NAME as NEXT_DEAL
from agents.learned.next_deal_ppo import playing_arguments
from agents.policy_files import PolicyCard, PolicyFileError, rules_fields
from four_seasons_env.next_deal.features import row_length
from four_seasons_env.observations import OBSERVATIONS, observation_length
from four_seasons_env.rules import Rules


def load_zip(path: Path, model_class: str, trust: bool) -> Any:
    """Open a model that was saved with ``model.save``.

    Raises:
        FileNotFoundError: if there is no such file.
        PolicyFileError: without trust, or for a damaged file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no weights at {path}")
    if not trust:
        raise PolicyFileError(
            f"{path} is a zip of Stable-Baselines3, and opening it can run any code: pass --trust "
            "if you trust its maker"
        )
    module, _, name = model_class.partition(":")
    try:
        return getattr(importlib.import_module(module), name).load(path, device="cpu")
    except Exception as error:  # whatever a damaged zip raises
        raise PolicyFileError(f"{path} cannot be opened as a {name}: {error}") from None


def move_card(path: Path, model: Any, agent: str, rules: Rules) -> PolicyCard:
    """What the network of a model is whose actions are moves.

    A zip does not tell which rules it was trained on: that its observation is as long as one of
    these rules' is all that can be checked.

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
    """What the network of a model is whose actions are positions.

    Args:
        path: of the zip, for the message.
        model: with a `CandidatePolicy`.
        settings: hyperparameters that say how it plays.
        rules: the rule set to play.

    Raises:
        PolicyFileError: for a network that is not of this project, or of another shape.
    """
    options = model.policy_kwargs
    names = {kind: name for name, kind in ENCODERS.items()}
    network = names.get(options.get("features_extractor_class"))
    if network is None or not isinstance(model.observation_space, spaces.Dict):
        raise PolicyFileError(
            f"{path} is not of a CandidatePolicy with one of {', '.join(ENCODERS)}"
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
