"""The cache of compiled code: where it is kept, when it is fresh, and who may write it at once.

Also bundles: they hand over the arrays that they were made of, whatever else holds them.
"""

import copy
import errno
import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
import types
import zipfile
from pathlib import Path
from types import FrameType

import numba
import numpy as np
import pytest

import four_seasons_env
from four_seasons_env.engine import jit
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.running import Batch
from four_seasons_env.episodes.settings import MoveVectorSettings
from four_seasons_env.vector import FourSeasonsVectorEnv
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


def process(copied: Path, home: Path, **environment: str) -> subprocess.Popen:
    """A fresh interpreter that compiles, or loads, what deals two games."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
    return subprocess.Popen(
        [sys.executable, "-B", "-c", SCRIPT],
        env={
            **kept,
            **helpers.python_path(copied.parent),
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            **environment,
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
    return {times} * (pair.one + pair.two)

def call():
    return total(Pair(20, 1))
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A function that imports a module with one compiled function again."""
    monkeypatch.syspath_prepend(tmp_path)
    # Python takes a file of the same size, written in the same second, for the same file.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # else of the caller's NUMBA_CACHE_DIR
    jit._warn_uncached.cache_clear()

    def load(times=1):
        (tmp_path / "small_module.py").write_text(SMALL.format(times=times))
        sys.modules.pop("small_module", None)
        importlib.invalidate_caches()
        return importlib.import_module("small_module")

    yield load
    sys.modules.pop("small_module", None)


def cached_files(folder: Path, suffix: str) -> list[Path]:
    return sorted((folder / "__pycache__").glob(f"small_module.total*{suffix}"))


def hits(module) -> int:
    return sum(module.total.stats.cache_hits.values())


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "garbage": lambda data: b"\x80\x05" + bytes(100) + data[:50],
    "other version": lambda data: data.replace(numba.__version__.encode(), b"0.0.00"),
    "other module": lambda data: data.replace(b"small_module", b"large_module"),
    "moved class": lambda data: data.replace(b"Pair", b"Lost"),
}


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_file_is_compiled_again(small, tmp_path, suffix, damage):
    assert small().call() == 21
    (file,) = cached_files(tmp_path, suffix)
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert small().call() == 21
    again = small()
    assert (again.call(), hits(again)) == (21, 1)


def test_index_that_cannot_be_opened(small, tmp_path):
    assert small().call() == 21
    (file,) = cached_files(tmp_path, ".nbi")
    file.unlink()
    file.mkdir()
    with pytest.warns(RuntimeWarning, match="cannot keep its compiled code") as warned:
        assert small().call() == 21
    assert len(warned) == 1


def test_full_disk_warns_once(small, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(RuntimeWarning, match="disk is full") as warned:
        assert [small().call(), small(times=2).call()] == [21, 42]
    assert len(warned) == 1


def test_disk_that_fills_after_the_index(small, monkeypatch):
    """The code of the older source, which is still there, must not be run for the new one."""
    assert small().call() == 21
    replace = os.replace

    def full_for_code(source, target):
        if str(target).endswith(".nbc"):
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="disk is full"):
        patch.setattr(os, "replace", full_for_code)
        assert small(times=2).call() == 42
    assert small(times=2).call() == 42


def test_functions_of_a_zip_are_cached(tmp_path):
    """Imports in another process, because `zipimport` keeps the archive's list of files."""
    script = "import outer as m; print(m.two(1), sum(m.two.stats.cache_hits.values()))"
    environment = helpers.python_path(tmp_path / "some.zip", PACKAGE.parent)
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    jitted = "from four_seasons_env.engine.jit import jit\n"
    said = []
    for added in (1, 1, 20):  # the last archive differs in the file that another imports
        with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
            inner = f"{jitted}@jit\ndef one(x):\n    return x + {added}\n"
            outer = f"{jitted}from inner import one\n@jit\ndef two(x):\n    return one(x)\n"
            for name, text in (("inner", inner), ("outer", outer)):
                archive.writestr(zipfile.ZipInfo(f"{name}.py"), text)
        said.append(helpers.run_python("-c", script, **environment).split())
    assert said == [["2", "0"], ["2", "1"], ["21", "0"]]


def test_packages_installed_below_a_script_are_not_read(tmp_path, monkeypatch):
    """Such as those of a virtual environment in the folder of the script."""
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    installed.mkdir(parents=True)
    (tmp_path / "script_of_user.py").write_text("import extension_of_user, source_of_user\n")
    (installed / "source_of_user.py").write_text("1\n")
    compiled = types.ModuleType("extension_of_user")
    compiled.__file__ = str(installed / "extension_of_user.so")
    (installed / "extension_of_user.so").write_bytes(b"\0")
    monkeypatch.setitem(sys.modules, "extension_of_user", compiled)
    monkeypatch.syspath_prepend(installed)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("script_of_user")
    read: list[Path] = []
    monkeypatch.setattr(jit, "_digest", lambda paths: read.extend(paths) or "")
    jit.module_digest("script_of_user")
    assert read == [tmp_path / "script_of_user.py"]


