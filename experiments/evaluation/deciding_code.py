"""The code that decides what an agent plays, as a digest: other code may give other results."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

import four_seasons_env
from four_seasons_env.agents import registry
from four_seasons_env.agents.scripted.heuristic import TUNED_WEIGHTS
from four_seasons_env.engine.sources import folder_digest


@functools.cache
def code_digest() -> str:
    """The SHA-256, in hex, of the sources of the environment, the agents and this folder.

    The heuristic's numbers belong to them. Weights do not: each player is digested with its own.
    """
    digest = hashlib.sha256(TUNED_WEIGHTS.read_bytes())
    for module in (four_seasons_env.__file__, registry.__file__, __file__):
        digest.update(folder_digest(Path(str(module)).parent).encode())
    return digest.hexdigest()
