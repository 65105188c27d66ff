"""The search agents on small games: what they choose where the right choice is known."""

from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.scripted.heuristic import choose_move, new_buffers, read_weights
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import fair_value
from tests.helpers import random_games, small

RULES = [small("four-seasons", ranks=4, piles=2), small("czarina", ranks=5, piles=3)]


@jit
def gains_of(games, rules, mask, weights, buffers):
    return choose_move(games[0], rules[0], mask, weights, buffers)


def liked(game: Any, mask: np.ndarray, rules: Rules) -> list[int]:
    """The legal moves of a record: the heuristic's own, then the others by its gains."""
    buffers = new_buffers(rules)
    games = np.array([game])
    own = int(gains_of(games, compile_rules(rules), mask, read_weights(), buffers))
    others = [move for move in np.flatnonzero(mask).tolist() if move != own]
    return [own, *sorted(others, key=lambda move: -buffers.gains[move])]


def midgame(rules: Rules, count: int) -> list[Game]:
    """Positions with more than one legal move."""
    games, rng = [], np.random.default_rng(0)
    for number in range(count):
        game = Game(rules, deal=TRAIN_FROM + number)
        for _ in range(2 + number):
            if not game.is_over:
                game.play(int(rng.choice(np.flatnonzero(game.action_mask(distinct=True)))))
        if game.action_mask(distinct=True).sum() > 1:
            games.append(game)
    return games


@pytest.mark.parametrize("options", ["worlds=16", "worlds=16,base=greedy"])
def test_rollouts_improve_on_the_heuristic(options: str) -> None:
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
    own, found = (
        make_agent(name, rules).act(positions.copy(), legal, np.random.default_rng(1))
        for name in ("heuristic", f"rollout@{options}")
    )
    gains = []
    for number in np.flatnonzero(own != found)[:60]:
        game = Game.from_record(positions[number], rules)
        better, worse = (fair_value(game, int(move[number])).value for move in (found, own))
        gains.append(better - worse)
    assert len(gains) > 20
    assert np.mean(gains) > 0
    assert min(gains) > -0.05
