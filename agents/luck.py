"""The luck of a game: how much better the turned cards were than the average card.

Let W be any fixed function of public information. When a card is turned, its luck is W of the
position that follows, less the mean of W over all cards that could have come. For a player who does
not know the next card, the luck of each turned card has mean zero, whatever W is. So
``won - luck`` has the same mean as ``won``, and less variance the better W is. A player who has
more luck than its variance allows knows more than public information. docs/explanation/luck.md
explains the method and names its sources.

`list_turns` lists the turned cards of a game, and the position after each card that could have
come. `measure` computes the luck by any W. `LuckMeter` uses the bundled W: the planner's value of
the best position that a narrow search finds.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.planner.search import SearchLimits, new_evaluator, reach_or_win
from four_seasons_env.agents.planner.weights import AGENT, bundled_network
from four_seasons_env.agents.policy_files import WEIGHTS_FILE
from four_seasons_env.agents.schemas import Digest, Positive, Share, read_json
from four_seasons_env.agents.search.determinization import hide_unseen
from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    BASE_PER_SUIT,
    GAME,
    play,
    stock_is_known,
    stock_size,
)
from four_seasons_env.next_deal.reach import NOT_YET, WON, new_search
from four_seasons_env.rules import RULES, Rules, nearest

OPENINGS = Path(__file__).with_name("luck.json")
"""The mean of W over openings, for each rule set that has a W."""

STEEP = 4
"""W to this power is close to a weak player's chance of winning."""

_LIMITS = SearchLimits(positions=50, expansions=20, ending_positions=1000, ending_expansions=500)
_NAME = "planner 50/20"
"""Of W, in results. Another search needs another name, and `luck.json` must be measured again."""

_MOST_TURNS = 52
_MOST_ROWS = _MOST_TURNS * (_MOST_TURNS + 1) // 2

Worth = Callable[[NDArray[Any]], NDArray[np.float64]]
"""W: maps positions, GAME (n,), to numbers, (n,). The positions have their unseen cards sorted and
no deal number, so it sees public information only."""


class Turns(NamedTuple):
    """The cards turned in a game, and the positions that the other unseen cards would give."""

    moves: NDArray[np.int64]  # (turns,) index of the move that turned the card
    cards: NDArray[np.uint8]  # (turns,) the card that came
    came: NDArray[np.int64]  # (turns,) its row in `positions`
    starts: NDArray[np.int64]  # (turns,) first row of each turn; the rows end where the next start
    chances: NDArray[np.float64]  # (rows,) of the card that leads there
    positions: NDArray[Any]  # GAME (rows,) after each card that could have come


class Luck(NamedTuple):
    """The luck of each card turned in a game, in units of W: wins, if W is a chance to win."""

    moves: NDArray[np.int64]  # (turns,) index of the move that turned the card
    cards: NDArray[np.uint8]  # (turns,) the card that came
    values: NDArray[np.float64]  # (turns,) W after it
    means: NDArray[np.float64]  # (turns,) mean of W over the cards that could have come
    variances: NDArray[np.float64]  # (turns,) variance of W over them
    steep: NDArray[np.float64]  # (turns,) luck by W to the power of `STEEP`

    @property
    def by_card(self) -> NDArray[np.float64]:
        """The luck of each card, float64 (turns,)."""
        return self.values - self.means

    @property
    def total(self) -> float:
        """The luck of all turned cards."""
        return float(self.by_card.sum())

    @property
    def variance(self) -> float:
        """The variance of `total` for a player who does not know the next card."""
        return float(self.variances.sum())


# --- the cards that could have come -----------------------------------------------------------


