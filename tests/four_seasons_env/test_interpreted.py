"""The engine runs as Python too, and plays the same games as compiled code."""

from tests.helpers import run_python

SCRIPT = """
import numpy as np
from four_seasons_env.vector import FourSeasonsVectorEnv

for rules in "four-seasons", "pysolfc/czarina":
    env = FourSeasonsVectorEnv(2, rules, mask="no_repeats", observation="cards", max_moves=40)
    observations, infos = env.reset(seed=1)
    seen = [observations.sum(dtype=np.float64)]
    for step in range(60):
        legal = [np.flatnonzero(mask) for mask in infos["action_mask"]]
        observations, rewards, *_, infos = env.step([moves[step % len(moves)] for moves in legal])
        seen += [observations.sum(dtype=np.float64), *rewards, *infos["action_mask"].sum(axis=1)]
    print([float(each) for each in seen], env.games.tobytes().hex())
"""


def test_python_plays_as_compiled_code() -> None:
    compiled, interpreted = (
        run_python("-c", SCRIPT, **more) for more in ({}, {"NUMBA_DISABLE_JIT": "1"})
    )
    assert compiled == interpreted
