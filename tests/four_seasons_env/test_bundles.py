"""Bundles hand over the arrays that they were made of, whatever else holds them."""

import copy
import gc
import signal
from types import FrameType

import numpy as np
import pytest

from four_seasons_env.engine.bundles import make_bundle
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.batch import Batch
from four_seasons_env.episodes.settings import MoveVectorSettings
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import small


def started(games: int) -> Batch:
    batch = Batch(MoveVectorSettings(games))
    batch.seed(np.arange(games, dtype=np.uint64))
    batch.reset()
    return batch


def test_a_bundle_is_of_the_arrays_themselves():
    batch = started(3)
    bundle = make_bundle(stepping.Buffers(*[each[1:3] for each in batch._buffers]), batch._settings)
    batch.games["deal"] += 1
    stepping.write_all(bundle, np.array([False, True]), stepping.CONSIDER)
    assert (batch.episodes["deal"] == batch.games["deal"]).tolist() == [False, False, True]


def test_a_bundle_keeps_its_arrays_alive():
    batch = started(3)
    bundle, actions, out = batch._whole, np.zeros(3, np.int64), np.zeros_like(batch.observations)
    twin = copy.deepcopy(batch)
    del batch
    gc.collect()
    rubbish = [np.full((3, 200), 7, np.uint8) for _ in range(99)]
    assert stepping.step_all(bundle, actions, out) == 0
    expected = np.zeros_like(out)
    twin.step(actions, out=expected)
    assert (out == expected).all() and out.any()
    assert all((array == 7).all() for array in rubbish)


def test_actions_of_any_kind_are_played_by_the_same_code():
    """No function is compiled again for strided or read-only arrays, or other integer types."""
    envs = [FourSeasonsVectorEnv(4) for _ in range(7)]
    for env in envs:
        masks = env.reset(seed=3)[1]["action_mask"]
    envs.pop().step(masks.argmax(axis=1))
    known = len(stepping.step_all.signatures)
    for _ in range(5):
        actions = masks.argmax(axis=1)
        fixed = actions.copy()
        fixed.flags.writeable = False
        kinds = (
            actions, fixed, np.repeat(actions, 2)[::2], actions.astype(np.uint8),
            actions.astype(">i8"), actions.tolist(),
        )  # fmt: skip
        answers = [env.step(each) for env, each in zip(envs, kinds, strict=True)]
        for answer in answers[1:]:
            np.testing.assert_equal(answer, answers[0])
        masks = answers[0][4]["action_mask"]
    assert len(stepping.step_all.signatures) == known


class _Pressed(Exception):
    """The exception of a signal's handler."""


def _press(number: int, frame: FrameType | None) -> None:
    raise _Pressed


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_what_a_signal_raises_in_a_step_is_not_dropped() -> None:
    """Numba drops exceptions of the Python code that it runs to learn an argument's type."""
    env = FourSeasonsEnv(rules=small("four-seasons", ranks=4, piles=1))
    _, start = env.reset(seed=0)
    env.step(int(np.flatnonzero(start["action_mask"])[0]))
    before = signal.signal(signal.SIGALRM, _press)
    delays = np.random.default_rng(0).uniform(1e-4, 1e-3, 400)
    try:
        for delay in delays:
            with pytest.raises(_Pressed):
                signal.setitimer(signal.ITIMER_REAL, delay)
                _play_on(env)
    finally:
        signal.signal(signal.SIGALRM, before)


def _play_on(env: FourSeasonsEnv) -> None:
    """Play until a signal comes; ten thousand steps take longer than any delay."""
    for _ in range(100):
        _, info = env.reset(seed=0)
        for _ in range(100):
            moves = np.flatnonzero(info["action_mask"])
            *_, terminated, truncated, info = env.step(int(moves[0]))
            if terminated or truncated:
                break
