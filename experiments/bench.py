"""Measure steps per second, start-up time and memory: what `make bench` runs.

Random legal play, masks and observations written, episodes reset: the vector environment at
several batch sizes, by default and with `copy=False`, the single environment, and MaskablePPO end
to end; with `--peers` other environments in the same run. Each figure is the median of several
windows. The fastest and slowest stand beside it, as machines are noisy, and the rate by CPU time,
as others may use the machine.

    four-seasons bench --peers --out runs/speed
    pages --speed runs/speed               # docs/benchmark.md
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.engine.masks import draw_moves
from four_seasons_env.experiments.benchmarks.peers import PEERS
from four_seasons_env.experiments.benchmarks.startup import peak_memory, startup_seconds
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.reporting.plots.throughput import plot_throughput
from four_seasons_env.experiments.reporting.tables import print_table, write_csv
from four_seasons_env.rules import get_rules

SINGLE = "single environment"
VECTOR = "vector environment"
VECTOR_SHARED = "vector environment, copy=False"
NEXT_DEAL = "next-deal environment, decisions"
NEXT_DEAL_PPO = "MaskablePPO on it, end to end, decisions"
PPO = "MaskablePPO, end to end"
PPO_ZERO_COST = "MaskablePPO, an environment that costs nothing"


BY_CPU_TIME = ", by CPU time"
"""How the name of a ratio of two rates ends."""

_TYPICAL = (64, 4096)
"""Games at a time for which the default is compared with `copy=False`."""

_MOST_DECISIONS = 1024
"""Games of the next-deal environment at most; more of them are no faster."""


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
    startup: bool = True
    """Measure start-up times and memory too (half a minute)."""
    peers: bool = False
    """Measure other environments too (needs `pip install .[peers]`)."""
    out: Path | None = None
    """Folder for throughput.csv, costs.csv and a plot."""


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
    return _turns(run.windows, run.seconds, [steps])[0]


def _turns(windows: int, seconds: float, players: Sequence[Callable[[], int]]) -> list[Rates]:
    """The rates of each of several, which take turns: a machine that slows down slows them all."""
    rates: list[list[tuple[float, float]]] = [[] for _ in players]
    for window in range(windows + 1):
        for steps, measured in zip(players, rates, strict=True):
            rate = _timed(steps, seconds)
            if window:
                measured.append(rate)
    return [np.array(each) for each in rates]


def _vector(run: Throughput, games: int, **arguments: Any) -> Callable[[], int]:
    env = gym.make_vec("FourSeasons-v0", num_envs=games, rules=run.rules, **arguments)
    _, infos = env.reset(seed=0)
    words, masks = new_masks(games, get_rules(run.rules))
    masks[:] = infos["action_mask"]
    moves = np.zeros(games, np.int64)
    state = np.ones(1, np.uint64)

    def steps() -> int:
        for _ in range(16):
            draw_moves(words, state, moves)
            _, _, _, _, infos = env.step(moves)
            masks[:] = infos["action_mask"]
        return 16 * games

    return steps


def _single(run: Throughput, observation: str) -> Rates:
    env = gym.make("FourSeasons-v0", rules=run.rules, observation=observation)
    words, masks = new_masks(1, get_rules(run.rules))
    moves = np.zeros(1, np.int64)
    state = np.ones(1, np.uint64)
    _, info = env.reset(seed=0)
    masks[0] = info["action_mask"]

    def steps() -> int:
        for _ in range(64):
            draw_moves(words, state, moves)
            _, _, terminated, truncated, info = env.step(int(moves[0]))
            if terminated or truncated:
                _, info = env.reset()
            masks[0] = info["action_mask"]
        return 64

    return _windows(run, steps)


def _next_deal(run: Throughput, games: int, threads: int) -> Rates:
    """Random choice among the candidates; all of them are found and described at each decision."""
    env = gym.make_vec(
        "FourSeasonsNextDeal-v0", num_envs=games, rules=run.rules, num_threads=threads
    )
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    counts = infos["action_mask"].sum(axis=1)

    def steps() -> int:
        nonlocal counts
        for _ in range(8):
            _, _, _, _, infos = env.step((rng.random(games) * counts).astype(np.int64))
            counts = infos["action_mask"].sum(axis=1)
        return 8 * games

    return _windows(run, steps)


def _next_deal_ppo(run: Throughput) -> tuple[Rates, int, float]:
    """A training's rates on the next-deal environment, its games, and its share of the time."""
    from four_seasons_env.agents.learned import next_deal_ppo
    from four_seasons_env.agents.learned.algorithms import get_algorithm
    from four_seasons_env.experiments.benchmarks.overhead import TimedNextDealVecEnv

    settings: Any = get_algorithm(next_deal_ppo.NAME).read_settings()
    arguments = next_deal_ppo.environment_arguments(settings)
    env = TimedNextDealVecEnv(settings.games, seed=0, rules=run.rules, **arguments)
    model = next_deal_ppo.make_model(env, settings, 0)
    rollout: int = settings.games * settings.n_steps

    def steps() -> int:
        model.learn(rollout, reset_num_timesteps=False)
        return rollout

    _timed(steps, 0.0)
    env.seconds = 0.0
    rates = np.array([_timed(steps, 0.0) for _ in range(run.windows)])
    return rates, settings.games, env.seconds / float((rollout / rates[:, 0]).sum())


