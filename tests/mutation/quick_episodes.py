"""Threads, copies and pickles on small games: the first that a mutant of the episodes meets."""

import copy
import pickle

import numpy as np
import pytest

from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import same, small


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_threads_play_as_one(mode: str) -> None:
    rules = small("czarina-1898", ranks=4, piles=1)
    one, three = (
        FourSeasonsVectorEnv(5, rules, max_moves=60, autoreset_mode=mode, num_threads=threads)
        for threads in (1, 3)
    )
    rng = np.random.default_rng(0)
    assert same(one.reset(seed=3), three.reset(seed=3))
    paid = 0.0
    for _ in range(45):
        legal = [np.flatnonzero(mask) for mask in one.action_masks()]
        actions = np.array([rng.choice(each) if len(each) else 0 for each in legal])
        told = one.step(actions)
        assert same(told, three.step(actions))
        paid += told[1].sum()
        one, three = pickle.loads(pickle.dumps(one)), copy.deepcopy(three)
    assert paid > 0
    three.close()
