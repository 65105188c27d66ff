"""Folders of results, in three parts.

1. Any folder: a command writes into a new or empty folder, or one of its own kind. It reports a
   wrong folder before it plays or learns, and has it to itself until it ends (`locked`). It writes
   and deletes files by their exact names; whatever else is in the folder stays. Results name their
   origin (`provenance`).
2. Tables as CSV files: names stay text, whole numbers stay whole.
3. The folder of a training run, whose files are

run.json        flags, hyperparameters, rules, command, package versions, machine, git commit
progress.csv    the learning curve; events.* is the same for TensorBoard
best/, last/    policies: the best on validation deals, and the latest
checkpoints/    the last checkpoint, for `--resume`: state.pt has weights, their mean, optimiser,
                steps and the planner's last games; monitor.json has times, counts of games and the
                best validation; SHA256SUMS proves both
done.json       the outcome, written at the end of the run
"""

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import GenericAlias
from typing import Any

import pandas as pd

from four_seasons_env import __version__
from four_seasons_env.files import naming, refuse_links, write_atomically
from four_seasons_env.schemas import Amount, Count, Deals, Number, Share, fitting, read_json

_HOME = Path(__file__).resolve().parents[1]
IN_CLONE = (_HOME / "pyproject.toml").is_file()
ROOT = _HOME if IN_CLONE else Path()
"""Root of the clone; for an installed wheel, the current folder."""

MARKS = {"training": "run.json", "comparison": "compare.json", "census": "census.json"}
"""Kinds of results, and the file that marks a folder of each kind."""

_PACKAGES = (
    *("gymnasium", "joblib", "numba", "numpy", "pandas"),
    *("sb3-contrib", "scipy", "stable-baselines3", "torch"),
)


