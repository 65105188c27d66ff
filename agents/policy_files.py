"""Policies on disk: weights as safetensors, the rest as JSON. Loading runs no code from a file.

A policy is a folder of two files, `model.safetensors` and `model.json`. The JSON (`PolicyCard`)
describes the network, holds the SHA-256 of the weights, and records the training. Tensors are
float32 or float16, and are read as float32. Damaged files, and policies for another game, raise
`PolicyFileError`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from four_seasons_env.engine.masks import MASKS
from four_seasons_env.files import expanded, whole_folder
from four_seasons_env.rules import Rules
from four_seasons_env.schemas import Digest, Positive, one_of, read_json

WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "model.json"
BEST = "best"
"""Folder of the policy that a training run stands for: the best on validation deals."""

Weights = Mapping[str, NDArray[np.float32]]
"""Tensors by their names in torch."""

_DTYPES = (np.float32, np.float16)


class PolicyFileError(ValueError):
    """A policy that cannot be used: damaged, or for another game."""


@dataclass
class PolicyCard:
    """Describes a policy's network and its training: the schema of its file."""

    agent: str
    """Registered name of the agent that plays it."""
    rules: dict[str, Any]
    """The fields of the rule set that it was trained on."""
    observation: str
    mask: Annotated[str, one_of(MASKS)]
    layers: Annotated[list[Positive], Meta(min_length=1)]
    """Units of the hidden layers."""
    training: dict[str, Any] = field(default_factory=dict)
    """Seed, steps, validation results and the like; not used for loading."""
    sha256: Digest = ""
    """SHA-256 of the weights file; set by `save_policy`."""
    decisions: dict[str, int | float | str] = field(default_factory=dict)
    """Where actions are positions: the search fields of
    `four_seasons_env.next_deal.next_deal_env.NextDealSettings`."""
    chance_shift: float | None = None
    """Added to the log-odds of a planner's network for the chances that a page shows, because the
    player searches further than the network was trained with. None: not measured, or too large
    (`four_seasons_env.agents.planner.chances`)."""


def save_policy(folder: str | Path, card: PolicyCard, weights: Mapping[str, NDArray[Any]]) -> None:
    """Write a policy; an existing folder is replaced as a whole.

    Args:
        folder: of the policy.
        card: describes it.
        weights: float32 or float16 arrays by name.
    """
    data = save_tensors({name: np.ascontiguousarray(each) for name, each in weights.items()})
    card = dataclasses.replace(card, sha256=hashlib.sha256(data).hexdigest())
    with whole_folder(folder) as new:
        (new / WEIGHTS_FILE).write_bytes(data)
        (new / CARD_FILE).write_text(json.dumps(dataclasses.asdict(card), indent=2) + "\n")


def load_policy(
    folder: str | Path, agent: str, rules: Rules, any_rules: bool = False
) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
    """Read a policy and check that it is undamaged, and for this agent and these rules.

    Args:
        folder: of the policy, or of a training run.
        agent: that is to play with it.
        rules: the rule set to play.
        any_rules: also accept a policy that was trained on other rules.

    Raises:
        FileNotFoundError: if a file is missing.
        PolicyFileError: if a file is damaged, or made for another agent or rule set.
    """
    folder = _policy_in(folder)
    card = load_policy_card(folder, agent, rules.name)
    # 1. The weights are those that the card describes, to the last bit.
    data = (folder / WEIGHTS_FILE).read_bytes()
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise PolicyFileError(
            f"{folder / WEIGHTS_FILE} is damaged: its SHA-256 is not the one in {CARD_FILE}"
        )
    try:
        weights = load_tensors(data)
    except (SafetensorError, KeyError) as error:  # KeyError: a type that NumPy does not have
        raise PolicyFileError(f"{folder / WEIGHTS_FILE} is damaged: {error}") from None
    # 2. Numbers that the networks can use.
    for name, tensor in weights.items():
        if tensor.dtype not in _DTYPES or not np.isfinite(tensor).all():
            raise PolicyFileError(
                f"{name} in {folder / WEIGHTS_FILE} must have finite numbers, float32 or float16"
            )
    # 3. For this agent, and for this game.
    if card.agent != agent:
        raise PolicyFileError(f"weights in {folder} must be of {agent!r}, not {card.agent!r}")
    if not any_rules:
        _check_rules(folder, card, rules)
    return card, {name: tensor.astype(np.float32) for name, tensor in weights.items()}


def _check_rules(folder: Path, card: PolicyCard, rules: Rules) -> None:
    trained = dict.fromkeys(rules_fields(rules)) | card.rules
    differing = [
        f"{name}={value!r} (here {getattr(rules, name, None)!r})"
        for name, value in trained.items()
        if value != getattr(rules, name, None)
    ]
    if differing:
        raise PolicyFileError(
            f"{folder} was trained on other rules than {rules.name!r}: {', '.join(differing)}"
        )


def load_policy_card(folder: str | Path, agent: str, rules: str) -> PolicyCard:
    """Read a policy's card.

    Args:
        folder: of the policy, or of a training run.
        agent: for the error message if there is none.
        rules: name of the rule set, for the same message.

    Raises:
        FileNotFoundError: if a file is missing.
        PolicyFileError: if the file is not a policy's card.
    """
    folder = _policy_in(folder)
    for name in (CARD_FILE, WEIGHTS_FILE):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"no weights at {folder}: {name} is missing (train some with "
                f"`four-seasons train --agent {agent} --rules {shlex.quote(rules)}`)"
            )
    try:
        card: PolicyCard = read_json(folder / CARD_FILE, PolicyCard)
    except ValueError as error:
        raise PolicyFileError(str(error)) from None
    return card


def _policy_in(folder: str | Path) -> Path:
    """The folder of a policy: of a training run, its best policy."""
    folder = expanded(folder)
    return folder / BEST if (folder / BEST / CARD_FILE).is_file() else folder


def rules_fields(rules: Rules) -> dict[str, Any]:
    """The fields of a rule set that change the game."""
    fields = dataclasses.asdict(rules)
    return {name: value for name, value in fields.items() if name not in ("name", "about")}
