"""In a clone the top-level packages are there under the package's own name too."""

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT

SAME = """
import sys
import four_seasons_env
assert not {"agents", "four_seasons_env.agents"} & set(sys.modules), "the import is to be light"
from four_seasons_env.agents import make_agent
import four_seasons_env.agents.learned.settings as below
import four_seasons_env.agents.registry
import agents.learned.settings as top
import agents.registry
assert below is top
assert four_seasons_env.agents.registry is agents.registry
assert top.__spec__.name == top.__name__ == "agents.learned.settings"
print(make_agent.__module__)
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_they_are_the_same_modules() -> None:
    done = run("-c", SAME)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "agents.registry\n"


def test_what_is_missing_there_is_missing_here() -> None:
    done = run("-c", "import four_seasons_env.agents.nothing")
    assert "No module named 'four_seasons_env.agents.nothing'" in done.stderr


def test_commands_run_under_both_names() -> None:
    listing = run("-m", "experiments")
    assert listing.returncode == 0
    assert "compare" in listing.stdout
    assert run("-m", "four_seasons_env.experiments").stdout == listing.stdout
    below = run("-m", "four_seasons_env.experiments.solve", "--rules", "czarena")
    top = run("-m", "experiments.solve", "--rules", "czarena")
    assert (below.returncode, below.stderr) == (top.returncode, top.stderr)
    assert below.stderr.startswith("error: unknown rules 'czarena'")


def test_a_package_of_others_that_hides_ours_is_named(tmp_path: Path) -> None:
    theirs = tmp_path / "agents" / "__init__.py"
    theirs.parent.mkdir()
    theirs.write_text("")
    code = "import sys; sys.path.remove(''); import four_seasons_env.agents"
    done = run("-c", code, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert f"ImportError: {theirs} hides the package 'agents'" in done.stderr
