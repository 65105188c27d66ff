"""Stable-Baselines3's own zip files, for users who trust their source.

Opening one unpickles it, which runs any code that it contains. Policies of this project are
safetensors and JSON (`four_seasons_env.agents.policy_files`) and need no trust.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from four_seasons_env.agents.learned.learner import get_learner
from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError
from four_seasons_env.rules import Rules


def load_zip(
    path: Path, agent: str, rules: Rules, trust: bool
) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
    """Card and weights of a model that was saved with ``model.save``.

    Args:
        path: of the zip.
        agent: name of the algorithm.
        rules: the rule set to play.
        trust: open it.

    Raises:
        FileNotFoundError: if ``path`` is not a file.
        PolicyFileError: without trust, for a damaged file, or a model of another shape.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no weights at {path}")
    if not trust:
        raise PolicyFileError(
            f"{path} is a zip of Stable-Baselines3, and opening it can run any code: pass --trust "
            "if you trust its source"
        )
    learner = get_learner(agent)
    if not issubclass(learner, Ppo):
        raise PolicyFileError(f"{agent} has no weights in zip files: {path}")
    try:
        model = MaskablePPO.load(path, device="cpu")
    except Exception as error:  # a damaged zip can raise anything
        raise PolicyFileError(f"{path} cannot be opened as a MaskablePPO: {error}") from None
    read = learner.read_zip(path, model, rules)
    settings = dataclasses.replace(learner.read_settings(), **read)
    card = learner.card_of(rules, settings, {"seed": model.seed})
    return card, learner.weights_of(model.policy.state_dict())
