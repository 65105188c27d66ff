"""The log of a training, as CSV and for TensorBoard, which a resumed run continues."""

from __future__ import annotations

from pathlib import Path

from stable_baselines3.common.logger import (
    CSVOutputFormat,
    KVWriter,
    Logger,
    TensorBoardOutputFormat,
)
from torch.utils.tensorboard import SummaryWriter

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.training.run_folder import PROGRESS, STEPS


class ResumedCSV(CSVOutputFormat):
    """Continues a CSV log after the rows up to a number of steps; later rows are dropped."""

    def __init__(self, path: Path, steps: int) -> None:
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        header = lines[0].rstrip("\n").split(",") if lines else []
        kept = lines[:1]
        for line in lines[1:]:
            cells = line.rstrip("\n").split(",")
            whole = line.endswith("\n") and len(cells) == len(header)
            if not whole or int(cells[header.index(STEPS)]) > steps:
                break  # written after the checkpoint, perhaps not to its end
            kept.append(line)
        write_atomically(path, "".join(kept).encode())
        self.file = path.open("r+")
        self.file.seek(0, 2)
        self.keys = header
        self.separator = ","
        self.quotechar = '"'


def start_log(folder: Path, steps: int | None = None) -> Logger:
    """The logger of a run; a resumed run gives the steps of its checkpoint."""
    board = TensorBoardOutputFormat(str(folder))
    path = folder / PROGRESS
    formats: list[KVWriter] = [board]
    if steps is None:
        formats.append(CSVOutputFormat(str(path)))
    else:
        board.writer.close()
        board.writer = SummaryWriter(str(folder), purge_step=steps + 1)
        formats.append(ResumedCSV(path, steps))
    return Logger(str(folder), formats)
