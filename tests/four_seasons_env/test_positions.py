"""The search for positions: the advice that orders it, term by term."""

from itertools import pairwise

import pytest

from four_seasons_env.engine.deals import card_code
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.positions.enumeration import advice
from four_seasons_env.rules import Rules
from tests.helpers import played_on, small


@jit
def advise(games, rules):
    return advice(games[0], rules[0])


RULES = [small("four-seasons", ranks=9, piles=4), Rules(wrap="linear", name="linear")]


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: rules.name)
def test_advice_is_its_documented_sum(rules: Rules) -> None:
    for game in played_on(rules, 12, 80):
        record = game.record[0]
        level = record["level"].astype(int)

        def rank(card: int, base=record["base"]) -> int:
            return ((card >> 2) - int(base[card & 3])) % rules.ranks

        def wait(card: int, level=level) -> int:
            return rank(card) - level[card & 3]

        meant = game.cards_up - len(game.stock) - len(game.waste)
        for pile in game.tableau:
            cards = [card_code(card) for card in pile]
            meant -= bool(cards)
            meant -= 0.3 * sum(wait(card) > wait(host) for host, card in pairwise(cards))
        for pile in [*game.tableau, game.waste]:
            cards = [card_code(card) for card in reversed(pile)]
            meant -= 0.3 * sum(above for above, card in enumerate(cards) if wait(card) == 0)
        waste = [card_code(card) for card in game.waste]
        breaks = sum((rank(b) - rank(a)) % rules.ranks != 1 for a, b in pairwise(waste))
        meant -= 0.5 * breaks
        assert advise(game.record, compile_rules(rules)) == pytest.approx(meant, abs=1e-4)
