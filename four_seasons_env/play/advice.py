"""Judgements of agents and the solver about a position; they need their extras."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from four_seasons_env.agents import AGENTS, Agent, make_agent
from four_seasons_env.agents.agent import AnswerError, as_actions, blamed
from four_seasons_env.agents.planner import chances
from four_seasons_env.arguments import nearest
from four_seasons_env.engine import kernel
from four_seasons_env.engine.masks import mask_after
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

SOLVER_SECONDS = 2.0
_FIRST, _LAST = "planner", "random"
_RULE_SETS = 32
"""Rule sets whose agents are kept, with their plans: anyone may ask for any rule set."""


@functools.lru_cache(_RULE_SETS)
def advisers(rules: Rules, custom: str = "") -> tuple[str, ...]:
    """The agents that can play a rule set with the installed extras.

    Args:
        rules: the rule set.
        custom: the name of another agent, which comes first; then the planner, and `random` last.
    """
    able = []
    for name in dict.fromkeys(filter(None, (custom, *AGENTS))):
        try:
            _adviser(name, rules)
        except (ImportError, OSError, RuntimeError, ValueError):
            continue
        able.append(name)
    return tuple(sorted(able, key=lambda name: (name != custom, name == _LAST, name != _FIRST)))


def _adviser(name: str, rules: Rules) -> Agent:
    agents = _agents(rules)
    if name not in agents:
        agents[name] = make_agent(name, rules)
    return agents[name]


@functools.lru_cache(_RULE_SETS)
def _agents(rules: Rules) -> dict[str, Agent]:
    """The agents that have been made for a rule set, by name."""
    return {}


@functools.lru_cache(_RULE_SETS)
def _judge(rules: Rules) -> chances.Judge | None:
    """The planner's judgement of positions, or None for rule sets where it is biased."""
    return chances.Judge(rules) if chances.can_judge(rules) else None


def can_judge(rules: Rules) -> bool:
    """Whether chances of winning can be computed for a rule set."""
    return _judge(rules) is not None


def new_moves(game: Game, past: Iterable[tuple[Game, Move]] = ()) -> list[Move]:
    """The moves that the mask `no_repeats` has in a position.

    Args:
        game: the position.
        past: the earlier positions, each with the move that was played there.
    """
    past = list(past)
    start = past[0][0] if past else game
    mask = mask_after(start.record, game.rules, [move for _, move in past])
    return [all_moves(game.rules)[number] for number in np.flatnonzero(mask)]


def choose(
    name: str, game: Game, past: Iterable[tuple[Game, Move]] = (), custom: str = ""
) -> Move | None:
    """The move that an agent chooses among `new_moves`; None if there are none.

    >>> choose("greedy", Game(deal=17)).text
    'T3>T0'

    Args:
        name: one of `advisers`. It sees a public copy of the position (`Game.reshuffled`).
        game: the position.
        past: see `new_moves`.
        custom: see `advisers`.

    Raises:
        ValueError: for an agent that cannot play these rules here, or a game that is over.
        RuntimeError: for an agent that fails, or an answer that the mask leaves out.
    """
    known = advisers(game.rules, custom)
    if name not in known:
        raise ValueError(f"unknown agent {name!r} for {game.rules.name!r}: {nearest(name, known)}")
    if game.is_over:
        raise ValueError("the game is over: there is nothing to choose")
    # 1. The mask.
    moves = all_moves(game.rules)
    mask = np.zeros((1, len(moves)), np.int8)
    mask[0, [move.number for move in new_moves(game, past)]] = 1
    if not mask.any():
        return None
    # 2. The answer, the same each time for a position: hidden cards stay hidden from the agent.
    rng = np.random.default_rng([0, game.moves_played])
    shown = game.reshuffled(rng).record.copy()
    agent = _adviser(name, game.rules)
    with blamed(name):
        answer = agent.act(shown, mask.copy(), rng)
    # 3. The agent may be anybody's, so its answer is checked.
    number = int(as_actions(answer, 1, name)[0])
    if number not in np.flatnonzero(mask):
        raise AnswerError(f"{name} must choose by the masks, not move {number}")
    return moves[number]


def is_lost(game: Game) -> bool:
    """Whether nothing is hidden and the solver proves that the game can no longer be won."""
    rule = kernel.compile_rules(game.rules)[0]
    return bool(kernel.nothing_hidden(game.record[0], rule)) and verdict(game) == "lost"


def values(game: Game) -> dict[str, float]:
    """The chance that the planner wins after each move, by the move's text, the best first."""
    judge = _judge(game.rules)
    if judge is None:
        return {}
    moves = all_moves(game.rules)
    judged = {moves[number].text: value for number, value in judge.values(game).items()}
    return dict(sorted(judged.items(), key=lambda each: -each[1]))


def chance(game: Game) -> float | None:
    """The chance that the planner wins from here, 0 to 1; None where it is unknown."""
    judge = _judge(game.rules)
    if judge is None:
        return None
    chance = judge.chance(game)
    # The planner asks the solver for a short time only, and is_lost for longer.
    return 0.0 if chance is None and is_lost(game) else chance


def verdict(game: Game) -> str:
    """Whether the true deal can still be won from here: "won", "lost" or "unknown"."""
    return solve(game, seconds=SOLVER_SECONDS).status
