import functools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.luck import (
    STEEP,
    LuckMeter,
    Worth,
    list_turns,
    measure,
    read_means,
)
from four_seasons_env.engine.cards import CARD_TEXTS
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.matches.exact_values import regret_of
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, SMALL
from four_seasons_env.solver import FairValue, Known, fair_value
from tests.helpers import biased_choice, mostly_slow, restocked, small, stock_codes

DEAL = 2**32
WITH_W = [name for name in RULES if bundled_weights("planner", name).is_dir()]


def played(game: Game, seed: int, moves: int = 400) -> list[int]:
    """The moves of a random game from a position, by their numbers."""
    game, rng, numbers = game.copy(), random.Random(seed), []
    while not game.is_over and len(numbers) < moves:
        numbers.append(biased_choice(game.legal_moves(), rng).number)
        game.play(numbers[-1])
    return numbers


def arbitrary(games: np.ndarray) -> np.ndarray:
    """Some W: it depends on the cards on the piles and the waste."""
    return np.sin(games["top"].astype(float) @ np.arange(1, 14)) + games["cards_up"]


def hidden(game: Game) -> np.ndarray:
    """A position without what the player does not know."""
    if game.redeals_left == game.rules.redeals:
        game = restocked(game, sorted(stock_codes(game)))
    record = game.record.copy()
    record["deal"] = -1
    return record


@pytest.mark.parametrize("name", RULES)
def test_turns_are_those_of_a_slow_replay(name):
    """Each turned card, and the position after each other card that could have come."""
    start = Game(name, deal=DEAL)
    moves = played(start, 3)
    turns = list_turns(start.record, start.rules, moves)
    game, turn = start.copy(), 0
    for at, move in enumerate(moves):
        before, known = game.copy(), game.redeals_left != game.rules.redeals
        game.play(move)
        if known or before.stock_size in (0, game.stock_size):
            continue
        stock = sorted(stock_codes(before))
        first = turns.starts[turn]
        assert turns.moves[turn] == at
        assert turns.cards[turn] == stock_codes(before)[0]
        for row, card in enumerate(stock, first):
            after = restocked(before, [card, *(each for each in stock if each != card)])
            after.play(move)
            assert (turns.positions[row : row + 1] == hidden(after)).all()
        assert turns.positions[turns.came[turn]] == hidden(game)[0]
        assert turns.chances[first : first + len(stock)].sum() == pytest.approx(1)
        turn += 1
    assert len(turns.moves) == turn > 0
    assert len(turns.positions) == turns.starts[-1] + len(stock)


def test_redeals_turn_no_hidden_card():
    start = Game("pysolfc/florentine", deal=DEAL)
    moves = played(start, 0)
    end = start.copy()
    for move in moves:
        end.play(move)
    assert end.redeals_left == 0
    turned = list_turns(start.record, start.rules, moves).cards
    assert [CARD_TEXTS[card] for card in turned] == start.stock


def test_the_mean_and_variance_of_each_card_are_those_of_its_positions():
    start = Game("czarina", deal=DEAL)
    moves = played(start, 1)
    turns = list_turns(start.record, start.rules, moves)
    luck = measure(start.record, start.rules, moves, arbitrary)
    for i, rows in enumerate(np.split(arbitrary(turns.positions), turns.starts[1:])):
        assert luck.means[i] == pytest.approx(rows.mean())
        assert luck.variances[i] == pytest.approx(rows.var())
    assert luck.total == pytest.approx(luck.by_card.sum())
    assert luck.variance == pytest.approx(luck.variances.sum())
    came, powers = turns.came, arbitrary(turns.positions) ** STEEP
    means = [rows.mean() for rows in np.split(powers, turns.starts[1:])]
    assert luck.steep == pytest.approx(powers[came] - means)


def test_a_game_without_turned_cards_has_no_luck():
    start = Game(deal=DEAL)
    luck = measure(start.record, start.rules, [], arbitrary)
    assert (luck.total, luck.variance, len(luck.cards)) == (0.0, 0.0, 0)


@pytest.mark.parametrize("name", ["four-seasons", "czarina", "pysolfc/corners"])
def test_luck_has_the_mean_and_variance_that_it_should_have(name):
    """For a player who does not know the next card, and any W."""
    rules = small(name)
    found = []
    for deal in range(DEAL, DEAL + 600):
        start = Game(rules, deal=deal)
        luck = measure(start.record, rules, played(start, deal, 60), arbitrary)
        found.append((luck.total, luck.variance))
    totals, variances = np.array(found).T
    assert abs(totals.sum()) < 3 * variances.sum() ** 0.5
    assert (totals**2).sum() == pytest.approx(variances.sum(), rel=0.2)


def test_the_next_card_where_each_suit_has_its_base():
    """The orders of the stock are not equally likely there; the exact chances hold in the mean."""
    rules = RULES["pysolfc/corners"].replace(ranks=4, piles=2)
    exact, uniform, variance = 0.0, 0.0, 0.0
    for deal in range(DEAL, DEAL + 4000):
        start = Game(rules, deal=deal)
        turns = list_turns(start.record, rules, [0] * start.stock_size)
        for at, rows in enumerate(np.split(np.arange(len(turns.chances)), turns.starts[1:])):
            suits = turns.positions["top"][rows, 12] & 3
            counts = np.bincount(suits, minlength=4)
            rare = counts[suits] == counts[counts > 0].min()  # a card of the rarest suit comes
            came = rare[turns.came[at] - rows[0]]
            chance = turns.chances[rows][rare].sum()
            exact += came - chance
            uniform += came - rare.mean()
            variance += chance * (1 - chance)
    assert abs(exact) < 3 * variance**0.5
    assert uniform > 6 * variance**0.5


