"""Names of cards, places and moves in words, for screen readers and lists of moves."""

from __future__ import annotations

from four_seasons_env.engine.moves import STOCK, Move
from four_seasons_env.game import Game
from four_seasons_env.rendering.places import cards_at, ends

_RANKS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUITS = {"C": "clubs", "S": "spades", "H": "hearts", "D": "diamonds"}
_CROSS = ("north pile", "west pile", "centre pile", "east pile", "south pile")


def rank_words(card: str) -> str:
    """The name of a card's rank: "7", "king"."""
    return _RANKS.get(card[0], card[0])


def card_words(card: str) -> str:
    """A card's name: "7 of clubs"."""
    return f"{rank_words(card)} of {_SUITS[card[1]]}"


def pile_words(game: Game, pile: int) -> str:
    """A pile's name: "north pile", or "pile 7"."""
    if pile == game.rules.reserve_pile:
        return "reserve"
    return _CROSS[pile] if game.rules.piles == len(_CROSS) else f"pile {pile + 1}"


def place_words(game: Game, place: str) -> str:
    """The name of a place as drawings and moves call it: "T0", "W", "F:H", "stock"."""
    if place.startswith("T"):
        return pile_words(game, int(place[1:]))
    if place.startswith("F:"):
        return f"foundation of {_SUITS[place[2:]]}"
    return {"W": "waste", "stock": "stock"}[place]


def move_words(game: Game, move: Move) -> str:
    """A legal move in words: "7 of clubs from the waste to the north pile"."""
    if move.turns:
        return "turn the waste over" if move.target == STOCK else "deal a card"
    source, target = ends(game, move)
    card = card_words(cards_at(game, source)[-1])
    onto = place_words(game, target)
    return f"{card} from the {place_words(game, source)} to the {onto}".replace("the pile", "pile")
