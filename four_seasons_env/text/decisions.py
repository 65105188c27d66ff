"""Single decisions with exact values: how much of the chance to win does a reply give away?

>>> from four_seasons_env.text.decisions import load_decisions, score
>>> score(lambda prompt: model(prompt), load_decisions()[:100])
Score(regret=..., error=..., best=..., unreadable=..., decisions=100)

Each decision is a position of `four-seasons` with two or three hidden cards and up to 24 stops
(`Game.stops`), some of which are better than others. The regret of a reply is the chance to win by
the best fair play (`solver.fair_value`) from the best stop, less that from the stop that the reply
chooses. `experiments/studies/decisions.py` generates the decisions.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.solver import fair_value
from four_seasons_env.text.env import FourSeasonsTextEnv

DECISIONS = Path(__file__).parents[1] / "data" / "decisions.jsonl"
DIGEST = "cb22e3bb2f157772408174dd635012f47c3e7be6a9b5774680a71f3e2a2e5610"
"""SHA-256 of the file: quote it with results."""

MOST_STOPS = 24


@dataclass(frozen=True)
class Decision:
    """A position with a choice to make.

    Attributes:
        deal: the number of the deal that it comes from.
        hidden: how many cards are hidden.
        stops: how many positions there are in which the next card can be turned.
        best: the chance to win from the best of them.
        worst: from the worst.
        game: the position.
    """

    deal: int
    hidden: int
    stops: int
    best: float
    worst: float
    game: Game

    def value_of(self, moves: Sequence[Move | str | int]) -> float:
        """The chance to win after some moves; `deal` follows if none of them turns a card.

        Moves after the first that turns a card do not count.

        Raises:
            IllegalMove: if the rules do not allow one of them.
        """
        game = self.game.copy()
        for move in [*moves, "deal"]:
            chosen = find_move(game.rules, move)
            if chosen.turns:
                break
            game.play(chosen)
        return fair_value(game, chosen).low


class Score(NamedTuple):
    """What replies to decisions have given away."""

    regret: float
    """The mean regret, as a probability."""
    error: float
    """Its standard error."""
    best: float
    """The share of decisions with no regret."""
    unreadable: float
    """The share of replies with something that could not be read or played."""
    decisions: int


def load_decisions(path: Path = DECISIONS) -> list[Decision]:
    """The decisions of a file, in the order of their deals."""
    return [_read(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read(line: str) -> Decision:
    fields = json.loads(line)
    return Decision(**fields | {"game": Game.from_bytes(base64.b64decode(fields["game"]))})


def write_decisions(decisions: Sequence[Decision], path: Path = DECISIONS) -> str:
    """Write decisions, one a line; returns the digest of the file."""
    lines = [
        json.dumps(vars(each) | {"game": base64.b64encode(each.game.to_bytes()).decode()})
        for each in decisions
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return digest_of(path)


def digest_of(path: Path = DECISIONS) -> str:
    """SHA-256 of a file of decisions."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def score(player: Callable[[str], str], decisions: Sequence[Decision], unit: str = "move") -> Score:
    """Ask a player for each decision.

    A reply that plays nothing has the regret of the worst stop.

    Args:
        player: returns a reply to an observation of `FourSeasonsTextEnv`.
        decisions: one or more.
        unit: what a reply names, "move" or "position".
    """
    env = FourSeasonsTextEnv(unit=unit, choices=MOST_STOPS)
    regrets, unreadable = [], 0
    for decision in decisions:
        prompt, _ = env.reset(options={"game": decision.game})
        info = env.step(player(prompt))[-1]
        unreadable += info["illegal"]
        worth = decision.value_of(info["moves"]) if info["moves"] else decision.worst
        regrets.append(decision.best - worth)
    count = len(regrets)
    mean = sum(regrets) / count
    variance = sum((regret - mean) ** 2 for regret in regrets) / max(count - 1, 1)
    best = sum(regret < 1e-9 for regret in regrets) / count
    return Score(mean, math.sqrt(variance / count), best, unreadable / count, count)
