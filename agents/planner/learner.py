"""`Learner`: the planner teaching itself, batch of games after batch of games."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.files import write_atomically
from agents.planner.reach import Limits, new_player
from agents.planner.self_play import new_experience, play_games
from agents.planner.value_network import Network, learn, new_network, new_trainer
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.next_deal.reach import new_search
from four_seasons_env.rules import Rules

_DEALS_A_SEED = 2**40  # so that no two seeds share a training deal


@dataclass(frozen=True)
class Settings:
    """How the planner learns."""

    games: int = 300_000
    """Games to play in all; the learning rate falls to its last value over them."""
    games_at_a_time: int = 256
    positions: int = 400
    """A search holds so many positions at most, while cards are hidden."""
    openings: int = 150
    """Of which so many are played on from."""
    end_positions: int = 6000
    end_openings: int = 3000
    trace: float = 0.7
    """Lambda: how much of what comes later goes into a target."""
    passes: int = 2
    """Times that each position is learned from."""
    batch: int = 256
    rate: float = 1e-3
    """Of Adam, at first."""
    last_rate: float = 2e-5
    averaged: float = 0.1
    """The weights that are kept are a mean over about this share of the games so far (Polyak and
    Juditsky 1992)."""


class Learner:
    """A network, its optimiser, and the games that it plays.

    Args:
        rules: the rule set to play.
        seed: of the first weights, of the deals and of the order of learning.
    """

    def __init__(self, rules: Rules, settings: Settings, seed: int) -> None:
        self.settings = settings
        self.network = new_network(seed)
        self.average = new_network(seed)
        self.games = 0
        self._seed = seed
        self._player = new_player(rules, self.network)
        self._trainer = new_trainer(self.network)
        self._limits = Limits(
            settings.positions, settings.openings, settings.end_positions, settings.end_openings
        )
        self._search = new_search(rules, max(settings.positions, settings.end_positions))
        self._experience = new_experience(settings.games_at_a_time)

    @property
    def rate(self) -> float:
        """The learning rate by now: it falls by equal factors."""
        settings = self.settings
        done = min(self.games / settings.games, 1.0)
        return float(settings.rate * (settings.last_rate / settings.rate) ** done)

    def play(self, deals: np.ndarray, network: Network) -> tuple[int, int]:
        """Play deals; returns how many positions are there to learn from, and how many were won."""
        written, won = play_games(
            deals,
            self._player._replace(network=network),
            self._search,
            self._limits,
            np.float32(self.settings.trace),
            self._experience,
        )
        return int(written), int(won)

    def go_on(self) -> tuple[float, float]:
        """Play games and learn from them.

        Returns:
            The share of them won, and the mean cross-entropy of the last pass.
        """
        settings = self.settings
        first = TRAIN_FROM + self._seed * _DEALS_A_SEED + self.games
        written, won = self.play(first + np.arange(settings.games_at_a_time), self.network)
        rng = np.random.default_rng((self._seed, self.games))
        loss = np.nan
        for _ in range(settings.passes):
            loss = learn(
                self._experience.positions,
                self._experience.targets,
                rng.permutation(written),
                self._player.rule,
                self.network,
                self._trainer,
                settings.batch,
                np.float32(self.rate),
            )
        self.games += settings.games_at_a_time
        share = min(1.0, settings.games_at_a_time / (settings.averaged * self.games))
        for average, now in zip(self.average, self.network, strict=True):
            average[...] += np.float32(share) * (now - average)
        return won / settings.games_at_a_time, float(loss)

    def save(self, path: Path) -> None:
        """Write all that `load` needs to go on with, as a whole or not at all."""
        arrays: dict[str, Any] = {"games": np.array(self.games), "steps": self._trainer.steps}
        for name, network in self._networks().items():
            for field in Network._fields:
                arrays[f"{name}.{field}"] = getattr(network, field)
        scratch = path.with_suffix(f".{os.getpid()}.npz")
        np.savez(scratch, **arrays)
        write_atomically(path, scratch.read_bytes())
        scratch.unlink()

    def load(self, path: Path) -> None:
        """Go on from where `save` was called; the same games follow."""
        with np.load(path, allow_pickle=False) as arrays:
            self.games = int(arrays["games"])
            self._trainer.steps[:] = arrays["steps"]
            for name, network in self._networks().items():
                for field in Network._fields:
                    getattr(network, field)[...] = arrays[f"{name}.{field}"]

    def _networks(self) -> dict[str, Network]:
        parts = ("gradients", "mean", "square")
        return {"network": self.network, "average": self.average} | {
            name: getattr(self._trainer, name) for name in parts
        }
