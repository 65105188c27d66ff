"""Solve one deal and print the game move by move: `python -m experiments.solve --deal 17`.

python -m experiments.solve --rules czarina --deal 17
python -m experiments.solve --deck "QH 3D ... 5D"
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

import tyro

from four_seasons_env.game import Game
from four_seasons_env.solver import shorten, solve


@dataclass
class Solve:
    """Solve one deal."""

    rules: str = "four-seasons"
    """Rule set by name."""
    deal: int | None = None
    """The deal's number; 0 unless a deck is given."""
    deck: str | None = None
    """The cards as text, first dealt first, instead of a number."""
    seconds: float = 60.0
    """Time at most."""
    seed: int = 0
    """Of the solver's chance."""


_VERDICTS = {
    "won": "won in {moves} moves",
    "lost": "lost: nobody can win it",
    "unknown": "open: neither a win nor a proof of loss was found",
}


def solve_and_print(run: Solve) -> None:
    """Print the opening, each move with the card that it moves, and the verdict."""
    game = Game(run.rules, deal=run.deal, deck=run.deck)
    print(game)
    solution = solve(game, seconds=run.seconds, seed=run.seed)
    moves = shorten(game, solution.moves)
    for number, move in enumerate(moves, 1):
        before = game.copy()
        game.play(move)
        print(f"{number:4}. {move!s:7} {_moved(before, str(move)):3} {game.cards_up:3} up")
    if moves:
        print(game)
    verdict = _VERDICTS[solution.status].format(moves=len(moves))
    print(f"{verdict} ({solution.positions:,} positions, {solution.seconds:.2f} s)")


def _moved(game: Game, move: str) -> str:
    """The card that a move takes off its place."""
    source = move.partition(">")[0]
    if source == "deal":
        return game.stock[0]
    if source == "redeal":
        return ""
    if source.startswith("F:"):
        return game.foundations[source[2:]][-1]
    return (game.waste if source == "W" else game.tableau[int(source[1:])])[-1]


def main() -> None:
    """Read the flags and run."""
    try:
        solve_and_print(tyro.cli(Annotated[Solve, tyro.conf.arg(name="")], description=__doc__))
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
