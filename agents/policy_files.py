"""Policies on disk: weights as safetensors, all else as JSON. Loading runs no code from a file.

A policy is a folder of two files, `model.safetensors` and `model.json`. The JSON says what the
network is (`Card`), and carries what training wants to be remembered.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from four_seasons_env.files import write_atomically
from four_seasons_env.rules import Rules

WEIGHTS = "model.safetensors"
CARD = "model.json"


class PolicyFileError(ValueError):
    """A policy folder that cannot be used: damaged, or for another game."""


@dataclass
class Card:
    """What a policy's network is, and where it comes from."""

    agent: str
    """Registered name of the agent that it belongs to."""
    rules: dict[str, Any]
    """The fields of the rule set that it was trained on."""
    observation: str
    mask: str
    layers: list[int]
    """Units of the hidden layers, of the policy and likewise of the value network."""
    activation: str
    training: dict[str, Any] = field(default_factory=dict)
    """Seed, steps, validation results and the like; not needed for loading."""


def save_policy(folder: Path, card: Card, weights: dict[str, torch.Tensor]) -> None:
    """Write a policy; each file is replaced as a whole, the weights first."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    write_atomically(folder / WEIGHTS, save_tensors(tensors))
    text = json.dumps(dataclasses.asdict(card), indent=2) + "\n"
    write_atomically(folder / CARD, text.encode())


def load_policy(folder: Path, agent: str, rules: Rules) -> tuple[Card, dict[str, torch.Tensor]]:
    """Read a policy and check that it is for this agent and these rules.

    Raises:
        FileNotFoundError: if a file is missing.
        PolicyFileError: if a file is damaged, or made for another agent or rule set.
    """
    for name in (CARD, WEIGHTS):
        if not (folder / name).is_file():
            raise FileNotFoundError(
                f"no weights at {folder}: {name} is missing (train some with "
                f"`python -m experiments.train --agent {agent} --rules {rules.name}`)"
            )
    try:
        card = Card(**json.loads((folder / CARD).read_text()))
    except (ValueError, TypeError) as error:
        raise PolicyFileError(f"{folder / CARD} is not a policy's card: {error}") from None
    try:
        weights = load_tensors((folder / WEIGHTS).read_bytes())
    except SafetensorError as error:
        raise PolicyFileError(f"{folder / WEIGHTS} is damaged: {error}") from None
    if card.agent != agent:
        raise PolicyFileError(f"{folder} holds weights of {card.agent!r}, not of {agent!r}")
    differing = [
        f"{name}={card.rules.get(name)!r} (here {value!r})"
        for name, value in rules_fields(rules).items()
        if card.rules.get(name) != value
    ]
    if differing:
        raise PolicyFileError(
            f"{folder} was trained on other rules than {rules.name!r}: {', '.join(differing)}"
        )
    return card, weights


def rules_fields(rules: Rules) -> dict[str, Any]:
    """The fields of a rule set that change the game."""
    fields = dataclasses.asdict(rules)
    return {name: value for name, value in fields.items() if name not in ("name", "about")}
