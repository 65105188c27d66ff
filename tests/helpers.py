"""Shared helpers: decks, rule sets, and random play."""

import importlib.util
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import strategies as st

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.games import Games
from four_seasons_env.observations import KINDS, SHOWN, _encode_all, observation_space
from four_seasons_env.rules import BASE_FROM, BUILDS, OPENINGS, RULES, SPACES, WRAPS, Rules
from tests.reference.slow_model import SlowGame

ROOT = Path(__file__).parent.parent
RANKS = "A23456789TJQK"
SUITS = "CSHD"

FOLDERS = {
    "four_seasons_env": "",
    "agents": "four_seasons_env.",
    "experiments": "four_seasons_env.",
}
"""The folders of the source, and the package that each is in."""

FILES = {
    prefix + ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder, prefix in FOLDERS.items()
    for path in sorted((ROOT / folder).rglob("*.py"))
}
"""Source files by the names of their modules."""


def documented(file: str) -> set[str]:
    """The columns or keys of a file that docs/reference/files.md explains."""
    page = (ROOT / "docs" / "reference" / "files.md").read_text()
    section = page.partition(f"### `{file}`\n")[2].partition("\n#")[0]
    first_cells = re.findall(r"^\| (.*?) \|", section, re.MULTILINE)
    return set(re.findall(r"`([^`*]+)`", " ".join(first_cells)))


def python_path(*folders: Path) -> dict[str, str]:
    """The `PYTHONPATH` of a process: these folders, then the caller's, which may hold packages."""
    others = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([*map(str, folders), *([others] if others else [])])}


def generators() -> Any:
    """The states of the global generators of Python, NumPy and torch."""
    import torch

    numpy = str(np.random.get_state())  # noqa: NPY002
    return random.getstate(), numpy, torch.get_rng_state().tolist()


