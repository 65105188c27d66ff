import random
from collections.abc import Iterator
from itertools import permutations

import numpy as np
import pytest

from four_seasons_env.agents.planner.luck import LuckMeter, Worth, game_luck
from four_seasons_env.engine.deals import CARD_TEXTS
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.studies.small_games import regret_of
from four_seasons_env.game import Game
from four_seasons_env.rules import SMALL, Rules
from four_seasons_env.solver import FairValue, Known, fair_value
from tests.helpers import later, numbered_deck, random_moves, restocked, small, stock_codes
from tests.reference.brute_force import chance
from tests.reference.slow_model import SlowGame

DEAL = 2**32


def played(game: Game, seed: int, most: int = 400) -> list[int]:
    """The moves of a random game from a position, by their numbers."""
    return [move.number for move in random_moves(game, seed, most)]


def arbitrary(games: np.ndarray) -> np.ndarray:
    """Some W: it depends on the cards on the piles and the waste."""
    return np.sin(games["top"].astype(float) @ np.arange(1, 14)) + games["cards_up"]


@pytest.mark.parametrize("rules", ["czarina", "pysolfc/florentine"])
def test_luck_is_worth_less_its_mean(rules: str):
    """Of each hidden card that is turned. After a redeal, none is hidden."""
    start = Game(rules, deal=DEAL)
    moves = played(start, 1)
    game, total, variance = start.copy(), 0.0, 0.0
    for move in moves:
        before = game.copy()
        game.play(move)
        known = before.redeals_left < before.rules.redeals
        if known or before.stock_size in (0, game.stock_size):
            continue
        cards, worths = sorted(stock_codes(before)), []
        for card in cards:
            after = restocked(before, [card, *(each for each in cards if each != card)])
            after.play(move)
            worths += arbitrary(after.record).tolist()
        total += worths[cards.index(stock_codes(before)[0])] - np.mean(worths)
        variance += np.var(worths)
    assert game.redeals_left == 0
    assert game_luck(start, moves, arbitrary) == pytest.approx((total, variance))


def test_luck_has_mean_zero_where_some_orders_are_likelier():
    """Over all orders of the hidden cards, each as often as it comes."""
    rules = small("corners-hoffmann", ranks=5, piles=2)
    slow = SlowGame(rules, numbered_deck(DEAL, rules.ranks))
    start = Game(rules, deal=DEAL)
    while start.stock_size > 5:
        start.play("deal")
        slow = slow.after("deal")
    total = mean = 0
    for cards in permutations(slow.stock):
        order = restocked(start, [CARD_TEXTS.index(card) for card in cards])
        luck = game_luck(order, 5 * ["deal"], arbitrary).total
        likely = float(chance(slow, cards))
        total, mean = total + likely, mean + likely * luck
    assert total == pytest.approx(1)
    assert mean == pytest.approx(0, abs=1e-12)


def best_play(game: Game, known: Known) -> FairValue:
    """The chance of winning by the best fair play, however long it takes."""
    return fair_value(game, max_positions=2**62, known=known)


def exact(rules: Rules, known: Known) -> Worth:
    """W is the chance of winning by the best fair play."""

    def worth(games: np.ndarray) -> np.ndarray:
        found = [best_play(Game.from_record(game, rules), known) for game in games]
        return np.array([each.value for each in found])

    return worth


def starts(rules: Rules, hidden: int, deals: int) -> Iterator[Game]:
    """Positions of a small game with this many hidden cards, each with four orders of the stock."""
    for deal in range(DEAL, DEAL + deals):
        game = Game(rules, deal=deal)
        while game.stock_size > hidden:
            game.play("W>F" if "W>F" in {move.text for move in game.legal_moves()} else "deal")
        for seed in range(4):
            order = stock_codes(game)
            random.Random(seed).shuffle(order)
            yield restocked(game, order)


@pytest.mark.parametrize("base_from", ["sixth", "one_per_suit"])
def test_result_is_value_plus_luck_less_regret(base_from: str):
    """This holds for any player, so regret has no luck in it."""
    rules = SMALL["small-4x1-cells"].replace(base_from=base_from)
    known, regrets = Known(), []
    for start in starts(rules, 5, 5):
        moves = played(start, 7)
        end = later(start, moves)
        luck = game_luck(start, moves, exact(rules, known))
        texts = [all_moves(start.rules)[move].text for move in moves]
        regrets.append(regret_of(start, texts, known))
        value = best_play(start, known).value
        assert end.is_won - luck.total == pytest.approx(value - regrets[-1], abs=1e-12)
    assert max(regrets) > 0.1


# --- the bundled W


def test_w_depends_on_public_information_only():
    start = Game("florentine", deal=DEAL)
    game = later(start, random_moves(start, 5, 30))
    first = LuckMeter(game.rules).worth(game.record)
    assert 0 <= first[0] <= 1
    assert game.redeals_left == game.rules.redeals
    other = restocked(game, stock_codes(game)[::-1])
    for meter in (LuckMeter(game.rules), LuckMeter(game.rules)):
        assert meter.worth(other.record) == first
