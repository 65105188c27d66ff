"""Measure steps per second: what `make bench` runs.

    python experiments/studies/bench.py --out runs/bench.csv

Random legal play, including masks, observations and resets. Measured are the single environment,
the vector environment at several batch sizes, by default and with `copy=False`, and the next-deal
environment, each in one thread, which is the default, and in more. A rate is the median of several
windows. The slowest and the fastest window show the noise of the machine; the rate per CPU-second
does not depend on other programs.
"""

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd

from four_seasons_env.engine.bits import draw_moves
from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.experiments.folders import write_csv
from four_seasons_env.files import expanded
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import get_rules

RULES = get_rules("four-seasons")
WINDOWS = 5
"""Measured windows per rate, after a first one that does not count."""
COLUMNS = ("what", "games", "threads", "observation")
RATES = ("moves_per_second", "slowest", "fastest", "per_cpu_second")

Steps = Callable[[], int]
"""Plays some moves, and returns how many."""


def measurements(
    games: Sequence[int], threads: Sequence[int], seconds: float
) -> Iterator[tuple[Any, ...]]:
    """What is measured, and its rates: `COLUMNS` and `RATES`."""
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
    """The `RATES` of a function: moves per second by the clock, with their noise, and by CPU time.

    Args:
        play: the function to measure.
        seconds: length of a window, which is at least one call of the function.
    """
    rates = []
    for _ in range(WINDOWS + 1):
        clock, cpu, moves = time.perf_counter(), time.process_time(), play()
        while time.perf_counter() - clock < seconds:
            moves += play()
        rates.append((moves / (time.perf_counter() - clock), moves / (time.process_time() - cpu)))
    by_clock, by_cpu = np.array(rates[1:]).T  # the first window compiles
    return np.median(by_clock), by_clock.min(), by_clock.max(), np.median(by_cpu)


def single_steps(observation: str = "tops") -> Steps:
    """Random legal play in the single environment."""
    env = gym.make("FourSeasons-v0", observation=observation)
    # The masks are a view of the words that moves are drawn from.
    words, masks = new_masks(1, RULES)
    moves, state = np.zeros(1, np.int64), np.ones(1, np.uint64)
    _, info = env.reset(seed=0)
    masks[0] = info["action_mask"]

    def play() -> int:
        for _ in range(64):  # enough that reading the clock costs nothing
            draw_moves(words, state, moves)
            _, _, terminated, truncated, info = env.step(int(moves[0]))
            if terminated or truncated:
                _, info = env.reset()
            masks[0] = info["action_mask"]
        return 64

    return play


def vector_steps(games: int, threads: int, observation: str, *, copy: bool) -> Steps:
    """Random legal play in the vector environment."""
    env = gym.make_vec(
        "FourSeasons-v0", games, num_threads=threads, observation=observation, copy=copy
    )
    words, masks = new_masks(games, RULES)
    moves, state = np.zeros(games, np.int64), np.ones(1, np.uint64)
    _, infos = env.reset(seed=0)
    masks[:] = infos["action_mask"]

    def play() -> int:
        for _ in range(16):
            draw_moves(words, state, moves)
            _, _, _, _, infos = env.step(moves)
            masks[:] = infos["action_mask"]
        return 16 * games

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


def main() -> None:
    """Measure and print the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, nargs="+", default=[1, 64, 1024, 4096, 16384])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=0.5, help="length of a window")
    parser.add_argument("--out", type=expanded, help="file of the rates")
    run = parser.parse_args()
    rows = []
    for each in measurements(run.games, run.threads, run.seconds):
        rows.append(each)
        what, games, threads, observation, rate = each[:5]
        print(f"{what}, {observation}, {games:,} games, threads: {threads}: {rate:,.0f} per second")
        if run.out:
            write_csv(run.out, pd.DataFrame(rows, columns=COLUMNS + RATES))


if __name__ == "__main__":
    main()
