"""Effects of training seeds and hyperparameters on next-deal PPO after two core-minutes.

    python experiments/studies/sensitivity.py --out runs/sensitivity

Trains the grids training_seeds.yaml and sensitivity.yaml in nearly four core-hours, validations
included, and writes sensitivity.csv, a row per run, for docs/results. Finished trainings are not
repeated.

Source of the method: Patterson, Neumann, White and White, "Empirical Design in Reinforcement
Learning", Journal of Machine Learning Research 25 (2024).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.results.tables import write_csv
from four_seasons_env.experiments.results.training_run import DONE, read_done, read_run
from four_seasons_env.experiments.studies.learning import four_seasons

SEEDS, GRID = "training_seeds", "sensitivity"
"""The grids: many seeds of the baseline, and few seeds of each changed hyperparameter."""
HYPERPARAMETERS = (
    *("learning_rate", "ent_coef", "gae_lambda", "clip_range"),
    *("n_epochs", "batch_size", "n_steps"),
)


def read_runs(folder: Path) -> pd.DataFrame:
    """The finished runs of both grids: decisions, validation deals won, and hyperparameters."""
    rows = []
    for path in sorted(folder.glob(f"*/*/{DONE}")):
        about, done = read_run(path.parent), read_done(path.parent)
        row = {"study": path.parents[1].name, "seed": about["run"]["seed"]}
        row |= {"decisions": done.steps, "win_rate": done.best.won}
        rows.append(row | {key: about["hyperparameters"][key] for key in HYPERPARAMETERS})
    return pd.DataFrame(rows).sort_values(["study", *HYPERPARAMETERS, "seed"])


def by_value(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean, worst and best win rate over the same training seeds, for each value.

    Args:
        runs: sensitivity.csv.

    Returns:
        A row for each hyperparameter and value: `hyperparameter`, `value`, `is_baseline`, `mean`,
        `min`, `max`.
    """
    changed = runs[runs["study"] == GRID]
    plain = runs[(runs["study"] == SEEDS) & runs["seed"].isin(changed["seed"])]
    parts: list[pd.DataFrame] = []
    for key in HYPERPARAMETERS:
        baseline = plain[key].iloc[0]
        own = pd.concat([plain, changed[changed[key] != baseline]])
        rates = own.groupby(key)["win_rate"].agg(["mean", "min", "max"])
        found = rates.rename_axis("value").reset_index()
        parts.append(found.assign(hyperparameter=key, is_baseline=found["value"] == baseline))
    return pd.concat(parts, ignore_index=True)


def main() -> None:
    """Train, and collect the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--n-jobs", type=int, default=-1, help="trainings side by side")
    run = parser.parse_args()
    for grid in (SEEDS, GRID):
        path = Path(__file__).with_name(f"{grid}.yaml")
        flags = ["--out", str(run.out / grid), "--n-jobs", str(run.n_jobs)]
        four_seasons("sweep", str(path), *flags)
    write_csv(run.out / "sensitivity.csv", read_runs(run.out))


if __name__ == "__main__":
    main()
