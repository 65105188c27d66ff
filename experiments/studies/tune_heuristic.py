"""Tune the heuristic's weights on training deals.

    python experiments/studies/tune_heuristic.py --out agents/scripted/heuristic.json

The cross-entropy method (Rubinstein 1999): draw weights from a normal distribution, select the
best, fit the next distribution to them. Each generation plays new deals, so weights cannot win by
luck on a few of them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.scripted.heuristic import FEATURES, HeuristicAgent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.rules import get_rules

START = {
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


def score(weights: NDArray[np.float64], rules: str, first: int, deals: int) -> float:
    """The win rate on some deals, and a little for cards up to break ties."""
    rule_set = get_rules(rules)
    agent = HeuristicAgent(rule_set, weights)
    played = play_deals(agent, rule_set, range(first, first + deals), max_moves=250)
    return float(played["won"].mean() + 0.001 * played["cards_up"].mean())


def main() -> None:
    """Run the search, and write the mean of the last elite."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--generations", type=int, default=40)
    parser.add_argument("--population", type=int, default=64)
    parser.add_argument("--elite", type=int, default=10)
    parser.add_argument("--deals", type=int, default=2000, help="of each candidate")
    parser.add_argument("--seed", type=int, default=0)
    run = parser.parse_args()
    rng = np.random.default_rng(run.seed)
    mean = np.array([[START[name] for name in FEATURES]] * 2)
    spread = np.abs(mean) * 0.5 + 0.05
    first = TRAIN_FROM + ((run.seed + 1) << 40)
    for generation in range(run.generations):
        drawn = mean + spread * rng.normal(size=(run.population, *mean.shape))
        drawn[0] = mean
        tasks = (delayed(score)(weights, run.rules, first, run.deals) for weights in drawn)
        scores = Parallel(n_jobs=-1)(tasks)
        first += run.deals
        order = np.argsort(scores)[::-1]
        elite = drawn[order[: run.elite]]
        mean, spread = elite.mean(axis=0), 0.1 * spread + 0.9 * elite.std(axis=0) + 0.002
        print(f"{generation}: mean {scores[0]:.4f}, best {scores[order[0]]:.4f}", flush=True)
    table = {name: [round(float(w), 4) for w in mean[:, i]] for i, name in enumerate(FEATURES)}
    write_atomically(
        run.out, f"{json.dumps({'rules': run.rules, 'weights': table}, indent=2)}\n".encode()
    )


if __name__ == "__main__":
    main()
