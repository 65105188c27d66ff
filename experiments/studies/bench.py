"""Measure steps per second, and the costs of starting and learning: `make bench` runs the first.

    python experiments/studies/bench.py --out runs/bench.csv
    python experiments/studies/bench.py costs --out runs/costs.csv

Rates are of random legal play, including masks, observations and resets: of the single environment,
the vector environment at several batch sizes, by default and with `copy=False`, and the next-deal
environment, each in one thread, which is the default, and in more. A rate is the median of several
windows. The slowest and the fastest window show the noise of the machine, and the column `load` how
many processes used it in the minute before the first row.

Costs are those of an import, a first step, a million games and learning. Each is measured in a new
process.
"""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
import numpy as np
import pandas as pd
import tyro

from four_seasons_env.engine.bits import draw_moves
from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.experiments.folders import DONE, Done, measured_by, write_csv
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import get_rules
from four_seasons_env.schemas import read_json

RULES = get_rules("four-seasons")
WINDOWS = 5
"""Measured windows per rate, after a first one that does not count."""
RATES = ("what", "games", "threads", "observation", "moves_per_second", "slowest", "fastest")
COSTS = ("what", "value", "unit")

Steps = Callable[[], int]
"""Plays some moves, and returns how many."""


# --- rates ----------------------------------------------------------------------------------------


def measure_rates(
    games: Sequence[int], threads: Sequence[int], seconds: float
) -> Iterator[tuple[Any, ...]]:
    """Rows of `RATES`."""
    sizes = [(count, each) for each in threads for count in games if each <= count]
    for observation in OBSERVATIONS:
        rates = rates_of(single_steps(observation), seconds)
        yield "single environment", 1, 1, observation, *rates
        for copy, size in itertools.product((True, False), sizes):
            rates = rates_of(vector_steps(*size, observation, copy=copy), seconds)
            yield "vector environment" + ", copy=False" * (not copy), *size, observation, *rates
    for size in sizes:
        if size[0] <= 1024:  # larger batches are no faster
            rates = rates_of(next_deal_steps(*size), seconds)
            yield "next-deal environment, decisions", *size, "features", *rates


def rates_of(play: Steps, seconds: float) -> tuple[float, ...]:
    """Moves per second of a function: median, slowest and fastest window.

    Args:
        play: the function to measure.
        seconds: length of a window, which is at least one call of the function.
    """
    rates = []
    for _ in range(WINDOWS + 1):
        start, moves = time.perf_counter(), play()
        while time.perf_counter() - start < seconds:
            moves += play()
        rates.append(moves / (time.perf_counter() - start))
    rates = rates[1:]  # the first window compiles
    return np.median(rates), min(rates), max(rates)


def single_steps(observation: str) -> Steps:
    """Random legal play in the single environment."""
    env = gym.make("FourSeasons-v0", observation=observation)

    def step(moves: Any) -> Any:
        _, _, terminated, truncated, info = env.step(int(moves[0]))
        if terminated or truncated:
            _, info = env.reset()
        return info["action_mask"]

    return random_play(step, env.reset(seed=0)[1]["action_mask"][None])


def vector_steps(games: int, threads: int, observation: str, *, copy: bool) -> Steps:
    """Random legal play in the vector environment."""
    env = gym.make_vec(
        "FourSeasons-v0", games, num_threads=threads, observation=observation, copy=copy
    )
    _, infos = env.reset(seed=0)
    return random_play(lambda moves: env.step(moves)[-1]["action_mask"], infos["action_mask"])


def random_play(step: Callable[[Any], Any], first_masks: Any) -> Steps:
    """Random legal moves.

    Args:
        step: takes a move for each game, and returns the next masks.
        first_masks: int8 (games, A).
    """
    # The masks are a view of the words that moves are drawn from.
    words, masks = new_masks(len(first_masks), RULES)
    moves, state = np.zeros(len(masks), np.int64), np.ones(1, np.uint64)
    masks[:] = first_masks

    def play() -> int:
        for _ in range(32):  # enough that reading the clock costs nothing
            draw_moves(words, state, moves)
            masks[:] = step(moves)
        return 32 * len(masks)

    return play


