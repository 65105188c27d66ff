"""One limit of an episode: the spec, Gymnasium's wrappers and the games agree."""

import gymnasium as gym
import pytest
from gymnasium.wrappers import TimeLimit

from four_seasons_env.game import MAX_MOVES
from four_seasons_env.registration import NEXT_DEAL

IDS = ["FourSeasons-v0", NEXT_DEAL]


def length(env, seed: int = 5) -> tuple[int, bool, bool]:
    """The length of an episode of the lowest legal actions, and how it ended."""
    _, info = env.reset(seed=seed)
    steps, ended = 0, (False, False)
    while not any(ended):
        _, _, *ended, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    return steps, *ended


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("limit", [MAX_MOVES, 7])
def test_the_spec_says_what_the_games_keep(env_id, limit):
    how = {} if limit == MAX_MOVES else {"max_moves": limit}
    for env in (gym.make(env_id, **how), gym.make_vec(env_id, num_envs=2, **how)):
        assert env.spec.max_episode_steps == limit
        assert env.unwrapped.spec.max_episode_steps == limit
        env.close()
    sync = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", **how)
    assert sync.get_attr("spec")[0].max_episode_steps == limit


def test_episodes_end_at_the_limit():
    limit = 8

    def wrapped(env):
        return TimeLimit(env, env.spec.max_episode_steps)  # as d3rlpy does

    made = gym.make("FourSeasons-v0", max_moves=limit)
    again = gym.make(made.spec)
    assert again.spec == made.spec
    by_gymnasium = gym.make("FourSeasons-v0", max_episode_steps=limit)
    assert by_gymnasium.spec.max_episode_steps == limit
    for env in (made, again, by_gymnasium, wrapped(made.unwrapped)):
        assert length(env) == (limit, False, True)
    vectors = [
        gym.make_vec("FourSeasons-v0", num_envs=2, max_moves=limit),
        gym.make_vec("FourSeasons-v0", num_envs=2, max_episode_steps=limit),
        gym.make_vec("FourSeasons-v0", num_envs=2, max_moves=100, max_episode_steps=limit),
        gym.make_vec(made.spec, num_envs=2),
    ]
    for env in vectors:
        assert env.spec.max_episode_steps == limit
        _, infos = env.reset(seed=5)
        for step in range(1, limit + 1):
            *_, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
            assert truncated.all() == (step == limit)


def test_a_game_may_end_at_the_limit():
    steps, terminated, truncated = length(gym.make("FourSeasons-v0"))
    assert (terminated, truncated) == (True, False)
    exact = gym.make("FourSeasons-v0", max_moves=steps)
    assert length(exact) == (steps, True, False)
