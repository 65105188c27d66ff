"""Measure the mean of W over openings, which the luck of an opening is counted from.

    python experiments/studies/opening_luck.py

Writes agents/luck.json: for each rule set with a planner, the name of W, the digest of its weights
and its mean over the openings of training deals. It must run again when W or weights change.
"""

from __future__ import annotations

import argparse
import dataclasses

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.luck import OPENINGS, LuckMeter
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.training.run_folder import write_json
from four_seasons_env.rules import RULES


def main() -> None:
    """Write luck.json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--deals", type=int, default=100_000)
    deals = range(TRAIN_FROM, TRAIN_FROM + parser.parse_args().deals)
    means = {}
    for name, rules in RULES.items():
        if bundled_weights("planner", name).is_dir():
            means[name] = dataclasses.asdict(LuckMeter(rules).mean_opening(deals))
            print(f"{name}: {means[name]['mean']:.4f}", flush=True)
    write_json(OPENINGS, means)


if __name__ == "__main__":
    main()
