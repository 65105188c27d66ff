"""The player of `next_deal_ppo`: finishes its games, and plays what its network chooses."""

from pathlib import Path

import numpy as np
import pytest

from four_seasons_env import FourSeasonsNextDealEnv
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.rules import RULES
from tests.agents.policies import candidate_card, candidate_weights


def untrained(rules: str, folder: Path, endings: str = "search") -> Path:
    save_policy(folder, candidate_card(RULES[rules], endings, seed=7), candidate_weights())
    return folder


@pytest.mark.parametrize("rules", ["pysolfc/florentine", "simplicity"])
def test_player_finishes_its_games(rules: str, tmp_path: Path) -> None:
    path = untrained(rules, tmp_path / "p", "policy")
    deals = range(TRAIN_FROM, TRAIN_FROM + 6)
    for deterministic in (True, False):
        agent = make_agent(f"next_deal_ppo:{path}", rules, deterministic=deterministic)
        played = play_deals(
            agent, RULES[rules], deals, mask="no_repeats" if deterministic else None
        )
        assert (played["moves"] > 0).all()
        again = make_agent(f"next_deal_ppo:{path}", rules, deterministic=deterministic)
        twice = play_deals(again, RULES[rules], deals, mask="no_repeats" if deterministic else None)
        assert played.drop(columns="seconds").equals(twice.drop(columns="seconds"))
    assert agent.train_seed == 7


def test_player_plays_what_its_network_chooses(tmp_path: Path) -> None:
    weight = 3.0
    path = untrained("four-seasons", tmp_path / "p")
    agent = make_agent(f"next_deal_ppo:{path}@value_weight={weight}")
    env = FourSeasonsNextDealEnv(candidates=10, expansions=20, ending_expansions=40)
    compared = differ = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 8):
        _, info = env.reset(options={"deal": deal})
        done, rng = False, np.random.default_rng(0)
        while not done:
            game = env.game
            scores, values = (each[0] for each in agent.scores(game.record.copy()))
            action = int((scores + np.float32(weight) * np.maximum(values, -100)).argmax())
            differ += action != scores.argmax()
            _, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            for move in info["moves"]:
                mask = game.action_mask(distinct=True)[None]
                if game.stock_size > 1:
                    assert agent.act(game.record.copy(), mask, rng)[0] == move
                    compared += 1
                game.play(int(move))
    assert compared > 100
    assert differ > 0
