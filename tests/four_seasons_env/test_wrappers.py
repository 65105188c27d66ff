"""`MaskInObservation`, single and vector: names, dtypes, ends of episodes, specs."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from four_seasons_env.wrappers import (
    MASK_KEYS,
    MaskInObservation,
    VectorMaskInObservation,
)

IDS = ("FourSeasons-v0", "FourSeasonsNextDeal-v0")


def drawn(mask: np.ndarray, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize(("env_id", "library"), [(IDS[0], "rllib"), (IDS[1], "tianshou")])
def test_observations_hold_what_info_says(env_id: str, library: str) -> None:
    seen, mask_key = MASK_KEYS[library]
    env = MaskInObservation(gym.make(env_id), library)
    plain = gym.make(env_id)
    rng = np.random.default_rng(0)
    joined, info = env.reset(seed=5)
    bare, _ = plain.reset(seed=5)
    ended = False
    for _ in range(60):
        assert set(joined) == {seen, mask_key}
        assert env.observation_space.contains(joined)
        if info["action_mask"].any():
            np.testing.assert_array_equal(joined[mask_key], info["action_mask"])
        inner = bare["observation"] if isinstance(bare, dict) else bare
        np.testing.assert_array_equal(joined[seen], inner)
        if ended:
            joined, info = env.reset()
            bare, _ = plain.reset()
            ended = False
            continue
        action = drawn(info["action_mask"], rng)
        joined, _, terminated, truncated, info = env.step(action)
        bare = plain.step(action)[0]
        ended = terminated or truncated


@pytest.mark.parametrize("terminal", ["ones", "zeros"])
def test_mask_of_the_last_observation(terminal: str) -> None:
    env = MaskInObservation(gym.make("Corners-v0"), terminal_mask=terminal)
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        joined, _, terminated, _, info = env.step(int(np.argmax(info["action_mask"])))
    assert not info["action_mask"].any()
    assert joined["action_mask"].all() if terminal == "ones" else not joined["action_mask"].any()


@pytest.mark.parametrize("env_id", IDS)
def test_vector_form_agrees_with_single(env_id: str) -> None:
    vector = VectorMaskInObservation(gym.make_vec(env_id, num_envs=3, max_moves=30), "rllib")
    singles = [MaskInObservation(gym.make(env_id, max_moves=30), "rllib") for _ in range(3)]
    rng = np.random.default_rng(1)
    joined, infos = vector.reset(seed=11)
    states = [env.reset(seed=11 + i)[0] for i, env in enumerate(singles)]
    ends = 0
    for _ in range(80):
        assert vector.observation_space.contains(joined)
        for i, state in enumerate(states):
            for key in state:
                np.testing.assert_array_equal(joined[key][i], state[key])
        actions = np.array([drawn(mask, rng) for mask in infos["action_mask"]])
        joined, _, _, _, infos = vector.step(actions)
        for i, env in enumerate(singles):
            states[i], _, terminated, truncated, _ = env.step(int(actions[i]))
            if terminated or truncated:
                ends += 1
                for key in states[i]:
                    np.testing.assert_array_equal(infos["final_obs"][key][i], states[i][key])
                states[i], _ = env.reset()
    assert ends > 5


@pytest.mark.parametrize("env_id", IDS)
def test_spec_makes_it_again(env_id: str) -> None:
    env = MaskInObservation(gym.make(env_id), "tianshou", "float32")
    check_env(env.unwrapped)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert env.observation_space["mask"].dtype == np.float32
    assert again.observation_space == env.observation_space
    first, second = env.reset(seed=3)[0], again.reset(seed=3)[0]
    for key in first:
        np.testing.assert_array_equal(first[key], second[key])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"keys": "rlib"}, "unknown library 'rlib': did you mean 'rllib'"),
        ({"keys": ("a", "a")}, "two different names"),
        ({"terminal_mask": "one"}, "unknown terminal_mask 'one': did you mean 'ones'"),
        ({"flatten": "no"}, "unknown flatten 'no': known: True, False"),
    ],
)
def test_wrong_arguments(arguments: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MaskInObservation(gym.make("FourSeasons-v0"), **arguments)
    with pytest.raises(ValueError, match="Discrete"):
        MaskInObservation(gym.make("Pendulum-v1"))


@pytest.mark.parametrize(
    ("wrapper", "make"),
    [(MaskInObservation, gym.make), (VectorMaskInObservation, gym.make_vec)],
)
def test_masks_are_required(wrapper, make) -> None:
    with pytest.raises(ValueError, match=r'returns no masks in info\["action_mask"\]'):
        wrapper(make("CartPole-v1")).reset()


def test_flattened_observations() -> None:
    library, key = "rllib", "observations"
    kwargs = {"candidates": 4}
    env = MaskInObservation(gym.make(IDS[1], **kwargs), library, flatten=True)
    vector = VectorMaskInObservation(
        gym.make_vec(IDS[1], num_envs=3, **kwargs), library, flatten=True
    )
    plain = gym.make(IDS[1], **kwargs)
    bare, _ = plain.reset(seed=7)
    flat, _ = env.reset(seed=7)
    batch, _ = vector.reset(seed=7)
    assert env.observation_space.contains(flat)
    assert vector.observation_space.contains(batch)
    np.testing.assert_array_equal(flat[key], bare["observation"].ravel())
    np.testing.assert_array_equal(batch[key][0], flat[key])
    again = gym.make(env.spec)
    assert again.observation_space == env.observation_space
