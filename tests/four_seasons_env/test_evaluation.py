"""`evaluate` counts what is done against the masks; `test_policy_agent.py` compares its games."""

import gymnasium as gym

from four_seasons_env.evaluation import evaluate
from tests.helpers import small


def test_illegal_actions_are_counted() -> None:
    env = gym.make_vec("FourSeasons-v0", num_envs=3, rules=small("four-seasons"), max_moves=20)
    found = evaluate(env, lambda observations, masks: (1 - masks).argmax(axis=1))
    assert (found.illegal, found.won) == (3 * 20, 0)
