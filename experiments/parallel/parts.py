"""Tables on disk that say what they hold: a CSV file, and beside it a stamp (JSON).

The stamp has the number of rows, the SHA-256 of the file and a digest of what produced it. A table
that was cut, doubled, edited or produced by something else does not match, and is not read.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd

from agents.files import write_atomically
from experiments.reporting.tables import csv_bytes, read_table


class PartError(ValueError):
    """A table that does not match its stamp."""


def digest_of(*values: Any) -> str:
    """The SHA-256, in hex, of values that JSON can hold."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def stamp_of(path: Path) -> Path:
    """The file beside a table that says what it holds."""
    return path.with_suffix(".json")


def write_part(path: Path, table: pd.DataFrame, origin: str) -> None:
    """Write a table, then its stamp; killed in between, the table counts as not written.

    Args:
        path: of the CSV file.
        table: its rows.
        origin: a digest of what produced them.
    """
    write_stamped(path, csv_bytes(table), len(table), origin)


def write_stamped(path: Path, data: bytes, rows: int, origin: str) -> None:
    """Write a file, then its stamp; see `write_part`.

    Args:
        path: of the file.
        data: its content.
        rows: how many it holds.
        origin: a digest of what produced them.
    """
    write_atomically(path, data)
    stamp = {
        "rows": rows,
        "sha256": hashlib.sha256(data).hexdigest(),
        "origin": origin,
    }
    write_atomically(stamp_of(path), (json.dumps(stamp, indent=2) + "\n").encode())


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
    data = path.read_bytes()
    try:
        stamp = json.loads(stamp_of(path).read_bytes())
        rows, sha256, made_by = stamp["rows"], stamp["sha256"], stamp["origin"]
    except FileNotFoundError:
        raise PartError(f"{path} has no {stamp_of(path).name} that says what it holds") from None
    except (ValueError, KeyError, TypeError) as error:
        raise PartError(f"{stamp_of(path)} is damaged: {error!r}") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        lines = max(data.count(b"\n") - 1, 0)
        raise PartError(
            f"{path} is not what was written: it has {lines:,} rows, written were {rows:,}"
            if lines != rows and path.suffix == ".csv"
            else f"{path} is not what was written, though it has all {rows:,} rows"
        )
    if origin is not None and made_by != origin:
        raise PartError(f"{path} was produced by something else (another player, rules or code)")
