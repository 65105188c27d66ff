"""`Log`: the learning curve of a run, as progress.csv and for TensorBoard."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.training.run_folder import PROGRESS, STEPS


class Log:
    """Writes rows of named values.

    Args:
        out: the run's folder.
        steps: of the checkpoint from which a run is resumed: later rows are dropped.
    """

    def __init__(self, out: Path, steps: int | None = None) -> None:
        self._path = out / PROGRESS
        self._rows: list[dict[str, Any]] = []
        self._row: dict[str, Any] = {}
        if steps is not None and self._path.is_file():
            with self._path.open(newline="") as file:
                rows = list(csv.DictReader(file))
            self._rows = [row for row in rows if int(row[STEPS]) <= steps]
        self._board = SummaryWriter(str(out), purge_step=None if steps is None else steps + 1)

    def record(self, name: str, value: float) -> None:
        """Set a value of the next row."""
        self._row[name] = value

    def write(self, steps: int) -> None:
        """Write the row of this step."""
        for name, value in self._row.items():
            self._board.add_scalar(name, value, steps)
        self._board.flush()
        self._rows.append({STEPS: steps, **self._row})
        self._row = {}
        names = dict.fromkeys(name for row in self._rows for name in row)
        text = io.StringIO(newline="")
        table = csv.DictWriter(text, list(names), restval="", lineterminator="\n")
        table.writeheader()
        table.writerows(self._rows)
        write_atomically(self._path, text.getvalue().encode())
