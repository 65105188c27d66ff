"""The search agents on small games: what they choose where the right choice is known."""

import numpy as np

from four_seasons_env.agents.names import make_agent
from four_seasons_env.game import Game
from four_seasons_env.solver import fair_value
from tests.helpers import random_games, small


def test_rollouts_improve_on_the_heuristic() -> None:
    """By the exact value of the moves in which they differ; see `fair_value`."""
    rules = small("four-seasons", ranks=5, piles=1)
    found_records, found_masks = [], []
    for games in random_games(rules, 200, 40):
        records, every = games.records, games.action_masks(distinct=True)
        hidden = records["deck_size"].astype(int) - records["dealt"]
        chosen = (hidden > 1) & (hidden < 8) & (every.sum(axis=1) > 1)
        found_records.append(records[chosen])
        found_masks.append(every[chosen])
    positions, legal = np.concatenate(found_records), np.concatenate(found_masks)
    before = positions.copy()
    own, found = (
        make_agent(name, rules).act(positions, legal, np.random.default_rng(1))
        for name in ("heuristic", "rollout@worlds=16")
    )
    assert (positions == before).all()
    gains = []
    for number in np.flatnonzero(own != found)[:60]:
        game = Game.from_record(positions[number], rules)
        better, worse = (fair_value(game, int(move[number])).value for move in (found, own))
        gains.append(better - worse)
    assert len(gains) > 20
    assert np.mean(gains) > 0
    assert min(gains) > -0.05
