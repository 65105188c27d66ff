"""Rules, cards, places and moves in words, for the page and for screen readers."""

from __future__ import annotations

from four_seasons_env.engine.moves import STOCK, Move
from four_seasons_env.game import Game
from four_seasons_env.rendering.position import cards_at, ends
from four_seasons_env.rules import Rules

_RANKS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUITS = {"C": "clubs", "S": "spades", "H": "hearts", "D": "diamonds"}
_PACKED = {
    "any_suit": "Build piles down in any suit",
    "alternate_colour": "Build piles down in alternate colours",
    "none": "A pile holds one card.",
}
_FILLED = {
    "optional": "Any card fills an empty pile.",
    "before_dealing": "Fill empty piles before you deal.",
    "auto_stock": "The stock fills an empty pile at once.",
    "auto_waste": "The waste fills an empty pile at once.",
}
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


def how_to_play(rules: Rules) -> str:
    """The rules in about sixty words, for a player who is new to them."""
    starts = {
        "one_per_suit": "Each starts with the rank it shows and goes up in suit, ace after king.",
        "aces": "Each goes up in suit from its ace.",
    }
    kings = {"never": "", "unless_ace_base": " A king goes on an ace unless aces start."}
    packed, filled = _PACKED[rules.build], _FILLED[rules.spaces]
    if rules.build != "none":
        packed += ", one card or run at a time." if rules.runs else ", one card at a time."
        packed += kings.get(rules.wrap, " A king goes on an ace.")
    if rules.reserve:
        filled = (
            "No card goes on the centre pile; the stock refills it. Its card or the waste's fills "
            "another empty pile."
        )
    redeals = {
        0: "There is no redeal.",
        1: "You may turn the waste over once.",
        2: "You may turn the waste over twice.",
    }
    return " ".join(
        (
            f"Move all {rules.cards} cards to the foundations.",
            starts.get(
                rules.base_from, "All start with the same rank and go up in suit, ace after king."
            ),
            packed,
            filled,
            "Click the stock to deal to the waste. The top waste card may move.",
            redeals[rules.redeals],
        )
    )
