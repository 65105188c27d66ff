"""Episodes that begin in positions of one's own.

`test_contract.py` compares batches with single environments, in each autoreset mode, with copies
and with threads.
"""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env import FourSeasonsEnv, FourSeasonsVectorEnv, Game, Games
from four_seasons_env.engine.deals import CARD_TEXTS, TRAIN_FROM
from four_seasons_env.registration import NEXT_DEAL, TEXT
from four_seasons_env.rules import RULES
from tests.helpers import played_on, same, small

STARTS = list(played_on(RULES["four-seasons"], 6, 40, 20))
"""Positions of six training deals, some moves after the opening."""


def begun(env: Any, episodes: int, seed: int = 3) -> list[Game]:
    """The first positions of some episodes of a single environment."""
    seeds = [seed] + [None] * (episodes - 1)
    return [env.reset(seed=each) and env.unwrapped.game for each in seeds]


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", NEXT_DEAL, TEXT])
@pytest.mark.parametrize("given", [STARTS, Games.of(STARTS)], ids=["list", "Games"])
def test_each_episode_begins_in_a_start(env_id: str, given: Any) -> None:
    env = gym.make(env_id, starts=given)
    games = begun(env, 30)
    assert {game.key() for game in games} == {game.key() for game in STARTS}
    assert {game.deal for game in games} == {-1}
    assert begun(env, 30) == games != begun(env, 30, seed=4)
    assert env.reset(options={"deal": 17})[1]["deal"] == 17


@pytest.mark.compiled
def test_a_share_begins_in_starts() -> None:
    env = FourSeasonsVectorEnv(10_000, deals=range(10_000, 20_000))
    for share, least, most in ((0.3, 0.28, 0.32), (0, 0, 0), (1.0, 1, 1)):
        env.set_starts(STARTS, share=share)
        deals = env.reset(seed=1)[1]["deal"]
        assert least <= (deals == -1).mean() <= most
        assert len(set(deals[deals >= 0])) >= 0.6 * (deals >= 0).sum()  # 1 - 1/e, if uniform
    env.set_starts(None)
    assert same(
        env.reset(seed=1)[1],
        FourSeasonsVectorEnv(10_000, deals=range(10_000, 20_000)).reset(seed=1)[1],
    )


def test_half_of_some_episodes_begin_in_starts() -> None:
    env = FourSeasonsEnv()
    env.set_starts(STARTS, share=0.5)
    kinds = [game.deal >= TRAIN_FROM for game in begun(env, 40)]
    assert 8 < sum(kinds) < 32


def test_unseen_cards_are_reshuffled_or_kept() -> None:
    env = FourSeasonsEnv()
    env.set_starts(STARTS[:1])
    games = begun(env, 20)
    assert len({tuple(game.stock) for game in games}) == 20
    assert all(game.unseen == STARTS[0].unseen for game in games)
    env.set_starts(STARTS[:1], reshuffle=False)
    assert begun(env, 2) == STARTS[:1] * 2
    assert env.reset()[1]["deal"] == TRAIN_FROM


def test_cards_that_were_seen_stay() -> None:
    """After a redeal the whole stock is known."""
    game = Game(small("czarina").replace(redeals=1), deal=TRAIN_FROM)
    while game.stock_size:
        game.play("deal")
    game.play("redeal")
    (again,) = begun(FourSeasonsEnv(game.rules, starts=[game]), 1)
    assert again.stock == game.stock


@pytest.mark.compiled
def test_orders_come_as_a_player_must_expect_them() -> None:
    """The bases of these rules lay behind the other cards of their suits."""
    game = Game("pysolfc/corners", deal=TRAIN_FROM + 3)
    while game.stock_size > 5:  # then 4 clubs and a spade are left
        game.play("deal")
    env = FourSeasonsVectorEnv(10_000, game.rules, starts=[game])
    env.reset(seed=1)
    turned = env.games["deck"][:, game.record["dealt"][0]]
    found = np.bincount(turned, minlength=52) / len(turned)
    for card, probability, _ in game.outcomes("deal"):
        sigma = np.sqrt(probability * (1 - probability) / len(turned))
        assert abs(found[CARD_TEXTS.index(card)] - probability) < 4 * sigma


def test_an_episode_counts_from_its_start() -> None:
    env = FourSeasonsEnv(mask="no_repeats", starts=STARTS, max_moves=3)
    for seed in range(20):
        mask = env.reset(seed=seed)[1]["action_mask"]
        assert same(mask, env.game.action_mask(distinct=True))
        ends = [env.step(int(env.action_masks().argmax()))[2:4] for _ in range(3)]
        assert ends == [(False, False)] * 2 + [(False, True)]
