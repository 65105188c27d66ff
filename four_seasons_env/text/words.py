"""The game in words: the rules and positions that a player reads, and the replies it writes.

There is no box drawing: each card is a rank and a suit, as in "7H".
"""

from __future__ import annotations

import difflib
import html
import re
import unicodedata
from collections.abc import Sequence

from four_seasons_env.engine.deals import RANKS, SUITS
from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.rules_in_words import rules_in_words

# --- rules


def instructions(rules: Rules) -> str:
    """The rules, and how cards, places and moves are written."""
    ranks = " ".join(RANKS[: rules.ranks])
    moves = ["`deal`", "`W>F`", "`T0>F`", "`W>T1`", "`T0>T1`"]
    places = f"T0 to T{rules.piles - 1} are piles, W is the waste, F a foundation"
    if rules.reserve:
        places += f", T{rules.reserve_pile} the reserve"
    if rules.redeals:
        moves.append("`redeal`")
    if rules.limited_redeal:
        places += ", S the card face up on the stock"
        moves.append("`S>F`")
    if rules.worrying_back:
        moves.append("`F:H>T0`")
    return (
        f"Four Seasons, a solitaire of {rules.cards} cards. Ranks: {ranks}. Suits: C, S, H, D. "
        f"{places}; the top card is shown last. {rules_in_words(rules)} "
        f"Moves are written {', '.join(moves)}."
    )


# --- positions


def position_in_words(game: Game) -> str:
    """All that a player with perfect memory knows of a position, in a line for each place."""
    lines = [f"Cards up: {game.cards_up} of {game.rules.cards}"]
    lines.append("Foundations: " + "; ".join(_foundation(game, suit) for suit in SUITS))
    lines += [f"T{i}: {' '.join(pile) or 'empty'}" for i, pile in enumerate(game.tableau)]
    lines.append(f"Waste: {' '.join(game.waste) or 'empty'}")
    unseen = game.unseen
    # After a redeal the order of the stock is known.
    if game.stock_size and not unseen:
        lines.append(f"Stock, next card first: {' '.join(game.stock)}")
    else:
        lines.append(f"Stock: {game.stock_size} card{'s' * (game.stock_size != 1)}")
    if game.face_up:
        lines.append(f"Face up on the stock: {game.face_up}")
    if game.rules.redeals:
        lines.append(f"Redeals left: {game.redeals_left}")
    # The cards that may come, which a player would have to work out.
    by_suit = [
        " ".join([f"{suit}:", *(rank for rank in RANKS if rank + suit in unseen)])
        for suit in SUITS
        if any(card[-1] == suit for card in unseen)
    ]
    lines.append(f"Unseen cards: {'; '.join(by_suit) or 'none'}")
    return "\n".join(lines)


def _foundation(game: Game, suit: str) -> str:
    """A foundation's top card and the one that follows."""
    built = game.foundations[suit]
    if len(built) == game.rules.ranks:
        return f"{suit} complete"
    first = game.bases[suit]
    if not built:
        return f"{suit} empty, next {first}"
    ranks = RANKS[: game.rules.ranks]
    return f"{suit} {built[-1]}, next {ranks[(ranks.index(built[-1][0]) + 1) % len(ranks)]}{suit}"


def candidate_in_words(game: Game, moves: list[Move]) -> str:
    """A choice among positions: its moves, and the position before the last of them.

    Without moves nothing is hidden, and the environment plays the ending.
    """
    if not moves:
        return "the rest of the game is played for you"
    for move in moves[:-1]:
        game.play(move)
    piles = [f"T{i} {' '.join(pile) or 'empty'}" for i, pile in enumerate(game.tableau)]
    up = " ".join(f"{suit}{len(built)}" for suit, built in game.foundations.items())
    top = game.waste[-1] if game.waste else "empty"
    return (
        f"{moves_in_words(moves)}\n"
        f"   before {moves[-1]}: {'; '.join(piles)}; waste {top}; cards up {up}"
    )


_LISTED = 40


def moves_in_words(moves: Sequence[Move]) -> str:
    """The moves, separated by commas; of a long list, how many and the last ones."""
    listed = ", ".join(move.text for move in moves[-_LISTED:])
    return f"{len(moves)} moves, at the end {listed}" if len(moves) > _LISTED else listed


# --- replies

REPLY_LENGTH = 4096
"""Characters that are read, the last ones: reasons come first, the answer last."""

_KEYS = "(?:answer|moves?|actions?|position)"
_FORMS = {
    "JSON": rf'"{_KEYS}"\s*:\s*("[^"]*"|\[[^\]]*\]|\d+)',  # {"answer": "T3>T0"}
    "XML": rf"<{_KEYS}>(.*?)(?:</|\Z)",  # <answer>T3>T0</answer>
    "LaTeX": r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}",  # \boxed{T3>T0}
    "code": r"```(?:\w*\n)?((?:(?!```).)*)```\s*\Z",  # the block that ends the reply
    "label": r"answer\W*?:[\s*_]*(.*?)(?:\n\s*\n|\Z)",  # Answer: T3>T0, up to an empty line
}
"""The forms of an answer; the group of each is the answer. The form that is found last counts.
Without any, the last line does, or the numbered list that ends the reply."""
_ANSWERS = [re.compile(f".*{form}", re.IGNORECASE | re.DOTALL) for form in _FORMS.values()]

