"""Measure what usual algorithms learn on moves, with and without masks.

    python experiments/studies/baselines.py --out runs/baselines.csv

The algorithms are those of Stable-Baselines3 and sb3-contrib as they are: their default networks
and hyperparameters, on `FourSeasonsVecEnv` with the observation `cards`. MaskablePPO learns with
masks, the others without: an illegal action leaves the position as it is and costs 0.01. Each
learns for some minutes of one core; the last update may exceed them by seconds. Then it plays
validation deals twice, by the highest logit or Q value: of all actions, and of those that a mask
marks, the mask of its training or else `legal`.

Each row is appended when it is measured, and rows of the file are not measured again. So a stopped
call can be repeated, and processes with other `--algorithms` or `--seeds` can share a file. DQN and
QRDQN take 6 GiB each for the million moves that they replay.
"""

import itertools
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from sb3_contrib import QRDQN, TRPO, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.arguments import check_choice
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.folders import read_table

CLASSES: tuple[Any, ...] = (A2C, PPO, TRPO, DQN, QRDQN, MaskablePPO)
ALGORITHMS = {each.__name__: each for each in CLASSES}
MASKS = {"MaskablePPO": ("legal", "distinct", "no_repeats")}  # the others learn without
COLUMNS = [
    *("algorithm", "mask", "seed", "moves", "core_minutes"),
    *("won", "cards_up", "illegal"),  # of all actions; illegal is a share of them
    *("masked_won", "masked_cards_up", "masked_illegal"),
]


@dataclass
class Baselines(Run):
    """Write a row for each algorithm, mask and seed."""

    out: Path
    """File of the rows."""
    algorithms: list[str] = field(default_factory=lambda: list(ALGORITHMS))
    """Classes of Stable-Baselines3 and sb3-contrib."""
    seeds: list[int] = field(default_factory=lambda: [0, 1])
    """Training seeds."""
    core_minutes: float = 10
    """Minutes of learning, for each row."""
    moves: int = 10_000_000
    """Maximum number of moves, for each row."""
    envs: int = 8
    """Games at once; RL Zoo has 8 for PPO."""
    deals: int = 2000
    """Number of validation deals to play."""


def learn(run: Baselines, algorithm: str, mask: str, seed: int) -> list[Any]:
    """Train a model and play with it; returns the `COLUMNS`."""
    own = "legal" if mask == "none" else mask
    env = FourSeasonsVecEnv(run.envs, observation="cards", mask=own)
    env.reset()  # loads compiled code before the clock starts
    model = ALGORITHMS[algorithm]("MlpPolicy", env, seed=seed, device="cpu")
    start = time.process_time()
    # A callback that returns False stops the training.
    model.learn(run.moves, lambda *_: time.process_time() - start < 60 * run.core_minutes)
    minutes = (time.process_time() - start) / 60
    open_play, masked_play = play(model, run.deals, "legal"), play(model, run.deals, own, True)
    return [algorithm, mask, seed, model.num_timesteps, minutes, *open_play, *masked_play]


def play(model: Any, deals: int, mask: str, masked: bool = False) -> tuple[float, float, float]:
    """Play the first validation deals: games won, cards up, and share of illegal actions.

    The environment has a mask; actions are chosen among those that it marks only if `masked`.
    """
    env = FourSeasonsVecEnv(deals, observation="cards", mask=mask)
    env.set_options([{"deal": deal} for deal in VALIDATION[:deals]])
    observations, games = env.reset(), np.arange(deals)
    over, won, cards_up = np.zeros(deals, np.bool_), np.zeros(deals), np.zeros(deals)
    illegal = actions = 0
    while not over.all():
        values, masks = action_values(model, observations), env.action_masks()
        chosen = np.where(masks | (not masked), values, -np.inf).argmax(axis=1)
        illegal += (~masks[games, chosen] & ~over).sum()
        actions += (~over).sum()
        observations, _, done, infos = env.step(chosen)
        for i in np.flatnonzero(done & ~over):  # a game that is over restarts, and does not count
            won[i], cards_up[i] = infos[i]["won"], infos[i]["cards_up"]
        over |= done
    return won.mean(), cards_up.mean(), illegal / actions


def action_values(model: Any, observations: np.ndarray[Any, Any]) -> Any:
    """Logits, or Q values, of shape (n, A); their argmax is what `predict` returns."""
    inputs = torch.as_tensor(observations)
    with torch.no_grad():
        if isinstance(model, DQN):
            return model.q_net(inputs).numpy()
        if isinstance(model, QRDQN):
            return model.quantile_net(inputs).mean(dim=1).numpy()
        return model.policy.get_distribution(inputs).distribution.logits.numpy()


def baselines(run: Baselines) -> None:
    """Measure the rows that the file does not have.

    Raises:
        ValueError: for an unknown algorithm.
    """
    for name in run.algorithms:
        check_choice("algorithm", name, tuple(ALGORITHMS))
    torch.set_num_threads(1)
    run.out.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError), run.out.open("x") as file:
        file.write(",".join(COLUMNS) + "\n")
    for seed, algorithm in itertools.product(run.seeds, run.algorithms):
        for mask in MASKS.get(algorithm, ("none",)):
            key = algorithm, mask, seed
            if key in set(read_table(run.out)[COLUMNS[:3]].itertuples(index=False)):
                continue
            row = pd.DataFrame([learn(run, *key)])
            with run.out.open("a") as file:  # one write: other processes append as well
                row.to_csv(file, header=False, index=False, float_format="%.6g")


main = command(baselines, "measured rows are saved in {run.out}; resume: {command}")


if __name__ == "__main__":
    main()
