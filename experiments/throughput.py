"""Steps per second: `python -m experiments.throughput` (or `make bench`).

Random legal play, masks and observations written, episodes reset: the vector environment at
several batch sizes, the single environment, and MaskablePPO end to end; with `--peers` other
environments in the same run. Each figure is the median of several windows; the fastest and slowest
stand beside it, as machines are noisy, and the rate by CPU time, as others may use the machine.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
import tyro
from numpy.typing import NDArray

import four_seasons_env  # noqa: F401  registers the environments
from experiments.compare import print_table, write_csv
from experiments.peers import PEERS
from four_seasons_env.compiled import jit

_OURS = "MaskablePPO, end to end"
_RULER = "MaskablePPO, an environment that costs nothing"

_STEP = np.uint64(6364136223846793005)
_ADD = np.uint64(1442695040888963407)
_33, _31 = np.uint64(33), np.uint64(31)


@dataclass
class Throughput:
    """Measure steps per second."""

    rules: str = "four-seasons"
    games: list[int] = field(default_factory=lambda: [1, 64, 1024, 4096, 16384])
    """Batch sizes of the vector environment."""
    threads: list[int] = field(default_factory=lambda: [1, 2])
    """Threads that the vector environment shares its games over."""
    seconds: float = 0.5
    """Length of a window."""
    windows: int = 5
    ppo: bool = True
    """Measure MaskablePPO with 1,024 games too (a minute)."""
    peers: bool = False
    """Measure other environments too (needs `pip install .[peers]`)."""
    out: Path | None = None
    """Folder for throughput.csv."""


@jit
def draw_legal(masks, actions, state):
    """Draw a legal move in each game, by a linear congruential generator with a uint64 state."""
    for i in range(masks.shape[0]):
        legal = 0
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        state[0] = state[0] * _STEP + _ADD
        left = np.int64(((state[0] >> _33) * np.uint64(legal)) >> _31)
        for action in range(masks.shape[1]):
            if masks[i, action]:
                if left == 0:
                    actions[i] = action
                    break
                left -= 1


Rates = NDArray[np.float64]
"""Moves per second of each window: by the clock, and by CPU time; shape (windows, 2)."""


def _timed(steps: Callable[[], int], seconds: float) -> tuple[float, float]:
    """One window's rates; it is one call of steps at least."""
    clock, cpu = time.perf_counter(), time.process_time()
    done = steps()
    while time.perf_counter() - clock < seconds:
        done += steps()
    return done / (time.perf_counter() - clock), done / (time.process_time() - cpu)


def _windows(run: Throughput, steps: Callable[[], int]) -> Rates:
    """The rates of each window, after a first one that does not count."""
    return np.array([_timed(steps, run.seconds) for _ in range(run.windows + 1)][1:])


def _vector(run: Throughput, games: int, threads: int, observation: str) -> NDArray[np.float64]:
    env = gym.make_vec(
        "FourSeasons-v0",
        num_envs=games,
        rules=run.rules,
        observation=observation,
        copy=False,
        num_threads=threads,
    )
    _, infos = env.reset(seed=0)
    actions = np.zeros(games, np.int64)
    state = np.ones(1, np.uint64)
    masks = infos["action_mask"]

    def steps() -> int:
        for _ in range(16):
            draw_legal(masks, actions, state)
            env.step(actions)
        return 16 * games

    return _windows(run, steps)


def _single(run: Throughput, observation: str) -> NDArray[np.float64]:
    env = gym.make("FourSeasons-v0", rules=run.rules, observation=observation)
    state = np.ones(1, np.uint64)
    actions = np.zeros(1, np.int64)
    _, info = env.reset(seed=0)
    known: dict[str, Any] = {"mask": info["action_mask"]}

    def steps() -> int:
        for _ in range(64):
            draw_legal(known["mask"][None], actions, state)
            _, _, terminated, truncated, info = env.step(int(actions[0]))
            if terminated or truncated:
                _, info = env.reset()
            known["mask"] = info["action_mask"]
        return 64

    return _windows(run, steps)


