"""Searches by nodes against brute force: `python -m tests.reference.nodes_differential`.

Every small game is decided by a search by nodes alone, with all nodes kept, and by a search in
plain Python that cuts nothing off. The first difference ends the run with the game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import tyro

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver.beam import SEARCHING, WON
from four_seasons_env.solver.frame import make_frame
from four_seasons_env.solver.nodes import NodeSearch
from four_seasons_env.solver.oracle import Oracle
from four_seasons_env.solver.planning import make_puzzle
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce
from tests.reference.comparison_table import print_comparison
from tests.reference.solver_differential import one_way_games


@dataclass
class NodesDifferential:
    """Compare searches by nodes with brute force."""

    deals: int = 200
    """Of each rule set."""
    first: int = 0
    """Number of the first, counted from the first training deal."""


def search_nodes(game: Game, width: int | None) -> tuple[int, NodeSearch]:
    """A search by nodes that has ended, and how."""
    record = game.record[0]
    frames = make_frame(record, game.rules)
    puzzle = make_puzzle(record, game.rules, frames)
    assert puzzle is not None
    oracle = Oracle(puzzle, game.rules, frames)
    search = NodeSearch(record, game.rules, frames, puzzle, oracle, width)
    status = SEARCHING
    while status == SEARCHING:
        status = search.go_on(10**9)
    return status, search


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in both ways; count them as won, lost and open (not all could be kept).

    Raises:
        AssertionError: for the first that is decided differently.
    """
    found: Counter[str] = Counter()
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        game = Game(rules, deck=deck)
        winnable = BruteForce(rules, deck).can_be_won()
        if game.is_won:
            continue
        status, search = search_nodes(game, None)
        if status == WON:
            for move in search.moves():
                game.play(move)
            assert game.is_won, (rules, deal)
        assert winnable or status != WON, (rules, deal)
        assert not (winnable and status != WON and search.is_complete), (rules, deal)
        found["won" if status == WON else "lost" if search.is_complete else "open"] += 1
    return found


def main(run: NodesDifferential) -> None:
    """Compare rule set after rule set."""
    first = TRAIN_FROM + run.first

    def count(rules: Rules) -> list[int]:
        found = compare(rules, range(first, first + run.deals))
        return [found["won"], found["lost"], found["open"], 0]

    print_comparison(("won", "lost", "open", "differences"), one_way_games(), count)


if __name__ == "__main__":
    main(tyro.cli(NodesDifferential, description=__doc__))