@contextmanager
def locked(out: Path, kind: str, writes: Iterable[Path] = ()) -> Iterator[None]:
    """Keep other processes out of a folder for results within a block.

    The folder is created if necessary. The system unlocks it when the process ends, even if killed.

    Args:
        out: the folder; hidden files in it are ignored.
        kind: kind of the new results, a key of `MARKS`.
        writes: files in the folder that the block may write or delete.

    Raises:
        FileExistsError: if the folder holds something else.
        NotADirectoryError: if it is a file.
        ValueError: if one of the files, or a folder that it is in, is a symbolic link.
        RuntimeError: if another process has locked it.
    """
    from filelock import FileLock, Timeout

    # A folder with hidden files only, such as .DS_Store, looks empty to its owner.
    mark = out / MARKS[kind]
    if not mark.is_file() and out.exists() and any(each.name[0] != "." for each in out.iterdir()):
        raise FileExistsError(
            f"{out} is not empty and has no {kind} ({MARKS[kind]}): choose a new folder (--out)"
        )
    holder = out / ".holder"  # not in the locked file, which Windows does not let others read
    refuse_links(out, [out / ".lock", holder, mark, *writes])
    out.mkdir(parents=True, exist_ok=True)
    try:
        lock = FileLock(out / ".lock").acquire(timeout=0)
    except Timeout:
        who = holder.read_text() if holder.is_file() else "another process"
        raise RuntimeError(f"{out} is in use by {who}") from None
    with lock:
        write_atomically(holder, f"process {os.getpid()}".encode())
        yield


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a dictionary as JSON, atomically."""
    write_atomically(path, as_json(values))


def as_json(values: dict[str, Any]) -> bytes:
    """A dictionary as the content of a JSON file."""
    return (json.dumps(values, indent=2) + "\n").encode()


def provenance() -> dict[str, Any]:
    """The origin of a result: command, versions, kind of machine and git state."""
    # The metadata of an editable install stays as it was when the clone is updated.
    versions = {"four-seasons-env": __version__}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    command = shlex.join(["four-seasons", *map(portable, sys.argv[1:])])
    return {
        "command": re.sub(r"(?<=--cluster[ =])\S+", "ADDRESS", command),
        "python": platform.python_version(),
        "versions": versions,
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "git": {"commit": _git("rev-parse", "HEAD"), "changed": _git("status", "--porcelain")},
    }


def measured_by() -> dict[str, str]:
    """The columns that say what measured a row: version, and commit (empty outside a clone)."""
    commit = _git("rev-parse", "HEAD") or ""
    return {"version": __version__, "commit": commit[:10]}


_ABSOLUTE = re.compile(r"(?:^|(?<=[=:]))(?:/|\\\\|[A-Za-z]:[\\/]).*?(?=$|[@,][^\W\d]\w*=)")
"""An absolute path in a flag or in an agent's name, up to the agent's options."""


def portable(text: str) -> str:
    """A flag, or an agent's name, for results that may be sent to others: without absolute paths.

    A path into the current folder or the clone starts there. Of any other, the last part is left.

    >>> portable("own=planner:/home/ada/runs/x@lookahead=1")
    'own=planner:x@lookahead=1'
    """

    def shortened(found: re.Match[str]) -> str:
        path = Path(found[0])
        for folder in (Path.cwd(), ROOT.absolute()):
            if path.is_relative_to(folder) and folder.name:  # not the root of all
                return str(path.relative_to(folder))
        return path.name

    return _ABSOLUTE.sub(shortened, text)


def _git(*arguments: str) -> str | None:
    """Output of git in this clone; None outside a clone, or if git refuses."""
    if not IN_CLONE:  # a repository around an installed wheel is another project's
        return None
    # In a hook, git's own variables name the repository of the hook. Its messages are in English.
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # Without its lock, which would stop a commit that is made at the same time.
    git = ["git", "--no-optional-locks", *arguments]
    try:
        done = subprocess.run(
            git, cwd=ROOT, env=own | {"LC_ALL": "C"}, capture_output=True, check=True
        )
    except OSError:
        return None
    except subprocess.CalledProcessError as error:
        if b"dubious ownership" in error.stderr:
            _warn(
                "the commit is not noted, because git finds a dubious ownership of the clone: "
                f"allow it by git config --global --add safe.directory {ROOT}"
            )
        return None
    # Names of files are bytes, which may be in no encoding.
    return done.stdout.decode(errors="backslashreplace").strip("\n")


@functools.cache
def _warn(text: str) -> None:
    """Print a warning, once."""
    print(text, file=sys.stderr)


# --- tables as CSV files ------------------------------------------------------------------------

DATA = Path(__file__).parent / "data"
"""Folder of the tables that commands show."""

TEXTS = (
    *("agent", "play", "rules", "kind", "mask", "base"),
    *("status", "observation", "version", "commit", "against"),
)
"""Columns of text. An agent may be called `007` or `nan`."""
WHOLE = dict.fromkeys(("train_seed", "seeds", "deals"), "Int64")
"""Types of columns of whole numbers that may be missing. As floats, they would lose digits."""


Columns = Mapping[str, Any]
"""Columns of a table, and the types of their cells as in `schemas`; those that may be missing are
also None."""


def read_table(
    path: Path, needed: Columns | None = None, others: Columns | None = None
) -> pd.DataFrame:
    """Read a table from `write_csv`: names stay text, empty cells are missing values.

    Args:
        path: of the file.
        needed: columns that it must have.
        others: columns that it may have.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it ends within a row; see also `parse_csv`.
    """
    # Tables are written whole, but a copy may be cut. Without its last line break, the last number
    # could lack digits and still be read.
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), os.SEEK_END)
        if file.read() != b"\n":
            raise ValueError(f"{path} is cut short")
    options = {"dtype": WHOLE | dict.fromkeys(TEXTS, str), "na_values": [""]}
    return parse_csv(path, needed or {}, others or {}, keep_default_na=False, **options)


def parse_csv(path: Path, needed: Columns, others: Columns, **options: Any) -> pd.DataFrame:
    """Read a CSV file of any origin.

    Args:
        path: of the file.
        needed: columns that it must have.
        others: columns that it may have; its further columns are not checked.
        options: of `pandas.read_csv`.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it is not a table or lacks a column; and the line, if a cell
            is of another type.
    """
    columns, what = {**needed, **others}, "is not a CSV table"
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # of rows with too many cells
        try:
            table: pd.DataFrame = pd.read_csv(path, index_col=False, **options)
            if not needed.keys() <= {*table}:
                what = f"must have the columns {','.join(needed)}"
                raise ValueError(f"it has {','.join(map(str, table))!r:.80}")
            for name in columns.keys() & {*table}:
                what, values = f"is damaged in column {name}", table[name].drop_duplicates()
                every: Any = GenericAlias(list, columns[name])
                fitting(values.astype(object).where(values.notna(), None).tolist(), every)
        except (ValueError, TypeError, OverflowError, pd.errors.ParserWarning) as error:
            fault = _first_fault(path, columns, options)
            raise ValueError(f"{path} {fault or f'{what}: {error}'}") from None
    return table


def _first_fault(path: Path, columns: Columns, options: dict[str, Any]) -> str | None:
    """The first cell of a CSV file that is of another type.

    One text among numbers makes pandas read all of them as texts, so each cell is read as text.
    """
    with suppress(ValueError, pd.errors.ParserWarning):
        texts = pd.read_csv(path, index_col=False, **options | {"dtype": str}).astype(object)
        for name in columns.keys() & {*texts}:
            for line, text in enumerate(texts[name].where(texts[name].notna(), None), 2):
                try:
                    fitting(text, columns[name], strict=False)
                except ValueError as error:
                    return f"is damaged: {name} in line {line} is {text or ''!r:.40}: {error}"
    return None


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, atomically."""
    write_atomically(path, as_csv(table).encode())


def as_csv(table: pd.DataFrame) -> str:
    """A table as the content of a CSV file; numbers have six digits."""
    whole = {name: kind for name, kind in WHOLE.items() if name in table}
    return table.astype(whole).to_csv(index=False, float_format="%.6g", lineterminator="\n")


# --- folders of training runs -------------------------------------------------------------------

