"""Measure the mean of W over openings, which the luck of an opening is counted from.

    python experiments/studies/opening_luck.py
    python experiments/studies/opening_luck.py --rules czarina

Writes agents/luck.json: for each rule set with a planner, the name of W, the digest of its weights
and its mean over the openings of training deals. It must run again when W or weights change.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.luck import OPENINGS, LuckMeter, read_means
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.training.run_folder import write_json
from four_seasons_env.rules import RULES


def main() -> None:
    """Write luck.json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=100_000)
    have = [name for name in RULES if bundled_weights("planner", name).is_dir()]
    parser.add_argument("--rules", nargs="+", choices=have, default=have, help="others stay")
    parser.add_argument("--out", type=Path, default=OPENINGS)
    run = parser.parse_args()
    deals = range(TRAIN_FROM, TRAIN_FROM + run.deals)
    means = read_means() if OPENINGS.is_file() else {}
    for name in run.rules:
        means[name] = LuckMeter(RULES[name]).mean_opening(deals)
        print(f"{name}: {means[name].mean:.4f}", flush=True)
    write_json(run.out, {name: dataclasses.asdict(means[name]) for name in have})


if __name__ == "__main__":
    main()
