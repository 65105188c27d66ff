"""The luck of a game: how much better the turned cards were than the average card.

Let W be any fixed function of public information. When a card is turned, its luck is W of the
position that follows, less the mean of W over all cards that could have come. For a player who does
not know the next card, the luck of each turned card has mean zero, whatever W is. So
``won - luck`` has the same mean as ``won``, and less variance the better W is: luck is a control
variate. W does not need to be calibrated. For example, a queen is turned, and W is 0.6 after her;
over the 30 cards that could have come, the mean of W is 0.5. Then the luck of this card is +0.1. A
player who has more luck than its variance allows knows more than public
information. docs/explanation/luck.md explains the method and names its sources.

`game_luck` computes the luck by any W. `LuckMeter` uses the bundled W: the planner's value of the
best position that a narrow search finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.names import bundled_weights
from four_seasons_env.agents.planner.best_stop import AGENT, NARROW, best_stop_or_win, read_planner
from four_seasons_env.arguments import nearest
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import sort_unseen
from four_seasons_env.engine.moves import Move
from four_seasons_env.engine.validation import check_games
from four_seasons_env.game import Game
from four_seasons_env.positions.search import WON, may_stop
from four_seasons_env.rules import RULES, Rules

_NAME = f"planner {NARROW.positions}/{NARROW.expansions}"
"""Name of W in results."""

Worth = Callable[[NDArray[Any]], NDArray[np.float64]]
"""W: maps positions, GAME (n,), to numbers, (n,), by public information only."""


class Luck(NamedTuple):
    """The luck of all cards turned in a game, in units of W: wins, if W is a chance to win."""

    total: float
    variance: float  # of the total, for a player who does not know the next card


def game_luck(start: Game, moves: Iterable[Move | str | int], worth: Worth) -> Luck:
    """The luck of a game.

    Args:
        start: the first position.
        moves: legal moves.
        worth: W.

    Examples:
        >>> def worth(games):  # the rank of the waste's top card, 0 to 12
        ...     return games["top"][:, -1] / 4 // 1
        >>> game_luck(game, ["T4>T1", "deal"], worth)
        Luck(total=-1.93..., variance=13.84...)
    """
    game, total, variance = start.copy(), 0.0, 0.0
    for move in moves:
        outcomes = game.outcomes(move)
        if len(outcomes) > 1:  # the move turns a hidden card
            # What each card is worth, less the mean: of mean zero for who does not know the card.
            worths = worth(np.concatenate([each.game.record for each in outcomes]))
            chances = np.array([each.probability for each in outcomes])
            apart = worths - chances @ worths
            turned = [each.card for each in outcomes].index(game.stock[0])
            total += float(apart[turned])
            variance += float(chances @ apart**2)
        game.play(move)
    return Luck(total, variance)


class LuckMeter:
    """Luck by the bundled W: the planner's value of the best position that a narrow search finds.

    W of a position in which the player knows every card is 1 or 0: whether a search finds a win.

    Args:
        rules: the rule set.

    Attributes:
        name: of W, with the digest of the network's weights; two results with the same name have
            been adjusted by the same W.

    Raises:
        FileNotFoundError: for a rule set without a network, naming those that have one.
    """

    def __init__(self, rules: Rules) -> None:
        folder = bundled_weights(AGENT, rules.name)
        if not folder.is_dir():
            have = [name for name in RULES if bundled_weights(AGENT, name).is_dir()]
            raise FileNotFoundError(
                f"the luck of {rules.name!r} cannot be measured, because there is no planner for "
                f"it: {nearest(rules.name, have)}"
            )
        self._rules = rules
        card, self._evaluator = read_planner(folder, rules)
        self._search = NARROW.new_search(rules)
        self.name = f"{_NAME}, {card.sha256[:8]}"

    def worth(self, games: NDArray[Any]) -> NDArray[np.float64]:
        """W of positions, GAME (n,); the order of their unseen cards does not matter.

        Raises:
            InvalidGame: if one is not a position of the rule set.
        """
        check_games(games, self._rules)
        # A copy, because the search sorts unseen cards in place.
        sorted_games = games.copy()
        values: NDArray[np.float64] = worth_all(sorted_games, self._evaluator, self._search, NARROW)
        return values

    def measure(self, start: Game, moves: Iterable[Move | str | int]) -> Luck:
        """The luck of a game; see `game_luck`."""
        return game_luck(start, moves, self.worth)


@jit
def worth_all(games, evaluator, search, limits):
    """The value of the best position that a search finds from each game: GAME (n,), float64 (n,).

    Args:
        games: positions, which are not checked here (`LuckMeter.worth` does); their unseen cards
            are sorted in place, so their order does not matter.
        evaluator: `four_seasons_env.agents.planner.best_stop.Evaluator`.
        search: buffers with room for the largest search of the limits.
        limits: `four_seasons_env.agents.planner.best_stop.SearchLimits`.
    """
    values = np.zeros(len(games))
    for i in range(len(games)):
        sort_unseen(games[i], evaluator.rule)
        best, over = best_stop_or_win(games[i], evaluator, search, limits)
        state = search.state[0]
        # Lost: nothing is hidden, or the search is complete and no card can be turned.
        is_complete = state.waiting == 0 and state.count < state.room
        if search.values[best] == WON:
            values[i] = 1
        elif not (over or (is_complete and not may_stop(search, best))):
            values[i] = search.values[best]
    return values
