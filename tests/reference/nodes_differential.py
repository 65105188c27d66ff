"""Searches by nodes against brute force on small games.

Every small game is decided by a search by nodes alone, with all nodes kept; by one that begins with
exchanges (`exchange_search`); and by a search in plain Python that cuts nothing off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver.exchange_search import ExchangeSearch
from four_seasons_env.solver.nodes import NodeSearch
from four_seasons_env.solver.protocol import SEARCHING, UNDECIDED, WON, Root, Search
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce


def search_nodes(game: Game, width: int | None) -> tuple[int, NodeSearch]:
    """How a search by nodes ends, and the search."""
    search = NodeSearch(Root(game.record[0], game.rules), width)
    return run(search), search


def search_exchanges(
    game: Game, width: int | None = None, calls: int | None = None
) -> tuple[int, ExchangeSearch]:
    """How a search with exchanges ends, and the search.

    Args:
        calls: of `go_on`, after which a new search is begun with twice as many. None: no limit.
    """
    root = Root(game.record[0], game.rules)
    while True:
        search = ExchangeSearch(root, width)
        status = run(search, calls)
        if status != SEARCHING:
            return status, search
        assert calls
        calls *= 2


def run(search: Search, calls: int | None = None) -> int:
    """The status of a search at its end, or after so many calls."""
    done, status = 0, SEARCHING
    while status == SEARCHING and done != calls:
        status = search.go_on()
        done += 1
    return status


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
        is_decided = status != UNDECIDED
        if is_decided:
            _check(winnable, game, search.moves() if status == WON else None, (rules, deal))
        found["open" if not is_decided else "won" if winnable else "lost"] += 1
        status, easier = search_exchanges(game)
        if status != UNDECIDED:
            _check(winnable, game, easier.moves() if status == WON else None, (rules, deal))
            found["with exchanges"] += 1
            found["apart"] += len(easier.apart) > 0
    return found
