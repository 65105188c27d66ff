"""Records that nobody has played: `python -m tests.reliability.records --count 1000000`.

Three kinds, so many of each, over all rule sets and odd variants of them:

- ``random``: random bytes;
- ``nearly right``: positions of play with a byte flipped, a field changed or two cards swapped;
- ``made``: put together to pass the check, however far from anything that play leads to.

What `engine.validation` accepts is played to its end at random, and must pass again after each
move; a share of it is also drawn and solved. A crash or a hang ends the process with a traceback.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import csv
import faulthandler
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import bit_set
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.deals import shuffle
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    BASE_ACES,
    BASE_PER_SUIT,
    GAME,
    compile_rules,
    legal,
    new_masks,
    play,
    start_all,
)
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.engine.validation import InvalidGame, check_games, first_fault
from four_seasons_env.game import Game
from four_seasons_env.observations import OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver import solve
from tests.four_seasons_env.test_kernel import VARIANTS

KINDS = ("random", "nearly right", "made")
COLUMNS = ("kind", "tried", "refused", "passed", "moves", "drawn and solved")
COLUMNS += ("won", "lost", "unknown", "slowest solve, s")
_CHUNK = 4096
_LONGEST = 400  # moves until a game is left as it is
_HANGS_AFTER = 120.0  # seconds without an answer
_ONE = np.uint64(1)


@jit
def play_on(games, rules, words, masks, most, rng):
    """Play each game at random, mostly up where that is possible, so many moves at most.

    Args:
        games: GAME (n,), changed in place.
        words: (1, words) and masks (1, actions), of `new_masks`.
        most: int64 (n,), moves of each game.

    Returns:
        Moves played in all; -1 - i if game i is no position after a move.
    """
    rule = rules[0]
    total = 0
    for i in range(len(games)):
        for _ in range(most[i]):
            if not legal(games[i], rule, False, words[0]):
                break
            first, last = 0, masks.shape[1]
            if rng.random() < 0.7 and masks[0, 1 : rule.piles + 2].any():
                first, last = 1, rule.piles + 2
            move = first + rng.integers(0, last - first)
            while not masks[0, move]:
                move = first + rng.integers(0, last - first)
            play(games[i], rule, move)
            total += 1
            if first_fault(games[i : i + 1], rules)[0] >= 0:
                return -1 - i
    return total


@jit
def make_all(games, rules, rng):
    """Put positions together, card by card, with no thought of how they could come about.

    Args:
        games: GAME (n,), zeros.
    """
    rule = rules[0]
    cards = np.zeros(52, np.uint8)
    for i in range(len(games)):
        g = games[i]
        g.deck[:] = NO_CARD
        g.below[:] = NO_CARD
        g.top[:] = NO_CARD
        g.redeals = rng.integers(0, rule.redeals + 1)
        g.base[:] = 0 if rule.base_from == BASE_ACES else rng.integers(0, rule.ranks)
        up = rng.integers(0, rule.ranks + 1)
        for suit in range(4):
            if rule.base_from == BASE_PER_SUIT:
                g.base[suit] = rng.integers(0, rule.ranks)
            g.level[suit] = min(rule.ranks, rng.integers(0, up + 1) + rng.integers(0, 2))
            g.cards_up += g.level[suit]
        for card in range(rule.cards):
            cards[card] = card
        shuffle(cards, 0, rule.cards, np.uint64(rng.integers(0, 2**62)))
        stock = rng.integers(0, rule.cards + 1)  # where the stock begins in that order
        redealt = g.redeals != rule.redeals
        size = 0
        for at in range(rule.cards):
            card = cards[at]
            level = (card >> 2) - np.int64(g.base[card & 3])
            is_up = (level + rule.ranks if level < 0 else level) < g.level[card & 3]
            if is_up or at < stock:
                if not is_up:
                    pile = rng.integers(0, rule.piles)
                    fits = (rule.accepts[g.base[0], g.top[pile]] >> np.uint64(card)) & _ONE
                    place = pile if fits else WASTE
                    g.below[card] = g.top[place]
                    g.top[place] = card
                    g.height[place] += 1
                    if redealt and place != WASTE and rng.integers(0, 2):
                        continue  # went to the pile before the redeal
                elif redealt:
                    continue
                g.deck[size] = card
                size += 1
                g.dealt = size
        lying = bit_set(g.deck, 0, size)
        for at in range(stock, rule.cards):
            card = cards[at]
            level = (card >> 2) - np.int64(g.base[card & 3])
            is_up = (level + rule.ranks if level < 0 else level) < g.level[card & 3]
            if not is_up and not (lying >> np.uint64(card)) & _ONE:
                g.deck[size] = card
                size += 1
        g.deck_size = size


def some_positions(rules: Rules, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Positions of play."""
    games = np.zeros(count, GAME)
    start_all(games, compile_rules(rules), rng.integers(0, 2**62, count))
    most = rng.integers(0, 250, count)
    assert play_on(games, compile_rules(rules), *new_masks(1, rules), most, rng) >= 0
    return games


