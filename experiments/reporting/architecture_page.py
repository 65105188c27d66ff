"""docs/architecture.md: the layout of a position's record."""

from __future__ import annotations

import pandas as pd

from four_seasons_env.engine.kernel import GAME
from four_seasons_env.experiments.reporting.tables import as_markdown


def record_part() -> str:
    """The fields of `GAME` as a table, and its size."""
    rows = []
    for name, (dtype, offset, *_) in (GAME.fields or {}).items():
        shape = "" if not dtype.shape else f" x {dtype.shape[0]}"
        rows.append({"byte": str(offset), "field": f"`{name}`", "dtype": f"{dtype.base}{shape}"})
    return (
        f"{as_markdown(pd.DataFrame(rows))}\n"
        f"{GAME.itemsize} bytes in all; what each field holds is said where "
        "[the record is defined](../four_seasons_env/engine/kernel.py).\n\n"
    )
