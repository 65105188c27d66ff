"""Build the wheel and the source archive: `python .ci/build.py FOLDER`.

Only tracked files take part, and times are those of the last commit, so two builds of a commit
give the same bytes.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BACKEND = "setuptools==84.2.1"
"""Exact, because a wheel names the version that built it."""
BUILD = """
import sys
from setuptools import build_meta
out = sys.argv[1]
build_meta.build_wheel(out)
build_meta.build_sdist(out)
"""


def output(*command: str) -> str:
    """What a command prints, run in the repository's root."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def copy_tracked(folder: Path) -> None:
    """Copy the tracked files as they are now, with modes that do not depend on the umask."""
    for name in filter(None, output("git", "ls-files", "-z").split("\0")):
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.exists():
            shutil.copyfile(source, target)
            target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)


def repack(archive: Path, time: int) -> None:
    """Write a .tar.gz again, sorted, with one time for all its files and without their owner."""
    with tarfile.open(archive) as old:
        members = sorted(old.getmembers(), key=lambda member: member.name)
        contents = [old.extractfile(member) if member.isfile() else None for member in members]
        with (
            archive.with_suffix(".new").open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
        ):
            for member, content in zip(members, contents, strict=True):
                member.mtime, member.uid, member.gid = time, 0, 0
                member.uname = member.gname = ""
                member.pax_headers = {}
                new.addfile(member, content)
    archive.with_suffix(".new").replace(archive)


def build(out: Path) -> None:
    """Write the wheel and the source archive of the tracked files into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    time = output("git", "log", "-1", "--format=%ct").strip()
    with tempfile.TemporaryDirectory() as folder:
        sources, tools = Path(folder, "sources"), Path(folder, "tools")
        copy_tracked(sources)
        output(sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tools), BACKEND)
        env = os.environ | {"SOURCE_DATE_EPOCH": time, "PYTHONPATH": str(tools)}
        command = [sys.executable, "-c", BUILD, str(out.resolve())]
        subprocess.run(command, cwd=sources, env=env, stdout=subprocess.DEVNULL, check=True)
    (archive,) = out.glob("*.tar.gz")
    repack(archive, int(time))


if __name__ == "__main__":
    build(Path(sys.argv[1]))
