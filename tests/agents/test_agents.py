"""The agents are stronger than their baselines; tests/test_contract.py has what all promise."""

import numpy as np
import pytest

from four_seasons_env.agents import AGENTS, Agent, make_agent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.names import make_to_play
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.games import Games
from four_seasons_env.rules import RULES, Rules
from tests.agents.fakes import move_card, move_weights, planner_card, value_weights
from tests.helpers import midgame, mostly_slow

DEFAULT = RULES["four-seasons"]


def network(rules: Rules = DEFAULT, deterministic: bool = False) -> NetworkAgent:
    return NetworkAgent(rules, move_card(rules), move_weights(), deterministic)


STRONGER = {
    "greedy": "random",
    "first_candidate": "greedy",
    "finisher": "heuristic",
    "maskable_ppo": "heuristic",
    "next_deal_ppo": "heuristic",
    "planner@positions=50,expansions=25,ending_positions=1000": "heuristic",
}
"""Agents as they come, with the weights of the package, and another that they win more than."""


def check_better(one: str, other: str, rules: Rules, column: str) -> None:
    """Paired over the same deals, by more than three standard errors."""
    deals = range(TRAIN_FROM, TRAIN_FROM + 150)
    better, worse = (
        play_deals(make_agent(name, rules), rules, deals, mask="no_repeats")[column].astype(float)
        for name in (one, other)
    )
    difference = better - worse
    assert difference.mean() > 3 * difference.std() / np.sqrt(len(deals))


@pytest.mark.parametrize("name", mostly_slow(STRONGER, ("finisher", "maskable_ppo")))
def test_wins_more_than_another(name: str) -> None:
    check_better(name, STRONGER[name], DEFAULT, "won")


@pytest.mark.parametrize(
    "rules", mostly_slow(RULES.values(), ("czarina",)), ids=lambda rules: rules.name
)
def test_heuristic_beats_random(rules: Rules) -> None:
    check_better("heuristic", "random", rules, "cards_up")


def test_heuristic_beats_the_textbook() -> None:
    """1 in 10 on deals that it was not tuned on; three standard errors of 600 games are 0.04."""
    deals = range(TRAIN_FROM + 10**6, TRAIN_FROM + 10**6 + 600)
    played = play_deals(make_agent("heuristic"), DEFAULT, deals)
    assert played["won"].mean() > 0.1 + 0.04


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


def test_with_one_expansion_each_move_is_decided_anew():
    def planner() -> PlannerAgent:
        return PlannerAgent(DEFAULT, planner_card(DEFAULT), value_weights(1), expansions=1, votes=0)

    kept, rng, games = planner(), np.random.default_rng(0), Games(DEFAULT, 20)
    for _ in range(12):
        masks = games.action_masks(distinct=True)
        moves, anew = (each.act(games.records.copy(), masks, rng) for each in (kept, planner()))
        assert moves.tolist() == anew.tolist()
        games.play(moves)


IMAGINE = ("planner", "rollout")
"""Agents that choose their best move by worlds which they imagine by chance."""


@pytest.mark.parametrize("prefix", ["", "finisher@base="])
@pytest.mark.parametrize("name", sorted(AGENTS.keys() - {*IMAGINE, "finisher"}))
def test_only_what_says_so_draws_its_moves(name: str, prefix: str) -> None:
    """The same positions, and other random numbers; a new agent, because some keep their plans."""
    games, masks = (each[:40] for each in midgame(60, mask="distinct"))
    plays = make_agent(prefix + name).plays
    assert plays == make_agent(name).plays
    for play in plays:
        agents = [make_to_play(prefix + name, DEFAULT, play) for _ in "ab"]
        one, other = (
            agent.act(games.copy(), masks, np.random.default_rng(seed)).tolist()
            for seed, agent in enumerate(agents)
        )
        assert (one == other) == (play == "deterministic")


class HandOver(Agent):
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
