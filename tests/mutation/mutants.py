"""The mutants of a target: which there are, which are tried, and what each changes."""

from __future__ import annotations

import difflib
import functools
import hashlib
import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec

from tests.mutation.annotations import in_annotation
from tests.mutation.targets import TARGETS

PASSED_OVER = ("core/RemoveDecorator",)
"""Operators whose mutants are as good as their originals: a function is compiled or not."""


AROUND = 2
"""Lines before and behind a change by which it is recognised."""


@dataclass(frozen=True)
class Mutant:
    """One fault in one file."""

    target: str
    spec: MutationSpec

    @property
    def source(self) -> str:
        """The file."""
        return str(self.spec.module_path)

    @property
    def line(self) -> int:
        """Where the fault is."""
        return int(self.spec.start_pos[0])

    @property
    def operator(self) -> str:
        """What it does."""
        return str(self.spec.operator_name.removeprefix("core/"))

    @property
    def name(self) -> str:
        """What tells it from others: the place in its line and the lines around it."""
        (first, column), (last, end) = self.spec.start_pos, self.spec.end_pos
        lines = _lines(self.source)
        around = lines[max(0, first - 1 - AROUND) : last + AROUND]
        change = _order(self.spec)[:-1]
        return hashlib.sha256(repr((change, around, column, end)).encode()).hexdigest()[:16]

    def made(self) -> tuple[str, str]:
        """The file with the fault, and the difference."""
        before = Path(self.source).read_text()
        operator = get_operator(self.spec.operator_name)(**self.spec.operator_args)
        after = mutate_code(before, operator, self.spec.occurrence)
        names = f"a/{self.source}", f"b/{self.source}"
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
        return after, "\n".join(lines)


@functools.cache
def _lines(source: str) -> list[str]:
    return Path(source).read_text().splitlines()


def _specs(target: str) -> list[MutationSpec]:
    """Every mutant of a target's sources, but for those in annotations."""
    with tempfile.TemporaryDirectory() as folder:
        found = WorkDB(Path(folder) / "mutants.sqlite", WorkDB.Mode.create)
        init([Path(source) for source in TARGETS[target].sources], found, {})
        specs = [item.mutations[0] for item in found.work_items]
        found.close()
    return [
        spec for spec in specs if spec.operator_name not in PASSED_OVER and not in_annotation(spec)
    ]


def _order(spec: MutationSpec) -> tuple[str, ...]:
    arguments = sorted(map(str, spec.operator_args.items()))
    return str(spec.module_path), spec.operator_name, *arguments, f"{spec.occurrence:9}"


def all_mutants(target: str) -> list[Mutant]:
    """The mutants of a target."""
    return [Mutant(target, spec) for spec in sorted(_specs(target), key=_order)]


def choose(target: str, count: int, seed: int) -> list[Mutant]:
    """Some mutants of a target, each operator and file as likely as it is there."""
    mutants = all_mutants(target)
    return random.Random(f"{seed} {target}").sample(mutants, min(count, len(mutants)))
