"""Measure the cost of an import, a first step, a million games and learning.

    python experiments/studies/costs.py --out runs/costs.csv

Every measurement is a new process. Writes a row for each, for docs/results.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.folders import DONE, Done, write_csv
from four_seasons_env.files import expanded
from four_seasons_env.schemas import read_json

IMPORT = "import four_seasons_env"
STEP = """
import gymnasium as gym, four_seasons_env
env = gym.make("{}")
env.step(env.reset()[1]["action_mask"].argmax())
"""
MANY = """
import gymnasium as gym, four_seasons_env
envs = gym.make_vec("FourSeasons-v0", num_envs={})
envs.step(envs.reset()[1]["action_mask"].argmax(axis=1))
"""


def cost(code: str, cache: str | None = None) -> tuple[float, float, float]:
    """Seconds, CPU seconds and GiB of a new process that runs some code.

    Args:
        code: what it runs.
        cache: folder of the compiled code. None: the usual one.
    """
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    place = {"NUMBA_CACHE_DIR": cache} if cache else {}
    script = f"{code}\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=os.environ | place, stdout=subprocess.PIPE, check=True)
    seconds, after = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, busy, int(done.stdout.split()[-1]) / 2**20


def starts(games: int) -> list[tuple[str, float, str]]:
    """The costs of new processes."""
    envs = "FourSeasons-v0", "FourSeasonsNextDeal-v0"
    cost(STEP.format(envs[0]))  # compiles
    rows = [("import", cost(IMPORT)[0], "s")]
    rows.append(("import, make, reset and step", cost(STEP.format(envs[0]))[0], "s"))
    for env in envs:
        with tempfile.TemporaryDirectory() as cache:
            busy = cost(STEP.format(env), cache)[1]
        rows.append((f"the same with nothing compiled, {env}", busy, "CPU seconds"))
    rows.append((f"a process with {games:,} games", cost(MANY.format(games))[2], "GiB"))
    return rows


def learning(minutes: float) -> list[tuple[str, float, str]]:
    """Steps per second of each learner, end to end."""
    rows = []
    units = {"maskable_ppo": "moves", "next_deal_ppo": "decisions", "planner": "games"}
    for agent, unit in units.items():
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / agent
            flags = ["--core-minutes", f"{minutes}", "--validations", "1"]
            flags += ["--validation-deals", "2", "--n-jobs", "1", "--out", str(out)]
            command = [sys.executable, "-m", "four_seasons_env", "train", "--agent", agent, *flags]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            done = read_json(out / DONE, Done)
        rows.append((f"learning: {agent}", done.steps / done.core_seconds, f"{unit}/s"))
    return rows


def main() -> None:
    """Write a row for each measurement: what, value, unit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=expanded, required=True)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=0.5, help="core-minutes of each learner")
    run = parser.parse_args()
    rows = starts(run.games) + learning(run.minutes)
    write_csv(run.out, table := pd.DataFrame(rows, columns=["what", "value", "unit"]))
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
