"""The formula of the relaxed game against brute force and against games that were won.

The formula and a complete search in plain Python decide every small game. The formula must not call
a game lost that can be won, and the play that wins it must satisfy every clause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from four_seasons_env.engine.deals import card_code
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import sat, solve
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, Root
from tests.helpers import numbered_deck
from tests.reference.brute_force import BruteForce
from tests.reference.solver_differential import UNHURRIED


def calls_lost(game: Game) -> bool:
    """Whether the formula of a position cannot be satisfied."""
    search = sat.FormulaSearch(Root(game.record[0], game.rules))
    while (status := search.go_on()) == SEARCHING:
        pass
    return status == LOST


def satisfies(game: Game, moves: Sequence[object]) -> bool:
    """Whether the order in which a play moves the cards satisfies the formula of its start."""
    from pysat.solvers import Glucose4

    root = Root(game.record[0], game.rules)
    place = root.frames[0]["place"]
    formula = sat.Formula(root)
    left, up = _times(game, moves)
    cards = {int(place[card_code(card)]): card for card in {**left, **up}}
    passing = [cards[place] for place in formula.passing.tolist()]
    facts = []
    for i, card in enumerate(passing):
        facts.append((formula.direct[i], left[card] == up[card]))
        for k, other in enumerate(passing):
            facts.append((formula.before[i, k], left[card] < left[other]))
        for x, literals in enumerate(formula.up):
            facts.append((literals[i], x not in cards or up[cards[x]] < left[card]))
    with Glucose4() as solver:
        for block in formula.clauses.blocks:
            solver.append_formula(block.tolist())
        return bool(solver.solve([int(lit) if holds else -int(lit) for lit, holds in facts]))


def _times(game: Game, moves: Sequence[object]) -> tuple[dict[str, float], dict[str, int]]:
    """The times at which each card leaves the waste and goes up: numbers of the moves of a win.

    If a move turns a card over and a refill takes it to the tableau, the card leaves with that
    move, after the cards that the move itself takes.
    """
    game = game.copy()
    left: dict[str, float] = {}
    up: dict[str, int] = {}
    before = _lying(game)
    for time_, move in enumerate(moves):
        game.play(move)
        after = _lying(game)
        gone = [card for card in before if before[card] != after.get(card)]
        for card in gone:
            if card not in after:
                up[card] = time_
            if before[card] != "tableau":
                if card not in after:
                    left[card] = time_
                elif after[card] == "tableau":
                    moved = str(move).startswith("W>") and before[card] == "waste top"
                    left[card] = time_ if moved else time_ + 0.5
        before = after
    return left, up


def _lying(game: Game) -> dict[str, str]:
    """The place of each card that is not up."""
    places = {card: "tableau" for pile in game.tableau for card in pile}
    places |= dict.fromkeys(game.stock, "stock")
    places |= dict.fromkeys(game.waste, "waste")
    if game.waste:
        places[game.waste[-1]] = "waste top"
    return places


def compare(rules: Rules, deals: Iterable[int]) -> Counter[str]:
    """Decide deals in both ways; count them as won, lost (by both) and missed (lost, no proof).

    Raises:
        AssertionError: for a game that can be won, if the formula calls it lost or the winning play
            does not satisfy it.
    """
    found: Counter[str] = Counter()
    for deal in deals:
        deck = numbered_deck(deal, rules.ranks)
        game = Game(rules, deck=deck)
        lost = calls_lost(game)
        winnable = BruteForce(rules, deck).can_be_won()
        assert not (lost and winnable), (rules, deal)
        if winnable and (solution := solve(game, seconds=UNHURRIED)).moves:
            assert satisfies(game, solution.moves), (rules, deal)
        found["won" if winnable else "lost" if lost else "missed"] += 1
    return found
