"""The wheel: what it holds, and that it runs, installed where there is no torch; and the demo."""

import importlib.metadata
import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import partial
from pathlib import Path

import pytest

from tests.helpers import ROOT, run_python

pytestmark = pytest.mark.slow

NEWEST = "3.13"
LEARNED = ("maskable_ppo", "next_deal_ppo", "planner")

outside = partial(run_python, PYTHONPATH="")
"""Run a Python that does not find the clone."""

PLAY = """
import sys

import numpy as np

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.vector import FourSeasonsVectorEnv

for name in sys.argv[1:]:
    agent, rng = make_agent(name), np.random.default_rng(0)
    env = FourSeasonsVectorEnv(5, mask=agent.mask)
    _, infos = env.reset(options={"deal": list(range(TRAIN_FROM, TRAIN_FROM + 5))})
    for _ in range(20):
        moves = agent.act(env.games.copy(), infos["action_mask"], rng)
        *_, infos = env.step(moves)
    print("played:", name)

from starlette.testclient import TestClient

from four_seasons_env.play.server import make_app

client = TestClient(make_app(["testserver"]))
print("offered:", client.get("/api/advisers?rules=four-seasons").json()["agents"])
print("torch" in sys.modules)
"""


def tracked(*folders: str) -> list[str]:
    """The tracked files of some folders, or all."""
    command = ["git", "ls-files", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split() if os.path.lexists(ROOT / name)]


def build_in(sources: Path) -> Path:
    """The folder with the wheel and the source archive, inside a copy of the tracked files."""
    for name in tracked():
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, sources / name, follow_symlinks=False)
    outside("-m", "build", cwd=sources, SOURCE_DATE_EPOCH="1767225600")
    return sources / "dist"


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of `build_in`."""
    return build_in(tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    """The wheel."""
    (built,) = release.glob("*.whl")
    return built


def newest_python() -> str:
    """The newest Python that the project names, on the path or pyenv's; else that of the tests."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    found = [
        shutil.which(f"python{NEWEST}"),
        *pyenv.glob(f"versions/{NEWEST}.*/bin/python"),
    ]
    for each in filter(None, found):
        if subprocess.run([each, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(each)
    return sys.executable


def test_the_archives_are_complete(release: Path, wheel: Path, tmp_path: Path) -> None:
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
    assert wheel.stat().st_size < 9_500_000  # most of it is weights, and recorded games
    (archive,) = release.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        sources = {name.partition("/")[2] for name in file.getnames()}
    files = {name for name in names if ".dist-info/" not in name}
    assert files | {"pyproject.toml", "README.md", "LICENSE", "PKG-INFO"} <= sources

    zipfile.ZipFile(wheel).extractall(tmp_path)
    (about,) = importlib.metadata.distributions(path=[str(tmp_path)])
    base = [need for need in about.requires or [] if "extra ==" not in need]
    assert {need.split(">")[0] for need in base} == {"gymnasium", "numba", "numpy"}
    (script,) = about.entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("four-seasons", "four_seasons_env.__main__:main")


def test_archives_of_two_folders_are_the_same(release: Path, tmp_path: Path) -> None:
    """The files of the second are newer, and only their owner may read them."""
    before = os.umask(0o077)
    try:
        again = build_in(tmp_path)
    finally:
        os.umask(before)
    one, two = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (release, again)
    )
    assert len(one) == 2
    assert one == two


def test_an_editable_install_is_a_path(release: Path, tmp_path: Path) -> None:
    """Type checkers and editors follow it, but not the import hook that setuptools would add."""
    flags = ("--target", str(tmp_path), "--no-deps", "--quiet", "--editable", str(release.parent))
    outside("-m", "pip", "install", *flags, cwd=tmp_path)
    (path,) = tmp_path.glob("*.pth")
    assert path.read_text().strip() == str(release.parent)


def test_agents_play_without_torch(wheel: Path, tmp_path: Path) -> None:
    """Install into a new environment with the newest packages and the extras that need no torch."""
    outside("-m", "venv", "new", cwd=tmp_path, python=newest_python())
    new = partial(outside, cwd=tmp_path, python=str(tmp_path / "new" / "bin" / "python"))
    packages = f"{wheel}[agents,play,experiments]", "httpx2"  # for Starlette's test client
    new("-m", "pip", "install", "--quiet", "--no-compile", *packages)
    command = ("-m", "four_seasons_env")

    warned = new(*command, "train", "--out", "x", status=2)
    assert "pip install 'four-seasons-env[" in warned

    printed = new("-c", PLAY, *LEARNED)
    assert all(f"played: {name}\n" in printed for name in LEARNED)
    assert "offered: ['planner'" in printed
    assert printed.endswith("False\n")

    flags = ("--deals", "0-19", "--record", "--n-jobs", "1", "--out", "x")
    names = ("random", "heuristic", "planner")
    printed = new(*command, "compare", "--agents", *names, *flags)
    assert all(name in printed for name in (*names, "ceiling"))
    assert "60 games" in new(*command, "verify", "x")
    assert "report: " in new(*command, "report", "x")


def test_the_demo_writes_its_files(tmp_path: Path) -> None:
    short = ("MINUTES=0.25", "DEALS=11000-11199", "DEMO=demo")
    # Tests of a target of make run in make, whose flags are not for this one.
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    make = ["make", "--dry-run", "--no-print-directory", "demo", *short]
    lines = subprocess.run(make, cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    commands = [shlex.split(line) for line in lines.stdout.replace("\\\n", "").splitlines()]
    steps = [words[1:] for words in commands if words[0].endswith("/four-seasons")]
    assert [name for name, *_ in steps] == ["train", "compare", "report"]
    for step in steps:
        printed = run_python("-m", "four_seasons_env", *step, cwd=tmp_path, PYTHONPATH=str(ROOT))
    (page,) = tmp_path.glob("demo/*/compare/report.html")
    assert f"report: {page.relative_to(tmp_path)}\n" in printed
