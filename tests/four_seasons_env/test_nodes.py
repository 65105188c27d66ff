"""Searches by nodes, and the oracle that tells which nodes may yet win."""

import itertools
import random
from collections.abc import Iterator

import numpy as np
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, WRAPS
from four_seasons_env.solver import sat, solve
from four_seasons_env.solver.node_values import make_puzzle, new_nodes, node_of
from four_seasons_env.solver.oracle import oracle_of
from four_seasons_env.solver.protocol import LOST, UNDECIDED, WON, Root
from four_seasons_env.solver.sat import Formula, Nogood
from four_seasons_env.solver.schedule import Step, steps
from tests.helpers import ROWS, mostly_slow, numbered_deck, small
from tests.reference.nodes_differential import compare, search_nodes

LOST_DEAL = 282
"""A test deal of `four-seasons` that only a search by nodes has proved lost."""
ONE_WAY = [row for row in ROWS if not (RULES[row].redeals or RULES[row].worrying_back)]


@pytest.mark.parametrize("wrap", mostly_slow(WRAPS, ("never",)))
def test_agrees_with_brute_force_under_each_wrap(wrap: str) -> None:
    rules = small("four-seasons", ranks=4, piles=1).replace(wrap=wrap)
    found = compare(rules, range(TRAIN_FROM, TRAIN_FROM + 12))
    assert found["won"] > 2
    assert found["lost"]
    assert not found["open"]


@pytest.mark.parametrize("row", mostly_slow(ONE_WAY))
def test_agrees_with_brute_force_on_every_row(row: str) -> None:
    found = compare(small(row, ranks=4, piles=1), range(TRAIN_FROM, TRAIN_FROM + 5))
    assert found["won"] + found["lost"] + found["open"] == 5
    assert found["won"]


def test_without_python_sat_it_agrees_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "is_available", lambda: False)
    rules = small("four-seasons", ranks=4, piles=1).replace(wrap="never")
    found = compare(rules, range(TRAIN_FROM, TRAIN_FROM + 4))
    assert found["won"] + found["lost"] == 4


def test_no_two_searches_of_the_schedule_are_alike() -> None:
    """The same search would find the same again."""
    some = list(itertools.islice(steps(seed=3), 100))
    made = [step for step in some if step.width and step.method != "formula"]
    assert len({(step.method, step.width, *step.weights()) for step in made}) == len(made)
    assert steps_differ(steps(seed=3), steps(seed=4))


def steps_differ(one: Iterator[Step], other: Iterator[Step]) -> bool:
    return any(a != b for a, b in itertools.islice(zip(one, other, strict=False), 100))


def test_a_narrow_search_that_left_nodes_out_proves_nothing() -> None:
    rules = small("four-seasons", ranks=5, piles=1)
    left_out = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 6):
        game = Game(rules, deck=numbered_deck(deal, 5))
        status, _ = search_nodes(game, 1)
        if status != WON and solve(game, seconds=60).status == "won":
            assert status == UNDECIDED
            left_out += 1
    assert left_out


@pytest.mark.parametrize("row", mostly_slow(["four-seasons", "solitaire-till-dawn"]))
def test_wins_from_late_positions(row: str) -> None:
    game = Game(row, TRAIN_FROM)
    moves = solve(game, max_positions=300_000).moves
    for move in moves[: len(moves) // 2]:
        game.play(move)
    status, search = search_nodes(game, 50)
    assert status == WON
    for move in search.moves():
        game.play(move)
    assert game.is_won


def test_the_oracle_never_calls_a_node_of_a_win_dead() -> None:
    game = Game("four-seasons", TRAIN_FROM)
    moves = solve(game, max_positions=300_000).moves
    root = Root(game.record[0], game.rules)
    puzzle = make_puzzle(root)
    assert puzzle is not None
    oracle, nodes = oracle_of(root, puzzle), new_nodes(1024)
    met = []
    for i, move in enumerate(moves):
        if i % 10 == 0:
            rule = compile_rules(game.rules)[0]
            met.append(node_of(game.record[0], nodes, rule, puzzle, root.frames[0]))
        game.play(move)
    wastes = nodes.all["waste"][met]
    for number in met:
        assert oracle.is_alive(nodes.all[number], wastes)


def test_what_rules_a_node_out_rules_out_only_nodes_that_lose() -> None:
    """Each node of small games is asked about alone; a Nogood must not hold for one that wins."""
    rng = random.Random(1)
    nogoods = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 12):
        rules = small("four-seasons", ranks=5, piles=1)
        game = Game(rules, deck=numbered_deck(deal, 5))
        record = game.record[0]
        root = Root(record, rules)
        puzzle = make_puzzle(root)
        assert puzzle is not None
        deck = puzzle.deck.cards[: puzzle.deck.size].astype(np.int64)
        first = int(record["dealt"])
        dealt = first + 4
        formula = Formula(deck, range(first, dealt), dealt, rules, root.frames[0])
        up = int(sum(1 << 4 * p + s for s in range(4) for p in range(record["level"][s])))
        asked = {}
        for _ in range(30):
            now = rng.randrange(dealt, min(dealt + 4, len(deck)) + 1)
            waste = sum(1 << i for i in range(first, now) if rng.random() < 0.6)
            asked[waste, now] = formula.ask(waste, up, now)
        for answer in asked.values():
            if isinstance(answer, Nogood):
                nogoods += 1
                for (waste, now), other in asked.items():
                    holds = (
                        not answer.in_waste & ~waste
                        and not answer.not_in_waste & waste
                        and not answer.up & ~up
                        and answer.least_dealt <= now <= answer.most_dealt
                    )
                    assert not holds or isinstance(other, Nogood)
    assert nogoods


@pytest.mark.slow
def test_a_deal_that_is_lost_by_nodes() -> None:
    assert search_nodes(Game("four-seasons", LOST_DEAL), None)[0] == LOST
