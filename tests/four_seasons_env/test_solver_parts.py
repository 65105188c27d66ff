"""The parts of the solver, one at a time: searches against brute force, the evaluation by hand."""

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from four_seasons_env.engine.containers import find, move_keys
from four_seasons_env.engine.deals import TRAIN_FROM, card_code
from four_seasons_env.engine.hashing import position_keys, public_key
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import beam
from four_seasons_env.solver.analysis.features import (
    FEATURES,
    WIDE_WEIGHTS,
    score_position,
)
from four_seasons_env.solver.analysis.relaxation import next_cards
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, WON, Root, make_frame
from four_seasons_env.solver.beam import Beam
from four_seasons_env.solver.fair.arrays import VALUE, VALUES_FULL, new_arrays
from four_seasons_env.solver.fair.expectimax import ORDERS, position_value
from tests.helpers import numbered_deck, small
from tests.reference.brute_force import BruteForce

MEMORY = 2**22


def positions(rules: Rules, count: int, most: int = 9) -> Iterator[tuple[Game, bool]]:
    """Positions some random moves after the opening, and whether they can be won."""
    for number in range(count):
        deck = numbered_deck(TRAIN_FROM + number, rules.ranks)
        game, rng, moves = Game(rules, deck=deck), random.Random(number), list[str]()
        for _ in range(rng.randrange(most)):
            if not game.is_over:
                legal = list(map(str, game.legal_moves()))
                moves.append("deal" if "deal" in legal and rng.random() < 0.5 else legal[-1])
                game.play(moves[-1])
        yield game, BruteForce(rules, deck, moves).can_be_won()


ANY = [
    *(small(row, ranks=4, piles=1) for row in ("four-seasons", "corners", "czarina-1898")),
    small("florentine", ranks=4, piles=2),
]


def run(search: Beam) -> int:
    """The status of a search at its end."""
    status = SEARCHING
    while status == SEARCHING:
        status = search.go_on()
    return status


@pytest.mark.parametrize("rules", ANY, ids=lambda rules: rules.name)
def test_complete_beam_is_right(rules: Rules) -> None:
    ends = {WON: True, LOST: False}
    found = Counter()
    for game, winnable in positions(rules, 6):
        if not game.is_won:
            assert ends[run(Beam(Root(game.record[0], rules, 16 * MEMORY), None))] == winnable
            found[winnable] += 1
    assert found[True]


@pytest.mark.parametrize(("number", "end"), [(3, LOST), (7, WON)])
def test_skipped_arrangements_prove_no_loss(number: int, end: int) -> None:
    rules = small("four-seasons", ranks=7, piles=2)
    root = Root(Game(rules, deck=numbered_deck(TRAIN_FROM + number, 7)).record[0], rules)
    assert run(Beam(root, None)) == end
    assert run(Beam(root, 10_000, arrangements=1)) == UNDECIDED


