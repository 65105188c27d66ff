"""The engine against the slow model: whole games, compared after each move; and its invariants."""

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.rules import RULES, Rules
from tests.helpers import (
    LINEAR,
    ROWS,
    all_cards,
    biased_choice,
    board,
    cards_in_order,
    deck_with,
    decks,
    mostly_slow,
    numbered_deck,
    positions,
    rule_sets,
    small,
    texts,
)
from tests.reference.slow_model import SlowGame

VARIANTS = [
    LINEAR,
    *[small(name, ranks=4, piles=3) for name in ROWS],
    Rules(name="every extra", piles=3, runs=True, redeals=2, worrying_back=True, first_waste=1),
    Rules(name="reserve, runs", reserve=True, piles=3, runs=True, redeals=2, worrying_back=True),
    Rules(name="reserve, auto_stock", reserve=True, piles=12, spaces="auto_stock", redeals=2),
    Rules(name="limited", redeals=1, limited_redeal=True, spaces="auto_waste", reserve=False),
    Rules(name="limited, reserve", redeals=1, limited_redeal=True, reserve=True, runs=True),
    Rules(name="empty cells", base_from="aces", opening="empty", build="none", piles=12),
    Rules(name="auto_stock, redeals", spaces="auto_stock", redeals=2, worrying_back=True),
    Rules(name="auto_waste, worried", spaces="auto_waste", redeals=1, worrying_back=True),
    Rules(name="linear runs", wrap="linear", runs=True, base_from="first", opening="as_dealt"),
    Rules(name="aces never", ranks=6, base_from="aces", build="alternate_colour", wrap="never"),
    Rules(name="one cell", ranks=5, piles=1, build="none", spaces="auto_stock", redeals=1),
    Rules(name="more piles than stock", ranks=4, piles=12, base_from="first", opening="as_dealt"),
    Rules(name="blocked dealing", piles=2, ranks=7, spaces="before_dealing", redeals=2),
]


def as_engine_has_it(game: Game) -> dict[str, Any]:
    return board(game) | {
        "legal": texts(game.legal_moves()),
        "distinct": texts(game.legal_moves(distinct=True)),
        "cards up": game.cards_up,
        "over": game.is_over,
        "won": game.is_won,
    }


def as_model_has_it(model: SlowGame) -> dict[str, Any]:
    return {
        "tableau": model.tableau,
        "waste": model.waste,
        "foundations": model.foundations,
        "stock": model.stock,
        "redeals left": model.redeals_left,
        "legal": model.legal_moves(),
        "distinct": set() if model.is_won else model.distinct_moves(),
        "cards up": sum(map(len, model.foundations.values())),
        "over": model.is_over,
        "won": model.is_won,
    }


def play_side_by_side(
    rules: Rules, deck: Sequence[str], seed: int, max_moves: int = 200
) -> SlowGame:
    """Play a game at random on both, comparing all there is to see; returns where it ended."""
    rng = random.Random(seed)
    game, model = Game(rules, deck=deck), SlowGame(rules, list(deck))
    for _ in range(max_moves):
        expected = as_model_has_it(model)
        assert as_engine_has_it(game) == expected
        if expected["over"]:
            break
        move = biased_choice(sorted(expected["legal"]), rng)
        game.play(move)
        model.play(move)
    assert as_engine_has_it(game) == as_model_has_it(model)
    return model


@given(st.data())
def test_random_games_of_any_rule_set_follow_the_rules(data):
    rules = data.draw(rule_sets())
    play_side_by_side(rules, data.draw(decks(rules)), data.draw(st.integers(0, 2**32)), 80)


def test_games_get_far_enough_to_be_won():
    """The comparison above reaches the ends of games: some of these are won, some are lost."""
    rules = small("four-seasons", ranks=5, piles=2)
    ends = [play_side_by_side(rules, numbered_deck(deal, 5), deal) for deal in range(20)]
    assert {end.is_won for end in ends if end.is_over} == {True, False}


@pytest.mark.parametrize(
    "rules", mostly_slow([*RULES.values(), *VARIANTS]), ids=lambda rules: rules.name
)
def test_random_games_follow_the_rules(rules):
    for deal in range(6):
        play_side_by_side(rules, numbered_deck(deal, rules.ranks), seed=deal, max_moves=400)


