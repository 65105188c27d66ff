"""Put faults into the code, one at a time, and see whether the tests notice.

    python -m tests.mutation --count 300 --out runs/mutants
    python -m tests.mutation --targets statistics tables --count 60 --out runs/mutants

Each mutant (Cosmic Ray makes them) is tried in a copy of the working tree, with the default tests
of its target; these have to pass as long as nothing is changed. A table says for each what became
of it: `killed`, and by which test, `invalid` (it cannot be imported or compiled), or `survived`,
with its diff. What is in the table already is not tried again. The choice of mutants follows from
the seed and the sources.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from cosmic_ray.commands import init
from cosmic_ray.mutating import mutate_and_test
from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import MutationSpec

from experiments.reporting.tables import as_markdown, read_table, write_csv
from tests.helpers import ROOT
from tests.mutation.annotations import in_annotation
from tests.mutation.targets import TARGETS

PASSED_OVER = ("core/RemoveDecorator",)
"""Operators whose mutants are as good as their originals: a function is compiled or not."""
INVALID = ("error during collection", "errors during collection", "numba.core.errors")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
TIMEOUT = 600.0
"""Seconds that the tests of a mutant may take; then it is killed: it goes on for ever."""


def mutants_of(target: str) -> list[MutationSpec]:
    """Every mutant of a target's sources, but for those in annotations."""
    with tempfile.TemporaryDirectory() as folder:
        found = WorkDB(Path(folder) / "mutants.sqlite", WorkDB.Mode.create)
        init([Path(source) for source in TARGETS[target].sources], found, {})
        mutations = [item.mutations[0] for item in found.work_items]
        found.close()
    return [
        mutation
        for mutation in mutations
        if mutation.operator_name not in PASSED_OVER and not in_annotation(mutation)
    ]


def choose(target: str, count: int, seed: int) -> list[MutationSpec]:
    """Some mutants of a target, each operator and file as likely as it is there."""
    mutants = sorted(mutants_of(target), key=_name)
    return random.Random(f"{seed} {target}").sample(mutants, min(count, len(mutants)))


def _name(mutation: MutationSpec) -> str:
    """What tells a mutant from others, in the same sources."""
    text = Path(mutation.module_path).read_bytes()
    parts = (mutation.module_path, mutation.operator_name, mutation.operator_args)
    told = f"{parts} {mutation.occurrence} {hashlib.sha256(text).hexdigest()}"
    return hashlib.sha256(told.encode()).hexdigest()[:16]


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


def _command(target: str) -> str:
    tests = " ".join(TARGETS[target].tests)
    return f"{sys.executable} -m pytest -x -q -p no:cacheprovider -m 'not slow' {tests}"


def check_baseline(target: str) -> None:
    """Run a target's tests in the working folder, nothing changed.

    Raises:
        RuntimeError: if one fails.
    """
    done = subprocess.run(
        shlex.split(_command(target)), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"the tests of {target} fail without any fault:\n{done.stdout[-2000:]}")


def run_mutant(target: str, mutation: MutationSpec) -> dict[str, object]:
    """Test a mutant in the working folder; its row of the table."""
    result = mutate_and_test([mutation], _command(target), TIMEOUT)
    output = result.output or ""
    outcome = str(result.test_outcome.value if result.test_outcome else "none")
    if any(sign in output for sign in INVALID):
        outcome = "invalid"
    failed = _FAILED.search(output)
    return {
        "target": target,
        "source": str(mutation.module_path),
        "line": mutation.start_pos[0],
        "operator": mutation.operator_name.removeprefix("core/"),
        "outcome": outcome,
        "by": failed[1] if failed else "" if outcome == "survived" else output.strip()[-60:],
        "diff": result.diff or "",
    }


def rows(table: Path, targets: list[str], count: int, seed: int) -> Iterator[pd.DataFrame]:
    """The table, again and again, as it grows by a mutant."""
    done = read_table(table).set_index("name") if table.is_file() else pd.DataFrame()
    share = -(-count // len(targets))
    chosen = [(target, each) for target in targets for each in choose(target, share, seed)]
    for target in targets:
        check_baseline(target)
    random.Random(seed).shuffle(chosen)  # stopped early, it has seen something of each
    for target, mutation in chosen[:count]:
        name = _name(mutation)
        if name not in done.index:
            row = pd.DataFrame([run_mutant(target, mutation)], index=pd.Index([name], name="name"))
            done = pd.concat([done, row]).rename_axis("name")
        yield done


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mutants by target: tried, invalid, killed, survived."""
    counts = table.groupby("target")["outcome"].value_counts().unstack(fill_value=0)
    counts = counts.reindex(columns=["invalid", "killed", "survived"], fill_value=0)
    counts.insert(0, "tried", counts.sum(axis=1))
    counts.loc["all"] = counts.sum()
    return counts.reset_index()


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--count", type=int, default=300, help="mutants to try")
    parser.add_argument("--seed", type=int, default=0, help="of the choice")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"))
    run = parser.parse_args()
    table = run.out.absolute() / "mutants.csv"
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(Path(folder))
        os.chdir(folder)
        os.environ["PYTHONPATH"] = folder
        for done in rows(table, run.targets, run.count, run.seed):
            write_csv(table, done.reset_index())
            last = done.iloc[-1]
            print(f"{len(done):4} {last['outcome']:9} {last['source']}:{last['line']}", flush=True)
        os.chdir(ROOT)
    print(as_markdown(summary(done).astype(str)))
    for _, row in done[done["outcome"] == "survived"].iterrows():
        print(row["diff"])


if __name__ == "__main__":
    main()
