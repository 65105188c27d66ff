"""Golden games: one game per rule set, written move by move to tests/reference/golden.

`python -m tests.reference.golden` writes them again; tests compare. If one changes, the rules have
changed.
"""

from __future__ import annotations

import hashlib
import random
import re
from pathlib import Path

from four_seasons_env.engine.kernel import GAME
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves
from four_seasons_env.files import file_name
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealEnv
from four_seasons_env.rules import RULES, Rules
from tests.helpers import numbered_deck, observe

FOLDER = Path(__file__).with_name("golden")
FEATURES = FOLDER / "next_deal_features.txt"
FROZEN = FOLDER / "frozen.txt"
DEALS = range(200)
MOST_DECISIONS = 12
MOST_MOVES = 250


def path_of(rules: Rules) -> Path:
    """The file of a rule set's golden game."""
    return FOLDER / f"{file_name(rules.name)}.txt"


def choose(game: Game, chance: random.Random) -> str:
    """A simple player's move: mostly up, else from the waste onto a card, else deal, else any."""
    moves = game.legal_moves(distinct=True)
    tableau = game.tableau
    preferences = (
        [move for move in moves if move.target == FOUNDATION],
        [
            move
            for move in moves
            if move.source == WASTE and move.text[-1:].isdigit() and tableau[move.target]
        ],
        [move for move in moves if move.source == STOCK],
        moves,
    )
    for preferred, how_often in zip(preferences, (0.95, 0.8, 0.7, 1.0), strict=True):
        if preferred and chance.random() < how_often:
            return str(preferred[int(chance.random() * len(preferred))])
    return str(moves[0])


def play(rules: Rules, deal: int) -> tuple[Game, list[str]]:
    """A careless game of a deal, and its text line by line."""
    game = Game(rules, deal)
    chance = random.Random(deal)
    lines = [
        f"{rules.name}, deal {deal}",
        f"deck: {' '.join(numbered_deck(deal, rules.ranks))}",
        "",
    ]
    while not game.is_over and game.moves_played < MOST_MOVES:
        legal = " ".join(str(move) for move in game.legal_moves())
        move = choose(game, chance)
        lines += [*_position(game), f"legal: {legal}", f"-> {move}", ""]
        game.play(move)
    lines += [*_position(game), "won" if game.is_won else "over" if game.is_over else "left here"]
    return game, lines


def _position(game: Game) -> list[str]:
    piles = [f"T{i}: {' '.join(pile) or '--'}" for i, pile in enumerate(game.tableau)]
    up = [f"{suit}: {cards[-1] if cards else '--'}" for suit, cards in game.foundations.items()]
    waste = " ".join(game.waste) or "--"
    redeals = f"  redeals: {game.redeals_left}" if game.rules.redeals else ""
    return [
        f"{game.moves_played}. foundations {'  '.join(up)}   stock: {game.stock_size}{redeals}",
        f"   {'  '.join(piles)}",
        f"   waste: {waste}",
    ]


def golden(rules: Rules) -> str:
    """The text of a rule set's golden game: the one of 200 deals that gets furthest."""
    games = [play(rules, deal) for deal in DEALS]
    _, lines = max(games, key=lambda each: (each[0].cards_up, -each[0].moves_played))
    return "\n".join(lines) + "\n"


def features(rules: Rules) -> str:
    """Digests of the next-deal observations of a game, one line per decision."""
    env = FourSeasonsNextDealEnv(rules, candidates=8, expansions=20, ending_expansions=20)
    observation, _ = env.reset(options={"deal": 0})
    lines, terminated = [], False
    while not terminated and len(lines) < MOST_DECISIONS:
        rows = observation["observation"].astype("<i2")
        digest = hashlib.sha256(rows.tobytes()).hexdigest()[:16]
        lines.append(f"{rules.name}, deal 0, decision {len(lines)}: {digest}")
        observation, _, terminated, _, _ = env.step(0)
    return "\n".join(lines) + "\n"


def all_features() -> str:
    """The file of digests of the features that networks are trained on; they must not change."""
    return "".join(features(rules) for rules in RULES.values())


def frozen(rules: Rules) -> str:
    """A line of digests: openings, action numbers, and records and observations of a golden game.

    A digest changes with any card of a hundred openings, with any number of an action, and with any
    field or slot of any position of the game.
    """
    text = path_of(rules).read_text()
    games = [Game(rules, int(text.partition("deal ")[2].partition("\n")[0]))]
    for move in re.findall(r"^-> (.*)$", text, re.M):
        games.append(games[-1].copy())
        games[-1].play(move)
    parts = {
        "openings": [_record(Game(rules, deal)) for deal in range(100)],
        "actions": [move.text.encode() for move in all_moves(rules)],
        "records": [_record(game) for game in games],
        "tops": [observe(game, "tops").astype("<f4").tobytes() for game in games],
        "cards": [observe(game, "cards").astype("<f4").tobytes() for game in games],
        "places": [observe(game, "places").tobytes() for game in games],
    }
    digests = {name: hashlib.sha256(b" ".join(each)).hexdigest() for name, each in parts.items()}
    return " ".join([rules.name, *(f"{name} {each[:16]}" for name, each in digests.items())])


def _record(game: Game) -> bytes:
    """The fields of a game's record as bytes, without the padding between them."""
    return b"".join(game.record[name].tobytes() for name in GAME.names or ())


def main() -> None:
    """Write all golden games, and the digests of features and of everything that is frozen."""
    FOLDER.mkdir(exist_ok=True)
    FEATURES.write_text(all_features())
    for rules in RULES.values():
        path_of(rules).write_text(golden(rules))
    rows = [frozen(rules) for rules in RULES.values()]
    FROZEN.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
