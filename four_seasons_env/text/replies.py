"""The moves of a reply, and the messages for one that cannot be read."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

REPLY_LENGTH = 4096
"""Characters that are read, the last ones: reasons come first, the answer last."""

_ANSWER = re.compile(r"answer\W*?:", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:[-=]*>|\u2192)\s*")
_MARKUP = re.compile(r"[`*_\"'()\[\]{}]|\.(?=\s|$)")
_SHOWN = 24


def words_of(reply: str) -> list[str]:
    """The words of the answer: what follows the last "Answer:", or else the last line.

    Words stand apart by spaces or commas. Markup is left out, and `->` is read as `>`.
    """
    text = reply[-REPLY_LENGTH:]
    found = list(_ANSWER.finditer(text))
    if found:
        text = text[found[-1].end() :]
    else:
        text = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return [word for word in re.split(r"[\s,;]+", _ARROW.sub(">", _MARKUP.sub("", text))) if word]


def shown(word: str) -> str:
    """A word of a reply as it is repeated to the player: ASCII, and short."""
    text = ascii(word)[1:-1]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def nearest_of(word: str, choices: Sequence[str]) -> str:
    """The choice that resembles a word most; the first one for a word that resembles none."""
    by_upper = {choice.upper(): choice for choice in choices}
    close = difflib.get_close_matches(word[:_SHOWN].upper(), by_upper, 1, 0.01)
    return by_upper[close[0]] if close else choices[0]


def nearest_number(word: str, count: int) -> int:
    """The number from 1 to ``count`` that is nearest to the first number in a word; or else 1."""
    found = re.search(r"\d{1,9}", word)
    return min(max(int(found[0]), 1), count) if found else 1
