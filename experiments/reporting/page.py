"""The template of the pages that commands write: one HTML file each, with its styles."""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


def fill(template: str, **parts: object) -> str:
    """A template of this folder, filled with HTML."""
    text = (_FOLDER / f"{template}.html").read_text(encoding="utf-8")
    return Template(text).substitute(parts)


def write_page(kind: str, title: str, body: str) -> bytes:
    """A whole page.

    Args:
        kind: its styles, "report" or "review".
        title: its title, as text.
        body: its content, as HTML.
    """
    page = fill("page", kind=kind, title=escape(title), body=body)
    return page.encode(errors="backslashreplace")  # a folder's name may have bytes that are no text


def element(tag: str, text: str, kind: str = "") -> str:
    """An element with a text that is escaped, and its class."""
    return f"<{tag}{f' class={kind}' if kind else ''}>{escape(text)}</{tag}>"
