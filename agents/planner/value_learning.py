"""`ValueLearner`: the planner learns from games that it plays against itself, batch after batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.learned.settings import read_settings
from four_seasons_env.agents.planner.search import SearchLimits
from four_seasons_env.agents.planner.self_play import Played, SelfPlay
from four_seasons_env.agents.planner.value_network import Network, learn, new_adam, new_network
from four_seasons_env.agents.planner.weights import AGENT
from four_seasons_env.agents.schemas import Positive, Rate, Share
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.rules import Rules

_DEALS_A_SEED = 2**40  # so that no two seeds share a training deal


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """How the planner learns; `planner.yaml` sets it."""

    games: Positive
    """Games between two updates."""
    nodes: Positive
    """Positions that a search holds at most, while cards are hidden."""
    expansions: Positive
    """Positions that a search expands at most, while cards are hidden."""
    endgame_nodes: Positive
    """The same once nothing is hidden."""
    endgame_expansions: Positive
    td_lambda: Share
    """How much of what comes later goes into a target."""
    n_epochs: Positive
    """Times that each position is learned from."""
    batch_size: Positive
    learning_rate: Rate
    """Of Adam, at first; falls by equal factors to the final one over the run."""
    final_learning_rate: Rate
    averaging: Share
    """The network that is kept is a mean over about this share of the games so far (Polyak and
    Juditsky 1992)."""


Play = Callable[[Network, NDArray[np.int64]], Played]
"""Plays deals by the weights that it is given, in the order of the deals."""


def self_play_of(rules: Rules, settings: Hyperparameters) -> SelfPlay:
    """What plays the games that a learner learns from."""
    limits = SearchLimits(
        settings.nodes, settings.expansions, settings.endgame_nodes, settings.endgame_expansions
    )
    return SelfPlay(rules, limits, settings.td_lambda)


def read_hyperparameters(overrides: Iterable[str] = ()) -> Hyperparameters:
    """The planner's hyperparameters; see
    `four_seasons_env.agents.learned.settings.read_settings`."""
    return read_settings(Hyperparameters, AGENT, overrides, Path(__file__).parent)


class ValueLearner:
    """A network, its optimiser, and the games that it plays.

    Args:
        rules: the rule set to play.
        settings: how it learns.
        seed: of the first weights, of the deals and of the order of learning.
        play: plays the games; by default, `SelfPlay` in this process.

    Attributes:
        network: the latest weights, which play and learn.
        average: their running mean, which is kept.
        games: games played so far.
    """

    def __init__(
        self, rules: Rules, settings: Hyperparameters, seed: int, play: Play | None = None
    ) -> None:
        self.settings = settings
        self.network = new_network(seed)
        self.average = new_network(seed)
        self.games = 0
        self._seed = seed
        self._rule = compile_rules(rules)[0]
        self._adam = new_adam(self.network)
        self._play = play or self_play_of(rules, settings).play

    def start_from(self, network: Network) -> None:
        """Take a copy of other weights in place of random ones."""
        for mine, other in zip((*self.network, *self.average), 2 * network, strict=True):
            mine[...] = other

    def learning_rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        settings = self.settings
        fall = settings.final_learning_rate / settings.learning_rate
        return float(settings.learning_rate * fall**done)

    def update(self, done: float) -> tuple[int, float]:
        """Play the next games and learn from them.

        Args:
            done: share of the run that is done, 0 to 1; the learning rate falls with it.

        Returns:
            How many of the games were won, and the mean cross-entropy of the last epoch.
        """
        settings = self.settings
        rate = np.float32(self.learning_rate(done))
        first = TRAIN_FROM + self._seed * _DEALS_A_SEED + self.games
        played = self._play(self.network, first + np.arange(settings.games))
        rng = np.random.default_rng((self._seed, self.games))
        loss = np.nan
        for _ in range(settings.n_epochs):
            loss = learn(
                played.positions,
                played.targets,
                rng.permutation(len(played.positions)),
                self._rule,
                self.network,
                self._adam,
                settings.batch_size,
                rate,
            )
        self.games += settings.games
        share = settings.games / max(settings.averaging * self.games, settings.games)
        for average, now in zip(self.average, self.network, strict=True):
            average[...] += np.float32(share) * (now - average)
        return played.won, float(loss)

    def save(self, path: Path) -> None:
        """Write what `load` needs to continue, an .npz file."""
        arrays: dict[str, Any] = {"games": np.array(self.games), "steps": self._adam.steps}
        for name, network in self._networks().items():
            for field in Network._fields:
                arrays[f"{name}.{field}"] = getattr(network, field)
        np.savez(path, **arrays)

    def load(self, path: Path) -> None:
        """Continue from where `save` was called; the same games follow."""
        with np.load(path, allow_pickle=False) as arrays:
            self.games = int(arrays["games"])
            self._adam.steps[:] = arrays["steps"]
            for name, network in self._networks().items():
                for field in Network._fields:
                    getattr(network, field)[...] = arrays[f"{name}.{field}"]

    def _networks(self) -> dict[str, Network]:
        parts = ("gradients", "mean", "square")
        return {"network": self.network, "average": self.average} | {
            name: getattr(self._adam, name) for name in parts
        }