def best_play(game: Game, known: Known) -> FairValue:
    """The chance of winning by the best fair play, however long it takes."""
    return fair_value(game, max_positions=2**62, known=known)


def exact(known: Known) -> Worth:
    """W is the chance of winning by the best fair play."""

    def worth(games: np.ndarray) -> np.ndarray:
        rules = SMALL["small-4x1-cells"]
        found = [best_play(Game.from_record(game, rules), known) for game in games]
        return np.array([each.value for each in found])

    return worth


def starts(hidden: int, deals: int) -> Iterator[Game]:
    """Positions of a small game with so many hidden cards, each with its cards in four orders."""
    for deal in range(DEAL, DEAL + deals):
        game = Game("small-4x1-cells", deal=deal)
        while game.stock_size > hidden:
            game.play("W>F" if "W>F" in {move.text for move in game.legal_moves()} else "deal")
        for seed in range(4):
            order = stock_codes(game)
            random.Random(seed).shuffle(order)
            yield restocked(game, order)


@pytest.mark.parametrize(("hidden", "deals"), [(8, 6), pytest.param(15, 1, marks=pytest.mark.slow)])
def test_with_exact_values_the_best_play_wins_what_its_start_is_worth(hidden, deals):
    """The whole method: without luck, every game of the best player comes out the same."""
    known, outcomes, luckless = Known(), [], []
    for start in starts(hidden, deals):
        value = best_play(start, known).value
        game, moves = start.copy(), []
        while not game.is_over and (found := best_play(game, known)).value > 0:
            for move in found.best[0].moves:
                game.play(move)
                moves.append(move.number)
        luck = measure(start.record, start.rules, moves, exact(known))
        assert game.is_won - luck.total == pytest.approx(value, abs=1e-12)
        outcomes.append(game.is_won)
        luckless.append(value)
    assert 0 < np.mean(outcomes) < 1
    assert any(0.1 < value < 0.9 for value in luckless)


def test_with_exact_values_a_luckless_game_is_its_start_less_the_regret():
    """Of any player: so the regret of `four-seasons optimum` has no luck in it."""
    known, regrets = Known(), []
    for start in starts(5, 5):
        moves = played(start, 7)
        end = start.copy()
        for move in moves:
            end.play(move)
        luck = measure(start.record, start.rules, moves, exact(known))
        texts = [all_moves(start.rules)[move].text for move in moves]
        regrets.append(regret_of(start, texts, known=known, gigabytes=1)[0])
        value = best_play(start, known).value
        assert end.is_won - luck.total == pytest.approx(value - regrets[-1], abs=1e-12)
    assert max(regrets) > 0.1


# --- the bundled W


@functools.cache
def meter(name: str) -> LuckMeter:
    return LuckMeter(RULES[name])


@pytest.mark.parametrize("name", mostly_slow(WITH_W, ["four-seasons"]))
def test_w_sees_public_information_only_and_is_the_same_every_time(name):
    start = Game(name, deal=DEAL)
    game = start.copy()
    for move in played(start, 5)[:30]:
        game.play(move)
    first = meter(name).worth(game.record)
    assert 0 <= first[0] <= 1
    if game.redeals_left == game.rules.redeals:
        game = restocked(game, stock_codes(game)[::-1])
    assert meter(name).worth(game.record) == first
    assert LuckMeter(RULES[name]).worth(game.record) == first


@pytest.mark.parametrize("name", mostly_slow(WITH_W, ["four-seasons"]))
def test_the_mean_of_openings_is_stored_with_each_w(name):
    """And is about the mean over other deals."""
    openings = [meter(name).opening(Game(name, deal=deal).record) for deal in range(10000, 10300)]
    error = np.std(openings) / len(openings) ** 0.5
    assert abs(np.mean(openings)) < 4 * error + 1e-9  # all openings of corner-patience are equal
    assert read_means()[name].deals >= 10_000


def test_rules_without_a_w_are_refused():
    with pytest.raises(FileNotFoundError, match="did you mean 'four-seasons'"):
        LuckMeter(RULES["four-seasons"].replace(name="four-season"))


def test_a_mean_of_another_w_is_refused(monkeypatch):
    one = LuckMeter(RULES["four-seasons"])
    monkeypatch.setattr(one, "digest", "0" * 64)
    with pytest.raises(ValueError, match="opening_luck"):
        one.opening(Game(deal=DEAL).record)


def test_good_cards_are_lucky():
    """Games are won with good cards."""
    from four_seasons_env.agents import make_agent

    rules, totals = RULES["four-seasons"], {True: [], False: []}
    agent = make_agent("heuristic", rules)
    for deal in range(DEAL, DEAL + 20):
        start = Game(rules, deal=deal)
        game, moves = start.copy(), []
        while not game.is_over and len(moves) < 300:
            masks = game.action_mask()[None]
            moves.append(int(agent.act(game.record.copy(), masks, np.random.default_rng(0))[0]))
            game.play(moves[-1])
        totals[game.is_won].append(meter("four-seasons").measure(start.record, moves).total)
    assert np.mean(totals[True]) > 0.1 > np.mean(totals[False])
