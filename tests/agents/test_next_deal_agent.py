"""The player of `next_deal_ppo`: plays what its network chooses."""

from pathlib import Path

import numpy as np

from four_seasons_env import FourSeasonsNextDealEnv
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.rules import RULES
from tests.agents.fakes import candidate_card, candidate_weights


def test_player_plays_what_its_network_chooses(tmp_path: Path) -> None:
    weight = 3.0
    card = candidate_card(RULES["four-seasons"], seed=7)
    card.decisions["value_weight"] = weight
    save_policy(tmp_path, card, candidate_weights())
    agent = make_agent(f"next_deal_ppo:{tmp_path}")
    assert agent.train_seed == 7
    env = FourSeasonsNextDealEnv(candidates=10, expansions=20, ending_expansions=40)
    compared = differ = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 8):
        seen, info = env.reset(options={"deal": deal})
        done, rng = False, np.random.default_rng(0)
        while not done:
            game = env.game
            shown = (seen[name][None] for name in ("observation", "action_mask"))
            scores, values = (each[0] for each in agent.scores(*shown))
            action = int((scores + np.float32(weight) * np.maximum(values, -100)).argmax())
            differ += action != scores.argmax()
            seen, _, terminated, truncated, info = env.step(action)
            done = terminated or truncated
            for move in info["moves"]:
                mask = game.action_mask(distinct=True)[None]
                if game.stock_size > 1:
                    assert agent.act(game.record.copy(), mask, rng)[0] == move
                    compared += 1
                game.play(int(move))
    assert compared > 100
    assert differ > 0
