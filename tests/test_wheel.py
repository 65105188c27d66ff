"""The wheel: agents and experiments under the package's own name, whole and by themselves."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.helpers import ROOT

SOURCES = ("four_seasons_env", "agents", "experiments")
OTHERS = ("pyproject.toml", "README.md", "LICENSE")

IMPORT_ALL = """
import importlib, json, pkgutil, sys
import four_seasons_env

assert "four_seasons_env.agents" not in sys.modules
for name in ("agents", "experiments"):
    package = importlib.import_module(f"four_seasons_env.{name}")
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(each.name)
from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents import make_agent
from four_seasons_env.experiments.training.run_folder import provenance

for name in ("heuristic", "planner", "next_deal_ppo", "maskable_ppo"):
    make_agent(name)
print(json.dumps({
    "path": four_seasons_env.__file__,
    "top-level": sorted({name.split(".")[0] for name in sys.modules} & {"agents", "experiments"}),
    "weights": bundled_weights("planner", "four-seasons").is_dir(),
    "git": provenance()["git"],
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked, built without network from a copy of the sources."""
    version = importlib.metadata.version("setuptools")
    if int(version.split(".")[0]) < 77:
        pytest.skip(f"setuptools 77 builds the wheel, and this environment has {version}")
    copy, out = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=ignored)
    for name in OTHERS:
        shutil.copy(ROOT / name, copy / name)
    command = ["pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(out)]
    subprocess.run([sys.executable, "-m", *command, str(copy)], check=True, capture_output=True)
    (built,) = out.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(out / "unpacked")
    return out / "unpacked"


def run(wheel: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Python with the wheel's content, outside of the clone."""
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": str(wheel)},
        cwd=wheel.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_it_holds_every_file_of_agents_and_experiments_and_no_other_package(wheel: Path) -> None:
    for name in ("agents", "experiments"):
        tracked = subprocess.run(
            ["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.split()
        assert len(tracked) > 40
        missing = [path for path in tracked if not (wheel / "four_seasons_env" / path).is_file()]
        assert not missing
    packages = {each.name for each in wheel.iterdir() if each.suffix != ".dist-info"}
    assert packages == {"four_seasons_env"}


@pytest.mark.slow
def test_its_modules_import_each_other_and_none_of_the_clone(wheel: Path) -> None:
    done = run(wheel, "-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert Path(told["path"]).is_relative_to(wheel)
    assert told["top-level"] == []
    assert told["weights"]
    assert told["git"] == {"commit": None, "changed": None}


@pytest.mark.slow
def test_its_agents_are_compared(wheel: Path) -> None:
    flags = ("--agents", "heuristic", "random", "--deals", "10000-10003", "--n-jobs", "1")
    command = ("-m", "four_seasons_env", "compare", *flags, "--record", "--out", "x")
    done = run(wheel, *command)
    assert done.returncode == 0, done.stderr
    verified = run(wheel, "-m", "four_seasons_env", "verify", "x")
    assert "verified: 8 games" in verified.stdout, verified.stdout + verified.stderr


@pytest.mark.slow
def test_its_commands_have_its_name(wheel: Path) -> None:
    usage = run(wheel, "-m", "four_seasons_env", "compare", "--help").stdout
    assert "usage: four-seasons compare" in usage


@pytest.mark.slow
def test_its_metadata_are_complete_and_its_base_needs_no_torch(wheel: Path) -> None:
    (about,) = importlib.metadata.distributions(path=[str(wheel)])
    base = [need for need in about.requires or [] if "extra ==" not in need]
    assert {need.split(">")[0] for need in base} == {"gymnasium", "numba", "numpy"}
    assert about.metadata["Author"] == "the four-seasons-env developers"
    classifiers = about.metadata.get_all("Classifier")
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(
        classifiers
    )
    assert "Typing :: Typed" in classifiers
    (script,) = about.entry_points.select(group="console_scripts")
    assert (script.name, script.value) == ("four-seasons", "four_seasons_env.__main__:main")
