"""Fair play in lockstep: no peeking, no repeated positions, fair times."""

import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from four_seasons_env.agents import Agent
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM, mix, shuffle
from four_seasons_env.experiments.play import play_deals, play_in_block
from four_seasons_env.experiments.players import find_players
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]
DEALS = range(TRAIN_FROM, TRAIN_FROM + 20)

Games = np.ndarray
Guess = Callable[[Any, int, np.random.Generator], list[int]]


def by_the_deal(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Deal the number on the record again."""
    number = int(game["deal"])
    return stock_of(number) if number >= 0 else []


def by_what_is_shown(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Take the stock of the record as it is."""
    return game["deck"][game["dealt"] :].tolist()


def by_the_seed(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Take the deal from the seed of the random numbers."""
    entropy = rng.bit_generator.seed_seq.entropy
    numbers = entropy if isinstance(entropy, list | tuple) else [entropy]
    return stock_of(int(numbers[-1]) + place)


def by_undoing_the_shuffle(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Make the seed of the reshuffle again, as if the deal were known, and undo the shuffle."""
    seed = seed_of(DEALS[place], int(game["moves"]))
    shown = by_what_is_shown(game, place, rng)
    went = np.arange(len(shown), dtype=np.uint8)
    shuffle(went, 0, len(went), seed)
    stock = [0] * len(shown)
    for here, there in zip(shown, went.tolist(), strict=True):
        stock[there] = here
    return stock


def seed_of(deal: int, turn: int) -> np.uint64:
    """The seed of a reshuffle in `play_deals`, by its rule."""
    key = np.random.PCG64([0, deal, 2]).random_raw()
    return np.uint64(mix(np.uint64((key + turn) % 2**64)))


GUESSES = [by_the_deal, by_what_is_shown, by_the_seed, by_undoing_the_shuffle]


def stock_of(deal: int) -> list[int]:
    record = Game(DEFAULT, deal=deal).record[0]
    return record["deck"][record["dealt"] :].tolist()


class Enough(Exception):
    """Ends games after some turns."""


class Peeper(Agent):
    """Stores its guess of the stocks at each of three turns, and plays the last legal move."""

    mask = "legal"

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.turns: list[list[list[int]]] = []

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if len(self.turns) == 3:
            raise Enough
        self.turns.append([self.guess(game, place, rng) for place, game in enumerate(games)])
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def places_right(stocks: list[list[int]]) -> float:
    """The share of places, from the end, with the true card in a guess; about 2% by chance."""
    right = [
        guessed == true
        for deal, stock in zip(DEALS, stocks, strict=True)
        for guessed, true in zip(stock[::-1], stock_of(deal)[::-1], strict=False)
    ]
    return sum(right) / (len(DEALS) * len(stock_of(DEALS[0])))


@pytest.mark.parametrize("guess", GUESSES)
def test_peeking_does_not_reveal_the_stock(guess: Guess) -> None:
    peeper = Peeper(guess)
    with pytest.raises(Enough):
        play_deals(peeper, DEFAULT, DEALS)
    assert [len(stocks) for stocks in peeper.turns] == [len(DEALS)] * 3
    assert max(map(places_right, peeper.turns)) < 0.08


@pytest.mark.parametrize("guess", GUESSES)
def test_peeking_works_on_unprotected_games(guess: Guess) -> None:
    """The guesses succeed on unchanged records and random numbers that reveal their seed."""
    games = np.zeros(len(DEALS), kernel.GAME)
    rules = kernel.compile_rules(DEFAULT)
    kernel.start_all(games, rules, np.array(DEALS, np.int64))
    rng = np.random.default_rng([0, DEALS[0]])
    if guess is by_undoing_the_shuffle:
        for game, deal in zip(games, DEALS, strict=True):
            kernel.reshuffle_unseen(game, rules[0], seed_of(deal, 0))
    stocks = [guess(game, place, rng) for place, game in enumerate(games)]
    assert places_right(stocks) == 1


class Forger(Agent):
    """Makes a move legal by writing it into the mask."""

    mask = "legal"

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        masks[:] = 1
        return np.full(len(games), masks.shape[1] - 1)


def test_writing_into_a_mask_has_no_effect() -> None:
    with pytest.raises(RuntimeError, match="Forger must choose by the masks: T4>T3"):
        play_deals(Forger(), DEFAULT, DEALS)


# --- times ----------------------------------------------------------------------------------------

COMPILING = 0.5
"""Seconds."""


def spend(seconds: float) -> None:
    """Keep the processor busy."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


class Late(Agent):
    """The first legal move, and a slow first one in each process."""

    compiled = False

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if not Late.compiled:
            spend(COMPILING)
        Late.compiled = True
        return masks.argmax(axis=1)


def test_compiling_is_not_timed() -> None:
    (player,) = find_players([f"late={__name__}:Late"], "four-seasons")
    played = play_in_block(dataclasses.replace(player, block=2), DEFAULT, DEALS[:2])
    assert Late.compiled and played["seconds"].sum() < COMPILING


class Threaded(Agent):
    """The first legal move; in the first turn it waits, and a thread of it works."""

    mask = "distinct"
    waited = False

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if not self.waited:
            worker = threading.Thread(target=spend, args=(0.2,))
            worker.start()
            worker.join()
            time.sleep(1)
        self.waited = True
        return masks.argmax(axis=1)


def test_time_is_processor_time_of_all_threads() -> None:
    seconds = play_deals(Threaded(), DEFAULT, DEALS[:3])["seconds"].sum()
    assert 0.2 <= seconds < 1
