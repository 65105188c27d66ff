"""The cache of compiled code: where it is kept, damage, and who may write it at once; Ctrl-C."""

import importlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import four_seasons_env
from four_seasons_env.engine.jit import jit
from four_seasons_env.env import FourSeasonsEnv
from tests import helpers

PACKAGE = Path(four_seasons_env.__file__).parent
SCRIPT = """
import four_seasons_env.engine.kernel as kernel, numpy as np
from four_seasons_env.engine.jit import announce
from four_seasons_env.rules import RULES
announce(kernel.start_all)
games = np.zeros(2, kernel.GAME)
kernel.start_all(games, kernel.compile_rules(RULES["four-seasons"]), np.arange(2))
print(kernel.__file__, games["deck"].tolist())
"""


@pytest.fixture
def copied(tmp_path):
    """A copy of the package without its cache, in a folder of its own."""
    target = tmp_path / "site" / "four_seasons_env"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def process(copied: Path, home: Path) -> subprocess.Popen:
    """A fresh interpreter that compiles, or loads, what deals two games."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
    return subprocess.Popen(
        [sys.executable, "-B", "-c", SCRIPT],
        env={
            **kept,
            **helpers.python_path(copied.parent),
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home.parent,
    )


def answer(running: subprocess.Popen, copied: Path) -> tuple[str, str]:
    """The deals and the messages of a process that ended without an error."""
    out, said = running.communicate(timeout=120)
    assert running.returncode == 0, said
    file, dealt = out.split(maxsplit=1)
    assert Path(file).parent == copied / "engine"
    return dealt, said


def block(folder: Path) -> None:
    """Make it impossible to write in a folder that is still to be made, even for root."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("a file where the folder would be")


@pytest.mark.slow
def test_two_processes_may_compile_at_once(copied, tmp_path):
    home = tmp_path / "home"
    both = [process(copied, home) for _ in range(2)]
    (one, _), (two, _) = [answer(running, copied) for running in both]
    three, said = answer(process(copied, home), copied)
    assert one == two == three
    assert "compiling" not in said
    assert list((copied / "engine" / "__pycache__").glob("*.nbc"))


@pytest.mark.slow
def test_a_read_only_package_is_cached_elsewhere(copied, tmp_path):
    home = tmp_path / "home"
    block(copied / "engine" / "__pycache__")
    dealt, said = answer(process(copied, home), copied)
    assert ".engine: compiling" in said
    again, said = answer(process(copied, home), copied)
    assert again == dealt
    assert "compiling" not in said
    assert list(home.rglob("*.nbc"))
    shutil.rmtree(home)
    block(home)  # nowhere else either
    _, said = answer(process(copied, home), copied)
    assert "cannot keep its compiled code" in said
    assert said.count("RuntimeWarning") == 1


SMALL = """
from typing import NamedTuple
from four_seasons_env.engine.jit import jit

class Pair(NamedTuple):
    one: int
    two: int

@jit
def total(pair):
    return pair.one + pair.two

def call():
    return total(Pair(20, 1))
"""


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "other version": lambda data: data.replace(numba.__version__.encode(), b"0.0.00"),
    "other module": lambda data: data.replace(b"small_module", b"large_module"),
    "moved class": lambda data: data.replace(b"Pair", b"Lost"),
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_file_is_compiled_again(tmp_path, monkeypatch, suffix, damage):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # else of the caller's NUMBA_CACHE_DIR
    (tmp_path / "small_module.py").write_text(SMALL)
    monkeypatch.syspath_prepend(tmp_path)

    def load():
        monkeypatch.delitem(sys.modules, "small_module", raising=False)
        return importlib.import_module("small_module")

    assert load().call() == 21
    (file,) = tmp_path.glob(f"__pycache__/small_module.total*{suffix}")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert load().call() == 21
    again = load()
    assert (again.call(), sum(again.total.stats.cache_hits.values())) == (21, 1)


def test_numba_logs_nothing_while_it_compiles(caplog):
    caplog.set_level(logging.DEBUG)

    def add(one, two):
        return one + two

    add.__module__ = "notebook"  # so no run before has left its code in a cache
    added = jit(add)
    assert added(20, 1) == 21
    assert not caplog.records
    caplog.set_level(logging.DEBUG, logger="numba")  # somebody wants to see its lines
    assert added(20.0, 1.0) == 21.0
    assert caplog.records


# --- memory ------------------------------------------------------------------------------------

AMONG_THEM = (
    "tests/agents/test_chances.py::test_chance_is_that_of_the_best_legal_move",
    "tests/four_seasons_env/test_masks.py::test_mask_is_that_of_a_slow_model[pysolfc/czarina-random]",
)


def test_no_freed_memory_is_read():
    """Two tests that once failed with an allocator that overwrites freed memory."""
    helpers.run_python("-m", "pytest", "-q", *AMONG_THEM, PYTHONMALLOC="debug")


# --- calls -------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_interrupts_a_step() -> None:
    """Numba drops exceptions of the Python code that it runs to learn an argument's type."""
    env = FourSeasonsEnv(rules=helpers.small("four-seasons", ranks=4, piles=1))
    action = int(env.reset(seed=0)[1]["action_mask"].argmax())
    env.step(action)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in np.random.default_rng(0).uniform(1e-4, 1e-3, 400):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, delay)
                for _ in range(5000):  # which takes longer than any delay
                    env.reset(seed=0)
                    env.step(action)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_changed_import_is_compiled_again(tmp_path):
    script = "import outer as m; print(m.two(1), sum(m.two.stats.cache_hits.values()))"
    environment = helpers.python_path(tmp_path, PACKAGE.parent)
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    jitted = "from four_seasons_env.engine.jit import jit\n"
    said = []
    for added in (1, 1, 20):
        texts = {
            "inner.py": f"{jitted}@jit\ndef one(x):\n    return x + {added}\n",
            "outer.py": f"{jitted}from inner import one\n@jit\ndef two(x):\n    return one(x)\n",
        }
        for name, text in texts.items():
            if not (tmp_path / name).exists() or name == "inner.py":
                (tmp_path / name).write_text(text)
        said.append(helpers.run_python("-c", script, **environment).split())
    assert said == [["2", "0"], ["2", "1"], ["21", "0"]]
