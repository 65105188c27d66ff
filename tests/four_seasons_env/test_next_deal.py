"""The next-deal environment: its candidates, the moves of an action, and hidden cards."""

import numpy as np
import pytest

from four_seasons_env import FourSeasonsNextDealEnv, Game
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.positions.enumeration import advice
from four_seasons_env.rules import RULES
from tests.helpers import canonical, deck_with, later, mostly_slow, small
from tests.reference.golden import FEATURES, all_features

SMALL = {"candidates": 12, "expansions": 20, "ending_expansions": 60}


def some_action(info: dict, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(info["action_mask"])))


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_each_game_replays_move_for_move(rules: str) -> None:
    rng = np.random.default_rng(1)
    for deal in range(4):
        env = FourSeasonsNextDealEnv(rules, endings=("search", "policy")[deal % 2], **SMALL)
        observation, info = env.reset(options={"deal": deal})
        game, done = Game(rules, deal=deal), False
        while not done:
            assert not observation["observation"][info["action_mask"] == 0].any()
            action = some_action(info, rng)
            announced = [int(move) for move in env.moves_of(action)]
            dealt, before = game.stock_size, game.cards_up
            observation, reward, terminated, truncated, info = env.step(action)
            assert list(info["moves"][: len(announced)]) == announced
            for number, move in enumerate(info["moves"]):
                is_known = game.stock_size <= 1 or game.redeals_left < game.rules.redeals
                assert number < len(announced) or is_known
                game.play(move)
            assert game == env.game
            won_more = (game.cards_up - before) / game.rules.cards + game.is_won
            assert reward == pytest.approx(won_more)
            done = terminated or truncated
            if dealt > 1 and not done and game.redeals_left == game.rules.redeals:
                assert game.stock_size < dealt  # one card a decision at least
        assert info["won"] == game.is_won
        assert info["cards_up"] == game.cards_up


@pytest.mark.compiled
def test_each_position_is_offered_once() -> None:
    """And the nearest ones first."""
    env = FourSeasonsNextDealEnv(candidates=3000, expansions=3000, order="breadth")
    rng = np.random.default_rng(2)
    compared = 0
    for deal in range(3):
        _, info = env.reset(options={"deal": deal})
        for _ in range(20):
            game = env.game
            if game.stock_size <= 1:
                break
            offered, depths = [], []
            for action in np.flatnonzero(info["action_mask"]):
                *path, last = env.moves_of(int(action))
                assert str(last) == "deal"
                offered.append(canonical(later(game, path)))
                depths.append(len(path))
            if len(offered) < 60:
                assert len(offered) == len(set(offered))
                assert set(offered) == {canonical(stop.game) for stop in game.stops()}
                compared += 1
            assert depths == sorted(depths)
            _, _, terminated, _, info = env.step(some_action(info, rng))
            if terminated:
                break
    assert compared > 20


def test_features_are_frozen() -> None:
    """Bundled networks are trained on them; `python -m tests.reference.golden` rewrites them."""
    assert all_features() == FEATURES.read_text()


def test_an_ace_leaves_the_waste_before_its_king() -> None:
    """Round the corner too, a card that the next can be packed on is no break of the sequence."""
    scores = []
    for lower in ("KS", "9S"):
        deck = deck_with(f"2S 8H 4S JD 6H AC {lower} AD")  # Aces are the base
        game = later(Game(deck=deck), ["deal", "deal"])
        scores.append(advice(game.record[0], compile_rules(game.rules)[0]))
    assert scores[0] - scores[1] == pytest.approx(0.5)


def test_reset_has_no_moves() -> None:
    env = FourSeasonsNextDealEnv()
    env.reset(seed=1)
    assert env.step(0)[-1]["moves"]
    assert env.reset()[1]["moves"] == ()


@pytest.mark.compiled
def test_opening_with_nothing_hidden() -> None:
    env = FourSeasonsNextDealEnv(small("corners-hoffmann", ranks=4, piles=11), endings="search")
    stays = 0
    for deal in range(8):
        _, info = env.reset(options={"deal": deal})
        assert len(env.game.stock) == 1
        if not env.game.is_over:
            stays += 1
            assert np.flatnonzero(info["action_mask"]).tolist() == [0]
            assert list(env.moves_of(0)) == []
    assert stays


@pytest.mark.compiled
def test_nothing_hidden_after_a_decision_that_dealt() -> None:
    env = FourSeasonsNextDealEnv()
    env.reset(seed=1)
    assert str(env.moves_of(0)[-1]) == "deal"
    game = Game(deal=2**32)
    while game.stock_size > 1:
        game.play("deal")
    env.reset(options={"game": game})
    assert list(env.moves_of(0)) == []
