"""Join the learning curves of several trainings in one file, with every fourth row of each.

    python experiments/studies/curves.py runs/a/progress.csv runs/b/progress.csv --out runs/ab.csv

The column `run` names the file that a row comes from.
"""

from pathlib import Path

import pandas as pd
import tyro

from four_seasons_env.experiments.folders import read_table, write_csv


def main(curves: tyro.conf.Positional[list[Path]], out: Path) -> None:
    """Join curves.

    Args:
        curves: files `progress.csv`.
        out: file of the rows.
    """
    kept = {str(path): read_table(path)[3::4] for path in curves}
    write_csv(out, pd.concat(kept, names=["run"]).reset_index("run"))


if __name__ == "__main__":
    tyro.cli(main)
