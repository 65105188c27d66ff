"""Stop a build from a clone without symbolic links; pyproject.toml says all the rest."""

from pathlib import Path

from setuptools import setup

PACKAGE = Path(__file__).with_name("four_seasons_env")

if missing := [
    name for name in ("agents", "experiments") if not (PACKAGE / name / "__init__.py").is_file()
]:
    raise SystemExit(
        f"four_seasons_env/{missing[0]} is not a symbolic link to {missing[0]}/: clone with Git "
        "after `git config --global core.symlinks true` (on Windows, with developer mode on)"
    )

setup()