def test_a_difference_is_found(monkeypatch):
    """Two rule sets that differ only in King on Ace are told apart."""
    rules = small("four-seasons")
    wider = kernel.compile_rules(small("solitaire-till-dawn"))
    monkeypatch.setattr(kernel, "compile_rules", lambda _: wider)
    with pytest.raises(AssertionError, match="legal"):
        for deal in range(20):
            play_side_by_side(rules, numbered_deck(deal, rules.ranks), seed=deal)


@pytest.mark.slow
@settings(max_examples=200, derandomize=False)
@given(st.data())
def test_many_random_games_of_any_rule_set_follow_the_rules(data):
    rules = data.draw(rule_sets())
    play_side_by_side(rules, data.draw(decks(rules)), data.draw(st.integers(0, 2**32)), 300)


@pytest.mark.parametrize("name", mostly_slow(RULES))
@pytest.mark.parametrize("reverse", [False, True])
def test_sorted_decks_follow_the_rules(name, reverse):
    """In order a deck goes up almost at once, in reverse order hardly ever."""
    deck = sorted(cards_in_order(), key=cards_in_order().index, reverse=reverse)
    play_side_by_side(RULES[name], deck, seed=1, max_moves=120)


# --- invariants ---------------------------------------------------------------------------------


@given(positions())
def test_every_card_is_there_exactly_once(game):
    assert sorted(all_cards(game)) == sorted(cards_in_order(game.rules.ranks))


@given(positions())
def test_the_record_agrees_with_itself(game):
    record = game.record[0]
    piles = game.rules.piles
    assert record["height"][:piles].tolist() == [len(pile) for pile in game.tableau]
    assert record["height"][12] == len(game.waste)
    assert record["level"].tolist() == [len(game.foundations[suit]) for suit in "CSHD"]
    assert record["cards_up"] == record["level"].sum()
    assert not record["height"][piles:12].any()


@given(positions(max_ranks=7))
def test_the_mask_is_exactly_what_play_accepts(game):
    before, kept = board(game), game.to_bytes()
    mask = game.action_mask()
    for move in all_moves(game.rules):
        trial = game.copy()
        if mask[move.number]:
            trial.play(move)
            assert board(trial) != before
            assert trial.moves_played == game.moves_played + 1
        else:
            with pytest.raises(IllegalMove, match=rf"^{move} is not legal: \w.{{8,}}"):
                trial.play(move)
            assert trial.to_bytes() == kept


@given(positions(max_ranks=7))
def test_a_game_lives_while_something_can_be_done(game):
    distinct, legal = game.action_mask(distinct=True), game.action_mask()
    assert (distinct <= legal).all()
    assert game.is_over == (not distinct.any())
    if game.is_won:
        assert not legal.any()


@given(positions(max_ranks=6))
def test_distinct_moves_lose_nothing(game):
    """What a legal move leads to, some distinct move leads to as well, but for spaces' places."""

    def looks_like(position: Game) -> tuple[Any, ...]:
        seen = board(position)
        return (sorted(seen.pop("tableau")), str(seen))

    def outcomes(distinct: bool) -> list[tuple[Any, ...]]:
        reached = []
        for move in game.legal_moves(distinct):
            after = game.copy()
            after.play(move)
            reached.append(looks_like(after))
        return reached

    here = looks_like(game)
    distinct = outcomes(distinct=True)
    assert here not in distinct
    assert {str(x) for x in outcomes(distinct=False)} <= {str(x) for x in [here, *distinct]}


@given(positions(), st.integers(0, 2**64 - 1))
def test_reshuffling_touches_only_what_is_unseen(game, seed):
    record = game.record.copy()
    kernel.reshuffle_unseen_all(
        record, kernel.compile_rules(game.rules), np.array([seed], np.uint64)
    )
    other = Game.from_record(record[0], game.rules)
    before, after = board(game), board(other)
    if game.redeals_left < game.rules.redeals:
        assert after == before
    assert sorted(before.pop("stock")) == sorted(after.pop("stock"))
    assert after == before