def _maskable_ppo(run: Throughput) -> tuple[dict[str, Rates], float]:
    """A training's rates, with our environment and with one that costs nothing.

    The two take turns, so that a machine that slows down slows both.

    Returns:
        The rates of both, and the share of its time that the first has spent in the environment.
    """
    from four_seasons_env.agents.learned.maskable_ppo import make_model
    from four_seasons_env.experiments.benchmarks.overhead import TimedVecEnv, ZeroCostVecEnv

    settings = _settings()
    rollout: int = settings.games * settings.n_steps
    learners: dict[str, Callable[[], int]] = {}
    ours: Any = None
    for name, kind in {PPO_ZERO_COST: ZeroCostVecEnv, PPO: TimedVecEnv}.items():
        ours = kind(
            settings.games,
            seed=0,
            rules=run.rules,
            observation=settings.observation,
            mask=settings.mask,
        )
        model = make_model(ours, settings, 0, lambda _: settings.learning_rate)

        def learn(model: Any = model) -> int:
            model.learn(rollout, reset_num_timesteps=False)
            return rollout

        learners[name] = learn
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in learners}
    for window in range(run.windows + 1):
        if window == 1:
            ours.seconds = 0.0
        for name, steps in learners.items():
            rates[name].append(_timed(steps, 0.0))
    measured = {name: np.array(each[1:]) for name, each in rates.items()}
    seconds = (rollout / measured[PPO][:, 0]).sum()
    return measured, ours.seconds / seconds


def _settings() -> Any:
    from four_seasons_env.agents.learned.maskable_ppo import read_hyperparameters

    return read_hyperparameters()


