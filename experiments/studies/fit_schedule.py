"""Fit the first part of the solver's schedule: which beams, in which order.

    python experiments/studies/fit_schedule.py --deals 4000 --out runs/schedule

Runs a narrow beam on training deals, and every candidate on the deals that it leaves open. Then it
takes the candidates greedily: always the one that wins most of the deals still open for each second
of processor time. Prints the rows for `four_seasons_env/solver/schedule.py`, with the share of the
deals decided so far and the seconds until then. Writes runs.csv, a row for each deal and candidate;
started again, it only runs what is missing there.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.game import Game
from four_seasons_env.solver import solve
from four_seasons_env.solver.protocol import SEARCHING, WON, Root
from four_seasons_env.solver.schedule import Step
from four_seasons_env.solver.search import make_search

OPENER = Step("beam", 30, narrow=True)
SHAPES = ((100, 8, 2), (100, 32, 6), (200, 8, 2), (200, 32, 6), (400, 8, 2), (400, 32, 6),
          (800, 16, 2), (800, 32, 4), (1_600, 32, 1), (3_200, 64, 1), (10_000, 100, 1))  # fmt: skip
"""Width, arrangements, and how many weights are tried in addition to those of narrow beams."""
CANDIDATES = [
    OPENER,
    *(Step("beam", width, arrangements, narrow=True) for width, arrangements, _ in SHAPES),
    *(
        Step("beam", width, arrangements, spread=0.2 if seed else 0.0, seed=seed)
        for width, arrangements, tried in SHAPES
        for seed in range(tried)
    ),
]


def run_step(step: Step, rules: str, deal: int) -> dict[Any, Any]:
    """Whether a step wins a deal, and the processor time that it takes."""
    game = Game(rules, deal)
    started = time.thread_time()
    search = make_search(step, Root(game.record[0], game.rules))
    status = SEARCHING
    while status == SEARCHING:
        status = search.go_on()
    taken = time.thread_time() - started
    return {"deal": deal, "step": repr(step), "won": status == WON, "seconds": taken}


def take_greedily(runs: pd.DataFrame, most: int) -> list[tuple[str, float, float]]:
    """Steps in their order, each with the share of deals won so far and the mean seconds."""
    won = runs.pivot_table(index="deal", columns="step", values="won", aggfunc="max")
    seconds = runs.pivot_table(index="deal", columns="step", values="seconds")
    first = repr(OPENER)
    left = won.index[won[first] == 0]
    order = [(first, 1 - len(left) / len(won), float(seconds[first].mean()))]
    while len(left) and len(order) < most:
        gain = won.loc[left].sum() / seconds.loc[left].sum()
        best = str(gain.idxmax())
        spent = order[-1][2] + float(seconds.loc[left, best].mean())
        now = left[won.loc[left, best] == 0]
        if len(now) == len(left):
            break
        left = now
        order.append((best, 1 - len(left) / len(won), spent))
    return order


def main() -> None:
    """Run what is missing, and print the rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", type=int, default=4000)
    parser.add_argument("--candidates", type=int, help="the first candidates only")
    parser.add_argument("--steps", type=int, default=24, help="rows to print, at most")
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    path = run.out / "runs.csv"
    rows = pd.read_csv(path).to_dict("records") if path.exists() else []
    done = {(row["deal"], row["step"]) for row in rows}
    solve(Game(run.rules, TRAIN_FROM), max_positions=1)  # loads the compiled searches
    for deal in range(TRAIN_FROM, TRAIN_FROM + run.deals):
        for step in itertools.islice(CANDIDATES, run.candidates):
            if (deal, repr(step)) not in done:
                rows.append(run_step(step, run.rules, deal))
            if step == OPENER and any(row["won"] for row in rows[-1:]):
                break
        if deal % 100 == 0:
            write_csv(path, pd.DataFrame(rows))
    table = pd.DataFrame(rows).astype({"won": int})
    write_csv(path, table)
    for row, share, seconds in take_greedily(table, run.steps):
        print(f"{share:.4f} {seconds:.3f} {row}")


if __name__ == "__main__":
    main()