def test_reshuffling_does_shuffle():
    game = Game(deal=17)
    twin, again = game.record.copy(), game.record.copy()
    seeds = np.array([1], np.uint64)
    kernel.reshuffle_unseen_all(twin, kernel.compile_rules(game.rules), seeds)
    assert (twin["deck"] != game.record["deck"]).any()
    kernel.reshuffle_unseen_all(again, kernel.compile_rules(game.rules), seeds)
    assert (again == twin).all()


def test_a_batch_is_its_games():
    rules = RULES["pysolfc/florentine"]
    rule = kernel.compile_rules(rules)
    games = np.zeros(3, kernel.GAME)
    kernel.start_all(games, rule, np.array([4, 5, 6]))
    kernel.play_all(games, rule, np.zeros(3, np.int64))
    words, masks = kernel.new_masks(3, rules)
    words[:] = 2**64 - 1  # what stood there before does not matter
    goes_on = np.zeros(3, np.bool_)
    kernel.legal_all(games, rule, True, words, goes_on)
    for i, deal in enumerate((4, 5, 6)):
        game = Game(rules, deal=deal)
        game.play("deal")
        assert Game.from_record(games[i], rules) == game
        assert (masks[i] == game.action_mask(distinct=True)).all()
        assert goes_on[i] == (not game.is_over)


# --- rules by example, with the table drawn ---------------------------------------------------


def legal(rules: Rules, start: str, play: Sequence[str] = (), ranks: int = 13) -> set[str]:
    """What may be played after some moves of a deck that begins with these cards."""
    game = Game(rules, deck=deck_with(start, ranks))
    for move in play:
        game.play(move)
    return texts(game.legal_moves())


@pytest.mark.parametrize(
    ("wrap", "base", "allowed"),
    [
        ("always", "7", True),
        ("always", "A", True),
        ("unless_ace_base", "7", True),
        ("unless_ace_base", "A", False),
        ("linear", "7", True),
        ("linear", "A", False),
        ("never", "7", False),
        ("never", "A", False),
    ],
)
def test_king_on_ace(wrap, base, allowed):
    #       KC
    #   AH  4S  4D      foundations are built from the 7s, or from the Aces
    #       4H
    moves = legal(Rules(wrap=wrap), f"KC AH 4S 4D 4H {base}S")
    assert ("T0>T1" in moves) is allowed
    assert "T1>T0" not in moves  # never Ace on King


def test_linear_puts_nothing_on_a_base_card():
    #       6C
    #   7H  4S  4D      foundations are built from the 7s: the 7H itself waits for its corner
    #       3H
    cards = "6C 7H 4S 4D 3H 7S"
    assert "T0>T1" not in legal(Rules(wrap="linear"), cards)
    assert "T0>T1" in legal(Rules(wrap="always"), cards)
    assert {"T4>T2", "T4>T3"} <= legal(Rules(wrap="linear"), cards)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        ("any_suit", {"T0>T1", "T0>T2"}),
        ("alternate_colour", {"T0>T1"}),
        ("none", set()),
    ],
)
def test_packing(build, expected):
    #       5C
    #   6H  6S  9D      the 5C may go on a 6
    #       JH
    assert legal(Rules(build=build), "5C 6H 6S 9D JH 2S") == {"deal"} | expected


def test_a_space_must_be_filled_from_the_waste_before_dealing():
    #       2S                          [2C]
    #   8H  4S  JD      the base is 2:  the 2S goes up and leaves a space
    #       6H
    cards = "2S 8H 4S JD 6H 2C 9C"
    rules = Rules(spaces="before_dealing")
    assert "deal" in legal(rules, cards, ["T0>F"])  # the waste is empty: nothing else fills it
    to_space = {"W>T0", "T1>T0", "T2>T0", "T3>T0", "T4>T0"}
    assert legal(rules, cards, ["T0>F", "deal"]) == to_space
    assert legal(Rules(), cards, ["T0>F", "deal"]) == to_space | {"deal"}
    assert "deal" in legal(rules, cards, ["T0>F", "deal", "W>T0"])
    assert "deal" in legal(rules, cards, ["deal"])  # no space, no duty


