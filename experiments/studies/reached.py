"""Sum up by folder which lines the tests reach, as `make coverage` has measured it.

python experiments/studies/reached.py runs/coverage.json --out runs/reached.csv
"""

import json
from pathlib import Path
from typing import Annotated

import pandas as pd
import tyro

from four_seasons_env.experiments.folders import measured_by, write_csv

FOLDERS = ("engine", "episodes", "positions", "next_deal", "solver")
"""Those of `four_seasons_env` whose code is compiled."""


def main(report: Annotated[Path, tyro.conf.Positional], out: Path) -> None:
    """Write a row for each folder.

    Args:
        report: the JSON file of coverage.
        out: the CSV file to write.
    """
    files = json.loads(report.read_text())["files"]
    rows = []
    for folder in (*(f"four_seasons_env/{each}" for each in FOLDERS), "agents"):
        sums = [each["summary"] for path, each in files.items() if path.startswith(f"{folder}/")]
        lines = sum(each["num_statements"] for each in sums)
        reached = sum(each["covered_lines"] for each in sums)
        rows.append((folder, lines, reached, reached / lines))
    table = pd.DataFrame(rows, columns=["folder", "lines", "reached", "share"])
    write_csv(out, table.assign(**measured_by()))


if __name__ == "__main__":
    tyro.cli(main)
