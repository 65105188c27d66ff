"""Measure steps per second: what `make bench` runs.

Random legal play, including masks, observations and resets. Measured are the single environment,
the vector environment at several batch sizes, by default and with `copy=False`, and the next-deal
environment. A rate is the median of several windows. The slowest and the fastest window show the
noise of the machine; the rate per CPU-second does not depend on other programs.

    four-seasons bench --out runs/speed
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.experiments.command_line import run_command, track
from four_seasons_env.experiments.results.out_folder import check_out
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import get_rules

if TYPE_CHECKING:
    import pandas as pd

SINGLE = "single environment"
VECTOR = "vector environment"
VECTOR_SHARED = "vector environment, copy=False"
NEXT_DEAL = "next-deal environment, decisions"

WINDOWS = 5
"""Measured windows per rate, after a first one that does not count."""

_MOST_DECISIONS = 1024
"""Largest batch of the next-deal environment; larger ones are no faster."""


@dataclass
class Bench:
    """Measure steps per second."""

    rules: str = "four-seasons"
    """Rule set to play."""
    games: list[int] = field(default_factory=lambda: [1, 64, 1024, 4096, 16384])
    """Batch sizes of the vector environments."""
    threads: list[int] = field(default_factory=lambda: [1, 2])
    """Numbers of threads of the vector environments."""
    seconds: float = 0.5
    """Length of a window in seconds."""
    out: Path | None = None
    """Folder for bench.csv."""


Rates = NDArray[np.float64]
"""Moves per second of each window: by the clock, and by CPU time; shape (windows, 2)."""

Steps = Callable[[], int]
"""Plays some moves, and returns how many."""


def bench(run: Bench) -> pd.DataFrame:
    """Measure, print and return moves per second.

    Raises:
        ValueError: for a wrong flag.
    """
    _check(run)

    import pandas as pd

    from four_seasons_env.experiments.reporting.tables import print_table
    from four_seasons_env.experiments.results.tables import write_csv

    rows: list[dict[str, Any]] = []
    saved = run.out and run.out / "bench.csv"
    try:
        for measure in track(_measurements(run), "measuring"):
            rows += measure()
            if saved:  # a folder that cannot be written to is reported before the others
                write_csv(saved, pd.DataFrame(rows))
    finally:  # after Ctrl-C, too
        table = pd.DataFrame(rows)
        if rows:
            print_table(as_cells(table), f"{run.rules} on {cpu_name()}")
    if saved:
        print(f"saved: {saved}")
    return table


def _check(run: Bench) -> None:
    """Reject invalid flags."""
    get_rules(run.rules)
    for name in ("games", "threads"):
        values = getattr(run, name)
        if not values or min(values) < 1:
            raise ValueError(f"--{name} must be numbers of 1 or more, not {values or 'none'}")
    if not 0 <= run.seconds < float("inf"):
        raise ValueError(f"--seconds must be a number of 0 or more, not {run.seconds:g}")
    if run.out:
        check_out(run.out, "measurement of speed")


def _measurements(run: Bench) -> list[Callable[[], list[dict[str, Any]]]]:
    """Functions that measure one after the other; each returns a row for each of its rates."""
    sizes = [(games, threads) for threads in run.threads for games in run.games if threads <= games]
    every: list[Callable[[], list[dict[str, Any]]]] = []
    for observation in OBSERVATIONS:
        every.append(partial(_single, run, observation))
        every += [partial(_vector, run, observation, *size) for size in sizes]
    return every + [partial(_next_deal, run, *size) for size in sizes if size[0] <= _MOST_DECISIONS]


def _single(run: Bench, observation: str) -> list[dict[str, Any]]:
    (rates,) = rates_of([single_steps(run.rules, observation)], run.seconds)
    return [_row(SINGLE, 1, 1, observation, rates)]


def _vector(run: Bench, observation: str, games: int, threads: int) -> list[dict[str, Any]]:
    kinds = {VECTOR: True, VECTOR_SHARED: False}
    every = [
        vector_steps(run.rules, games, num_threads=threads, observation=observation, copy=copy)
        for copy in kinds.values()
    ]
    return [
        _row(what, games, threads, observation, rates)
        for what, rates in zip(kinds, rates_of(every, run.seconds), strict=True)
    ]


def _next_deal(run: Bench, games: int, threads: int) -> list[dict[str, Any]]:
    (rates,) = rates_of([_next_deal_steps(run.rules, games, threads)], run.seconds)
    return [_row(NEXT_DEAL, games, threads, "features", rates)]


def _row(what: str, games: int, threads: int, observation: str, rates: Rates) -> dict[str, Any]:
    return {
        "what": what,
        "games": games,
        "threads": threads,
        "observation": observation,
        "moves_per_second": np.median(rates[:, 0]),
        "slowest": rates[:, 0].min(),
        "fastest": rates[:, 0].max(),
        "per_cpu_second": np.median(rates[:, 1]),
    }


def rates_of(every: Sequence[Steps], seconds: float) -> list[Rates]:
    """The rates of functions that take turns, so that a slow phase of the machine affects all.

    Args:
        every: the functions to measure.
        seconds: length of a window, which is at least one call of a function.
    """
    rates: list[list[tuple[float, float]]] = [[] for _ in every]
    for _ in range(WINDOWS + 1):
        for play, measured in zip(every, rates, strict=True):
            clock, cpu, moves = time.perf_counter(), time.process_time(), play()
            while time.perf_counter() - clock < seconds:
                moves += play()
            passed = time.perf_counter() - clock, time.process_time() - cpu
            measured.append((moves / passed[0], moves / passed[1]))
    return [np.array(each[1:]) for each in rates]  # the first window compiles


def single_steps(rules: str = "four-seasons", observation: str = "tops") -> Steps:
    """Random legal play in the single environment."""
    import gymnasium as gym

    from four_seasons_env.engine.kernel import new_masks
    from four_seasons_env.engine.masks import draw_moves

    env = gym.make("FourSeasons-v0", rules=rules, observation=observation)
    # The masks are a view of the words that moves are drawn from.
    words, masks = new_masks(1, get_rules(rules))
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


def vector_steps(rules: str, games: int, **arguments: Any) -> Steps:
    """Random legal play in the vector environment, with its arguments."""
    import gymnasium as gym

    from four_seasons_env.engine.kernel import new_masks
    from four_seasons_env.engine.masks import draw_moves

    env = gym.make_vec("FourSeasons-v0", num_envs=games, rules=rules, **arguments)
    words, masks = new_masks(games, get_rules(rules))
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


def _next_deal_steps(rules: str, games: int, threads: int) -> Steps:
    """Random choice among candidates, with their search and features at each decision."""
    import gymnasium as gym

    env = gym.make_vec(
        "FourSeasonsNextDeal-v0",
        num_envs=games,
        rules=rules,
        num_threads=threads,
    )
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


def cpu_name() -> str:
    """Name of this machine's processor."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def as_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The table of rates as text; bench.csv also has the slowest and the fastest window."""
    cells = table[["what", "observation"]].assign(threads=table["threads"].astype(str))
    for column in ("games", "moves_per_second", "per_cpu_second"):
        cells[column.replace("_", " ")] = table[column].map("{:,.0f}".format)
    return cells


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments, bench, Bench, __doc__, "finished measurements are shown, and saved with --out"
    )