def test_moves_that_only_rename_spaces():
    #       2S                          [2C]
    #   2H  4S  JD      both 2s go up: two spaces, T0 and T1
    #       3H
    game = Game(deck=deck_with("2S 2H 4S JD 3H 2C 9C"))
    for move in ("T0>F", "T1>F", "T4>T2", "deal"):
        game.play(move)
    #       --
    #   --  3H  JD      waste: 9C
    #       --          (the 3H lies on the 4S)
    spaces = {f"{card}>T{space}" for card in ("W", "T2", "T3") for space in (0, 1, 4)}
    assert texts(game.legal_moves()) == {"deal", "T2>F"} | spaces
    # One space is as good as another, and the lone JD gains nothing by moving.
    assert texts(game.legal_moves(distinct=True)) == {"deal", "T2>F", "W>T0", "T2>T0"}


def test_runs_move_as_far_as_they_fit():
    #   7H  6C  5D  9S  4S      five piles, top to bottom; the base is the KC
    cards = "KC 7H 6C 5D 9S 4S"
    rules = Rules(base_from="first", runs=True)
    game = Game(rules, deck=deck_with(cards + " 6D"))
    for move in ("T2>T1", "T4>T1", "T1>T0"):
        game.play(move)
    assert game.tableau == [["7H", "6C", "5D", "4S"], [], [], ["9S"], []]
    game.play("deal")
    game.play("W>T2")
    #   4S  --  6D  9S  --      (the run 7H 6C 5D 4S on T0)
    game.play("T0>T2")  # the 5D fits the 6D and takes the 4S along
    assert game.tableau == [["7H", "6C"], [], ["6D", "5D", "4S"], ["9S"], []]
    game.play("T2>T1")  # a space takes the uppermost card alone
    assert game.tableau == [["7H", "6C"], ["4S"], ["6D", "5D"], ["9S"], []]


def test_a_run_that_goes_round_does_not_fit_onto_itself():
    """Four ranks, base 2: the pile 2S AD 4C 3S is one run, whose 2 would fit its own 3."""
    rules = Rules(ranks=4, piles=1, base_from="first", wrap="always", runs=True)
    game = Game(rules, deck=deck_with("2H 2S AD 4C 3S", 4, end="4D"))
    for move in ["deal", "W>T0"] * 3 + ["deal"] * 11:
        game.play(move)
    #   3S      [2H]     the stock is out, the waste ends with the 4D: nothing fits anywhere
    assert game.tableau == [["2S", "AD", "4C", "3S"]]
    assert game.legal_moves() == []
    assert game.is_over


def test_without_runs_one_card_moves_at_a_time():
    game = Game(Rules(base_from="first"), deck=deck_with("KC 7H 6C 5D 9S 4S"))
    game.play("T2>T1")
    assert "T1>T0" not in texts(game.legal_moves())  # the 6C lies under the 5D


def test_auto_stock_refills_at_once():
    #       2S                          [2C]
    #   8H  4S  JD      the 2S goes up, the 9C comes from the stock
    #       6H
    game = Game(Rules(spaces="auto_stock"), deck=deck_with("2S 8H 4S JD 6H 2C 9C TD"))
    game.play("deal")
    game.play("T0>F")
    assert (game.tableau[0], game.waste, game.stock_size) == (["TD"], ["9C"], 44)


def test_auto_waste_refills_from_the_waste_which_then_gets_a_card():
    #       2S                          [2C]
    #   8H  4S  JD      waste: 9C       the 2S goes up, the 9C takes its place, the TD the 9C's
    #       6H
    rules = Rules(spaces="auto_waste", first_waste=1)
    game = Game(rules, deck=deck_with("2S 8H 4S JD 6H 2C 9C TD"))
    game.play("T0>F")
    assert (game.tableau[0], game.waste, game.stock_size) == (["9C"], ["TD"], 44)


def test_auto_waste_leaves_a_pile_empty_just_after_a_redeal():
    #   2S     [2C]      all of the stock has gone to the waste, and is turned over:
    #                    the 2S goes up, the waste has no card for its place
    rules = Rules(ranks=4, piles=1, spaces="auto_waste", redeals=1)
    game = Game(rules, deck=deck_with("2S 2C 4H", ranks=4))
    while game.stock_size:
        game.play("deal")
    game.play("redeal")
    game.play("T0>F")
    assert (game.tableau[0], game.waste, game.stock_size) == ([], [], 14)
    game.play("deal")
    assert (game.tableau[0], game.waste) == ([], ["4H"])
    game.play("W>T0")  # the player fills it, and the waste gets a card again
    assert (game.tableau[0], len(game.waste), game.stock_size) == (["4H"], 1, 12)


