"""The guard against repeated positions: forbidden and allowed moves."""

import numpy as np
import pytest

from four_seasons_env.agents import make_agent
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import find_move
from four_seasons_env.experiments.matches.play import RepeatGuard, play_deals
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, Rules
from tests.helpers import canonical, deck_with, mostly_slow

DEFAULT = RULES["four-seasons"]


def masks_of(game: np.ndarray) -> np.ndarray:
    words, masks = kernel.new_masks(1, DEFAULT)
    kernel.legal_all(game, kernel.compile_rules(DEFAULT), False, words, np.zeros(1, np.bool_))
    return masks


def test_no_move_back_until_a_card_is_dealt() -> None:
    """A jack that moves to a queen, and could move back to its space."""
    rule = kernel.compile_rules(DEFAULT)
    game = Game(deck=deck_with("QC QH JS 2C 5D 9H")).record.copy()
    guard = RepeatGuard(1, rule, 10)
    rows = np.zeros(1, np.int64)
    to, fro, deal = (np.array([find_move(DEFAULT, text).number]) for text in _TEXTS)
    masks = masks_of(game)
    guard.forbid(game, rows, masks)
    assert masks[0, to] == 1
    guard.played(rows, to)
    kernel.play_all(game, rule, to)
    masks = masks_of(game)
    assert masks[0, fro] == 1, "it is legal"
    before = masks.copy()
    guard.forbid(game, rows, masks)
    other = find_move(DEFAULT, "T0>T1").number
    assert masks[0, other] == 1, "to the other queen: not met before"
    assert masks[0, fro] == 0, "but leads back"
    assert set(np.flatnonzero((before != masks)[0])) <= set(range(12, 32))
    guard.played(rows, deal)
    kernel.play_all(game, rule, deal)
    masks = masks_of(game)
    guard.forbid(game, rows, masks)
    assert masks[0, fro] == 1, "there is a new card: the position was not met before"


_TEXTS = ("T2>T0", "T0>T2", "deal")


class Witness:
    """Plays like `Lowest`, and stores positions that occur a second time."""

    mask = "distinct"

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.met: dict[int, set[str]] = {}
        self.again: list[tuple[int, Game]] = []

    def act(self, games, masks, rng):
        for record in games:
            game = Game.from_record(record, self.rules)
            met = self.met.setdefault(int(record["deal"]), set())
            if canonical(game) in met:
                self.again.append((int(record["deal"]), game))
            met.add(canonical(game))
        return Lowest().act(games, masks, rng)


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_no_position_comes_twice(rules: str) -> None:
    witness = Witness(RULES[rules])
    deals = range(TRAIN_FROM, TRAIN_FROM + 4)
    play_deals(witness, RULES[rules], deals, max_moves=80, forbid_repeats=True)
    for deal, game in witness.again:
        others = {canonical(game.after(move)) for move in game.legal_moves()}
        assert others <= witness.met[deal]
    free = Witness(RULES[rules])
    play_deals(free, RULES[rules], deals, max_moves=80)
    assert len(witness.again) <= len(free.again)
    assert free.again or RULES[rules].build == "none", "without the guard it goes round"


class Lowest:
    """Plays moves between piles first, then others, in the order of their numbers."""

    mask = "distinct"

    def act(self, games, masks, rng):
        order = np.r_[np.arange(12, masks.shape[1]), np.arange(12)]
        return order[masks[:, order].argmax(axis=1)]


def test_the_guard_loses_no_game() -> None:
    deals = range(TRAIN_FROM, TRAIN_FROM + 300)
    free, kept = (
        play_deals(make_agent("heuristic"), DEFAULT, deals, forbid_repeats=each)
        for each in (False, True)
    )
    assert kept["won"].sum() >= free["won"].sum()
