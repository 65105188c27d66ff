"""`MaskInObservation`: names, dtypes, ends of episodes, specs; test_contract.py has batches."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.wrappers import MASK_KEYS, MaskInObservation

IDS = ("FourSeasons-v0", "FourSeasonsNextDeal-v0")


@pytest.mark.parametrize(
    ("env_id", "library", "flatten"),
    [("Corners-v0", "rllib", False), (IDS[1], "tianshou", False), (IDS[1], "rllib", True)],
)
def test_observations_hold_what_info_says(env_id: str, library: str, flatten: bool) -> None:
    seen, mask_key = MASK_KEYS[library]
    env, plain = MaskInObservation(gym.make(env_id), library, flatten=flatten), gym.make(env_id)
    (joined, info), (bare, _), ended = env.reset(seed=5), plain.reset(seed=5), False
    while not ended:
        assert joined.keys() == {seen, mask_key}
        np.testing.assert_array_equal(joined[mask_key], info["action_mask"])
        inner = bare["observation"] if isinstance(bare, dict) else bare
        np.testing.assert_array_equal(joined[seen], inner.ravel() if flatten else inner)
        action = int(info["action_mask"].argmax())
        joined, _, ended, _, info = env.step(action)
        bare, *_ = plain.step(action)
    assert not info["action_mask"].any() and joined[mask_key].all()


@pytest.mark.parametrize("env_id", IDS)
def test_spec_makes_it_again(env_id: str) -> None:
    env = MaskInObservation(gym.make(env_id), "tianshou", "float32", flatten=True)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert env.observation_space["mask"].dtype == np.float32
    assert again.observation_space == env.observation_space
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    for key in first:
        np.testing.assert_array_equal(first[key], second[key])
