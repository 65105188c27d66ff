"""Build archives that depend on the source alone; pyproject.toml says all the rest."""

import gzip
import os
import tarfile
import time
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.sdist import sdist

PACKAGE = Path(__file__).with_name("four_seasons_env")
WRITABLE, RUNNABLE = 0o644, 0o755  # of archived files and folders, whatever the umask

if missing := [
    name for name in ("agents", "experiments") if not (PACKAGE / name / "__init__.py").is_file()
]:
    raise SystemExit(
        f"four_seasons_env/{missing[0]} is not a symbolic link to {missing[0]}/: clone with Git "
        "after `git config --global core.symlinks true` (on Windows, with developer mode on)"
    )


class Wheel(bdist_wheel):
    """A wheel in which no file has the permissions that it has in the clone."""

    def write_wheelfile(self, *arguments: Any, **named: Any) -> None:
        """Write the last file that goes into the wheel; then set the permissions of all."""
        super().write_wheelfile(*arguments, **named)
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(RUNNABLE if path.is_dir() else WRITABLE)


class SourceArchive(sdist):
    """A source archive whose times are `SOURCE_DATE_EPOCH`, as those of a wheel are."""

    def make_archive(self, base_name: str, *_: Any, base_dir: str, **named: Any) -> str:
        """Pack the folder `base_dir`; without owners, and with the permissions of a wheel."""
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.mode = RUNNABLE if member.isdir() else WRITABLE
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            return member

        path = Path(f"{base_name}.tar.gz")
        with (
            path.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=epoch) as packed,
            tarfile.open(fileobj=packed, mode="w") as archive,
        ):
            archive.add(base_dir, filter=plain)  # in the order of names
        return str(path)


setup(cmdclass={"bdist_wheel": Wheel, "sdist": SourceArchive})