def list_turns(start: NDArray[Any], rules: Rules, moves: Sequence[int]) -> Turns:
    """List the hidden cards that a game turns, and the position after each card that could come.

    A card is hidden until it is turned for the first time: a stock that a redeal has made of the
    waste is known, and has no luck. A move turns one hidden card at most.

    Args:
        start: GAME (1,), the first position; it is not changed.
        rules: the rule set.
        moves: legal moves by their numbers.
    """
    rule = kernel.compile_rules(rules)
    turns = Turns(
        np.zeros(_MOST_TURNS, np.int64),
        np.zeros(_MOST_TURNS, np.uint8),
        np.zeros(_MOST_TURNS, np.int64),
        np.zeros(_MOST_TURNS, np.int64),
        np.zeros(_MOST_ROWS, np.float64),
        np.zeros(_MOST_ROWS, GAME),
    )
    numbers = np.asarray(moves, np.int64)
    count, rows = _list_turns(start.copy(), rule, numbers, _suffix_weights(rules), turns)
    return Turns(
        turns.moves[:count],
        turns.cards[:count],
        turns.came[:count],
        turns.starts[:count],
        turns.chances[:rows],
        turns.positions[:rows],
    )


@jit
def _list_turns(game, rules, moves, weights, turns):
    """`list_turns` into arrays with room; returns the numbers of turns and of rows.

    Args:
        game: GAME (1,), the first position; changed.
        weights: of `_suffix_weights`.
        turns: `Turns`; written.
    """
    rule, before = rules[0], game.copy()
    count = rows = 0
    for i in range(len(moves)):
        before[0] = game[0]
        play(game[0], rule, moves[i])
        is_redeal = stock_size(before[0]) == 0
        if game[0].dealt == before[0].dealt or is_redeal or stock_is_known(before[0], rule):
            continue
        card = before[0].deck[before[0].dealt]
        turns.moves[count] = i
        turns.cards[count] = card
        turns.starts[count] = rows
        before[0].deal = -1
        hide_unseen(before[0], rule)
        _write_chances(before[0], rule, weights, turns.chances[rows:])
        first = np.int64(before[0].dealt)
        for k in range(first, np.int64(before[0].deck_size)):
            turns.positions[rows] = before[0]
            after = turns.positions[rows]
            after.deck[first], after.deck[k] = after.deck[k], after.deck[first]
            if after.deck[first] == card:
                turns.came[count] = rows
            play(after, rule, moves[i])
            hide_unseen(after, rule)
            rows += 1
        count += 1
    return count, rows


@jit
def _write_chances(g, rule, weights, chances):
    """Write the chance of each unseen card, in the order of the sorted stock, to come next."""
    unseen = stock_size(g)
    stock = g.deck[g.dealt : g.deck_size]
    if rule.base_from != BASE_PER_SUIT:
        chances[:unseen] = 1 / unseen
        return
    counts = np.zeros(4, np.int64)
    for card in stock:
        counts[card & 3] += 1
    c, s, h, d = counts
    for i in range(unseen):
        suit = stock[i] & 3
        later = weights[c - (suit == 0), s - (suit == 1), h - (suit == 2), d - (suit == 3)]
        share = later * _new_suit(counts, suit) / weights[c, s, h, d]
        chances[i] = share / counts[suit]


@jit
def _new_suit(counts, suit):
    """The weight of a card of this suit in front of a stock that makes up ``counts`` with it.

    Counted from the end of the stock, it is 1 unless the card is the first of its suit.
    """
    if counts[suit] > 1:
        return 1.0
    return np.float64(counts.sum() + (counts > 0).sum() - 1)


@functools.cache
def _suffix_weights(rules: Rules) -> NDArray[np.float64]:
    """How many decks give a stock of each number of cards in each suit; float64 (n, n, n, n).

    It matters for openings with a base per suit only, where the orders of the stock are not equally
    likely. There the bases are the last cards of their suits in the deck. Put them back into the
    stock: each goes behind the last card of its suit. Counted from the end, the i-th new suit (from
    1), which has j cards behind it, leaves j + i places for its base. An order's weight is the
    product of these numbers, and the table has their sums over all orders of the suits.
    """
    if rules.base_from != "one_per_suit":
        return np.ones((1, 1, 1, 1))
    weights = np.ones((rules.ranks,) * 4)
    _sum_weights(weights)
    return weights


@jit
def _sum_weights(weights):
    counts = np.zeros(4, np.int64)
    size = len(weights)
    for number in range(1, size**4):
        rest = number
        for suit in range(3, -1, -1):
            counts[suit] = rest % size
            rest //= size
        c, s, h, d = counts
        total = 0.0
        for suit in range(4):
            if counts[suit]:
                later = weights[c - (suit == 0), s - (suit == 1), h - (suit == 2), d - (suit == 3)]
                total += later * _new_suit(counts, suit)
        weights[c, s, h, d] = total


