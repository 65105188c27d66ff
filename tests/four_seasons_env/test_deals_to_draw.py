"""`deals=`: environments that draw from some deals."""

import gymnasium as gym
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from tests.helpers import training_deals

IDS = ("FourSeasons-v0", "FourSeasonsNextDeal-v0")
DEALS = (TRAIN_FROM + 5, 10_007, 2**63 - 1, 10_007)
SEED, STEPS = 11, 12


def drawn(seed: int, count: int) -> list[int]:
    """The deals by the definition in docs/reference/data.md."""
    return [DEALS[(deal - TRAIN_FROM) % len(DEALS)] for deal in training_deals(seed, count)]


@pytest.mark.parametrize("env_id", [*IDS, "FourSeasonsText-v0"])
def test_episodes_draw_from_them(env_id: str) -> None:
    env = gym.make(env_id, deals=DEALS)
    played = [env.reset(seed=SEED)[1]["deal"]]
    played += [env.reset()[1]["deal"] for _ in range(8)]
    assert played == drawn(SEED, 9)
    assert env.reset(options={"deal": 17})[1]["deal"] == 17


def test_they_can_be_replaced() -> None:
    env = gym.make("FourSeasons-v0", deals=DEALS)
    env.reset(seed=SEED)
    env.unwrapped.set_deals([10_001])
    assert env.reset()[1]["deal"] == 10_001
    env.unwrapped.set_deals(None)
    assert env.reset()[1]["deal"] == training_deals(SEED, 3)[2]


def test_test_deals_can_be_allowed() -> None:
    env = gym.make("FourSeasons-v0", deals=[3], allow_test_deals=True)
    assert env.reset(seed=1)[1]["deal"] == 3