def _spoil(g: Any, rng: np.random.Generator) -> None:
    """Change a record a little: a byte, a field, or two cards."""
    way = rng.integers(4)
    if way == 0:
        as_bytes = g.view(np.uint8)
        as_bytes[rng.integers(len(as_bytes))] ^= rng.integers(1, 256)
    elif way == 1:
        field = g[str(rng.choice(GAME.names))].reshape(-1)
        at = rng.integers(len(field))
        field[at] = rng.choice([rng.integers(54), field[at] + 1, max(field[at], 1) - 1])
    else:
        one, other = rng.integers(NO_CARD, size=2)
        names = np.arange(256, dtype=np.uint8)
        names[[one, other]] = other, one
        g["deck"] = names[g["deck"]]
        if way == 2:  # everywhere, so that the piles stay whole
            below = names[g["below"]]
            below[:, [one, other]] = below[:, [other, one]]
            g["below"], g["top"] = below, names[g["top"]]


def some_records(kind: str, rules: Rules, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Records of a kind, a GAME array of shape (count,)."""
    if kind == "random":
        return np.frombuffer(rng.bytes(count * GAME.itemsize), GAME).copy()
    if kind == "made":
        games = np.zeros(count, GAME)
        make_all(games, compile_rules(rules), rng)
        return games
    games = some_positions(rules, count, rng)
    for i in range(count):
        _spoil(games[i : i + 1], rng)
    return games


def sound(games: NDArray[Any], rules: Rules) -> NDArray[np.bool_]:
    """Which records pass the check, bool of shape (n,)."""
    passes = np.zeros(len(games), np.bool_)
    for i in range(len(games)):
        with contextlib.suppress(InvalidGame):
            check_games(games[i : i + 1], rules)
            passes[i] = True
    return passes


def use(games: NDArray[Any], rules: Rules, every: int, rng: np.random.Generator) -> dict[str, Any]:
    """Play, see, draw and solve records that have passed; what was done, counted."""
    done: dict[str, Any] = collections.Counter(slowest=0.0)
    rule = compile_rules(rules)
    for game in games[rng.permutation(len(games))[: -(-len(games) // every)]]:
        position = Game.from_record(game, rules)
        assert Game.from_bytes(position.to_bytes(), rules) == position
        str(position), draw_svg(position, legal=True)
        began = time.perf_counter()
        done[solve(position, max_positions=300, memory=2**24).status] += 1
        done["slowest"] = max(done["slowest"], time.perf_counter() - began)
        done["drawn and solved"] += 1
    for kind, name in enumerate(OBSERVATIONS):
        rows = np.zeros((len(games), observation_length(rules, name)), np.float32)
        encode_all(games, rule, kind, rows)
        assert ((rows >= 0) & (rows <= 1)).all(), f"an observation of {rules.name} is out of range"
    most = np.full(len(games), _LONGEST)
    moves = play_on(games, rule, *new_masks(1, rules), most, rng)
    if moves < 0:
        check_games(games[[-1 - moves]], rules)
    done["moves"] += moves
    return done


def try_kind(kind: str, count: int, seed: int, every: int) -> dict[str, Any]:
    """Try so many records of a kind; what was tried and what came of it, counted."""
    counts: dict[str, Any] = collections.Counter()
    slowest = 0.0
    rule_sets = [*RULES.values(), *VARIANTS]
    for at, rules in enumerate(rule_sets):
        rng = np.random.default_rng((seed, KINDS.index(kind), at))
        left = count // len(rule_sets) + (at < count % len(rule_sets))
        while left:
            faulthandler.dump_traceback_later(_HANGS_AFTER, exit=True)
            games = some_records(kind, rules, min(left, _CHUNK), rng)
            passed = games[sound(games, rules)]
            done = use(passed, rules, every, rng) if len(passed) else {}
            slowest = max(slowest, done.pop("slowest", 0.0))
            counts.update(done | {"tried": len(games), "passed": len(passed)})
            left -= len(games)
    faulthandler.cancel_dump_traceback_later()
    refused = counts["tried"] - counts["passed"]
    return {"kind": kind, "refused": refused, **counts, "slowest solve, s": round(slowest, 2)}


def main() -> None:
    """Try records of all kinds; a crash or a hang ends the process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--count", type=int, default=20_000, help="records of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=100, help="draw and solve one in so many")
    parser.add_argument("--out", type=Path, help="a CSV file for the counts")
    flags = parser.parse_args()
    faulthandler.enable()
    rows = []
    for kind in KINDS:
        rows.append(try_kind(kind, flags.count, flags.seed, flags.every))
        print(json.dumps(rows[-1]), flush=True)
    if flags.out:
        with flags.out.open("w", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, restval=0)
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