# --- luck -------------------------------------------------------------------------------------


def measure(start: NDArray[Any], rules: Rules, moves: Sequence[int], worth: Worth) -> Luck:
    """The luck of each card turned in a game.

    Args:
        start: GAME (1,), the first position.
        rules: the rule set.
        moves: legal moves by their numbers.
        worth: W.
    """
    turns = list_turns(start, rules, moves)
    if not len(turns.moves):
        nothing = np.zeros(0)
        return Luck(turns.moves, turns.cards, nothing, nothing, nothing, nothing)
    worths = worth(turns.positions)
    powers = worths**STEEP
    sums = functools.partial(np.add.reduceat, indices=turns.starts)
    means = sums(turns.chances * worths)
    # Around the mean of each turn, so that equal worths give no variance at all.
    apart = worths - np.repeat(means, np.diff(turns.starts, append=len(worths)))
    variances = sums(turns.chances * apart**2)
    steep = powers[turns.came] - sums(turns.chances * powers)
    return Luck(turns.moves, turns.cards, worths[turns.came], means, variances, steep)


@dataclass(frozen=True)
class OpeningMean:
    """The mean of W over the openings of training deals: an entry of `luck.json`."""

    worth: str
    """Name of W, without the digest."""
    digest: Digest
    """SHA-256 of the network's weights."""
    mean: Share
    deals: Positive
    """How many deals it is the mean of."""


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
        self._rules, self._rule = rules, kernel.compile_rules(rules)
        self._evaluator = new_evaluator(rules, bundled_network(rules))
        self._search = new_search(rules, max(_LIMITS.positions, _LIMITS.ending_positions))
        self.digest = hashlib.sha256((folder / WEIGHTS_FILE).read_bytes()).hexdigest()
        self.name = f"{_NAME}, {self.digest[:8]}"

    def worth(self, games: NDArray[Any]) -> NDArray[np.float64]:
        """W of positions, GAME (n,); the order of their unseen cards does not matter."""
        values = np.zeros(len(games))
        _worth_all(games, self._evaluator, self._search, _LIMITS, values)
        return values

    def measure(self, start: NDArray[Any], moves: Sequence[int]) -> Luck:
        """The luck of each card turned in a game; see `measure`."""
        return measure(start, self._rules, moves, self.worth)

    def opening(self, start: NDArray[Any]) -> float:
        """The luck of an opening, GAME (1,): its W less the mean over training deals.

        Raises:
            ValueError: if the mean was measured with another W.
        """
        found = read_means().get(self._rules.name)
        if found is None or (found.worth, found.digest) != (_NAME, self.digest):
            raise ValueError(
                f"{OPENINGS.name} has no mean of {self.name!r} for {self._rules.name!r}: run "
                "python experiments/studies/opening_luck.py"
            )
        return float(self.worth(start)[0]) - found.mean

    def mean_opening(self, deals: Sequence[int]) -> OpeningMean:
        """The mean of W over the openings of these deals."""
        games = np.zeros(len(deals), GAME)
        kernel.start_all(games, self._rule, np.asarray(deals, np.int64))
        return OpeningMean(_NAME, self.digest, float(self.worth(games).mean()), len(deals))


@functools.cache
def read_means() -> dict[str, OpeningMean]:
    """The entries of `luck.json`, by the names of the rule sets."""
    return read_json(OPENINGS, dict[str, OpeningMean])


@jit
def _worth_all(games, evaluator, search, limits, values):
    for i in range(len(games)):
        g = games[i : i + 1].copy()
        hide_unseen(g[0], evaluator.rule)
        values[i] = _worth(g[0], evaluator, search, limits)


@jit
def _worth(g, evaluator, search, limits):
    """W of a position after `hide_unseen`."""
    best, over = reach_or_win(g, evaluator, search, limits)
    if search.values[best] == WON:
        return 1.0
    state = search.state[0]
    all_found = state.waiting == 0 and state.count < state.most
    if over or (search.turns[best] == NOT_YET and all_found):
        return 0.0
    return np.float64(search.values[best])
