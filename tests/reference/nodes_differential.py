"""Searches by nodes against brute force: `python -m tests.reference.nodes_differential`.

Every small game is decided by a search by nodes alone, with all nodes kept; by one that begins with
exchanges (`exchange_search`); and by a search in plain Python that cuts
nothing off. The first difference ends the run with the game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import tyro

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver.beam import SEARCHING, WON
from four_seasons_env.solver.exchange_search import ExchangeSearch
from four_seasons_env.solver.frame import make_frame
from four_seasons_env.solver.node_values import make_puzzle
from four_seasons_env.solver.nodes import NodeSearch, Root
from four_seasons_env.solver.oracle import Oracle
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce
from tests.reference.comparison_table import print_comparison
from tests.reference.solver_differential import one_way_games

KINDS = ("won", "lost", "open", "with exchanges", "apart")


def search_nodes(game: Game, width: int | None) -> tuple[int, NodeSearch]:
    """A search by nodes that has ended, and how."""
    search = NodeSearch(_root(game), width)
    status = SEARCHING
    while status == SEARCHING:
        status = search.go_on(10**9)
    return status, search


def search_exchanges(
    game: Game, width: int | None = None, spell: int = 10**9
) -> tuple[int, ExchangeSearch]:
    """A search with exchanges that has ended, and how.

    Args:
        spell: steps of the first spell; each later one is twice as long.
    """
    search = ExchangeSearch(_root(game), width)
    status, steps = SEARCHING, 0
    while status == SEARCHING:
        status = search.go_on(10**9)
        steps += 1
        if steps == spell:
            search.end_spell()
            spell, steps = 2 * spell, 0
    return status, search


def _root(game: Game) -> Root:
    record, rules = game.record[0], game.rules
    frames = make_frame(record, rules)
    puzzle = make_puzzle(record, rules, frames)
    assert puzzle is not None
    return Root(record, rules, frames, puzzle, Oracle(puzzle, rules, frames))


def _check(winnable: bool, game: Game, moves: Iterable[Move] | None, where: object) -> None:
    """Compare an answer: moves that win, or None for a loss."""
    assert winnable == (moves is not None), where
    replay = game.copy()
    for move in moves or ():
        replay.play(move)
    assert replay.is_won == winnable, where


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in all ways; count them as won, lost and open (not all could be kept).

    Counted are also those decided `with exchanges`, and of these the ones with cards set `apart`.

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
        is_decided = status == WON or search.is_complete
        if is_decided:
            _check(winnable, game, search.moves() if status == WON else None, (rules, deal))
        found["open" if not is_decided else "won" if winnable else "lost"] += 1
        status, easier = search_exchanges(game)
        if status == WON or easier.is_complete:
            _check(winnable, game, easier.moves() if status == WON else None, (rules, deal))
            found["with exchanges"] += 1
            found["apart"] += len(easier.apart) > 0
    return found


def main(deals: int = 200, first: int = TRAIN_FROM) -> None:
    """Compare rule set after rule set.

    Args:
        deals: deals of each rule set.
        first: number of the first deal.
    """

    def count(rules: Rules) -> list[int]:
        found = compare(rules, range(first, first + deals))
        return [*(found[kind] for kind in KINDS), 0]

    print_comparison((*KINDS, "differences"), one_way_games(), count)


if __name__ == "__main__":
    tyro.cli(main)
