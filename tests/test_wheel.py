"""The wheel in clean environments: what it holds, and that it runs what the README promises."""

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import ROOT

pytestmark = pytest.mark.slow

VERSIONS = ("3.11", "3.12", "3.13")
LEARNED = ("maskable_ppo", "next_deal_ppo", "planner")

PLAY = """
import sys

import numpy as np

from four_seasons_env.agents import AGENTS, make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.vector import FourSeasonsVectorEnv

for name in AGENTS:
    agent, rng = make_agent(name), np.random.default_rng(0)
    env = FourSeasonsVectorEnv(5, mask=agent.mask)
    _, infos = env.reset(options={"deal": list(range(TRAIN_FROM, TRAIN_FROM + 5))})
    for _ in range(20):
        moves = agent.act(env.games.copy(), infos["action_mask"], rng)
        *_, infos = env.step(moves)
    print("played:", name)
print("torch" in sys.modules)
"""

HINTS = """
from starlette.testclient import TestClient

from four_seasons_env.play.server import make_app

client = TestClient(make_app(["testserver"]))
print(client.get("/api/advisers?rules=four-seasons").json())
"""


def run(python: Path, *command: str, cwd: Path) -> str:
    """The output of a command of an environment's Python; the command must succeed."""
    done = subprocess.run(
        [str(python), *command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked(*folders: str) -> list[str]:
    """The tracked files of some folders, or all."""
    command = ["git", "ls-files", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if os.path.lexists(ROOT / name)]


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the source archive, built from a copy of the tracked files."""
    sources, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("release")
    for name in tracked():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, sources / name, follow_symlinks=False)
    run(Path(sys.executable), "-m", "build", "--outdir", str(out), cwd=sources)
    return out


@pytest.fixture(scope="session")
def wheel(release: Path) -> Path:
    """The wheel."""
    (built,) = release.glob("*.whl")
    return built


def interpreter(version: str) -> str | None:
    """A Python of this version, on the path or pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found = [shutil.which(f"python{version}"), *pyenv.glob(f"versions/{version}.*/bin/python")]
    for each in filter(None, found):
        if subprocess.run([each, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(each)
    return None


@pytest.fixture(scope="session", params=(VERSIONS[0], VERSIONS[-1]))
def installed(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The Python of an environment with the wheel and the extras that need no torch."""
    version = request.param
    base = interpreter(version)
    if base is None:
        pytest.skip(f"there is no Python {version}")
    folder = tmp_path_factory.mktemp(f"python{version}")
    run(Path(base), "-m", "venv", str(folder), cwd=folder)
    python = folder / "bin" / "python"
    constraints = ("--constraint", str(ROOT / "constraints.txt")) if version == VERSIONS[0] else ()
    extras = f"{wheel}[agents,play,experiments]"
    packages = (extras, "httpx2")  # for Starlette's test client
    run(
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-compile",
        *constraints,
        *packages,
        cwd=folder,
    )
    yield python
    shutil.rmtree(folder)


def test_wheel_has_every_tracked_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = [
        path
        for path in tracked("four_seasons_env", "agents", "experiments")
        if f"four_seasons_env/{path.removeprefix('four_seasons_env/')}" not in names
        and not path.startswith("experiments/studies/")
        and not (ROOT / path).is_symlink()
    ]
    assert not missing
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"four_seasons_env"}


def test_it_is_small(wheel: Path) -> None:
    """Most of it is weights."""
    assert wheel.stat().st_size < 6_000_000


def test_source_archive_has_the_wheel_files(release: Path, wheel: Path) -> None:
    (archive,) = release.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        sources = {name.partition("/")[2] for name in file.getnames()}
    files = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert files | {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= sources


def test_bundled_agents_play_without_torch(installed: Path, tmp_path: Path) -> None:
    printed = run(installed, "-c", PLAY, cwd=tmp_path)
    assert all(f"played: {name}\n" in printed for name in LEARNED)
    assert printed.endswith("False\n")


def test_the_page_has_hints_of_the_planner(installed: Path, tmp_path: Path) -> None:
    assert "planner" in run(installed, "-c", HINTS, cwd=tmp_path)


def test_comparisons_include_the_ceiling(installed: Path, tmp_path: Path) -> None:
    flags = ("--deals", "0-19", "--record", "--n-jobs", "1", "--out", "x")
    command = ("-m", "four_seasons_env", "compare", "--agents", "random", "heuristic", "planner")
    printed = run(installed, *command, *flags, cwd=tmp_path)
    assert all(name in printed for name in ("random", "heuristic", "planner", "ceiling"))
    assert "60 games" in run(installed, "-m", "four_seasons_env", "verify", "x", cwd=tmp_path)


def test_a_missing_extra_is_named_in_one_line(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [str(installed), "-m", "four_seasons_env", "train", "--out", "x"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'four-seasons-env[" in done.stderr


def test_the_demo_runs_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    """It uses the packages of this environment, because they include torch."""
    unpacked = tmp_path / "unpacked"
    zipfile.ZipFile(wheel).extractall(unpacked)
    empty = tmp_path / "empty"
    empty.mkdir()
    flags = ("--minutes", "0.2", "--deals", "10000-10099", "--out", "demo")
    done = subprocess.run(
        [sys.executable, "-m", "four_seasons_env", "demo", *flags],
        cwd=empty,
        env=os.environ | {"PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (report,) = empty.glob("demo/*/report.html")
    assert "heuristic" in report.read_text(encoding="utf-8")


def test_metadata_are_complete_and_base_is_light(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    (about,) = importlib.metadata.distributions(path=[str(tmp_path)])
    base = [need for need in about.requires or [] if "extra ==" not in need]
    assert {need.split(">")[0] for need in base} == {"gymnasium", "numba", "numpy"}
    assert about.metadata["Author"] == "the four-seasons-env developers"
    classifiers = set(about.metadata.get_all("Classifier"))
    assert {f"Programming Language :: Python :: {version}" for version in VERSIONS} <= classifiers
    assert "Typing :: Typed" in classifiers
    (script,) = about.entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("four-seasons", "four_seasons_env.__main__:main")
