"""Mistyped command lines: `python -m tests.reliability.commands --count 500`.

Valid command lines with little work are changed in one to three places: a flag or a value is
dropped, doubled, misspelt, swapped with another or replaced by something odd. A command must end
with status 0, or with status 2, an error on stderr, no traceback and no output folder. Everything
else is a fault: it is printed, and the trial ends with status 1.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import os
import random
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any
from unittest.mock import patch

from four_seasons_env.__main__ import main as call
from four_seasons_env.engine.deals import TRAIN_FROM

DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 3}"
TINY = "games=4 positions=10 expansions=5 ending_positions=50 ending_expansions=25"
LINES = (
    f"compare --agents heuristic random --deals {DEALS} --n-jobs 1 --out OUT",
    f"compare --agents a=heuristic --rules czarina --seed 3 --deals {DEALS} --n-jobs 1 --out OUT",
    f"compare --agents random --record --deals {DEALS} --play stochastic --n-jobs 1 --out OUT",
    f"census --rules corners --deals {DEALS} --seconds 0.01 --n-jobs 1 --out OUT",
    f"review --agent heuristic --rules corners --deal {TRAIN_FROM} --seconds 0.01 --out OUT",
    "solve --rules corners --deal 5 --seconds 0.01",
    f"train --agent planner --steps 4 --n-jobs 1 --validations 1 --validation-deals 2 --set {TINY} "
    "--out OUT",
    "bench --games 8 --threads 1 --seconds 0.01 --out OUT",
    "verify OUT",
    "report OUT",
    "sweep OUT/jobs.yaml --out OUT",
)
ODD = (
    *("", "-1", "0", "1e400", "nan", "abc", "1.5", "[", "{", "007", "../x", "/", "/dev/null"),
    *("-", "--", "@", "a=b=c", "x" * 300, "\u2660", "\n", "None", "true", "*", "5-1", "sealed:-3"),
)
MOST_SECONDS = 120


def mistyped(line: str, chance: random.Random) -> list[str]:
    """A command line with one to three mistakes; its command stays."""
    command, *words = line.split()
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(words)) if words else 0
        how = chance.randrange(6)
        if not words or how == 0:
            words.insert(at, chance.choice(ODD))
        elif how == 1:
            del words[at]
        elif how == 2:
            words.insert(at, words[at])
        elif how == 3:
            letter = chance.randrange(len(words[at]) + 1)
            words[at] = words[at][:letter] + chance.choice("aZ0-=@: ") + words[at][letter + 1 :]
        elif how == 4:
            other = chance.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        else:
            words[at] = chance.choice(ODD)
    return [command, *words]


def too_long(*_: object) -> None:
    raise TimeoutError(f"it took more than {MOST_SECONDS} seconds")


def outcome(words: list[str], folder: Path) -> str:
    """How a command line ends: `done`, `refused`, or what is wrong."""
    out = folder / "out"
    words = [word.replace("OUT", str(out)) for word in words]
    printed, told = io.StringIO(), io.StringIO()
    status: Any = 0
    signal.alarm(MOST_SECONDS)
    try:
        with (
            patch.object(sys, "argv", ["four-seasons", *words]),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(told),
        ):
            call()
    except SystemExit as stopped:
        status = stopped.code or 0
    except BaseException:
        return traceback.format_exc(limit=-3)
    finally:
        signal.alarm(0)
    if status == 0:
        return "done"
    if "Traceback" in told.getvalue():
        return told.getvalue()
    if status != 2 or not told.getvalue().strip():
        return f"status {status}, and on stderr: {told.getvalue()!r}"
    return f"refused, but {out} is there" if out.exists() else "refused"


def main() -> int:
    """Try command lines; the exit status is 1 if one ended otherwise than it should."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a CSV file for the counts")
    run = parser.parse_args()
    out = run.out and run.out.absolute()
    chance = random.Random(run.seed)
    signal.signal(signal.SIGALRM, too_long)
    counts: dict[str, dict[str, int]] = {}
    for _ in range(run.count):
        words = mistyped(chance.choice(LINES), chance)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            told = outcome(words, Path(folder))
            os.chdir("/")
        row = counts.setdefault(words[0], {"tried": 0, "refused": 0, "done": 0, "faults": 0})
        row["tried"] += 1
        row[told if told in row else "faults"] += 1
        if told not in row:
            print(f"{words}\n{told}", flush=True)
    for command, row in counts.items():
        print(command, row)
    if out:
        with out.open("w", newline="") as file:
            table = csv.DictWriter(file, ("command", "tried", "refused", "done", "faults"))
            table.writeheader()
            table.writerows({"command": command, **row} for command, row in counts.items())
    return int(any(row["faults"] for row in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
