"""Tables on disk that say what they hold: a CSV file, and beside it a stamp (JSON).

The stamp has the number of rows, the SHA-256 of the file and a digest of what produced it. A table
that was cut, doubled, edited or produced by something else does not match, and is not read. A stamp
is written before its table and holds the stamp before it as well: whatever moment a process is
killed at, the table there, old or new, has its stamp.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.schemas import Count, Digest, read_json
from four_seasons_env.experiments.reporting.tables import csv_bytes, read_table


class PartError(ValueError):
    """A table that does not match its stamp."""


def digest_of(*values: Any) -> str:
    """The SHA-256, in hex, of values that JSON can hold."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def stamp_of(path: Path) -> Path:
    """The file beside a table that says what it holds."""
    return path.with_suffix(".json")


@dataclass(frozen=True)
class Stamp:
    """What a table holds."""

    rows: Count
    sha256: Digest
    origin: Digest
    """The digest of what produced it."""
    before: Stamp | None = None
    """Of the table that was there before this one."""


def write_part(path: Path, table: pd.DataFrame, origin: str) -> None:
    """Write a table and its stamp; killed in between, the table before is there with its own.

    Args:
        path: of the CSV file.
        table: its rows.
        origin: a digest of what produced them.
    """
    write_stamped(path, csv_bytes(table), len(table), origin)


def write_stamped(path: Path, data: bytes, rows: int, origin: str) -> None:
    """Write a file and its stamp; see `write_part`.

    Args:
        path: of the file.
        data: its content.
        rows: how many it holds.
        origin: a digest of what produced them.
    """
    try:
        before = replace(_stamp(path, path.read_bytes()), before=None)
    except (OSError, PartError):
        before = None
    stamp = Stamp(rows, hashlib.sha256(data).hexdigest(), origin, before)
    write_atomically(stamp_of(path), (json.dumps(asdict(stamp), indent=2) + "\n").encode())
    write_atomically(path, data)


def read_part(path: Path, origin: str | None = None) -> pd.DataFrame:
    """Read a table that matches its stamp.

    Args:
        path: of the CSV file.
        origin: the digest of what must have produced it; None: whatever did.

    Raises:
        PartError: if the table does not match its stamp, or the stamp is missing or of another
            origin; says which.
        FileNotFoundError: if there is no such table.
    """
    check_stamp(path, origin)
    return read_table(path)


def check_stamp(path: Path, origin: str | None = None) -> None:
    """Check that a file matches its stamp; see `read_part`.

    Raises:
        PartError: likewise.
        FileNotFoundError: if there is no such file.
    """
    made_by = _stamp(path, path.read_bytes()).origin
    if origin is not None and made_by != origin:
        raise PartError(f"{path} was produced by something else (another player, rules or code)")


def _stamp(path: Path, data: bytes) -> Stamp:
    """The stamp of a file with this content.

    Raises:
        PartError: if there is none.
    """
    try:
        stamp = read_json(stamp_of(path), Stamp)
    except FileNotFoundError:
        raise PartError(f"{path} has no {stamp_of(path).name} that says what it holds") from None
    except ValueError as error:
        raise PartError(str(error)) from None
    sha256 = hashlib.sha256(data).hexdigest()
    for each in (stamp, stamp.before):
        if each is not None and each.sha256 == sha256:
            return each
    lines, rows = max(data.count(b"\n") - 1, 0), stamp.rows
    raise PartError(
        f"{path} is not what was written: it has {lines:,} rows, written were {rows:,}"
        if lines != rows and path.suffix == ".csv"
        else f"{path} is not what was written, though it has all {rows:,} rows"
    )