def test_a_redeal_keeps_the_order():
    rules = Rules(ranks=4, piles=2, redeals=1)
    game = Game(rules, deal=3)
    stock = game.stock
    for _ in stock:
        assert "redeal" not in texts(game.legal_moves())
        game.play("deal")
    assert texts(game.legal_moves()) >= {"redeal"}
    game.play("redeal")
    assert (game.stock, game.waste, game.redeals_left) == (stock, [], 0)
    for _ in stock:
        game.play("deal")
    assert "redeal" not in texts(game.legal_moves())


def test_worrying_back_even_the_base_card():
    #   3H  5S      foundation of clubs: [2C]; the 2C may go back onto the 3H
    rules = Rules(piles=2, worrying_back=True)
    game = Game(rules, deck=deck_with("3H 5S 2C"))
    assert {str(move) for move in game.legal_moves()} == {"deal", "F:C>T0"}
    game.play("F:C>T0")
    assert (game.tableau[0], game.foundations["C"], game.cards_up) == (["3H", "2C"], [], 0)
    game.play("T0>F")
    assert game.foundations["C"] == ["2C"]


def test_the_opening_of_1883_plays_up_what_comes():
    # base 7C; 9H to the top; 8C and 7D go up; 3S, 4S to the cross; 9C goes up; 5S to the cross;
    # 8D goes up; the AC fills the cross
    game = Game("four-seasons-1883", deck=deck_with("7C 9H 8C 7D 3S 4S 9C 5S 8D AC 2C"))
    assert game.tableau == [["9H"], ["3S"], ["4S"], ["5S"], ["AC"]]
    assert game.foundations["C"] == ["7C", "8C", "9C"]
    assert game.foundations["D"] == ["7D", "8D"]
    assert not game.waste


def test_bases_of_their_own_for_each_suit():
    # The last card of each suit is its base; then five cells, then one to the waste.
    deck = deck_with("2C 3C 4C 5C 6C 8C", end="QS 9D 7C TD JH")
    game = Game("pysolfc/corners", deck=deck)
    assert game.foundations == {"C": ["7C"], "S": ["QS"], "H": ["JH"], "D": ["TD"]}
    assert game.tableau == [["2C"], ["3C"], ["4C"], ["5C"], ["6C"]]
    assert game.waste == ["8C"]


def test_foundations_go_round_the_corner_and_stop_when_full():
    """Four ranks, base 3: a foundation runs 3 4 A 2."""
    rules = Rules(ranks=4, piles=1, base_from="first")
    game = Game(rules, deck=deck_with("3C 4C AC 2C 3S", 4))
    for move in ("T0>F", "deal", "W>F", "deal", "W>F"):
        game.play(move)
    assert game.foundations["C"] == ["3C", "4C", "AC", "2C"]
    game.play("deal")
    game.play("W>F")
    assert game.foundations["S"] == ["3S"]


def test_the_table_of_the_record_is_true() -> None:
    """The offsets and sizes in the kernel's docstring are those of GAME."""
    rows = re.findall(r"^ +(\d+) +(\d+)  (\w+|\(padding\)|)", kernel.__doc__ or "", re.MULTILINE)
    fields = {name: (int(offset), int(size)) for offset, size, name in rows if name}
    assert fields == {
        name: (offset, dtype.itemsize)
        for name, (dtype, offset, *_) in (kernel.GAME.fields or {}).items()
    }
    assert sum(int(size) for _, size, _ in rows) == kernel.GAME.itemsize
    assert f"{kernel.GAME.itemsize} bytes" in (kernel.__doc__ or "")
    drawn = re.findall(r"^ +byte (.*)\n +\| (.*) \|", kernel.__doc__ or "", re.MULTILINE)
    offsets, names = (row.split() for row in (drawn[0][0], drawn[0][1].replace("|", "")))
    first_of = {"counts": "dealt"}
    assert [int(offset) for offset in offsets] == [
        *(fields[first_of.get(name, name)][0] for name in names),
        kernel.GAME.itemsize,
    ]
