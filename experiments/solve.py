"""Solve one deal and print the game move by move.

    python -m experiments.solve --rules czarina --deal 17
    python -m experiments.solve --deck "QH 3D ... 5D"

The same as `python -m four_seasons_env solve`.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.command_line import run_command
from four_seasons_env.commands.solve import print_solution


@dataclass
class Solve:
    """Solve one deal."""

    rules: str = "four-seasons"
    """Rule set."""
    deal: int | None = None
    """Number of the deal; 0 unless a deck is given."""
    deck: str | None = None
    """The cards as text, first dealt first, instead of a number."""
    seconds: float = 60.0
    """Time limit."""
    seed: int = 0
    """Seed of the solver's chance."""


def solve_and_print(run: Solve) -> None:
    """Print the opening, each move with the card that it moves, and the verdict."""
    if not run.seconds > 0:
        raise ValueError(f"the solver gets more than 0 seconds, not {run.seconds:g}")
    print_solution(run.rules, run.deal, run.deck, run.seconds, run.seed)


def main() -> None:
    """Run the command."""
    run_command(solve_and_print, Solve, __doc__)


if __name__ == "__main__":
    main()
