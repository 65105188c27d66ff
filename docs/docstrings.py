"""Extension of the API reference: docstrings as Markdown, and constructors that take settings.

Tables and examples become Markdown. A constructor decorated by `takes` shows the signature and the
docstring that it has at run time.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import griffe

_TABLE = re.compile(r"^( *)(=+(?: +=+)+)\n((?:.*\n)+?)\1\2\n((?:.*\n)+?)\1\2$", re.MULTILINE)
_EXAMPLE = re.compile(r"^(?: *>>> .*(?:\n|\Z)(?: +(?!>>>)\S.*(?:\n|\Z))?)+", re.MULTILINE)


def _cells(line: str, starts: Sequence[int]) -> list[str]:
    ends = [*starts[1:], None]
    return [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]


def _as_markdown(table: re.Match[str]) -> str:
    """A Markdown table; a line with an empty first cell continues the row above."""
    indent, rule, head, body = table.groups()
    starts = [column.start() for column in re.finditer("=+", rule)]
    rows: list[list[str]] = []
    for line in (head + body).splitlines():
        cells = _cells(line[len(indent) :], starts)
        if rows and not cells[0]:
            rows[-1] = [
                f"{above} {cell}".strip() for above, cell in zip(rows[-1], cells, strict=True)
            ]
        else:
            rows.append(cells)
    rows.insert(1, ["---"] * len(starts))
    lines = ["| " + " | ".join(cell.replace("``", "`") for cell in row) + " |" for row in rows]
    return "\n".join(indent + line for line in lines)


def _fenced(example: re.Match[str]) -> str:
    code = "\n".join(line.strip() for line in example[0].strip("\n").splitlines())
    indent = re.match(" *", example[0])[0]  # type: ignore[index]
    return textwrap.indent(f"```pycon\n{code}\n```\n", indent)


def as_markdown(docstring: str) -> str:
    """A docstring with its tables and examples as Markdown."""
    return _EXAMPLE.sub(_fenced, _TABLE.sub(_as_markdown, docstring))


def _take_settings(constructor: griffe.Function) -> None:
    """Give a constructor the signature and docstring made by `takes`."""
    owner: Any = constructor.parent
    made = getattr(importlib.import_module(owner.module.path), owner.name).__init__
    constructor.parameters = griffe.Parameters(
        *[
            griffe.Parameter(
                each.name,
                annotation=None if each.annotation is each.empty else each.annotation,
                kind=griffe.ParameterKind(each.kind.description),
                default=None if each.default is each.empty else repr(each.default),
            )
            for each in inspect.signature(made).parameters.values()
        ]
    )
    style = owner.docstring.parser
    constructor.docstring = griffe.Docstring(made.__doc__, parent=constructor, parser=style)


class Docstrings(griffe.Extension):
    """Rewrites every docstring before it is parsed."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Show the arguments of a constructor that takes settings."""
        if any(str(each.value).startswith("takes(") for each in func.decorators):
            _take_settings(func)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite an object's docstring."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
