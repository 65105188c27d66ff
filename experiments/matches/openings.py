"""All openings of a small game, up to the names of suits and ranks.

If bases are alike (`wrap="linear"`), a game stays the same when all ranks are shifted and its suits
are exchanged; if packing looks at colours, only exchanges of black with red and within a colour
count. So the tableau alone describes an opening, with ranks counted from the base card, suits from
its suit, and the other suits without names. All sets of cards are equally likely for a tableau.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, islice, permutations
from typing import Any

import numpy as np

from four_seasons_env.engine.cards import deck_text
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules

Opening = tuple[int, ...]
"""Cards of the tableau in rising order; the base card is card 0."""


def check_rules(rules: Rules) -> None:
    """Refuse rules under which the cards of the tableau do not describe an opening.

    Raises:
        ValueError: naming the field, and the value that it must have.
    """
    needed = {"wrap": "linear", "opening": "fixed", "base_from": "sixth", "first_waste": 0}
    needed |= {"reserve": False, "spaces": "optional"}
    for field, value in needed.items():
        if getattr(rules, field) != value:
            raise ValueError(
                f"{rules.name}: the optimum is computed where {field} is {value!r}, not "
                f"{getattr(rules, field)!r}, as then all openings can be listed"
            )


def _named(cards: Iterable[int], rules: Rules) -> Opening:
    """An opening with the first of all possible names of its suits."""
    cards = list(cards)
    others = ((2, 3), (3, 2)) if rules.build == "alternate_colour" else permutations((1, 2, 3))
    return min(
        tuple(sorted(card & ~3 | names[card & 3] for card in cards))
        for each in others
        for names in [(0, 1, *each) if len(each) == 2 else (0, *each)]
    )


def openings(rules: Rules, draws: int | None = None) -> dict[Opening, int]:
    """Openings in rising order, and the number of sets of cards that each stands for.

    Args:
        rules: the game.
        draws: use this number of sets of cards, drawn at random and always the same. By default,
            and if there are not more different openings, use all sets.
    """
    every = list(combinations(range(1, rules.cards), rules.piles))
    counts = Counter(_named(cards, rules) for cards in every)
    if draws is not None and draws < len(counts):
        drawn = np.random.default_rng(0).permutation(len(every))[:draws]
        counts = Counter(_named(every[number], rules) for number in drawn)
    return dict(sorted(counts.items()))


def opening_of(record: Any, rules: Rules) -> Opening:
    """The opening of a GAME record, as `openings` names it."""
    base = int(record["deck"][rules.piles])
    return _named(
        (
            4 * (((int(card) >> 2) - (base >> 2)) % rules.ranks) + ((int(card) ^ base) & 3)
            for card in record["deck"][: rules.piles]
        ),
        rules,
    )


def deals_with(
    wanted: Iterable[Opening], rules: Rules, deals: Sequence[int], most: int
) -> tuple[int, ...]:
    """The first deals that have one of these openings, at most ``most`` of them."""
    chosen = set(wanted)
    has = (deal for deal in deals if opening_of(Game(rules, deal).record[0], rules) in chosen)
    return tuple(islice(has, most))


def game_of(opening: Opening, rules: Rules) -> Game:
    """A game at an opening; the order of its stock does not matter."""
    rest = [card for card in range(1, rules.cards) if card not in opening]
    return Game(rules, deck=deck_text((*opening, 0, *rest)))