def next_deal_steps(games: int, threads: int) -> Steps:
    """Random choice among candidates, with their search and features at each decision."""
    env = gym.make_vec("FourSeasonsNextDeal-v0", num_envs=games, num_threads=threads)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    counts = infos["action_mask"].sum(axis=1)

    def play() -> int:
        nonlocal counts
        for _ in range(8):
            # Candidates come first in their mask, so any number below their count is one.
            _, _, _, _, infos = env.step((rng.random(games) * counts).astype(np.int64))
            counts = infos["action_mask"].sum(axis=1)
        return 8 * games

    return play


# --- costs ----------------------------------------------------------------------------------------

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
USED = """
import resource, time
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
UNITS = {"maskable_ppo": "moves/s", "next_deal_ppo": "decisions/s", "planner": "games/s"}


def measure_costs(games: int, minutes: float) -> Iterator[tuple[Any, ...]]:
    """Rows of `COSTS`: of new processes, and steps per second of each learner, end to end."""
    envs = "FourSeasons-v0", "FourSeasonsNextDeal-v0"
    run_code(STEP.format(envs[0]))  # compiles
    yield "import", run_code("import four_seasons_env")[0], "s"
    yield "import, make, reset and step", run_code(STEP.format(envs[0]))[0], "s"
    for env in envs:
        with tempfile.TemporaryDirectory() as cache:
            busy = run_code(STEP.format(env), cache)[1]
        yield f"compile, then import, make, reset and step: {env}", busy, "CPU seconds"
    yield f"a process with {games:,} games", run_code(MANY.format(games))[2], "GiB"
    # One validation of two deals: almost all of the time is learning.
    for agent, unit in UNITS.items():
        with tempfile.TemporaryDirectory() as folder:
            flags = f"--agent {agent} --core-minutes {minutes} --validations 1 --n-jobs 1".split()
            flags += ["--validation-deals", "2", "--out", folder]
            command = [sys.executable, "-m", "four_seasons_env", "train", *flags]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            done = read_json(Path(folder) / DONE, Done)
        yield f"training speed of {agent}", done.steps / done.core_seconds, unit


def run_code(code: str, cache: str | None = None) -> tuple[float, float, float]:
    """Seconds, CPU seconds and GiB of a new process that runs some code.

    Args:
        code: what it runs.
        cache: folder of the compiled code. None: the usual one.
    """
    clock, place = time.perf_counter(), {"NUMBA_CACHE_DIR": cache} if cache else {}
    command = [sys.executable, "-c", code + USED]
    done = subprocess.run(command, env=os.environ | place, stdout=subprocess.PIPE, check=True)
    busy, memory = map(float, done.stdout.split())
    return time.perf_counter() - clock, busy, memory / 2**20


def main(
    kind: tyro.conf.Positional[Literal["rates", "costs"]] = "rates",
    games: tuple[int, ...] = (1, 64, 1024, 4096, 16384),
    threads: tuple[int, ...] = (1, 2),
    seconds: float = 0.5,
    many: int = 1_000_000,
    minutes: float = 0.5,
    out: Path | None = None,
) -> None:
    """Measure and print the rates, or the costs.

    Args:
        kind: what to measure.
        games: sizes of batches.
        threads: numbers of threads.
        seconds: length of a window.
        many: games of the large process.
        minutes: core-minutes of each learner.
        out: file of the rows.
    """
    columns, rows = {
        "rates": (RATES, measure_rates(games, threads, seconds)),
        "costs": (COSTS, measure_costs(many, minutes)),
    }[kind]
    table, load = [], os.getloadavg()[0]
    print(*columns, sep=", ")
    for row in rows:
        table.append(row)
        print(*(f"{each:,.6g}" if isinstance(each, float) else each for each in row), sep=", ")
        if out:
            noted = {"load": round(load, 2)} | measured_by()
            write_csv(out, pd.DataFrame(table, columns=columns).assign(**noted))


if __name__ == "__main__":
    tyro.cli(main)
