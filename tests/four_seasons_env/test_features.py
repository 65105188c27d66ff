"""The score of a position, computed from what `Game` shows."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from four_seasons_env.engine.deals import card_code
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.solver.analysis.features import FEATURES, WIDE_WEIGHTS, score_position
from four_seasons_env.solver.analysis.relaxation import next_cards
from four_seasons_env.solver.analysis.root import make_frame
from tests.helpers import played_on, small


def needed(cards: set[int], hosts: set[int], game: Game) -> int:
    """Cards less the largest matching of cards to hosts."""
    record = game.record[0]
    accepts = compile_rules(game.rules)[0]["accepts"][record["base"][0]]
    if not cards or not hosts:
        return len(cards)
    fits = [[int(accepts[host]) >> card & 1 for host in sorted(hosts)] for card in sorted(cards)]
    matched = linear_sum_assignment(fits, maximize=True)
    return len(cards) - int(np.array(fits)[matched].sum())


def features_of(game: Game) -> dict[str, float]:
    """The features of a position as their names say, from what `Game` shows."""
    record, ranks = game.record[0], game.rules.ranks
    place = {
        card: ((card >> 2) - int(record["base"][card & 3])) % ranks for card in range(4 * ranks)
    }
    waste = [card_code(card) for card in reversed(game.waste)]  # the top first
    piles = [[card_code(card) for card in pile] for pile in game.tableau if pile]
    up = {card_code(card) for pile in game.foundations.values() for card in pile}
    tableau = {card for pile in piles for card in pile}
    stock = {card_code(card) for card in game.stock}
    one_way = not game.redeals_left and not game.rules.worrying_back
    ready = {card for card in place if place[card] == int(record["level"][card & 3])}

    def never_up(reached: set[int]) -> set[int]:
        """Cards that are not up, with one below them in their suit that cannot be reached."""
        barred = set(place) - up - reached
        return {
            card
            for card in set(place) - up
            if any(each & 3 == card & 3 and place[each] <= place[card] for each in barred)
        }

    reached = up | tableau | stock
    never, lying, parked = never_up(reached), set(tableau), 0
    worst = needed(tableau, tableau, game)
    for card in waste:
        lying.add(card)
        if card in never and not any(
            each & 3 == card & 3 and place[each] < place[card] for each in never
        ):
            never = never_up(reached | {card})
        else:
            parked += 1
            worst = max(worst, needed(lying & never, reached - up, game))
        reached = reached | {card}
    above = [(card, below) for i, below in enumerate(waste) for card in waste[:i]]
    wait = dict.fromkeys(place, 0)
    for number, card in enumerate(map(card_code, game.stock), 1):
        for each, at in place.items():
            if each & 3 == card & 3 and at >= place[card] and one_way:
                wait[each] = number

    def longest(cards: list[int]) -> list[int]:
        """For each of these cards, how long the cards before it wait."""
        return [max([0, *(wait[each] for each in cards[:i])]) for i in range(len(cards))]

    def late(cards: list[int]) -> int:
        return sum(wait[card] < other for card, other in zip(cards, longest(cards), strict=True))

    higher = [(card, below) for card, below in above if place[card] > place[below]]
    return {
        "waste": len(waste),
        "piles": len(piles),
        "up": len(up),
        "above_next": sum(waste.index(card) for card in ready & set(waste)),
        "tops": sum(place[pile[-1]] for pile in piles) / ranks,
        "needed": needed(tableau, tableau, game),
        "inversions": len(higher),
        "suit_inversions": sum(card & 3 == below & 3 for card, below in higher),
        "worst": worst,
        "parked": parked,
        "lowest": min(map(int, record["level"])),
        "covered": sum(pile[::-1].index(card) for pile in piles for card in ready & set(pile)),
        "waste_delay": sum(
            max(other - wait[card], 0) for card, other in zip(waste, longest(waste), strict=True)
        ),
        "waste_late": late(waste),
        "waste_wait": max((wait[card] for card in waste), default=0),
        "pile_late": sum(late(pile[::-1]) for pile in piles),
        "pile_wait": sum(max(wait[card] for card in pile) for pile in piles),
    }


@jit
def scores(games, rules, frames, weights, out):
    for i in range(len(weights)):
        out[i], is_lost = score_position(games[0], rules[0], frames[0], weights[i])
    return is_lost


@pytest.mark.parametrize("row", ["four-seasons", "simplicity", "corners-hoffmann"])
def test_each_feature_is_what_it_says(row: str) -> None:
    rules = small(row, ranks=9, piles=4)
    names = list(FEATURES)
    alone = np.vstack([np.eye(len(names)), WIDE_WEIGHTS])
    lost = set()
    for game in played_on(rules, 8, most=60, least=15):
        out = np.zeros(len(alone))
        frames = make_frame(game.record[0], rules)
        is_lost = scores(game.record, compile_rules(rules), frames, alone, out)
        meant = features_of(game)
        assert dict(zip(names, out[:-1].tolist(), strict=True)) == pytest.approx(meant)
        assert out[-1] == pytest.approx(WIDE_WEIGHTS @ [meant[name] for name in names])
        one_way = not game.redeals_left and not rules.worrying_back
        assert is_lost == (one_way and meant["worst"] > rules.piles)
        lost.add(bool(is_lost))
    assert lost == ({False} if rules.redeals else {True, False})


def test_next_cards_of_each_suit() -> None:
    rng = np.random.default_rng(0)
    for levels in [[0] * 4, [13] * 4, [12] * 4, *rng.integers(0, 14, (200, 4)).tolist()]:
        up = sum(1 << (4 * rank + suit) for suit in range(4) for rank in range(levels[suit]))
        found = int(next_cards(np.uint64(up)))
        assert {card for card in range(64) if found >> card & 1} == {
            4 * level + suit for suit, level in enumerate(levels) if level < 13
        }