def test_the_digest_of_a_module_follows_what_it_imports(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    texts = {
        "top": "import json\nfrom middle import one\ndef late():\n    import apart\n",
        "middle": "try:\n    from low import one\nexcept ImportError:\n    one = 2\n",
        "low": "one = 1\n",
        "apart": "",
    }

    def digest() -> str:
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        for cached in (jit.module_digest, jit._imports):
            cached.cache_clear()
        importlib.invalidate_caches()
        importlib.import_module("top")
        return jit.module_digest("top")

    before = digest()
    assert digest() == before
    texts["apart"] += "# not part of it\n"
    assert digest() == before
    for name in ("top", "middle", "low"):
        texts[name] += "# changed\n"
        after = digest()
        assert after != before
        before = after


# --- bundles -----------------------------------------------------------------------------------


def started(games: int) -> Batch:
    batch = Batch(MoveVectorSettings(games))
    batch.seed(np.arange(games, dtype=np.uint64))
    batch.reset()
    return batch


def test_a_bundle_is_of_the_arrays_themselves():
    batch = started(3)
    bundle = jit.make_bundle(
        batch._buffers._replace(games=batch.games[1:], episodes=batch.episodes[1:]), batch._settings
    )
    batch.games["deal"] += 1
    stepping.write_all(bundle, np.array([False, True]), stepping.BEGIN)
    assert (batch.episodes["deal"] == batch.games["deal"]).tolist() == [False, False, True]


def test_a_bundle_keeps_its_arrays_alive():
    batch = started(3)
    bundle, actions, out = (
        batch._bundles[0],
        np.zeros(3, np.int64),
        np.zeros_like(batch.observations),
    )
    twin = copy.deepcopy(batch)
    del batch
    gc.collect()
    rubbish = [np.full((3, 200), 7, np.uint8) for _ in range(99)]
    assert stepping.step_all(bundle, actions, out) == 0
    expected = np.zeros_like(out)
    twin.step(actions, out=expected)
    assert (out == expected).all() and out.any()
    assert all((array == 7).all() for array in rubbish)


def test_actions_of_any_kind_are_played_by_the_same_code():
    """No function is compiled again for strided or read-only arrays, or other integer types."""
    envs = [FourSeasonsVectorEnv(4) for _ in range(7)]
    for env in envs:
        masks = env.reset(seed=3)[1]["action_mask"]
    envs.pop().step(masks.argmax(axis=1))
    known = len(stepping.step_all.signatures)
    for _ in range(5):
        actions = masks.argmax(axis=1)
        fixed = actions.copy()
        fixed.flags.writeable = False
        kinds = (
            actions, fixed, np.repeat(actions, 2)[::2], actions.astype(np.uint8),
            actions.astype(">i8"), actions.tolist(),
        )  # fmt: skip
        answers = [env.step(each) for env, each in zip(envs, kinds, strict=True)]
        for answer in answers[1:]:
            np.testing.assert_equal(answer, answers[0])
        masks = answers[0][4]["action_mask"]
    assert len(stepping.step_all.signatures) == known


class _Pressed(Exception):
    """The exception of a signal's handler."""


def _press(number: int, frame: FrameType | None) -> None:
    raise _Pressed


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_interrupts_a_step() -> None:
    """Numba drops exceptions of the Python code that it runs to learn an argument's type."""
    env = FourSeasonsEnv(rules=helpers.small("four-seasons", ranks=4, piles=1))
    _, start = env.reset(seed=0)
    env.step(int(np.flatnonzero(start["action_mask"])[0]))
    before = signal.signal(signal.SIGALRM, _press)
    delays = np.random.default_rng(0).uniform(1e-4, 1e-3, 400)
    try:
        for delay in delays:
            with pytest.raises(_Pressed):
                signal.setitimer(signal.ITIMER_REAL, delay)
                _play_on(env)
    finally:
        signal.signal(signal.SIGALRM, before)


def _play_on(env: FourSeasonsEnv) -> None:
    """Play until a signal comes; ten thousand steps take longer than any delay."""
    for _ in range(100):
        _, info = env.reset(seed=0)
        for _ in range(100):
            moves = np.flatnonzero(info["action_mask"])
            *_, terminated, truncated, info = env.step(int(moves[0]))
            if terminated or truncated:
                break
