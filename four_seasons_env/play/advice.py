"""What agents and the solver say of a position, where agents can be imported."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules, nearest

SOLVER_SECONDS = 2.0
_AGENTS = "four_seasons_env.agents"
_FIRST, _LAST = "planner", "random"


@functools.cache
def _agents() -> Any:
    """The package of agents, or None where it cannot be used."""
    try:
        return importlib.import_module(_AGENTS)
    except ImportError:
        return None


@functools.cache
def advisers(rules: Rules) -> tuple[str, ...]:
    """The agents that can play a rule set here, the planner first."""
    package = _agents()
    if package is None:
        return ()
    able = []
    for name in package.AGENTS:
        try:
            _adviser(name, rules)
        except (ImportError, OSError, ValueError):
            continue
        able.append(name)
    return tuple(sorted(able, key=lambda name: (name == _LAST, name != _FIRST)))


@functools.lru_cache(maxsize=32)
def _adviser(name: str, rules: Rules) -> Any:
    return _agents().make_agent(name, rules)


@functools.lru_cache(maxsize=8)
def _judge(rules: Rules) -> Any:
    """The planner's judgement of positions, or None where there is none for a rule set."""
    package = _agents()
    if package is None:
        return None
    judge = importlib.import_module(f"{_AGENTS}.judge")
    try:
        return judge.Judge(rules) if judge.can_judge(rules) else None
    except ImportError:
        return None


def can_judge(rules: Rules) -> bool:
    """Whether there are chances of winning for a rule set."""
    return _judge(rules) is not None


def choose(name: str, game: Game, seed: int = 0) -> Move:
    """The move that an agent chooses; it sees a copy whose unseen stock has been reshuffled.

    Raises:
        ValueError: for an agent that cannot play these rules here, or a game that is over.
    """
    known = advisers(game.rules)
    if name not in known:
        raise ValueError(f"no agent {name!r} for {game.rules.name!r}: {nearest(name, known)}")
    if game.is_over:
        raise ValueError("the game is over: there is nothing to choose")
    agent = _adviser(name, game.rules)
    rng = np.random.default_rng([seed, game.moves_played])
    shown = game.record.copy()
    rule = kernel.compile_rules(game.rules)
    kernel.reshuffle_unseen_all(shown, rule, rng.integers(0, 2**63, 1, np.uint64))
    mask = game.action_mask(distinct=agent.mask == "distinct")[None]
    return all_moves(game.rules)[int(agent.act(shown, mask, rng)[0])]


def values(game: Game) -> dict[str, float]:
    """The planner's chance of winning after each move, by the move's text, the best first."""
    judge = _judge(game.rules)
    if judge is None:
        return {}
    moves = all_moves(game.rules)
    judged = {moves[number].text: value for number, value in judge.values(game).items()}
    return dict(sorted(judged.items(), key=lambda each: -each[1]))


def chance(game: Game) -> float | None:
    """The chance of winning, 0 to 1, as the planner judges it; None where it cannot."""
    judge = _judge(game.rules)
    found: float | None = None if judge is None else judge.chance(game)
    return found


def verdict(game: Game) -> str:
    """Whether the true deal can still be won from here: "won", "lost" or "unknown"."""
    from four_seasons_env.solver import solve

    return solve(game, seconds=SOLVER_SECONDS).status
