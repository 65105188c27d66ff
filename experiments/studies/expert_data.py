"""Describe a dataset of `four-seasons dataset`, and clone the agent from it.

    python experiments/studies/expert_data.py runs/expert --out docs/results/dataset.csv

Cloning is docs/recipes/with_minari.py, on all games; its policy plays 1,000 validation deals.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.dataset import digest_of
from four_seasons_env.experiments.reporting.tables import write_csv

RECIPE = ROOT / "docs" / "recipes" / "with_minari.py"


def describe(folder: Path) -> dict[str, str]:
    """Counts, shares and sizes of a dataset."""
    columns = ["deal", "step", "action_mask", "own", "won"]
    rows = pq.read_table(folder / "parquet", columns=columns).to_pandas()
    first = rows[rows["step"] == 0]
    sizes = {
        name: sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
        for name in ("parquet", "minari")
    }
    return {
        "version of the package": json.loads((folder / "dataset.json").read_text())["version"],
        "games": f"{len(first):,}",
        "decisions": f"{len(rows):,}",
        "candidates of a decision, mean": f"{rows['action_mask'].map(sum).mean():.1f}",
        "games won": f"{first['won'].mean():.1%}",
        "actions that are the agent's own choice": f"{rows['own'].mean():.1%}",
        "Parquet": f"{sizes['parquet'] / 1e6:.0f} MB",
        "Minari": f"{sizes['minari'] / 1e6:.0f} MB",
        "SHA-256 that the command prints": f"`{digest_of(folder)}`",
    }


def clone(folder: Path) -> dict[str, str]:
    """What the recipe says of its training and of its policy."""
    command = [sys.executable, str(RECIPE), str(folder.absolute())]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    result = json.loads(printed.splitlines()[-1])
    (seconds,) = re.findall(r"([\d.]+) core-seconds", printed)
    deals = f"deals {10_000:,} to {9_999 + result['games']:,}"
    return {
        "core-seconds of cloning": seconds,
        f"games that the clone wins, {deals}": f"{result['won']:.1%}",
    }


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    found = describe(run.folder) | clone(run.folder)
    write_csv(run.out, pd.DataFrame({"what": found.keys(), "value": found.values()}))


if __name__ == "__main__":
    main()
