"""The agents are stronger than their baselines; tests/test_contract.py says what all promise."""

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.rules import RULES, Rules
from tests.agents.policies import move_card, move_weights
from tests.helpers import midgame, mostly_slow

DEFAULT = RULES["four-seasons"]


def network(rules: Rules = DEFAULT, deterministic: bool | None = None) -> NetworkAgent:
    return NetworkAgent(rules, move_card(rules), move_weights(), deterministic)


@pytest.mark.parametrize(
    "rules", mostly_slow(RULES.values(), ("czarina",)), ids=lambda rules: rules.name
)
def test_heuristic_beats_random(rules: Rules) -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 150)
    better, worse = (
        play_deals(make_agent(name, rules), rules, deals)["cards_up"]
        for name in ("heuristic", "random")
    )
    difference = better - worse
    assert difference.mean() > 3 * difference.std() / np.sqrt(len(deals))


def test_heuristic_beats_the_textbook() -> None:
    """1 in 10 on deals that it was not tuned on; three standard errors of 600 games are 0.04."""
    deals = range(TRAIN_FROM + 10**6, TRAIN_FROM + 10**6 + 600)
    played = play_deals(make_agent("heuristic"), DEFAULT, deals)
    assert played["won"].mean() > 0.1 + 0.04


@pytest.mark.slow
def test_rollouts_beat_their_base() -> None:
    """Paired over the same deals, by more than three standard errors."""
    deals = range(TRAIN_FROM, TRAIN_FROM + 120)
    guarded = {"mask": "no_repeats"}
    better = play_deals(make_agent("rollout@worlds=24,base=greedy"), DEFAULT, deals, **guarded)
    for name in ("heuristic", "greedy"):
        difference = better["won"] * 1.0 - play_deals(make_agent(name), DEFAULT, deals)["won"]
        if name == "greedy":
            assert difference.mean() > 3 * difference.std() / np.sqrt(len(deals))
        assert difference.mean() > 0


def test_bundled_weights_play() -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 200)
    played = play_deals(make_agent("maskable_ppo"), DEFAULT, deals)
    floor = play_deals(make_agent("random"), DEFAULT, deals)
    assert played["cards_up"].mean() > floor["cards_up"].mean() + 5


def test_greedy_play_takes_the_highest_score() -> None:
    games, masks = midgame(200, mask="distinct")
    greedy, drawn = (network(deterministic=each) for each in (True, False))
    best = greedy.scores(games, masks).argmax(axis=1)
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(greedy.act(games, masks, rng), best)
    moves = drawn.act(games, masks, rng)
    assert masks[np.arange(len(moves)), moves].all()
    assert 0 < (moves != best).mean() < 1
    assert not network().deterministic
