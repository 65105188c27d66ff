"""The search agents on small games: their decisions against a slow model of their description."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.scripted.heuristic import choose_move, new_buffers, read_weights
from four_seasons_env.agents.search import rollout
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, NONE
from four_seasons_env.agents.search.rollout import RolloutAgent
from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules, sort_unseen
from four_seasons_env.game import Game
from four_seasons_env.positions.enumeration import ADVICE, find_win
from four_seasons_env.positions.search import WON, new_search
from four_seasons_env.rules import Rules
from tests.helpers import small

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


@jit
def find(games, rules, expansions, search):
    best = find_win(games[0], rules[0], ADVICE, 2 * expansions, expansions, search)
    return search.values[best] == WON


@dataclass
class SlowRollout:
    """`RolloutAgent` as its docstrings describe it."""

    rules: Rules
    worlds: int
    candidates: int
    base: str
    expansions: int = 0

    def decide(self, record: Any, mask: np.ndarray, seed: int) -> int:
        """The move in a position after `sort_unseen`."""
        moves = liked(record, mask, self.rules)[: self.candidates]
        results: dict[int, list[float]] = {move: [] for move in moves}
        for number in range(self.worlds):
            if number == (self.worlds + 1) // 2:
                gains = {move: self.gain(results, moves[0], move) for move in moves}
                moves = [move for move in moves if move == moves[0] or sum(gains[move]) > 0]
            if len(moves) == 1:
                break
            world = record.copy()
            determinize(world, compile_rules(self.rules)[0], np.uint64(seed + number), number)
            for move in moves:
                game = Game.from_record(world, self.rules)
                game.play(move)
                results[move].append(self.play_out(game))
        best = moves[0]
        for move in moves[1:]:
            gain = np.array(self.gain(results, moves[0], move))
            error = gain.std() / np.sqrt(self.worlds)
            ahead = gain.sum() > sum(self.gain(results, moves[0], best))
            if gain.mean() > error and ahead:
                best = move
        return best

    def gain(self, results: dict[int, list[float]], own: int, move: int) -> list[float]:
        return [a - b for a, b in zip(results[move], results[own], strict=True)]

    def finds_win(self, game: Game) -> bool:
        search = new_search(self.rules, 2 * self.expansions)
        return bool(find(game.record.copy(), compile_rules(self.rules), self.expansions, search))

    def play_out(self, game: Game) -> float:
        player, rng = make_agent(self.base, self.rules), np.random.default_rng(0)
        for _ in range(400):
            if game.is_over:
                break
            if self.expansions and len(game.stock) <= 1:
                won = self.finds_win(game)
                return won + 0.02 * game.cards_up / self.rules.cards
            mask = game.action_mask(distinct=True)[None]
            game.play(int(player.act(game.record.copy(), mask, rng)[0]))
        return game.is_won + 0.02 * game.cards_up / self.rules.cards


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


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
@pytest.mark.parametrize(
    "options",
    [
        (6, 3, "greedy"),
        (2, 4, "heuristic"),
        pytest.param((2, 3, "greedy", 3), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_rollout_decides_as_described(rules: Rules, options: Any) -> None:
    agent, model = RolloutAgent(rules, *options), SlowRollout(rules, *options)
    changed = 0
    games = midgame(rules, 8)
    records = np.concatenate([game.record for game in games])
    masks = np.stack([game.action_mask(distinct=True) for game in games])
    found = agent.act(records.copy(), masks, np.random.default_rng(4))
    seeds = np.random.default_rng(4).integers(0, 2**63, len(games), np.uint64)
    for record, mask, seed, move in zip(records, masks, seeds, found, strict=True):
        sort_unseen(record, compile_rules(rules)[0])
        assert move == model.decide(record, mask, int(seed))
        changed += move != liked(record, mask, rules)[0]
    assert changed or options != (6, 3, "greedy")


@pytest.mark.parametrize("expansions", [0, pytest.param(7, marks=pytest.mark.slow)])
def test_searches_plan_the_ending(monkeypatch, expansions: int) -> None:
    planned: list[tuple[Rules, int]] = []

    class Planned:
        def __init__(self, rules: Rules, positions: int) -> None:
            planned.append((rules, positions))

        def endings(self, games: np.ndarray) -> np.ndarray:
            return np.array([11, *[NONE] * (len(games) - 1)])

    monkeypatch.setattr(rollout, "Plans", Planned)
    rules = RULES[0]
    games = midgame(rules, 3)
    records = np.concatenate([game.record for game in games])
    masks = np.stack([game.action_mask(distinct=True) for game in games])
    agent = RolloutAgent(rules, worlds=1, moves=1, expansions=expansions)
    expected = [liked(*each, rules)[0] for each in zip(records, masks, strict=True)]
    if expansions:
        expected[0] = 11
        assert planned == [(rules, ENDING_POSITIONS)]
    assert agent.act(records.copy(), masks, np.random.default_rng(0)).tolist() == expected