_NUMBER = re.compile(r"^[\s*]*\d+[.)][\s*]+(?=\S)", re.MULTILINE)
"""The number of an item: `1. deal`."""
_LATEX_ARROW = r"(?:to|(?:long)?rightarrow)\b"
_CLEANING = [
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), replacement)
    for pattern, replacement in (
        # Markup: **deal**, `deal`, $\text{deal}$, {deal}.
        (rf"\\(?:[,;:!]|(?!{_LATEX_ARROW})[a-z]*)|[$`*_\"'()\[\]{{}}]", ""),
        # Bullets: - deal.
        (r"^\s*[-+\u2022]\s+", ""),
        # Arrows: T3 -> T0, T3 => T0, T3 \to T0.
        (rf"\s*(?:[-=]*>|\\{_LATEX_ARROW})\s*", ">"),
        # Signs that are arrows only between two places: T3-T0, W to F.
        (r"\b(T\d+|W|S|F:[CSHD])\s*(?:-+|\bto\b)\s*(?=(?:T\d+|F)\b)", r"\1>"),
    )
]
"""What is removed or replaced in an answer, in this order."""
_FILLER = re.compile(
    "(?:actions?|and|answer|choose|final|finally|first|i|is|moves?|my|next|play|position|the|then|will)",
    re.IGNORECASE,
)
"""Words that change nothing about an answer. `not` and `or` do."""

_TOKENS = re.compile(r"<\|[^<>]*\|>|</?(?:s|bos|eos|pad|think|\w+_of_\w+)>|\[/?INST\]")
"""Tokens that separate the messages of a chat."""
_SIGNS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb", '"')
    | dict.fromkeys("\u2018\u2019", "'")
    | dict.fromkeys("\u2192\u21a6\u21d2\u27a1\u2794\u279c\u279d\u279e\u27f6\u27f9\u203a", ">")
    | dict.fromkeys("\u200b\ufe0f\ufeff", "")
)
"""Dashes, quotes and arrows in ASCII; invisible characters are left out."""
_SHOWN = 24


def words_of(reply: str, numbered: bool = True) -> list[str]:
    """The words of the answer: moves, or a number of the list of positions.

    Words stand apart by spaces or commas. Markup, fillers and punctuation around words are left
    out, and all arrows are read as `>`.

    >>> words_of("I think.\\n\\n**Answer:** `w -> t2`, then **deal**.")
    ['w>t2', 'deal']

    Args:
        reply: any text.
        numbered: leave out the numbers of a list, because the answer itself is not a number.
    """
    text = _plain(reply)
    answers = [match for answer in _ANSWERS if (match := answer.match(text))]
    text = max(answers, key=lambda match: match.start(1))[1] if answers else _last_lines(text)
    text = _NUMBER.sub("", text) if numbered else text
    for pattern, replacement in _CLEANING:
        text = pattern.sub(replacement, text)
    words = [word.strip("!#.:=?") for word in re.split(r"[\s,;]+", text)]
    return [word for word in words if word.strip("-") and not _FILLER.fullmatch(word)]


def _plain(reply: str) -> str:
    """The end of a reply without tokens and invisible characters, with signs in plain forms."""
    text = unicodedata.normalize("NFKC", html.unescape(reply[-REPLY_LENGTH:]))
    text = text[-REPLY_LENGTH:]  # some characters stand for several
    text = text.rpartition("</think>")[2]  # a thought is no answer
    return _TOKENS.sub("\n", text).translate(_SIGNS)


def _last_lines(text: str) -> str:
    """The last line, or the numbered list that ends a text; without what leads to "answer is"."""
    lines = text.rstrip().splitlines() or [""]
    first = len(lines) - 1
    while first and _NUMBER.match(lines[first]) and _NUMBER.match(lines[first - 1]):
        first -= 1
    return re.split(r"\banswer is\b", "\n".join(lines[first:]), flags=re.IGNORECASE)[-1]


def shown(word: str) -> str:
    """A word of a reply as it is repeated to the player: ASCII, and short."""
    text = ascii(word)[1:-1]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def nearest_of(word: str, choices: Sequence[str]) -> str:
    """The choice that is most like a word; the first one for a word that resembles none."""
    by_upper = {choice.upper(): choice for choice in choices}
    close = difflib.get_close_matches(word[:_SHOWN].upper(), by_upper, 1, 0.01)
    return by_upper[close[0]] if close else choices[0]


def nearest_number(word: str, count: int) -> int:
    """The number from 1 to ``count`` that is nearest to the first number in a word; or else 1."""
    found = re.search(r"\d{1,9}", word)
    return min(max(int(found[0]), 1), count) if found else 1
