"""Decisions of agents: their moves up to the next hidden card."""

from __future__ import annotations

import numpy as np

from four_seasons_env.agents.registry import Agent
from four_seasons_env.engine.kernel import compile_rules, reshuffle_unseen_all
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.game import Game

_MOST_MOVES = 200


def play_to_next_card(agent: Agent, game: Game, rng: np.random.Generator) -> Move | None:
    """Let an agent play until it chooses a move that turns a card of the stock.

    Args:
        game: is played on, up to that move.
        rng: of the agent, and of the order in which it is shown the unseen cards.

    Returns:
        The move, which is not played; None if the game ends before.
    """
    for _ in range(_MOST_MOVES):
        mask = game.action_mask(distinct=agent.mask == "distinct")
        if game.is_over:
            return None
        shown = game.record.copy()
        seed = rng.integers(0, 2**63, 1, dtype=np.uint64)
        reshuffle_unseen_all(shown, compile_rules(game.rules), seed)
        move = all_moves(game.rules)[int(agent.act(shown, mask[None], rng)[0])]
        after = game.copy()
        after.play(move)
        if after.stock_size < game.stock_size:
            return move
        game.play(move)
    return None
