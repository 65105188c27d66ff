"""The search for positions: the advice that orders it, and its limits."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from four_seasons_env.engine.deals import card_code
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.positions.enumeration import advice
from four_seasons_env.positions.search import new_search
from tests.helpers import LINEAR, played_on, small


def positions(rules, count: int, most: int) -> Iterator[Game]:
    """Positions of random play, and one in which all cards but a few lie in the waste."""
    yield from played_on(rules, count, most)
    game = Game(rules, deal=0)
    while len(game.stock) > 1 and "deal" in map(str, game.legal_moves()):
        game.play("deal")
    yield game


@jit
def advise(games, rules):
    return advice(games[0], rules[0])


@pytest.mark.parametrize(
    "rules", [small("four-seasons", ranks=9, piles=4), LINEAR], ids=lambda rules: rules.name
)
def test_advice_is_its_documented_sum(rules) -> None:
    for game in positions(rules, 8, 80):
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


def test_size_limit_of_a_search() -> None:
    with pytest.raises(ValueError, match=r"a search may hold 1 to ([0-9,]+) positions") as refused:
        new_search(LINEAR, 0)
    most = int(str(refused.value).split(" to ")[1].split()[0].replace(",", ""))
    search = new_search(LINEAR, most)
    assert len(search.positions) == most == len(search.met.keys) // 2
    with pytest.raises(ValueError, match=f"not {most + 1:,}"):
        new_search(LINEAR, most + 1)