@pytest.mark.parametrize(("width", "ranks"), [(20, 5), (None, 4)])
def test_slices_change_nothing(
    width: int | None, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search can be stopped between any two positions or rows."""
    rules = small("four-seasons", ranks=ranks, piles=2)
    ends = []
    for sizes in ((2_000, 2**16), (1, 3)):
        monkeypatch.setattr(beam, "_SLICE", sizes[0])
        monkeypatch.setattr(beam, "_ROWS", sizes[1])
        for deal in range(TRAIN_FROM, TRAIN_FROM + 2):
            game = Game(rules, deck=numbered_deck(deal, ranks))
            search = Beam(Root(game.record[0], rules), width)
            ends.append((run(search), search.positions, search.moves()))
    assert ends[:2] == ends[2:]
    assert ends[0][1] > 100


@pytest.mark.parametrize("width", [1, 50])
@pytest.mark.parametrize("rules", ANY, ids=lambda rules: rules.name)
def test_narrow_beam_wins_or_is_incomplete(rules: Rules, width: int) -> None:
    found = Counter()
    for game, winnable in positions(rules, 6):
        if game.is_won:
            continue
        search = Beam(Root(game.record[0], rules, MEMORY), width)
        status = run(search)
        if status == WON:
            for move in search.moves():
                game.play(move)
            assert game.is_won
        elif status == LOST:
            assert not winnable
        found[status] += 1
    assert found[WON]


# --- the evaluation -------------------------------------------------------------------------------


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


def late_positions(rules: Rules, count: int) -> Iterator[Game]:
    """Positions with cards in the waste, up, and packed."""
    for number in range(count):
        game, rng = Game(rules, deal=TRAIN_FROM + number), random.Random(number)
        for _ in range(rng.randrange(15, 60)):
            if not game.is_over:
                game.play(rng.choice(game.legal_moves()))
        yield game


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
    for game in late_positions(rules, 8):
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


# --- hashes ---------------------------------------------------------------------------------------


@jit
def count(keys, counts, entered, new):
    for i in range(len(entered)):
        at = find(keys, entered[i])
        new[i] = keys[at] == np.uint64(0)
        keys[at] = entered[i]
        counts[at] += 1


def test_hash_table_counts_entries() -> None:
    entered = np.random.default_rng(0).integers(1, 26, 60).astype(np.uint64)
    keys, counts = np.zeros(32, np.uint64), np.zeros(32, np.int32)
    new = np.zeros(len(entered), np.bool_)
    count(keys, counts, entered, new)
    seen = Counter(entered.tolist())
    assert new.sum() == len(seen)
    larger = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    move_keys(keys, counts, *larger)
    for table, values in ((keys, counts), larger):
        assert dict(zip(table[table > 0].tolist(), values[table > 0].tolist(), strict=True)) == seen
        count(table, values, entered, new)
        assert not new.any()


def test_fair_search_stops_before_its_table_is_full() -> None:
    """A full table would make `find` endless."""
    game = Game(small("four-seasons", ranks=4, piles=1), deal=TRAIN_FROM)
    few = np.zeros(2**5, VALUE)
    arrays = new_arrays(game.record[0], game.rules)._replace(values=few)
    state, hidden = arrays.state[0], game.stock_size
    state["top"], state["last"], state["status"] = 1, 2**20, SEARCHING
    arrays.positions[0], arrays.rows[0] = game.record[0], (1, 0, ORDERS[hidden], 0, -1, -1, -1)
    position_value(0, hidden, -1, int(ORDERS[hidden]), arrays)
    assert state["status"] == VALUES_FULL
    assert 0 < np.count_nonzero(few["key"]) == state["values"] <= len(few) // 2


@jit
def keys_of(games, rules, keys):
    for i in range(len(games)):
        keys[i, 0], keys[i, 1] = position_keys(games[i], rules[0])
        keys[i, 2] = public_key(games[i])


@pytest.mark.parametrize("row", ["four-seasons", "florentine"])
def test_hashes_are_equal_where_positions_are(row: str) -> None:
    """Positions as searches take them (the tableau as a set of cards) and as a player sees them."""
    rules = small(row, ranks=4, piles=3)
    deck, rng = numbered_deck(TRAIN_FROM, 4), random.Random(0)
    records, facts = [], []
    for _ in range(120):
        game = Game(rules, deck=deck)
        while not game.is_over and rng.random() < 0.9:
            game.play(rng.choice(game.legal_moves()))
        records.append(game.record[0])
        piles = [tuple(pile) for pile in game.tableau]
        reserve = piles[rules.piles // 2] if rules.reserve else ()
        rest = [
            game.redeals_left,
            game.stock,
            game.waste,
            sorted(game.foundations.items()),
            reserve,
        ]
        arranged = repr((sorted(piles), rest))
        unarranged = repr((sorted(card for pile in piles for card in pile), rest))
        facts.append((arranged, unarranged, repr((piles, rest))))
    keys = np.zeros((len(records), 3), np.uint64)
    keys_of(np.array(records), compile_rules(rules), keys)
    for kind in range(3):
        told = {fact[kind]: key for fact, key in zip(facts, keys[:, kind].tolist(), strict=True)}
        assert [told[fact[kind]] for fact in facts] == keys[:, kind].tolist()
        assert len(set(told.values())) == len(told)
    assert len(set(keys[:, 1].tolist())) < len(set(keys[:, 0].tolist()))
    if not rules.reserve:  # two like piles get no others' cards so soon
        assert len(set(keys[:, 0].tolist())) < len(set(keys[:, 2].tolist()))


def test_next_cards_of_each_suit() -> None:
    rng = np.random.default_rng(0)
    for levels in [[0] * 4, [13] * 4, [12] * 4, *rng.integers(0, 14, (200, 4)).tolist()]:
        up = sum(1 << (4 * rank + suit) for suit in range(4) for rank in range(levels[suit]))
        found = int(next_cards(np.uint64(up)))
        assert {card for card in range(64) if found >> card & 1} == {
            4 * level + suit for suit, level in enumerate(levels) if level < 13
        }