def throughput(run: Throughput) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure, print, and return the tables: moves per second, and other costs."""
    _check(run)
    rows: list[dict[str, Any]] = []
    costs: dict[str, float] = {}

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
        add(SINGLE, 1, 1, observation, _single(run, observation))
        for threads in run.threads:
            for games in run.games:
                if threads <= games:
                    kinds = {VECTOR: True, VECTOR_SHARED: False}
                    players = [
                        _vector(run, games, num_threads=threads, observation=observation, copy=copy)
                        for copy in kinds.values()
                    ]
                    measured = _turns(run.windows, run.seconds, players)
                    for what, rates in zip(kinds, measured, strict=True):
                        add(what, games, threads, observation, rates)
    for threads in run.threads:
        for games in (each for each in run.games if threads <= each <= _MOST_DECISIONS):
            add(NEXT_DEAL, games, threads, "features", _next_deal(run, games, threads))
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
        trained, share = _maskable_ppo(run)
        for what, rates in trained.items():
            add(what, settings.games, torch.get_num_threads(), settings.observation, rates)
        costs["share of MaskablePPO's time spent in the environment"] = share
        rates, games, share = _next_deal_ppo(run)
        add(NEXT_DEAL_PPO, games, torch.get_num_threads(), "features", rates)
        costs["share of its time spent in the next-deal environment"] = share
    if run.startup:
        seconds = startup_seconds(run.windows)
        costs |= {f"seconds to {what}": each for what, each in seconds.items()}
        costs["GiB of a process with 1,000,000 games (tops)"] = peak_memory(1_000_000) / 2**30
    table = pd.DataFrame(rows)
    costs |= ratios(table)
    other = pd.DataFrame({"what": list(costs), "value": list(costs.values())})
    print_table(as_cells(table), f"{run.rules} on {cpu_name()}")
    print_table(cost_cells(other), "beside")
    if run.out:
        write_csv(run.out / "throughput.csv", table)
        write_csv(run.out / "costs.csv", other)
        plot_throughput(table, run.out / "throughput.png")
    return table, other


def _check(run: Throughput) -> None:
    """Refuse invalid flags before anything is measured."""
    get_rules(run.rules)
    for name in ("games", "threads"):
        values = getattr(run, name)
        if not values or min(values) < 1:
            raise ValueError(f"--{name} are numbers from 1 on, not {values or 'none'}")
    if run.windows < 1:
        raise ValueError(f"--windows is 1 or more, not {run.windows}")
    if not run.seconds >= 0:
        raise ValueError(f"--seconds is a length of time, not {run.seconds:g}")
    if run.out:
        check_out(run.out, "measurement of speed")


def ratios(table: pd.DataFrame) -> dict[str, float]:
    """Ratios of rates in one run's table: ours to the peers', and of two ways to run ours.

    Ours is the single environment or the vector environment on one thread with the number of games
    nearest to the peer's, with mask and `tops`.
    """
    found: dict[str, float] = {}
    alone = table[table["threads"] == 1].set_index(["what", "games", "observation"])
    by_cpu = alone["per_cpu_second"]
    for what, games, observation in alone.index[alone.index.get_level_values("what") == VECTOR]:
        shared = (VECTOR_SHARED, games, observation)
        if games in _TYPICAL and shared in by_cpu.index:
            name = f"{VECTOR} / with copy=False, {games:,} games, {observation}{BY_CPU_TIME}"
            found[name] = by_cpu[what, games, observation] / by_cpu[shared]
    ours = table[(table["observation"] == "tops") & (table["threads"] == 1)]
    for _, peer in table[table["what"].isin(PEERS)].iterrows():
        same = ours[ours["what"] == (SINGLE if peer["games"] == 1 else VECTOR)]
        nearest = same.iloc[(same["games"] - peer["games"]).abs().argmin()]
        ratio = nearest["per_cpu_second"] / peer["per_cpu_second"]
        found[f"{nearest['what']} / {peer['what']}{BY_CPU_TIME}"] = ratio
    rates = table.groupby("what")["moves_per_second"].first()
    if PPO in rates:
        found["MaskablePPO's rate / its rate with an environment that costs nothing"] = (
            rates[PPO] / rates[PPO_ZERO_COST]
        )
    return found


def cpu_name() -> str:
    """This machine's processor, as the system calls it."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text().splitlines() if about.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def as_cells(table: pd.DataFrame) -> pd.DataFrame:
    """The table of rates as text."""
    cells = table.astype({"threads": str})
    for column in ("games", "moves_per_second", "slowest", "fastest", "per_cpu_second"):
        cells[column] = table[column].map("{:,.0f}".format)
    return cells.rename(columns=lambda name: name.replace("_", " "))


def cost_cells(costs: pd.DataFrame) -> pd.DataFrame:
    """The other costs as text, three digits each; shares as percentages."""
    cells = costs.astype(object)
    cells["value"] = [
        f"{value:.1%}" if "share" in what or "costs nothing" in what else f"{value:,.3g}"
        for what, value in zip(costs["what"], costs["value"], strict=True)
    ]
    return cells


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, throughput, Throughput, __doc__)
