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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from four_seasons_env.engine.masks import MASKS
from four_seasons_env.files import expanded, naming, refuse_links, write_atomically
from four_seasons_env.rules import Rules
from four_seasons_env.schemas import Digest, Positive, check_fields, fitting, one_of, read_json

WEIGHTS_FILE = "model.safetensors"
CARD_FILE = "model.json"
_NEXT_CARD = f".{CARD_FILE}.next"
"""The card of weights that are about to be written; see `write_policy`."""
FILES = (WEIGHTS_FILE, CARD_FILE, _NEXT_CARD)
"""Files of a policy."""
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
    layers: list[Positive] = field(default_factory=list)
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
    """Write a policy into a new folder, or in place of the policy in it.

    Args:
        folder: of the policy.
        card: describes it.
        weights: float32 or float16 arrays by name.

    Raises:
        FileExistsError: if the folder cannot take a policy (`check_policy_folder`).
        ValueError: if a file of the policy is a symbolic link.
        PolicyFileError: for a card or weights that could not be loaded, such as float64 or NaN.
    """
    check_policy_folder(folder)
    write_policy(expanded(folder), card, weights)


def check_policy_folder(folder: str | Path) -> None:
    """Check that `save_policy` can write into a folder, before a training that ends with it.

    Raises:
        FileExistsError: if the folder holds anything else, such as a training run, or weights
            without a card; hidden files do not count.
        NotADirectoryError: if it is a file.
        ValueError: if a file of the policy is a symbolic link.
    """
    folder = expanded(folder)
    refuse_links(folder, [folder / name for name in FILES])
    has_card = any((folder / name).is_file() for name in (CARD_FILE, _NEXT_CARD))
    for each in folder.iterdir() if folder.exists() else ():
        if each.name[0] != "." and not (has_card and each.name in FILES):
            raise FileExistsError(
                f"{folder} must be a new folder or that of a policy, not one with {each.name}: "
                f"choose {folder / 'policy'}"
            )


def write_policy(folder: Path, card: PolicyCard, weights: Mapping[str, NDArray[Any]]) -> None:
    """Write a policy into a folder of a training; whatever else is in the folder stays.

    A reader finds the old policy or the new one, whole, even if this is interrupted. The new card
    waits under another name until the weights that it describes are in place; a card belongs to the
    weights whose SHA-256 it holds (`_read`).

    Raises:
        PolicyFileError: for a card or weights that could not be loaded.
    """
    text, data = encoded(card, weights)
    _finish(folder)
    write_atomically(folder / _NEXT_CARD, text)
    write_atomically(folder / WEIGHTS_FILE, data)
    with naming(folder / CARD_FILE):
        (folder / _NEXT_CARD).replace(folder / CARD_FILE)


def encoded(card: PolicyCard, weights: Mapping[str, NDArray[Any]]) -> tuple[bytes, bytes]:
    """The contents of the files of a policy: its card, and its weights.

    Raises:
        PolicyFileError: for a card or weights that could not be loaded.
    """
    tensors = {name: np.ascontiguousarray(each) for name, each in weights.items()}
    _check_tensors(tensors, "of the policy")
    data = save_tensors(tensors)
    card = dataclasses.replace(card, sha256=hashlib.sha256(data).hexdigest())
    text = json.dumps(dataclasses.asdict(card), indent=2) + "\n"
    try:
        values = json.loads(text)
        check_fields(values, PolicyCard)  # names the nearest
        fitting(values, PolicyCard)
    except ValueError as error:
        raise PolicyFileError(f"the policy's card: {error}") from None
    return text.encode(), data


def _check_tensors(tensors: Mapping[str, NDArray[Any]], where: str) -> None:
    """Check that networks can use the numbers of these tensors."""
    for name, tensor in tensors.items():
        found = str(tensor.dtype)
        if tensor.dtype in _DTYPES:
            finite = np.isfinite(tensor)
            if finite.all():
                continue
            found = str(tensor[~finite][0])
        raise PolicyFileError(
            f"{name} {where} must have finite numbers, float32 or float16, not {found}"
        )


def _finish(folder: Path) -> None:
    """Let the card of the weights take its place, if a writer was interrupted before that."""
    weights, following = folder / WEIGHTS_FILE, folder / _NEXT_CARD
    if weights.is_file() and following.is_file():
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        with suppress(PolicyFileError):  # else it is written over
            described = _read_card(following)
            if described and described.sha256 == digest:
                following.replace(folder / CARD_FILE)


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
    # 1. The weights are those that the card describes, to the last bit.
    folder = _policy_in(folder)
    card, data = _read(folder, agent, rules.name)
    try:
        weights = load_tensors(data)
    except (SafetensorError, KeyError) as error:  # KeyError: a type that NumPy does not have
        raise PolicyFileError(f"{folder / WEIGHTS_FILE} is damaged: {error}") from None
    # 2. Numbers that the networks can use.
    _check_tensors(weights, f"in {folder / WEIGHTS_FILE}")
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
    return _read(_policy_in(folder), agent, rules)[0]


def _read(folder: Path, agent: str, rules: str) -> tuple[PolicyCard, bytes]:
    """The card and the weights of a policy; for arguments and errors see `load_policy_card`."""
    card, weights = _read_card(folder / CARD_FILE), folder / WEIGHTS_FILE
    data = weights.read_bytes() if weights.is_file() else b""
    digest = hashlib.sha256(data).hexdigest()
    # If a writer is between two steps, or was interrupted there, the card of the weights is the
    # next one; unless it has just become the card.
    for name in ("", _NEXT_CARD, CARD_FILE):
        described = _read_card(folder / name) if name else card
        if data and described and described.sha256 == digest:
            return described, data
    if not (card and data):
        raise FileNotFoundError(
            f"no weights at {folder}: {WEIGHTS_FILE if card else CARD_FILE} is missing (train some "
            f"with `four-seasons train --agent {agent} --rules {shlex.quote(rules)}`)"
        )
    raise PolicyFileError(f"{weights} is damaged: its SHA-256 is not the one in {CARD_FILE}")


def _read_card(path: Path) -> PolicyCard | None:
    try:
        return read_json(path, PolicyCard)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise PolicyFileError(str(error)) from None


def _policy_in(folder: str | Path) -> Path:
    """The folder of a policy: of a training run, its best policy."""
    folder = expanded(folder)
    return folder / BEST if (folder / BEST / WEIGHTS_FILE).is_file() else folder


def rules_fields(rules: Rules) -> dict[str, Any]:
    """The fields of a rule set that change the game."""
    fields = dataclasses.asdict(rules)
    return {name: value for name, value in fields.items() if name not in ("name", "about")}
