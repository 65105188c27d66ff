"""Solve one deal and print the game move by move: `four-seasons solve --deal 17`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from four_seasons_env.engine.deals import check_seed
from four_seasons_env.engine.moves import STOCK, Move
from four_seasons_env.game import Game
from four_seasons_env.rendering.places import cards_at, ends
from four_seasons_env.solver.search import solve
from four_seasons_env.solver.shorten import shorten

_VERDICTS = {
    "won": "won in {moves} moves",
    "lost": "lost: nobody can win it",
    "unknown": "open: neither a win nor a proof of loss was found",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Solve a deal; print the opening, each move with the card that it moves, and the verdict.

    Raises:
        ValueError: for a wrong flag, an unknown rule set, or an invalid deck.
    """
    options = _parser().parse_args(arguments)
    if not options.seconds > 0:
        raise ValueError(f"--seconds must be more than 0, not {options.seconds:g}")
    check_seed(options.seed)
    game = Game(options.rules, deal=options.deal, deck=options.deck)
    print(game)
    solution = solve(game, seconds=options.seconds, seed=options.seed)
    moves = shorten(game, solution.moves)
    for number, move in enumerate(moves, 1):
        before = game.copy()
        game.play(move)
        print(f"{number:4}. {move!s:7} {_moved(before, move):3} {game.cards_up:3} up")
    if moves:
        print(game)
    verdict = _VERDICTS[solution.status].format(moves=len(moves))
    print(f"{verdict} ({solution.positions:,} positions, {solution.seconds:.2f} s)")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("four-seasons solve", description=__doc__)
    parser.add_argument(
        "--rules", default="four-seasons", help="rule set, such as 'czarina(piles=4)'"
    )
    parser.add_argument("--deal", type=int, help="number of the deal (default: 0)")
    parser.add_argument("--deck", help="the cards, first dealt first, instead of a number")
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="time limit (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the solver's random choices (default: %(default)s)",
    )
    return parser


def _moved(game: Game, move: Move) -> str:
    """The card that a move takes from its place; none if the waste is turned over."""
    if move.turns:
        return "" if move.target == STOCK else game.stock[0]
    return cards_at(game, ends(game, move)[0])[-1]