def run_python(
    *arguments: str,
    cwd: Path = ROOT,
    status: int = 0,
    python: str = sys.executable,
    **environment: str,
) -> str:
    """What a Python process prints that imports the clone, and must end with this status.

    Its output, or its messages if it fails.
    """
    done = subprocess.run(
        [python, *arguments],
        cwd=cwd,
        env=os.environ | python_path(ROOT) | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stderr if status else done.stdout


def load(path: Path) -> Any:
    """The module of a file that is not in a package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def contents(folder: Path) -> dict[str, bytes | str | None]:
    """All that is in a folder, by its path: the bytes of files, targets of links, and folders."""

    def content(path: Path) -> bytes | str | None:
        if path.is_symlink():
            return str(path.readlink())
        return path.read_bytes() if path.is_file() else None

    return {str(path.relative_to(folder)): content(path) for path in folder.rglob("*")}


# --- decks --------------------------------------------------------------------------------------

_64_BITS = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """SplitMix64's output function, in plain Python."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _64_BITS
    return z ^ (z >> 31)


def splitmix64(state: int) -> Iterator[int]:
    while True:
        state = (state + GAMMA) & _64_BITS
        yield mix(state)


def cards_in_order(ranks: int = 13) -> list[str]:
    return [rank + suit for rank in RANKS[:ranks] for suit in SUITS]


def numbered_deck(deal: int, ranks: int = 13) -> list[str]:
    """Deal n by its definition (docs/reference/deals.md), sharing no code with the package."""
    deck = cards_in_order(ranks)
    numbers = splitmix64(deal)
    for i in range(len(deck) - 1, 0, -1):
        j = ((next(numbers) >> 32) * (i + 1)) >> 32
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def training_deals(seed: int, count: int) -> list[int]:
    """The deals that follow `reset(seed=seed)`, by the definition in docs/reference/deals.md."""
    stream = splitmix64(mix((~seed * GAMMA) & _64_BITS))
    return [2**32 + (number >> 2) for number in islice(stream, count)]


def deck_with(start: str, ranks: int = 13, end: str = "") -> list[str]:
    """A deck that begins and ends with these cards; the others are in order between them."""
    first, last = start.split(), end.split()
    return first + [c for c in cards_in_order(ranks) if c not in first + last] + last


# --- rule sets ----------------------------------------------------------------------------------


REPRESENTATIVES = ("four-seasons", "corners", "pysolfc/florentine", "pysolfc/czarina")
"""Rule sets of the default tests, one for each kind: packing, cells, a redeal, refills."""


def mostly_slow(values: Iterable[Any], fast: Container[str] = REPRESENTATIVES) -> list[Any]:
    """Parameters of a test, most of them marked slow.

    Args:
        values: rule sets, or names.
        fast: names of those in the default tests.
    """
    return [
        value
        if getattr(value, "name", value) in fast
        else pytest.param(value, marks=pytest.mark.slow)
        for value in values
    ]


def small(name: str, ranks: int = 5, piles: int = 2) -> Rules:
    """A small game with the rules of a row: its episodes end soon, and some are won."""
    return RULES[name].replace(name=f"small {name}", ranks=ranks, piles=piles)


@st.composite
def rule_sets(draw: st.DrawFn, max_ranks: int = 13) -> Rules:
    """A random valid rule set."""
    base_from = draw(st.sampled_from(BASE_FROM))
    ranks = draw(st.integers(4, max_ranks))
    build = "none" if base_from == "one_per_suit" else draw(st.sampled_from(BUILDS))
    piles = draw(st.integers(1, min(12, 4 * ranks - 5)))
    spaces = draw(st.sampled_from(SPACES))
    openings = [
        each
        for each in OPENINGS
        if (each != "as_dealt" or base_from == "first")
        and (each != "empty" or (base_from != "sixth" and not spaces.startswith("auto")))
    ]
    opening = draw(st.sampled_from(openings))
    redeals = draw(st.integers(0, 2))
    may_reserve = piles > 1 and opening != "empty" and spaces != "auto_waste"
    return Rules(
        ranks=ranks,
        piles=piles,
        base_from=base_from,
        opening=opening,
        build=build,
        wrap=draw(st.sampled_from(WRAPS)),
        runs=build != "none" and draw(st.booleans()),
        spaces=spaces,
        reserve=may_reserve and draw(st.booleans()),
        redeals=redeals,
        limited_redeal=redeals == 1 and spaces != "before_dealing" and draw(st.booleans()),
        first_waste=draw(st.integers(0, 1)),
        worrying_back=draw(st.booleans()),
    )


def decks(rules: Rules) -> st.SearchStrategy[list[str]]:
    return st.permutations(cards_in_order(rules.ranks))


# --- play ---------------------------------------------------------------------------------------


def biased_choice(moves: Sequence[Any], rng: random.Random) -> Any:
    """A random move, mostly one to a foundation if possible, so that games get far."""
    up = [move for move in moves if str(move).endswith(">F")]
    return rng.choice(up if up and rng.random() < 0.8 else moves)


def random_moves(game: Game, seed: int, most: int) -> list[Move]:
    """The moves of a random game from a position, which stays as it is."""
    game, rng, moves = game.copy(), random.Random(seed), list[Move]()
    while not game.is_over and len(moves) < most:
        moves.append(biased_choice(game.legal_moves(), rng))
        game.play(moves[-1])
    return moves


def together(
    rules: Rules, deck: Sequence[str], choose: Callable[[list[str]], str], most: int
) -> Iterator[tuple[Game, SlowGame]]:
    """The positions of a game in both models, until it is over or has this number of moves.

    Args:
        choose: chooses among the slow model's legal moves.
    """
    game, slow = Game(rules, deck=deck), SlowGame(rules, list(deck))
    yield game, slow
    while not slow.is_over and game.moves_played < most:
        move = choose(sorted(slow.legal_moves()))
        game.play(move)
        slow = slow.after(move)
        yield game, slow


def later(game: Game, moves: Iterable[Move | str]) -> Game:
    """The position after some moves."""
    game = game.copy()
    for move in moves:
        game.play(move)
    return game


def played_on(rules: Rules, count: int, most: int, least: int = 0) -> Iterator[Game]:
    """A position of each of some deals, after `least` to `most` - 1 random moves."""
    for number in range(count):
        game = Game(rules, deal=TRAIN_FROM + number)
        moves = random.Random(number).randrange(least, most)
        yield later(game, random_moves(game, number, moves))


def random_games(rules: Rules, count: int, moves: int) -> Iterator[Games]:
    """The same games after each of a number of random moves, until they are over."""
    games, rng = Games(rules, count), np.random.default_rng(0)
    for _ in range(moves):
        masks = games.action_masks()
        drawn = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        games.play(np.where(masks.any(axis=1), drawn, -1))
        yield games


def midgame(count: int, moves: int = 25, mask: str = "legal") -> tuple[np.ndarray, np.ndarray]:
    """Games of the default rules that go on after some random moves, and their masks."""
    *_, games = random_games(RULES["four-seasons"], count, moves)
    on = games[~games.is_over]
    return on.records, on.action_masks(distinct=mask == "distinct")


@st.composite
def positions(draw: st.DrawFn, max_ranks: int = 13, max_moves: int = 60) -> Game:
    """A position of a random rule set, some moves after the opening."""
    rules = draw(rule_sets(max_ranks))
    game = Game(rules, deck=draw(decks(rules)))
    seed, most = draw(st.integers(0, 2**32)), draw(st.integers(0, max_moves))
    return later(game, random_moves(game, seed, most))


def stock_codes(game: Game) -> list[int]:
    """The stock as card codes, next card first."""
    record = game.record[0]
    codes: list[int] = record["deck"][record["dealt"] : record["deck_size"]].tolist()
    return codes


def restocked(game: Game, codes: Sequence[int]) -> Game:
    """The same position with the stock in another order."""
    record = game.record.copy()[0]
    record["deck"][record["dealt"] : record["deck_size"]] = codes
    return Game.from_record(record, game.rules)


def board(game: Any) -> dict[str, Any]:
    """The parts of a position, of `Game` or of the slow model, with cards as texts."""
    return {
        "tableau": game.tableau,
        "waste": game.waste,
        "foundations": game.foundations,
        "stock": game.stock,
        "redeals left": game.redeals_left,
    }


def canonical(game: Any) -> str:
    """A position, of `Game` or of the slow model, without the order of its piles and stock."""
    piles = list(map(str, game.tableau))
    reserve = piles.pop(len(piles) // 2) if game.rules.reserve else None
    seen = game.waste, game.foundations, len(game.stock), game.redeals_left
    return str((sorted(piles), reserve, *seen))


def texts(moves: Sequence[Any]) -> set[str]:
    return {str(move) for move in moves}


def observe(game: Game, kind: str) -> np.ndarray:
    """A position's observation of a kind (one of OBSERVATIONS), of shape (L,)."""
    space = observation_space(game.rules, kind)
    out = np.full((1, *space.shape), 199, space.dtype)  # a slot that is not written shows
    shown = np.empty(1, SHOWN)
    _encode_all(game.record.copy(), compile_rules(game.rules), KINDS[kind], shown, out)
    return out[0]


# --- environments -------------------------------------------------------------------------------


def random_steps(env: Any, steps: int, seed: int = 0) -> list[Any]:
    """The answers of an environment of several games to random legal actions."""
    rng, answers = np.random.default_rng(seed), []
    for _ in range(steps):
        masks = env.unwrapped.action_masks()
        answers.append(env.step(np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)))
    return answers


def same(one: Any, two: Any) -> bool:
    """Whether two nested structures of arrays and numbers are the same, dtypes included."""
    return bool(data_equivalence(one, two, exact=True))


def scripted_reply(message: str) -> str:
    """A reply as of a language model: the first position, or a move up, or the first move."""
    if "Positions:" in message:
        return "The first is the most promising. Answer: 1"
    legal = message.rpartition("Legal moves: ")[2].split(", ")
    up = [move for move in legal if move.endswith(">F")]
    return f"Cards go up where they can.\nAnswer: {(up or legal)[0]}"
