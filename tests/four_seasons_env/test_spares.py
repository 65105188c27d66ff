"""Arrays that were given out are used again only once nobody holds them."""

import copy
import pickle

import numpy as np
import pytest

from four_seasons_env.episodes.spares import Spares
from four_seasons_env.vector import FourSeasonsVectorEnv


def make() -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(4), np.zeros((3, 3))


HOLDERS = {
    "the array": lambda array: array,
    "a view": lambda array: array[1:],
    "a view of a view": lambda array: array.view()[1:].T,
    "a memory view": memoryview,
    "a list": lambda array: [array],
    "a buffer": lambda array: np.frombuffer(array, np.uint8),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_is_held_is_not_given_again(hold):
    spares = Spares()
    first = spares.take(make)
    held = hold(first[1])
    name = id(first[1])
    del first
    assert name not in [id(array) for array in spares.take(make)]
    del held
    assert name in [id(array) for array in spares.take(make)]


def test_nothing_is_kept_for_one_who_keeps_all():
    spares = Spares()
    kept = [spares.take(make)[0].view() for _ in range(50)]
    assert len({array.ctypes.data for array in kept}) == 50
    assert len(spares._given) < 10


def test_copies_share_nothing():
    spares = Spares()
    name = id(spares.take(make)[0])
    for twin in (copy.deepcopy(spares), pickle.loads(pickle.dumps(spares))):
        assert id(twin.take(make)[0]) != name


def test_a_large_environment_leaves_alone_what_is_held():
    """Of arrays large enough to be used again."""
    env = FourSeasonsVectorEnv(300, max_moves=9)
    assert env.reset(seed=1)[0].nbytes > 2**16
    rng = np.random.default_rng(0)
    kept, addresses = [], set()
    for step in range(60):
        masks = env.action_masks()
        observations, *_, infos = env.step(np.where(masks, rng.random(masks.shape), -1).argmax(1))
        addresses.add(observations.ctypes.data)
        if step % 3 == 0:
            given = [observations[5:], infos.get("final_obs"), infos.get("final_info", {})]
            kept.append((given, copy.deepcopy(given)))
    assert len(addresses) < 30, "memory is used again"
    for given, as_it_was in kept:
        np.testing.assert_equal(given, as_it_was)
