"""Tune the heuristic's weights on training deals.

The cross-entropy method (Rubinstein 1999): draw weights from a normal distribution, select the
best, fit the next distribution to them. Each generation plays new deals, so that no weights win by
luck with a few. The result is written to `agents/scripted/heuristic.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from rich.progress import track

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.schemas import Number, read_json
from four_seasons_env.agents.scripted import heuristic
from four_seasons_env.agents.scripted.heuristic import FEATURES, HeuristicAgent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.experiments.out_folder import check_writable
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.rules import get_rules

_START = {
    "cards_up": 1.0,
    "lead": -0.1,
    "one_space": 0.6,
    "two_spaces": 0.2,
    "three_spaces": 0.1,
    "in_suit": 0.3,
    "blocked": -0.2,
    "blocked_by": -0.05,
    "waste": -0.6,
    "waste_blocked": -0.2,
    "next_buried": -0.05,
    "hosts": 0.03,
    "waste_hosts": 0.1,
    "tops": -0.02,
    "deal": 0.0,
}
"""A first guess, from the advice of players."""


@dataclass
class Weights:
    """The schema of a file of weights."""

    rules: str
    weights: dict[str, tuple[Number, Number]]
    """By feature: with the stock full, and empty."""

    def __post_init__(self) -> None:
        """Check that each feature has its weights."""
        if missing := [name for name in FEATURES if name not in self.weights]:
            raise ValueError(f"weights are missing: {', '.join(missing)}")


@dataclass
class Tune:
    """Search for weights."""

    rules: str = "four-seasons"
    """The rule set to tune on."""
    generations: int = 40
    population: int = 64
    elite: int = 10
    deals_per_generation: int = 2000
    """Training deals that each candidate plays; all of a generation play the same."""
    seed: int = 0
    workers: Workers = field(default_factory=Workers)
    start: Path | None = None
    """Weights to start from, with a tenth of the spread; by default a first guess."""
    out: Path = heuristic.TUNED_WEIGHTS


def _score(weights: NDArray[np.float64], rules: str, first: int, deals: int) -> float:
    """Win rate, with a little for cards up where two are equal."""
    rule_set = get_rules(rules)
    agent = HeuristicAgent(rule_set, weights)
    played = play_deals(agent, rule_set, range(first, first + deals), max_moves=250)
    return float(played["won"].mean() + 0.001 * played["cards_up"].mean())


def tune(run: Tune) -> None:
    """Run the search and write the mean of the last elite.

    Raises:
        ValueError: for an unknown rule set or backend, or an elite larger than the population.
    """
    get_rules(run.rules)
    for name in ("generations", "population", "deals_per_generation"):
        if getattr(run, name) < 1:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} is 1 or more, not {getattr(run, name)}")
    if not 1 <= run.elite <= run.population:
        raise ValueError(f"--elite is 1 to {run.population}, the population: not {run.elite}")
    check_seed(run.seed)
    run.workers.check()
    check_writable(run.out.parent)
    rng = np.random.default_rng(run.seed)
    if run.start:
        read_json(run.start, Weights)
        mean = heuristic.read_weights(run.start)
        spread = np.abs(mean) * 0.1 + 0.01
    else:
        mean = np.array([[_START[name] for name in FEATURES]] * 2)
        spread = np.abs(mean) * 0.5 + 0.05
    first = TRAIN_FROM + ((run.seed + 1) << 40)
    with run.workers.started():
        for generation in track(range(run.generations), "tuning"):
            drawn = mean + spread * rng.normal(size=(run.population, *mean.shape))
            drawn[0] = mean
            calls = ((weights, run.rules, first, run.deals_per_generation) for weights in drawn)
            scores = Parallel()(delayed(_score)(*call) for call in calls)
            first += run.deals_per_generation
            order = np.argsort(scores)[::-1]
            elite = drawn[order[: run.elite]]
            mean, spread = elite.mean(axis=0), 0.1 * spread + 0.9 * elite.std(axis=0) + 0.002
            print(f"{generation}: mean {scores[0]:.4f}, best {scores[order[0]]:.4f}", flush=True)
    table = {name: [round(float(w), 4) for w in mean[:, i]] for i, name in enumerate(FEATURES)}
    about = {"rules": run.rules, "weights": table}
    write_atomically(run.out, (json.dumps(about, indent=2) + "\n").encode())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, tune, Tune, __doc__)


if __name__ == "__main__":
    main()
