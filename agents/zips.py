"""Stable-Baselines3's own zips, for those who trust where they come from.

Opening one unpickles it, which runs whatever code its maker put into it. Policies of this project
are safetensors and JSON (`policy_files.py`) and need no trust.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from agents.network import ACTIVATION_MODULES
from agents.policy_files import Card, PolicyFileError, rules_fields
from four_seasons_env.observations import OBSERVATIONS, observation_length
from four_seasons_env.rules import Rules


def load_zip(
    path: Path, agent: str, model_class: str, rules: Rules, trust: bool
) -> tuple[Card, Any]:
    """Open a model that was saved with ``model.save``, and say what its network is.

    A zip does not tell which rules it was trained on: that its observation is as long as one of
    these rules' is all that can be checked.

    Raises:
        FileNotFoundError: if there is no such file.
        PolicyFileError: without trust, for a damaged file, or a network of another shape.
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
        model = getattr(importlib.import_module(module), name).load(path, device="cpu")
    except Exception as error:  # whatever a damaged zip raises
        raise PolicyFileError(f"{path} cannot be opened as a {name}: {error}") from None
    (length,) = model.observation_space.shape
    known = {observation_length(rules, each): each for each in OBSERVATIONS}
    if length not in known:
        raise PolicyFileError(
            f"{path} takes observations of {length} slots; {rules.name!r} has "
            + " and ".join(f"{each} ({size})" for size, each in known.items())
        )
    layers = model.policy.net_arch
    names = {module: word for word, module in ACTIVATION_MODULES.items()}
    card = Card(
        agent=agent,
        rules=rules_fields(rules),
        observation=known[length],
        mask="distinct",
        layers=list(layers["pi"] if isinstance(layers, dict) else layers),
        activation=names[model.policy.activation_fn],
        exploration=getattr(model, "exploration_final_eps", None),
        training={"seed": model.seed},
    )
    return card, model
