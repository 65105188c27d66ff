"""An agent cannot peek: each way of learning the true order of the stock is tried."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM, shuffle
from four_seasons_env.experiments import compare
from four_seasons_env.experiments.compare import Compare, play_all
from four_seasons_env.experiments.matches import results
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.matches.results import read_manifest
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]
DEALS = range(TRAIN_FROM, TRAIN_FROM + 20)

Games = np.ndarray
Guess = Callable[[Any, int, np.random.Generator], list[int]]


def by_the_deal(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Deal the number on the record anew."""
    number = int(game["deal"])
    return stock_of(number) if number >= 0 else []


def by_what_is_shown(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Believe the stock of the record."""
    return game["deck"][game["dealt"] :].tolist()


def by_the_seed(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Take the deal from the seed of the random numbers."""
    entropy = rng.bit_generator.seed_seq.entropy
    numbers = entropy if isinstance(entropy, list | tuple) else [entropy]
    return stock_of(int(numbers[-1]) + place)


def by_undoing_the_shuffle(game: Any, place: int, rng: np.random.Generator) -> list[int]:
    """Draw the reshuffle's seed again, find where each place went, and put the cards back."""
    before = np.random.PCG64(0)
    before.state = rng.bit_generator.state
    before.advance(-len(DEALS))
    seed = np.random.Generator(before).integers(0, 2**63, len(DEALS), np.uint64)[place]
    shown = by_what_is_shown(game, place, rng)
    went = np.arange(len(shown), dtype=np.uint8)
    shuffle(went, 0, len(went), seed)
    stock = [0] * len(shown)
    for here, there in zip(shown, went.tolist(), strict=True):
        stock[there] = here
    return stock


GUESSES = [by_the_deal, by_what_is_shown, by_the_seed, by_undoing_the_shuffle]


def stock_of(deal: int) -> list[int]:
    record = Game(DEFAULT, deal=deal).record[0]
    return record["deck"][record["dealt"] :].tolist()


class Peeper:
    """Notes at each turn what it takes for the stocks, and plays the last legal move."""

    mask = "legal"

    def __init__(self, guess: Guess) -> None:
        self.guess = guess
        self.turns: list[list[list[int]]] = []

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        self.turns.append([self.guess(game, place, rng) for place, game in enumerate(games)])
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


def places_right(stocks: list[list[int]]) -> float:
    """The share of places, from the end, at which a guess has the true card; by chance some 2%."""
    right = [
        guessed == true
        for deal, stock in zip(DEALS, stocks, strict=True)
        for guessed, true in zip(stock[::-1], stock_of(deal)[::-1], strict=False)
    ]
    return sum(right) / (len(DEALS) * len(stock_of(DEALS[0])))


@pytest.mark.parametrize("guess", GUESSES)
def test_no_way_of_peeking_tells_the_stock(guess: Guess) -> None:
    peeper = Peeper(guess)
    play_deals(peeper, DEFAULT, DEALS, max_moves=3)
    assert [len(stocks) for stocks in peeper.turns] == [len(DEALS)] * 3
    assert max(map(places_right, peeper.turns)) < 0.08


@pytest.mark.parametrize("guess", GUESSES)
def test_each_way_works_where_nothing_is_hidden(guess: Guess) -> None:
    """On records as they are, with random numbers that carry their seed."""
    games = np.zeros(len(DEALS), kernel.GAME)
    rules = kernel.compile_rules(DEFAULT)
    kernel.start_all(games, rules, np.array(DEALS, np.int64))
    rng = np.random.default_rng([0, DEALS[0]])
    seeds = rng.integers(0, 2**63, len(DEALS), np.uint64)
    if guess is by_undoing_the_shuffle:
        kernel.reshuffle_unseen_all(games, rules, seeds)
    stocks = [guess(game, place, rng) for place, game in enumerate(games)]
    assert places_right(stocks) == 1


class Forger:
    """Makes a move legal by writing it into the mask."""

    mask = "legal"

    def act(self, games: Games, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        masks[:] = 1
        return np.full(len(games), masks.shape[1] - 1)


def test_a_mask_that_is_written_to_allows_nothing() -> None:
    with pytest.raises(RuntimeError, match="Forger played T4>T3, which is not legal there"):
        play_deals(Forger(), DEFAULT, DEALS, max_moves=3)


# --- sealed deals ---------------------------------------------------------------------------------


def sealed(out: Path, *agents: str, deals: str = "sealed:5") -> Compare:
    return Compare(out=out, agents=list(agents), deals=deals, workers=Workers(n_jobs=1))


def test_sealed_deals_are_drawn_once_after_the_agents_are_loaded(
    tmp_path: Path, monkeypatch
) -> None:
    loaded: list[str] = []
    find, draw = compare.find_players, results.sealed_deals

    def find_first(*arguments, **more):
        loaded.append("agents")
        return find(*arguments, **more)

    def then_draw(count: int) -> tuple[int, ...]:
        loaded.append("deals")
        return draw(count)

    monkeypatch.setattr(compare, "find_players", find_first)
    monkeypatch.setattr(results, "sealed_deals", then_draw)
    played = play_all(sealed(tmp_path / "x", "heuristic", "greedy"))
    assert loaded == ["agents", "deals"]
    drawn = list(read_manifest(tmp_path / "x").sealed)
    assert len(set(drawn)) == 5
    assert all(TRAIN_FROM <= deal < 2**63 for deal in drawn)
    for _, own in played.groupby("agent"):
        assert own["deal"].tolist() == drawn
    again = play_all(sealed(tmp_path / "x", "heuristic", "greedy"))
    assert again.equals(played)
    play_all(sealed(tmp_path / "y", "heuristic"))
    assert not set(read_manifest(tmp_path / "y").sealed) & set(drawn)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"agents": ["heuristic", "greedy"]}, "on sealed deals, to which no player can be added"),
        ({"deals": "sealed:6"}, "on the deals sealed:5, not sealed:6"),
        ({"deals": "0-9"}, "on the deals sealed:5, not 0-9"),
        ({"deals": f"0-{2**63 - 1}"}, "on the deals sealed:5, not 0-"),
    ],
)
def test_sealed_deals_take_no_later_players_or_deals(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    run = sealed(tmp_path, "heuristic")
    play_all(run)
    with pytest.raises(ValueError, match=told):
        play_all(replace(run, **change))


@pytest.mark.parametrize("text", ["sealed:", "sealed:0", "sealed:many"])
def test_sealed_deals_are_counted(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="sealed:2000"):
        play_all(sealed(tmp_path / "x", "random", deals=text))
    assert not (tmp_path / "x").exists()
