"""Engine against slow model over millions of moves: `python -m tests.reference.differential`.

Games are played at random, leaning towards the foundations. After every move the legal moves, the
distinct ones, every pile, the waste, the foundations, the stock, the redeals and whether the game
goes on must agree. Prints moves, games and wins a rule set; the first difference ends it.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tyro

from four_seasons_env.engine import kernel
from four_seasons_env.engine.cards import CARD_TEXTS, NO_CARD, SUITS
from four_seasons_env.engine.moves import WASTE, all_moves
from four_seasons_env.rules import RULES, Rules
from tests.reference.comparison_table import print_comparison
from tests.reference.slow_model import SlowGame

MOST_MOVES = 400


class Engine:
    """One game of the compiled engine, read as the slow model has it."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.rule = kernel.compile_rules(rules)
        self.record: Any = np.zeros(1, kernel.GAME)
        self.names = [str(move) for move in all_moves(rules)]
        self.numbers = {name: number for number, name in enumerate(self.names)}
        self.masks = [kernel.new_masks(1, rules) for _ in range(2)]
        self.goes_on = np.zeros(1, np.bool_)
        self.move = np.zeros(1, np.int64)

    def start(self, deck: list[str]) -> None:
        codes = [CARD_TEXTS.index(text) for text in deck]
        self.record["deck"] = NO_CARD
        self.record["deck"][0, : len(codes)] = codes
        kernel.lay_out_all(self.record, self.rule)

    def moves(self, distinct: bool) -> set[str]:
        words, mask = self.masks[distinct]
        kernel.legal_all(self.record, self.rule, distinct, words, self.goes_on)
        return {self.names[number] for number in mask[0].nonzero()[0].tolist()}

    def play(self, name: str) -> None:
        self.move[0] = self.numbers[name]
        kernel.play_all(self.record, self.rule, self.move)

    def board(self) -> tuple[Any, ...]:
        record = self.record
        top, below = record["top"][0].tolist(), record["below"][0].tolist()

        def pile(place: int) -> list[str]:
            cards, card = [], top[place]
            while card != NO_CARD:
                cards.append(CARD_TEXTS[card])
                card = below[card]
            return cards[::-1]

        first, last = int(record["dealt"][0]), int(record["deck_size"][0])
        return (
            [pile(place) for place in range(self.rules.piles)],
            pile(WASTE),
            record["level"][0].tolist(),
            [CARD_TEXTS[card] for card in record["deck"][0, first:last].tolist()],
            int(record["redeals"][0]),
        )


def model_board(model: SlowGame) -> tuple[Any, ...]:
    return (
        model.tableau,
        model.waste,
        [len(model.foundations[suit]) for suit in SUITS],
        model.stock,
        model.redeals_left,
    )


def games(rules: Rules, seed: int) -> Iterator[tuple[int, bool]]:
    """Play games on both for ever; gives each game's moves, and whether it was won.

    Raises:
        AssertionError: at the first difference.
    """
    chance = random.Random(f"{rules.name} {seed}")
    engine = Engine(rules)
    while True:
        deck = list(CARD_TEXTS[: rules.cards])
        chance.shuffle(deck)
        engine.start(deck)
        model = SlowGame(rules, deck)
        played = 0
        for played in range(MOST_MOVES + 1):
            legal = model.legal_moves()
            distinct = model.without_renaming(legal)
            where = f"{rules.name}: after {played} moves of the deck {' '.join(deck)}"
            assert engine.moves(True) == distinct, where
            assert engine.moves(False) == legal, where
            assert bool(engine.goes_on[0]) == bool(distinct), where
            assert engine.board() == model_board(model), where
            if not distinct or played == MOST_MOVES:
                break
            up = [name for name in legal if name.endswith(">F")]
            liked = up if up and chance.random() < 0.8 else legal
            move = chance.choice(sorted(liked))
            engine.play(move)
            model.play_legal(move)
        yield played, model.is_won


def compare(rules: Rules, moves: int, seed: int = 0) -> tuple[int, int, int]:
    """Compare over at least so many moves; returns moves, games and wins."""
    played = count = wins = 0
    for length, won in games(rules, seed):
        played, count, wins = played + length, count + 1, wins + won
        if played >= moves:
            break
    return played, count, wins


def main(rules: Sequence[str] = tuple(RULES), moves: int = 1_000_000, seed: int = 0) -> None:
    """Compare rule set after rule set.

    Args:
        rules: rule sets; all by default.
        moves: moves of each rule set.
        seed: of decks and play.
    """

    def count(each: Rules) -> Sequence[int]:
        return [*compare(each, moves, seed), 0]

    print_comparison(
        ("moves", "games", "wins", "differences"), [RULES[name] for name in rules], count
    )


if __name__ == "__main__":
    tyro.cli(main)
