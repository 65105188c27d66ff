"""How the wheel gets the agents and the experiments; all else stands in pyproject.toml.

In a clone, `agents` and `experiments` are top-level packages. Names as general as these have no
place in a user's site-packages, so the wheel holds them as `four_seasons_env.agents` and
`four_seasons_env.experiments`. They take the place of two packages that, in a clone, only hand on
the top-level ones (`four_seasons_env/clone.py`).
"""

import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = "four_seasons_env"
FOLDERS = ("agents", "experiments")

_ANY = f"(?:{'|'.join(FOLDERS)})"
_REFERENCES = re.compile(
    rf"""
      ^\s*from[ ](?={_ANY}[. ])               # from agents.registry import Agent
    | ^\s*import[ ](?={_ANY}\b)               # import agents
    | ["'](?={_ANY}\.[\w.]+:\w)               # "agents.best:make_best"
    | python[ ]-m[ ](?={_ANY}\b)              # python -m experiments.compare
    | `(?={_ANY}\.\w)                         # `agents.registry.Entry`
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What stands before a reference to a module of these folders."""


def renamed(source: str) -> str:
    """A Python file's text with all references to these folders' modules below `PACKAGE`."""
    return _REFERENCES.sub(lambda before: f"{before[0]}{PACKAGE}.", source)


class BuildPy(build_py):
    """Build `PACKAGE` with the two folders in it; an editable installation leaves them alone."""

    def run(self) -> None:
        """Build the package, then put the folders where the packages that hand on stand."""
        super().run()
        if self.editable_mode:
            return
        built = Path(self.build_lib) / PACKAGE
        (built / "clone.py").unlink()
        for folder in FOLDERS:
            shutil.rmtree(built / folder)
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(folder, built / folder, ignore=ignored)
            for path in (built / folder).rglob("*.py"):
                path.write_text(renamed(path.read_text(encoding="utf-8")), encoding="utf-8")


setup(cmdclass={"build_py": BuildPy})
