"""Measure how many faults the tests would find: change the code, and run its tests.

    python experiments/studies/mutants.py --each 60 --out runs/mutants.csv

A mutant is the code with one change by an operator of cosmic-ray, such as ``<`` for ``<=``, 0 for
1, or ``and`` for ``or``. Each file gets a random sample of its mutants. A mutant is killed by the
first test that fails, or takes too long. The code runs as Python (`engine/interpreted.py`), because
compiling a mutant would take longer than its tests; each runs in a fork of a process that has
imported the libraries. The survivors are printed with their lines.
"""

import ast
import contextlib
import importlib
import itertools
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"

import pandas as pd
import tyro
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from scipy import stats

ROOT = Path(__file__).resolve().parents[2]
ENGINE = "tests/four_seasons_env"
TESTS = {
    "four_seasons_env/engine/validation.py": (
        f"{ENGINE}/test_validation.py",
        "tests/agents/test_errors.py::test_agents_check_what_they_are_asked[heuristic]",
        "tests/agents/test_errors.py::test_a_mask_may_leave_out_legal_moves",
        "tests/agents/test_errors.py::test_agents_take_positions_of_any_memory",
    ),
    "experiments/summary.py": ("tests/experiments/test_summary.py",),
    "four_seasons_env/episodes/stepping.py": (
        *(f"{ENGINE}/test_{name}.py" for name in ("vector", "env", "starts", "deals")),
        f"{ENGINE}/test_errors.py::test_a_refused_call_changes_nothing",
    ),
    "four_seasons_env/engine/masks.py": (f"{ENGINE}/test_masks.py",),
    "four_seasons_env/engine/kernel.py": (
        *(f"{ENGINE}/test_{name}.py" for name in ("record", "observations", "kernel")),
        f"{ENGINE}/test_fair_value.py::test_bases_from_the_end_make_some_orders_likelier",
        *(
            f"{ENGINE}/test_env.py::test_reward_of_{what}"
            for what in ("a_won_game", "worrying_back")
        ),
        "tests/agents/test_worlds.py::test_orders_come_as_often_as_they_are_likely",
    ),
}
"""The tests of each file; those that find most faults a second come first."""
LONG = "not NextDeal and not process and not simplicity and not package"
"""Which tests are short enough, of those without the mark `compiled`."""
LIBRARIES = ("numba", "gymnasium", "hypothesis", "pytest", "msgspec", "tyro")


@dataclass
class Mutants:
    """Measure how many faults the tests would find."""

    out: Path
    """The CSV file to write: a row for each file of the code."""
    each: int = 60
    """How many mutants of each file."""
    files: tuple[str, ...] = tuple(TESTS)
    """Which files."""
    times: float = 5.0
    """A mutant whose tests take as many times longer counts as killed: it may never end."""
    seed: int = 0


def without_annotations(code: str) -> str:
    """What the code does, in a form that can be compared."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if hasattr(node, name):
                setattr(node, name, None)
    return ast.dump(tree)


def mutants_of(code: str, rng: random.Random) -> Iterator[str]:
    """All mutants of some code, in random order; none that differs in annotations alone."""
    tree, found = get_ast(code), []
    for name in operator_names():
        if get_operator(name).arguments():
            continue
        operator = get_operator(name)()
        count = sum(len(list(operator.mutation_positions(node))) for node in ast_nodes(tree))
        found += [(operator, each) for each in range(count)]
    original = without_annotations(code)
    rng.shuffle(found)
    for operator, occurrence in found:
        mutant = mutate_code(code, operator, occurrence)
        with contextlib.suppress(SyntaxError):
            if mutant and without_annotations(mutant) != original:
                yield mutant


def passes(tests: list[str], seconds: float) -> bool:
    """Whether the tests pass, in a fork of this process, in this time."""
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        import pytest

        chosen = ["-m", "not compiled", "-k", LONG, *tests]
        os._exit(int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *chosen])))
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def difference(code: str, mutant: str) -> str:
    """The first line that differs."""
    pairs = enumerate(zip(code.splitlines(), mutant.splitlines(), strict=False), 1)
    return next(f"{i}: {one.strip()}  ->  {two.strip()}" for i, (one, two) in pairs if one != two)


def copy_to(folder: Path) -> None:
    """Copy the files of the repository into a folder, and work there."""
    names = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    os.environ["PYTHONPATH"] = str(folder)


def killed_of(path: str, flags: Mutants) -> tuple[int, int]:
    """How many mutants of a file its tests kill, and of how many; survivors are printed."""
    tests, code = list(TESTS[path]), Path(path).read_text()
    sys.dont_write_bytecode, start = False, time.monotonic()
    if not passes(tests, math.inf):
        sys.exit(f"error: {path}: the tests fail without a change")
    seconds = time.monotonic() - start
    print(f"{path}: {seconds:.1f} s without a change", flush=True)
    sys.dont_write_bytecode = True  # what the first run wrote is enough
    mutants = [*itertools.islice(mutants_of(code, random.Random(flags.seed)), flags.each)]
    killed = 0
    for mutant in mutants:
        Path(path).write_text(mutant)
        if passes(tests, 5 + flags.times * seconds):
            print(f"survived: {path}:{difference(code, mutant)}", flush=True)
        else:
            killed += 1
    Path(path).write_text(code)
    return killed, len(mutants)


def main() -> None:
    """Make mutants, and run their tests."""
    flags, rows = tyro.cli(Mutants), []
    out = flags.out.resolve()  # the working folder changes
    # Not by our package: the forks import it with a mutant.
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)
    measured = {"version": metadata.version("four-seasons-env"), "commit": commit[:10]}
    out.parent.mkdir(parents=True, exist_ok=True)
    for name in LIBRARIES:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copy_to(Path(folder))
        for path in flags.files:
            killed, count = killed_of(path, flags)
            bounds = stats.binomtest(killed, count).proportion_ci(method="wilson")
            rows.append((path, count, killed, killed / count, bounds.low, bounds.high))
            print(f"{path}: {killed} of {count} killed", flush=True)
            titles = ["file", "mutants", "killed", "score", "score_low", "score_high"]
            table = pd.DataFrame(rows, columns=titles).assign(**measured)
            table.to_csv(out, index=False, float_format="%.4g")
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
