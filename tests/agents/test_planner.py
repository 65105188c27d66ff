"""The planner: its features, its search, its self-play and its play."""

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.planner.best_stop import (
    SearchLimits,
    best_stop,
    new_evaluator,
    turn,
)
from four_seasons_env.agents.planner.lookahead import (
    CANDIDATES,
    add_world,
    drop_clearly_worse,
    new_lookahead_buffers,
)
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import GAME, compile_rules, nothing_hidden
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.game import Game
from four_seasons_env.positions.search import DEEPEST, may_stop, new_search, write_path
from four_seasons_env.rules import RULES
from tests.agents.policies import planner_card, value_network, value_weights
from tests.helpers import played_on, reachable

DEFAULT = RULES["four-seasons"]


def test_search_finds_all_positions():
    rule = compile_rules(DEFAULT)[0]
    search, evaluator = new_search(DEFAULT, 1000), new_evaluator(DEFAULT, value_network())
    path, larger = np.zeros(DEEPEST + 1, np.int64), 0
    for game in played_on(DEFAULT, 60, 150):
        if nothing_hidden(game.record[0], rule):
            continue
        best, count = best_stop(game.record[0], evaluator, search, 1000, 1000)
        if count == 1000:
            continue
        assert count == len(reachable(game))
        larger += count > 5
        stops = [row for row in range(count) if may_stop(search, row)]
        assert search.worths[best] == search.worths[stops].max()
        length = write_path(best, search.parents, search.moves, path)
        assert length <= search.depths[best]
        for move in path[:length].tolist():
            game.play(move)
        after = np.zeros(1, GAME)
        turn(search, best, rule, after)
        game.play("deal")
        after["moves"] = game.record["moves"]  # a shorter way may have been found since
        assert game == Game.from_record(after[0], DEFAULT)
    assert larger > 5


def test_a_look_ahead_drops_what_is_clearly_worse():
    """Luck that all share hides nothing; candidates within chance of the best stay."""
    worlds, rng = 64, np.random.default_rng(0)
    buffers = new_lookahead_buffers(DEFAULT, SearchLimits(2, 1, 2, 1))
    buffers.left[:] = np.arange(CANDIDATES)
    luck, noise = rng.random(worlds), rng.normal(0, 0.1, (5, worlds))
    # Worse, the best, within chance of it, worse by a constant, equal to the best.
    values = np.array([luck - 0.1, luck, luck - 0.01, luck - 0.001, luck])
    values[[0, 2]] += noise[[0, 2]]
    for world in values.T:
        buffers.values[:5] = world
        add_world(buffers, 5)
    left = buffers.left[: drop_clearly_worse(buffers, 5, worlds)]
    assert buffers.totals[:5] == pytest.approx(values.sum(axis=1))
    assert set(left.tolist()) == {1, 2, 4}


class HandOver:
    """The heuristic until few cards are hidden, then another agent."""

    mask = "distinct"

    def __init__(self, agent):
        self._first, self._then = make_agent("heuristic"), agent

    def act(self, games, masks, rng):
        moves = self._first.act(games, masks, rng)
        for i, game in enumerate(games):
            if game["deck_size"] - game["dealt"] <= 4:
                moves[i] = self._then.act(games[i : i + 1], masks[i : i + 1], rng)[0]
        return moves


@pytest.mark.slow
@pytest.mark.parametrize("how", [{"lookahead": 1}, {"votes": 4}])
def test_imagined_worlds_win_more(how):
    """The network knows nothing: a look ahead or a vote among the last cards finds more wins."""
    won = []
    for more in ({}, how):
        options = {"positions": 200, "candidates": 8, "worlds": 2, "votes": 0} | more
        agent = PlannerAgent(DEFAULT, planner_card(DEFAULT), value_weights(1), **options)
        results = play_deals(HandOver(agent), DEFAULT, range(TRAIN_FROM, TRAIN_FROM + 80))
        won.append(results["won"].sum())
    assert won[1] > won[0] > 0
