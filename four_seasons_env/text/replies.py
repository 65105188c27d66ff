"""The moves of a reply, and the messages for one that cannot be read."""

from __future__ import annotations

import difflib
import html
import re
from collections.abc import Sequence

REPLY_LENGTH = 4096
"""Characters that are read, the last ones: reasons come first, the answer last."""

_FORMS = tuple(
    re.compile(f".*{form}", re.IGNORECASE | re.DOTALL)  # the last place, as .* takes all it can
    for form in (
        r'"(?:answer|moves?|actions?|position)"\s*:\s*("[^"]*"|\[[^\]]*\]|\d+)',
        r"<answer>(.*?)(?:</answer>|\Z)",
        r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}",
        r"```(?:\w*\n)?((?:(?!```).)*)```\s*\Z",
        r"answer\W*?:(.*)",
    )
)
"""The forms of an answer: in JSON, XML or LaTeX, as the block of code that ends the reply, or after
a label. The words are the group of each."""
_ARROW = re.compile(r"\s*(?:[-=]*>|\u2192|\\(?:to|rightarrow)\b)\s*")
_MARKUP = re.compile(r"\\(?!to\b|rightarrow\b)[a-z]*|[$`*_\"'()\[\]{}]|\.(?=\s|$)")
_SHOWN = 24


def words_of(reply: str) -> list[str]:
    """The words of the answer: of the form that is found last, or else of the last line.

    Words stand apart by spaces or commas. Markup is left out, and `->` is read as `>`.
    """
    text = html.unescape(reply[-REPLY_LENGTH:])
    found = [match for form in _FORMS if (match := form.match(text))]
    if found:
        text = max(found, key=lambda match: match.start(1))[1]
    else:
        text = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        text = re.split(r"\banswer is\b", text, flags=re.IGNORECASE)[-1]
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
