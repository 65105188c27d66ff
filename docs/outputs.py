"""Write what the commands of a page print below them.

    python docs/outputs.py docs/tutorials/train.md            # run its commands, write their output
    python docs/outputs.py --check docs/tutorials/train.md    # in small: do they still print that?

A block of code is run if a block with the title "Output" follows, which gets what it prints; with
"Output, last 8 lines" only those. The blocks of a page run in order, in a new folder. Python code
goes on where the code before it ended. A block with a file's name as its title is saved there.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tyro

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<code>.*?)^```$'
    r"|(?<=\n\n)(?P<command>(?: {4}\S[^\n]*\n(?:\n(?= {4}\S))?)+)",
    re.MULTILINE | re.DOTALL,
)
_CUT = re.compile(r"Output(?:, (first|last) (\d+) lines)?")
_SMALL = {
    r"--deals (\d*)\d-\d+": r"--deals \g<1>0-\g<1>9",
    r"--deals test": "--deals 0-9",
    r"--(?:core-)?minutes \S+": "--steps 4096",
    r"--validation-deals \d+": "--validation-deals 20",
}
"""Replacements in commands that are only checked."""
_SHELL = f"""set -e
four-seasons() {{ '{sys.executable}' -m four_seasons_env "$@"; }}
python() {{ '{sys.executable}' "$@"; }}
"""


def written(page: str, small: bool = False) -> str:
    """A page with the outputs of its blocks.

    Args:
        page: the text of the page.
        small: run commands with few deals and little training.

    Raises:
        ValueError: if a command fails, with what it printed.
    """
    blocks = list(_BLOCK.finditer(page))
    earlier, parts, end = "", [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            title = block["title"] or ""
            if block["language"] == "python" and title:
                (Path(folder) / title).write_text(block["code"])
            cut = after and _CUT.fullmatch(after["title"] or "")
            if after and cut:
                if block["command"]:
                    command = in_small(block["command"]) if small else block["command"]
                    lines = _run(["bash", "-c", _SHELL + command], folder)
                else:
                    code = f"{earlier}\nprint('\\f')\n{block['code']}"
                    lines = _run([sys.executable, "-c", code], folder)
                if cut[1] == "first":
                    lines = lines[: int(cut[2])]
                elif cut[1] == "last":
                    lines = lines[-int(cut[2]) :]
                parts += [page[end : after.start("code")], "\n".join([*lines, ""])]
                end = after.end("code")
            if block["language"] == "python" and not title:
                earlier += block["code"]
    return "".join([*parts, page[end:]])


def in_small(command: str) -> str:
    """A command with few deals and little training.

    >>> in_small("four-seasons compare --agents greedy --deals 11000-11499")
    'four-seasons compare --agents greedy --deals 11000-11009'
    """
    for pattern, shorter in _SMALL.items():
        command = re.sub(pattern, shorter, command)
    return command


def _run(command: list[str], folder: str) -> list[str]:
    """The lines that a command prints in a folder, without empty ones at the ends."""
    paths = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    env = os.environ | {"PYTHONPATH": paths, "COLUMNS": "100", "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=env,
        text=True,
        check=False,
        timeout=600,
        capture_output=True,  # progress and "compiling" go to stderr: no page shows them
    )
    if done.returncode:
        raise ValueError(f"{command[-1]}\n{done.stdout}{done.stderr}")
    lines = [line.rstrip() for line in done.stdout.rpartition("\f\n")[2].splitlines()]
    shown = [at for at, line in enumerate(lines) if line]
    return lines[shown[0] : shown[-1] + 1] if shown else []


def shapes(page: str) -> list[set[str]]:
    """For each output of a page its lines without numbers, widths and verdicts of comparisons."""
    outputs = [
        each["code"] for each in _BLOCK.finditer(page) if _CUT.fullmatch(each["title"] or "")
    ]
    return [{_shape(line) for line in output.splitlines()} for output in outputs]


def _shape(line: str) -> str:
    line = re.sub(r"(deals: ).*", r"\1", line)
    line = re.sub(r"[-+]?\d[\d,.]*", "0", line)
    return re.sub(r"[\s─]+", " ", line).strip()


@dataclass
class Outputs:
    """Write what the commands of pages print below them."""

    pages: tyro.conf.Positional[tuple[Path, ...]] = PAGES
    """Pages; by default README and all of docs."""
    check: bool = False
    """Write nothing; run in small, and exit with status 1 if other kinds of lines are printed."""


def main() -> None:
    """Write the outputs, or name the pages whose outputs have changed."""
    flags = tyro.cli(Outputs)
    for path in flags.pages:
        page = path.read_text()
        if not shapes(page):
            continue
        try:
            text = written(page, small=flags.check)
        except ValueError as error:
            sys.exit(f"error: {path}: {error}")
        missing = [old - new for old, new in zip(shapes(page), shapes(text), strict=True)]
        if not flags.check:
            path.write_text(text)
            print(f"written: {path.name}")
        elif any(missing):
            lines = "\n".join(sorted(set().union(*missing)))
            sys.exit(f"{path}: no command prints these lines any more:\n{lines}")


if __name__ == "__main__":
    main()