def _maskable_ppo(run: Throughput) -> dict[str, Rates]:
    """A training's rates, with our environment and with one that costs nothing.

    The two take turns, so that a machine that slows down slows both.
    """
    from agents.maskable_ppo import make_model
    from experiments.ruler import ZeroCostVecEnv
    from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv

    settings = _settings()
    rollout: int = settings.games * settings.n_steps
    learners: dict[str, Callable[[], int]] = {}
    for name, kind in {_OURS: FourSeasonsVecEnv, _RULER: ZeroCostVecEnv}.items():
        env = kind(
            settings.games,
            seed=0,
            rules=run.rules,
            observation=settings.observation,
            mask=settings.mask,
        )
        model = make_model(env, settings, 0, lambda _: settings.learning_rate)

        def learn(model: Any = model) -> int:
            model.learn(rollout, reset_num_timesteps=False)
            return rollout

        learners[name] = learn
    rates = [
        {name: _timed(learn, 0.0) for name, learn in learners.items()}
        for _ in range(run.windows + 1)
    ]
    return {name: np.array([each[name] for each in rates[1:]]) for name in learners}


def _settings() -> Any:
    from agents.maskable_ppo import read_hyperparameters

    return read_hyperparameters()


def throughput(run: Throughput) -> pd.DataFrame:
    """Measure, print the table, and return it."""
    rows = []

    def add(what: str, games: int, threads: int, observation: str, rates: Rates) -> None:
        rows.append(
            {
                "what": what,
                "games": games,
                "threads": threads,
                "observation": observation,
                "moves_per_second": np.median(rates[:, 0]),
                "slowest": rates[:, 0].min(),
                "fastest": rates[:, 0].max(),
                "per_cpu_second": np.median(rates[:, 1]),
            }
        )

    for observation in ("tops", "cards"):
        add("single environment", 1, 1, observation, _single(run, observation))
        for threads in run.threads:
            for games in run.games:
                rates = _vector(run, games, threads, observation)
                add("vector environment", games, threads, observation, rates)
    if run.peers:
        for name, (make, games) in PEERS.items():
            try:
                steps = make()
            except ImportError as error:
                print(f"{name} is left out: {error} (pip install '.[peers]')")
            else:
                add(name, games, 1, "its own", _windows(run, steps))
    if run.ppo:
        import torch

        settings = _settings()
        for what, rates in _maskable_ppo(run).items():
            add(what, settings.games, torch.get_num_threads(), settings.observation, rates)
    table = pd.DataFrame(rows)
    if run.out:
        write_csv(run.out / "throughput.csv", table)
    _tell(run, table)
    return table


def _tell(run: Throughput, table: pd.DataFrame) -> None:
    """Print the table, and the ratios that matter."""
    cells = table.astype({"threads": str})
    for column in ("games", "moves_per_second", "slowest", "fastest", "per_cpu_second"):
        cells[column] = table[column].map("{:,.0f}".format)
    print_table(cells, f"{run.rules} on {platform.machine()}")
    ours = {
        games: table[
            (table["what"] == what) & (table["observation"] == "tops") & (table["threads"] == 1)
        ]["per_cpu_second"].max()
        for what, games in (("single environment", 1), ("vector environment", 4096))
    }
    for _, row in table[table["what"].isin(PEERS)].iterrows():
        ratio = ours[row["games"]] / row["per_cpu_second"]
        print(f"ours with mask and tops / {row['what']}: {ratio:,.1f}, by CPU time")
    if run.ppo:
        medians = table.set_index("what")["moves_per_second"]
        share = medians[_OURS] / medians[_RULER]
        print(f"MaskablePPO reaches {share:.1%} of its rate with an environment that costs nothing")


if __name__ == "__main__":
    throughput(tyro.cli(Throughput, description=__doc__))
