"""`reveal_deal=False`: no info has the deal."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.registration import NEXT_DEAL

IDS = ("FourSeasons-v0", NEXT_DEAL)


def keys_in(value: Any) -> set[str]:
    """All keys of nested dictionaries."""
    if not isinstance(value, dict):
        return set()
    return set(value).union(*map(keys_in, value.values()))


def infos_of(env: Any, steps: int) -> list[dict[str, Any]]:
    """The infos of a reset and of random legal steps, past ends of episodes."""
    rng = np.random.default_rng(0)
    infos = [env.reset(seed=4)[1]]
    for _ in range(steps):
        masks = np.atleast_2d(infos[-1]["action_mask"])
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        *_, done, cut, info = env.step(actions if hasattr(env, "num_envs") else actions[0])
        infos.append(info)
        if not hasattr(env, "num_envs") and (done or cut):
            infos.append(env.reset()[1])
    return infos


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("make", [gym.make, lambda *a, **k: gym.make_vec(*a, num_envs=3, **k)])
def test_the_deal_is_told_or_not(env_id, make):
    hidden, told = (
        infos_of(make(env_id, max_moves=60, reveal_deal=reveal), 150) for reveal in (False, True)
    )
    assert all("deal" in info for info in told)
    for without, with_it in zip(hidden, told, strict=True):
        assert keys_in(with_it) - keys_in(without) <= {"deal", "_deal"}
        assert not keys_in(without) & {"deal", "_deal"}
        assert (without["action_mask"] == with_it["action_mask"]).all()


@pytest.mark.parametrize("env_id", IDS)
def test_the_spec_keeps_it(env_id):
    env = gym.make(gym.make(env_id, reveal_deal=False).spec)
    assert "deal" not in env.reset(seed=1)[1]
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert "deal" not in again.reset(seed=1)[1]
