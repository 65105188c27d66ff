"""Votes over imagined worlds, play once nothing is hidden, and the agent `pimc`."""

from collections.abc import Callable

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.agents.search.pimc import PimcAgent
from four_seasons_env.agents.search.plans import Plans
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import compile_rules, public_copy
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, Rules

DEFAULT = RULES["four-seasons"]


def late_games(rules: Rules, until: Callable[[Game], bool], count: int) -> list[Game]:
    """Unfinished games that the heuristic has played until a condition holds."""
    heuristic, rng = HeuristicAgent(rules), np.random.default_rng(0)
    found = []
    deal = TRAIN_FROM
    while len(found) < count:
        game = Game(rules, deal=deal)
        while not (game.is_over or until(game)):
            game.play(int(heuristic.act(game.record.copy(), masks_of(game), rng)[0]))
        if not game.is_over:
            found.append(game)
        deal += 1
    return found


def masks_of(game: Game) -> np.ndarray:
    return game.action_mask(distinct=True)[None]


@pytest.mark.slow
def test_finisher_wins_more_than_its_base():
    deals = range(TRAIN_FROM, TRAIN_FROM + 30)
    base = play_deals(make_agent("heuristic"), DEFAULT, deals, seed=0)
    finisher = play_deals(make_agent("finisher"), DEFAULT, deals, seed=0)
    assert (finisher["won"] >= base["won"]).all()
    assert finisher["won"].sum() > base["won"].sum()
    random = make_agent("finisher@base=random")
    assert random.mask == make_agent("random").mask
    assert play_deals(random, DEFAULT, deals, seed=0)["won"].mean() < base["won"].mean()
    with pytest.raises(ValueError, match="unknown agent 'heuristics'"):
        make_agent("finisher@base=heuristics")


def test_plans_depend_on_the_base():
    """King of spades on the table, one card hidden: Queen if Aces are the base, Ace if Twos are."""
    plans = Plans(DEFAULT, 0)
    game = Game(DEFAULT, deal=TRAIN_FROM)
    other = game.record.copy()
    other["base"] = (other["base"] + 1) % 13
    plans[game.record[0]] = 3
    assert game.record[0] in plans
    assert other[0] not in plans


def test_order_of_unseen_stock_changes_no_vote():
    agent = PimcAgent(DEFAULT, worlds=2, width=3)
    for hidden in (40, 20, 6, 2):
        for game in late_games(DEFAULT, lambda game, hidden=hidden: game.stock_size <= hidden, 4):
            moves = set()
            for seed in range(3):
                record = public_copy(
                    game.record, compile_rules(DEFAULT), np.array([seed], np.uint64)
                )
                agent._plans.clear()
                rng = np.random.default_rng(0)
                moves.add(int(agent.act(record, masks_of(game), rng)[0]))
            assert len(moves) == 1
