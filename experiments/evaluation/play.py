"""Play an agent over many deals in lockstep, fairly: it never sees the true order of the stock."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents.registry import Agent
from four_seasons_env.agents.search.determinization import hide_unseen
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.episodes.batch import MAX_MOVES
from four_seasons_env.experiments.evaluation.repeats import RepeatGuard
from four_seasons_env.rules import Rules

Watch = Callable[[NDArray[np.int64], NDArray[np.int64]], None]
"""Gets the games that are still played, by their places in the list of deals, and their moves."""


_SEALED = "sealed:"


def sealed_count(deals: str) -> int | None:
    """How many deals a text such as "sealed:2000" asks for; None if it names its deals.

    Raises:
        ValueError: if what follows the colon is no number from 1 on.
    """
    if not deals.startswith(_SEALED):
        return None
    count = deals.removeprefix(_SEALED)
    if not (count.isdecimal() and int(count)):
        raise ValueError(f"sealed deals are given as 'sealed:2000', not {deals!r}")
    return int(count)


def sealed_deals(count: int) -> tuple[int, ...]:
    """Numbers of deals that nobody can have prepared for: 63 bits of the system's entropy each.

    They rise, and are none of the test and validation deals.
    """
    drawn: set[int] = set()
    while len(drawn) < count:
        drawn.add(TRAIN_FROM + secrets.randbelow(2**63 - TRAIN_FROM))
    return tuple(sorted(drawn))


def play_deals(
    agent: Agent,
    rules: Rules,
    deals: Sequence[int] | NDArray[np.int64],
    seed: int = 0,
    max_moves: int = MAX_MOVES,
    forbid_repeats: bool = False,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """Play each deal once, all of them side by side.

    At every move the agent gets copies of the games without the deal's number, in which the unseen
    stock has been sorted and then shuffled: neither the copies, nor the masks, nor the random
    numbers tell its order. An opening of a public deal can still be looked up, which deals drawn
    afterwards (`sealed_deals`) prevent, and an agent of the same process can read that process's
    memory, which nothing here prevents.

    Args:
        agent: the player.
        rules: the rule set.
        deals: the deals' numbers.
        seed: of the agent's chance and of the reshuffles; the same seed and deals give the same
            games.
        max_moves: moves until a game is given up.
        forbid_repeats: forbid moves back to earlier positions
            (`four_seasons_env.experiments.evaluation.repeats`).
        watch: called with what is played at every turn.

    Returns:
        A row a deal: deal, won, cards_up, moves, seconds (the agent's share of time for it).

    Raises:
        RuntimeError: if the agent plays an illegal move.
    """
    numbers = np.asarray(deals, np.int64)
    games = np.zeros(len(numbers), kernel.GAME)
    kernel.start_all(games, kernel.compile_rules(rules), numbers)
    return play_records(agent, rules, games, seed, max_moves, forbid_repeats, watch)


def play_records(
    agent: Agent,
    rules: Rules,
    games: NDArray[Any],
    seed: int = 0,
    max_moves: int = MAX_MOVES,
    forbid_repeats: bool = False,
    watch: Watch | None = None,
) -> pd.DataFrame:
    """`play_deals` from any positions: GAME records, which are played to their ends in place."""
    rule = kernel.compile_rules(rules)
    rng = _nameless_rng([seed, int(games["deal"][0]) if len(games) else 0])
    seconds = np.zeros(len(games))
    alive = np.arange(len(games))
    words, masks = kernel.new_masks(len(games), rules)
    distinct = agent.mask == "distinct"
    guard = RepeatGuard(len(games), rule, max_moves) if forbid_repeats else None

    for _ in range(max_moves + 1):
        shown = games[alive]
        legal = masks[: len(alive)]
        goes_on = np.zeros(len(alive), np.bool_)
        kernel.legal_all(shown, rule, distinct, words[: len(alive)], goes_on)
        if not goes_on.all():
            alive, shown, legal = alive[goes_on], shown[goes_on], legal[goes_on]
        if not len(alive) or _ == max_moves:
            break
        shown["deal"] = -1
        _hide_unseen_all(shown, rule)
        kernel.reshuffle_unseen_all(shown, rule, rng.integers(0, 2**63, len(alive), np.uint64))
        if guard is not None:
            guard.forbid(shown, alive, legal)
        started = time.perf_counter()
        actions = np.asarray(agent.act(shown, legal.copy(), rng), np.int64)
        seconds[alive] += (time.perf_counter() - started) / len(alive)
        _check(agent, actions, legal, rules)
        if guard is not None:
            guard.played(alive, actions)
        if watch is not None:
            watch(alive, actions)
        playing = games[alive]
        kernel.play_all(playing, rule, actions)
        games[alive] = playing

    return pd.DataFrame(
        {
            "deal": games["deal"],
            "won": games["cards_up"] == rules.cards,
            "cards_up": games["cards_up"].astype(np.int64),
            "moves": games["moves"].astype(np.int64),
            "seconds": seconds,
        }
    )


def _nameless_rng(seed: list[int]) -> np.random.Generator:
    """The generator of a seed, without the seed: the deal's number is part of it."""
    bits = np.random.PCG64(0)
    bits.state = np.random.PCG64(seed).state
    return np.random.Generator(bits)


@jit
def _hide_unseen_all(games: NDArray[Any], rules: NDArray[Any]) -> None:
    """`hide_unseen` for each game, so that who undoes a shuffle finds the cards in order."""
    for i in range(len(games)):
        hide_unseen(games[i], rules[0])


def _check(agent: Agent, actions: NDArray[np.int64], masks: NDArray[Any], rules: Rules) -> None:
    """Refuse an agent that breaks the rules."""
    if actions.shape != (len(masks),):
        raise RuntimeError(
            f"{type(agent).__name__} answered {len(masks)} games with moves of shape "
            f"{actions.shape}"
        )
    legal = (actions >= 0) & (actions < masks.shape[1])
    legal[legal] = masks[np.flatnonzero(legal), actions[legal]] == 1
    if not legal.all():
        action = int(actions[~legal][0])
        moves = all_moves(rules)
        text = moves[action] if 0 <= action < len(moves) else action
        raise RuntimeError(f"{type(agent).__name__} played {text}, which is not legal there")
