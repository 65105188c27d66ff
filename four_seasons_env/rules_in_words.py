"""Rule sets in words: for the page, for language models, and for the documentation."""

from __future__ import annotations

from typing import Any

from four_seasons_env.engine.deals import RANKS
from four_seasons_env.rules import Rules

_NAMES = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}

_GOAL = (
    "Move all {cards} cards to the foundations to win. The stock is dealt to the waste card by "
    "card. The top cards of piles and waste are available."
)
_SENTENCES: dict[str, dict[Any, str]] = {
    "base_from": {
        "sixth": "All foundations start with the rank of the card dealt after the piles, and go up "
        "in suit, ace after {last}.",
        "first": "All foundations start with the rank of the first card dealt, and go up in suit, "
        "ace after {last}.",
        "one_per_suit": "Before the opening, the card of each suit that would be dealt last is "
        "taken out of the deck, and starts its foundation. Foundations go up in suit, ace after "
        "{last}.",
        "aces": "The foundations start empty, and go up in suit from their aces.",
    },
    "piles": {5: "Five piles form a cross."},
    "opening": {
        "as_dealt": "Cards are dealt one at a time: a card that fits a foundation goes there, any "
        "other card to the next pile, until every pile has a card.",
        "empty": "The piles begin empty.",
    },
    "build": {
        "any_suit": "A card goes on a card one rank higher, whatever the suit.",
        "alternate_colour": "A card goes on a card one rank higher and of the other colour.",
        "none": "Each pile is a cell for one card.",
    },
    "wrap": {
        "always": "A {last} may always be put on an ace.",
        "unless_ace_base": "A {last} may be put on an ace, unless foundations start with aces.",
        "linear": "A {last} may be put on an ace, but nothing on a card of the rank that "
        "foundations start with.",
        "never": "No card may be put on an ace.",
    },
    "runs": {
        True: "Cards packed on each other, or as many of them as fit, move as one onto another "
        "card, but not to an empty pile."
    },
    "spaces": {
        "optional": "An empty pile takes {filler}.",
        "before_dealing": "An empty pile takes {filler}. No card can be dealt while a pile is "
        "empty and the waste holds a card.",
        "auto_stock": "An empty pile is filled from the stock at once; when the stock is empty, it "
        "takes {filler}.",
        "auto_waste": "An empty pile is filled from the waste at once, and an empty waste from the "
        "stock. A pile that stays empty takes {filler}.",
    },
    "reserve": {
        True: "{reserve} is a reserve: no card goes on it, its card goes to a foundation or an "
        "empty pile, and the stock replaces it at once."
    },
    "first_waste": {1: "One card is dealt to the waste before play."},
    "redeals": {
        0: "The waste is never turned over.",
        1: "When the stock is empty, the waste may be turned over once to be the stock again.",
        2: "When the stock is empty, the waste may be turned over to be the stock, twice in a "
        "game.",
    },
    "limited_redeal": {
        True: "After the redeal one card is turned to the waste, and the next lies face up on the "
        "stock: both are available. When one has been played, the next is turned; when neither can "
        "be played, the game is lost."
    },
    "worrying_back": {True: "The top card of a foundation may go back to a pile."},
}
"""The sentence of each value of a field; a value without one changes nothing."""

OPENING = ("piles", "opening", "first_waste")
"""Fields that say only how cards are laid out: a player sees that."""


def rank_words(card: str) -> str:
    """The name of the rank that a text begins with: "7", "king"."""
    return _NAMES.get(card[0], card[0])


def sentences(rules: Rules) -> dict[str, str]:
    """The rules, by the fields of `Rules` that they follow from, in the order to read them.

    A field that changes nothing has no sentence.

    Examples:
        >>> from four_seasons_env.rules import RULES
        >>> sentences(RULES["four-seasons"])["build"]
        'A card goes on a card one rank higher, whatever the suit.'
    """
    words = {field: known.get(getattr(rules, field), "") for field, known in _SENTENCES.items()}
    # Any number of piles but five has one sentence; the wrap depends on bases and packing, too.
    words["piles"] = words["piles"] or f"Piles: {rules.piles}, in rows of up to six."
    if rules.base_from == "aces" and rules.wrap != "always":  # the other values are the same then
        words["wrap"] = _SENTENCES["wrap"]["never"]
    if rules.build == "none":  # nothing is put on a card
        words["wrap"] = ""
    terms = {
        "cards": rules.cards,
        "last": rank_words(RANKS[rules.ranks - 1]),
        "filler": "only the reserve's card or the waste's"
        if rules.reserve
        else "any available card",
        "reserve": "The centre pile" if rules.piles == 5 else "One pile",
    }
    written = {"ranks": _GOAL} | words
    return {field: text.format(**terms) for field, text in written.items() if text}


def rules_in_words(rules: Rules) -> str:
    """The rules for a player, who sees how the cards are laid out."""
    parts = sentences(rules)
    return " ".join(parts[field] for field in parts if field not in OPENING)