RUN, DONE, PROGRESS = "run.json", "done.json", "progress.csv"
LAST, CHECKPOINTS = "last", "checkpoints"
STATE, MONITOR, SUMS = "state.pt", "monitor.json", "SHA256SUMS"
"""Files of a checkpoint: the state of the learner, the progress of the run, and the digests of both
in the form that `sha256sum --check` reads."""
_NEXT = ".next"
"""Folder of a checkpoint that is being written."""
STEPS = "time/total_timesteps"
"""Column of the learning curve: moves, decisions or games so far."""
CORE_SECONDS, WIN_RATE = "time/core_seconds", "validation/win_rate"
"""Columns that a report shows: processor time so far, and share of the validation deals won."""


@dataclass
class RunFile:
    """The part of `run.json` that is read again."""

    run: dict[str, Any]
    """The flags of `four-seasons train`."""
    rules: dict[str, Any]
    hyperparameters: dict[str, Any]
    command: str
    versions: dict[str, str] = field(default_factory=dict)


@dataclass
class Validation:
    """The results of a policy on validation deals."""

    deals: Deals
    won: Share
    cards_up: Number
    steps: Count


@dataclass
class Done:
    """The schema of `done.json`, the outcome of a run."""

    steps: Count
    seconds: Amount
    core_seconds: Amount
    games: Count
    best: Validation
    """Validation of the policy in `best/`."""


def read_run(out: Path) -> RunFile:
    """The `run.json` of a run.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if the file is damaged.
    """
    if not (out / RUN).is_file():
        raise FileNotFoundError(f"no run to resume at {out}: {RUN} is missing")
    return read_json(out / RUN, RunFile, more=True)


def read_log(folder: Path) -> pd.DataFrame:
    """The learning curve of a run, a row for each log entry; empty before the first.

    Raises:
        ValueError: if the file is not the log of a run.
    """
    path = folder / PROGRESS
    if not path.is_file() or not path.stat().st_size:
        return pd.DataFrame({STEPS: []})
    return parse_csv(path, {STEPS: Count}, {CORE_SECONDS: Amount | None, WIN_RATE: Share | None})


def write_checkpoint(run: Path, state: bytes, monitor: bytes) -> None:
    """Write the next checkpoint, then delete those before it.

    Args:
        run: folder of the run.
        state: content of `STATE`.
        monitor: content of `MONITOR`.
    """
    # Numbers rise, so the last that is complete is the newest, whatever a kill has left.
    before, files = _checkpoints(run), {STATE: state, MONITOR: monitor}
    number = int(before[-1].name) + 1 if before else 1
    folder = run / CHECKPOINTS / _NEXT  # of an interrupted writer, too: its files are written over
    refuse_links(run, [folder / name for name in (*files, SUMS)])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        with naming(folder / name):
            (folder / name).write_bytes(data)
    sums = "".join(_sum_of(name, data) for name, data in files.items())
    write_atomically(folder / SUMS, sums.encode())
    folder.rename(folder.with_name(f"{number:06d}"))
    for each in before:
        # What has no digests is not known to be ours.
        if (each / SUMS).is_file() and not each.is_symlink():
            _delete_checkpoint(each)


def _delete_checkpoint(folder: Path) -> None:
    """Delete a checkpoint, but not its folder if somebody has put other files into it."""
    try:
        for name in (SUMS, STATE, MONITOR):
            (folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
    except OSError as error:  # as where another program has opened a file
        _warn(f"{error.filename} cannot be deleted ({error.strerror}); the training goes on")


def last_checkpoint(run: Path) -> Path | None:
    """The folder of a run's last checkpoint; None before the first."""
    found = [each for each in _checkpoints(run) if not each.is_symlink()]
    # If only digests are missing, somebody has lost them: `read_state` names them. To start the run
    # again would write over its policies.
    for last in (SUMS, MONITOR):
        if complete := [each for each in found if (each / last).is_file()]:
            return complete[-1]
    return None


def read_state(checkpoint: Path) -> bytes:
    """The content of `STATE` in the folder of a checkpoint, whose files are as they were written.

    Raises:
        FileNotFoundError: if a file is missing.
        ValueError: naming the first file that differs from its digest.
    """
    files = {name: (checkpoint / name).read_bytes() for name in (STATE, MONITOR)}
    sums = (checkpoint / SUMS).read_bytes().splitlines(keepends=True)
    for name, data in files.items():
        if _sum_of(name, data).encode() not in sums:
            raise ValueError(
                f"{checkpoint / name} is damaged, because its SHA-256 is not the one in {SUMS}: "
                "start a new run (--out)"
            )
    return files[STATE]


def _sum_of(name: str, data: bytes) -> str:
    """The line of a file in `SUMS`."""
    return f"{hashlib.sha256(data).hexdigest()}  {name}\n"


def _checkpoints(run: Path) -> list[Path]:
    """The checkpoints of a run, the oldest first; several, complete or not, only after a kill."""
    found = [each for each in (run / CHECKPOINTS).glob("*") if re.fullmatch("[0-9]{6}", each.name)]
    return sorted(found, key=lambda each: int(each.name))
