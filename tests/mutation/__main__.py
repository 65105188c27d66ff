"""Put faults into the code, one at a time, and see whether the tests notice.

    python -m tests.mutation --count 320 --out runs/mutants
    python -m tests.mutation --targets statistics tables --count 60 --out runs/mutants
    python -m tests.mutation --again --out runs/mutants          # after a test was added

Each mutant (Cosmic Ray makes them) is tried in a copy of the working tree, in two stages.

1. *Quick*: the default tests of its target that take 1.5 seconds of the processor at most, and
   some that are cut shorter for this (`quick_*.py`): the quickest first, until one fails. Where the
   engine is concerned it runs as Python (`plain.py`): after a fault in the kernel the compiler
   would be busy for minutes.
2. *Full*: who survives that meets all default tests of the target, as a user would run them.
   Machine code that the fault does not touch is taken from the cache.

The table says of each mutant what became of it: `killed`, by which test and at which stage,
`invalid` (it cannot be imported, compiled or run: a TypeError of the engine as Python is taken for
that), `survived`, or `open` while its second stage is still to come; with its diff. What is in the
table already is not tried again, but with `--again`: then those are that no test has noticed and
that nobody has judged equivalent (docs/results/reliability/judged.csv). The choice of mutants
follows from seed and sources.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.reporting.tables import as_markdown, read_table, write_csv
from tests.helpers import ROOT
from tests.mutation.mutants import Mutant, all_mutants, choose
from tests.mutation.summary import FULL, LEFT, QUICK, STAGES, summary, with_judgement
from tests.mutation.targets import TARGETS
from tests.mutation.trial import Trial, link_tree, quick_tests, run_tests

INVALID = ("error during collection", "errors during collection", "numba.core.errors")
INVALID_AS_PYTHON = ("TypeError: ", "IndexError: only integers")
MOST = 900.0
"""Seconds of the processor that the tests of a mutant may take; then it goes on for ever."""
ERRORS = int(pytest.ExitCode.INTERRUPTED)
"""The highest exit status of tests that have failed, or could not be collected."""


def copy_tree(folder: Path) -> None:
    """Copy the files that git knows, and the compiled code beside them."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    cached = [path.relative_to(ROOT) for path in ROOT.glob("*/**/__pycache__/*.nb?")]
    for name in [*listed.stdout.splitlines(), *map(str, cached)]:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


class Bench:
    """A copy of the working tree, nothing changed, and what its tests are known to do."""

    def __init__(self, folder: Path, out: Path) -> None:
        self.tree = folder / "tree"
        self.out = out
        self.sound: set[str] = set()
        self.read: set[str] = set()
        copy_tree(self.tree)

    def quick(self, target: str) -> dict[str, float]:
        """The tests of a target's first stage, kept beside the table."""
        kept = self.out / f"quick-{target}.json"
        if not kept.is_file():
            each = TARGETS[target]
            found = quick_tests(self.tree, list(each.tests), each.compiled)
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, json.dumps(found, indent=1).encode())
        return dict(json.loads(kept.read_text()))

    def read_once(self, target: str, files: list[str]) -> None:
        """Read the files, and import here what they need, for all trials to come."""
        if target not in self.read:
            self.read.add(target)
            done = run_tests(self.tree, files, TARGETS[target].compiled, MOST, only={})
            for name in done.libraries:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)

    def check(self, target: str) -> None:
        """Run a target's default tests, nothing changed, once.

        Raises:
            RuntimeError: if one fails.
        """
        if target not in self.sound:
            done = run_tests(self.tree, list(TARGETS[target].tests), False, MOST)
            if done.code:
                raise RuntimeError(f"the tests of {target} fail unchanged:\n{done.output[-2000:]}")
            self.sound.add(target)

    def try_out(self, mutant: Mutant, stage: str) -> dict[str, object]:
        """Run a stage's tests upon a mutant; its row of the table."""
        tests = list(TARGETS[mutant.target].tests)
        quick = self.quick(mutant.target) if stage == QUICK else {}
        files = list(dict.fromkeys(each.partition("::")[0] for each in quick)) or tests
        self.read_once(mutant.target, files)
        with tempfile.TemporaryDirectory(dir=self.tree.parent) as folder:
            tree = Path(folder) / "tree"
            link_tree(self.tree, tree)
            text, diff = mutant.made()
            source = tree / mutant.source
            source.unlink()
            source.write_text(text)
            if stage == QUICK:
                most = 5 + 3 * sum(quick.values())
                done = run_tests(tree, files, TARGETS[mutant.target].compiled, most, only=quick)
            else:
                done = run_tests(tree, tests, False, MOST)
        outcome = _outcome(done, stage, TARGETS[mutant.target].compiled)
        return {
            "target": mutant.target,
            "source": mutant.source,
            "line": mutant.line,
            "operator": mutant.operator,
            "outcome": outcome,
            "stage": stage,
            "by": done.failed or ("its time is over" if done.code < 0 else ""),
            "diff": diff,
        }


def _outcome(done: Trial, stage: str, compiled: bool) -> str:
    if done.code > ERRORS:
        raise RuntimeError(f"pytest could not run:\n{done.output[-2000:]}")
    if done.code == 0:
        return "open" if stage == QUICK else "survived"
    signs = INVALID + (INVALID_AS_PYTHON if stage == QUICK and compiled else ())
    return "invalid" if any(sign in done.output for sign in signs) else "killed"


def chosen(run: argparse.Namespace, done: pd.DataFrame) -> list[Mutant]:
    """The mutants to try."""
    if run.again:
        told = with_judgement(done.reset_index())
        left = told[told["outcome"].isin(LEFT) & told["target"].isin(run.targets)]
        names, targets = set(left["name"]), left["target"].unique()
        mutants = [each for target in targets for each in all_mutants(target)]
        return list({each.name: each for each in mutants if each.name in names}.values())
    share = -(-run.count // len(run.targets))
    mutants = [each for target in run.targets for each in choose(target, share, run.seed)]
    random.Random(run.seed).shuffle(mutants)  # stopped early, it has seen something of each
    return mutants[: run.count]


def rows(run: argparse.Namespace, bench: Bench, table: Path) -> Iterator[pd.DataFrame]:
    """The table, again and again, as it grows by a mutant or gets to know more of one."""
    done = read_table(table) if table.is_file() else pd.DataFrame(columns=["name", "outcome"])
    done = done.set_index("name")
    mutants = chosen(run, done)
    known = {} if run.again else done["outcome"].to_dict()
    for stage in STAGES[:1] if run.quick else STAGES:
        for mutant in mutants:
            if known.get(mutant.name) != ("open" if stage == FULL else None):
                continue
            if stage == FULL:
                bench.check(mutant.target)
            row = bench.try_out(mutant, stage)
            known[mutant.name] = str(row["outcome"])
            kept = done.drop(index=mutant.name, errors="ignore")
            done = pd.concat([kept, pd.DataFrame([row], index=[mutant.name])]).rename_axis("name")
            yield done


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--count", type=int, default=320, help="mutants to try")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--quick", action="store_true", help="the first stage only")
    parser.add_argument("--again", action="store_true", help="those that no test has noticed")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"))
    run = parser.parse_args()
    table = run.out.absolute() / "mutants.csv"
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), table.parent)
        os.chdir(bench.tree)
        for done in rows(run, bench, table):
            write_csv(table, done.reset_index())
            last = done.iloc[-1]
            where = f"{last['source']}:{last['line']}"
            print(f"{len(done):4} {last['stage']:9} {last['outcome']:9} {where}", flush=True)
        os.chdir(ROOT)
    told = with_judgement(read_table(table))
    print(as_markdown(summary(told).astype(str)))
    for diff in told[told["outcome"].isin(LEFT)]["diff"]:
        print(diff)


if __name__ == "__main__":
    main()
