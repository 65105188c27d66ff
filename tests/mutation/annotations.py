"""Mutants of annotations are no faults: nothing reads them when the code runs."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from cosmic_ray.work_item import MutationSpec


def in_annotation(mutation: MutationSpec) -> bool:
    """Whether a mutant changes nothing but an annotation."""
    return any(
        start <= mutation.start_pos and mutation.end_pos <= end
        for start, end in _annotations(Path(mutation.module_path))
    )


@functools.cache
def _annotations(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where the annotations of a file begin and end: (line, column)."""
    spans = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        for name in ("annotation", "returns"):
            noted = getattr(node, name, None)
            if noted is not None:
                end = (noted.end_lineno, noted.end_col_offset)
                spans.append(((noted.lineno, noted.col_offset), end))
    return spans
