"""Play for a long time, and check all the while.

    python -m tests.reliability.soak --minutes 60 --workers 2

Each worker makes environment after environment: single and vector, with and without copies and
threads, next-deal, all rule sets. It plays legal actions at random and checks, again and again,
that each card is there once, that masks are those of the game, that a position survives its bytes,
and that a state which is restored plays the same. Memory is read at the end of each environment.
The first check that fails ends it. The result is a row for each worker.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tyro

from four_seasons_env import FourSeasonsNextDealVectorEnv, FourSeasonsVectorEnv, Game
from four_seasons_env.rules import RULES
from tests.helpers import all_cards, cards_in_order, same

CHECK_EVERY = 100
"""Steps from check to check."""
STEPS = 2_000
"""Steps of one environment."""


@dataclass
class Soak:
    """Play for a long time, and check all the while."""

    minutes: float = 60.0
    workers: int = 2
    seed: int = 0
    out: Path = Path("runs/soak.csv")


def make_env(rng: np.random.Generator) -> Any:
    """Any vector environment."""
    rules = str(rng.choice(list(RULES)))
    if rng.random() < 0.2 and RULES[rules].piles == 5:
        return FourSeasonsNextDealVectorEnv(16, rules=rules, candidates=8, expansions=40)
    return FourSeasonsVectorEnv(
        int(rng.choice([1, 7, 256])),
        rules=rules,
        observation=str(rng.choice(["tops", "cards"])),
        mask=str(rng.choice(["legal", "distinct"])),
        copy=bool(rng.random() < 0.5),
        num_threads=int(rng.choice([1, 2])),
    )


def actions_of(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A legal action in each game, at random: int64 (n,)."""
    return (masks * rng.random(masks.shape)).argmax(axis=1).astype(np.int64)


def check(env: Any, rng: np.random.Generator) -> None:
    """Check one game of the environment, and that a restored state plays the same.

    Raises:
        AssertionError: if something does not hold.
    """
    at = int(rng.integers(env.num_envs))
    game = Game.from_record(env.games[at], env.rules)
    assert sorted(all_cards(game)) == sorted(cards_in_order(env.rules.ranks))
    assert game.cards_up == sum(map(len, game.foundations.values()))
    assert Game.from_bytes(game.to_bytes(), env.rules) == game
    if isinstance(env, FourSeasonsVectorEnv):
        mask = env.action_masks()[at]
        legal, distinct = game.action_mask(), game.action_mask(distinct=True)
        assert same(mask.astype(np.int8), legal) or same(mask.astype(np.int8), distinct)
    state = env.state()
    answers = []
    for _ in range(2):
        env.restore(state)
        chance = np.random.default_rng(at)
        told = [env.step(actions_of(env.action_masks(), chance))[0] for _ in range(3)]
        answers.append(np.array([np.asarray(_leaf(each)) for each in told]))
    assert same(*answers)


def _leaf(observations: Any) -> Any:
    return observations["observation"] if isinstance(observations, dict) else observations


def memory() -> float:
    """MiB that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def work(run: Soak, worker: int) -> dict[str, Any]:
    """Play until the time is over; a row of the table."""
    rng = np.random.default_rng([run.seed, worker])
    until = time.monotonic() + 60 * run.minutes
    counts = dict.fromkeys(("environments", "actions", "episodes", "won", "checks"), 0)
    held = []
    while time.monotonic() < until:
        env = make_env(rng)
        env.reset(seed=int(rng.integers(2**40)))
        counts["environments"] += 1
        for step in range(STEPS):
            infos = env.step(actions_of(env.action_masks(), rng))[4]
            counts["actions"] += env.num_envs
            if "final_info" in infos:
                ended = infos["_final_info"]
                counts["episodes"] += int(ended.sum())
                counts["won"] += int(infos["final_info"]["won"][ended].sum())
            if step % CHECK_EVERY == 0:
                check(env, rng)
                counts["checks"] += 1
            if time.monotonic() > until:
                break
        env.close()
        held.append(memory())
    half = len(held) // 2
    return {
        "worker": worker,
        **counts,
        "MiB, first half at most": max(held[: half or 1]),
        "MiB, second half at most": max(held[half:]),
    }


def main(run: Soak) -> None:
    """Let all workers play; write and print a row for each."""
    with ProcessPoolExecutor(run.workers, get_context("spawn")) as pool:
        rows = list(pool.map(work, [run] * run.workers, range(run.workers)))
    run.out.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows)
    table.to_csv(run.out, index=False, float_format="%.6g")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main(tyro.cli(Soak, description=__doc__))
