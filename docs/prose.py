"""Check the prose of docs, docstrings, comments and messages against docs/prose.toml.

    python docs/prose.py             # check the files that the list `checked` names
    python docs/prose.py README.md   # check these files

Every hit is printed with its place and a plainer wording; the exit status is then 1.
"""

from __future__ import annotations

import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = tomllib.loads((ROOT / "docs" / "prose.toml").read_text(encoding="utf-8"))
PATTERNS = {
    re.compile(rf"(?<!\w)(?:{words})(?!\w)".replace(" ", r"\s{1,2}"), re.IGNORECASE): instead
    for words, instead in CONFIG["instead"].items()
}
SUFFIXES = {".py", ".md", ".html", ".js", ".yaml", ".toml", ""}
"""Suffixes of the files that are checked; a Makefile has none."""
CODE = re.compile(r"```.*?```|``[^`]*``|`[^`]*`|\]\([^)]*\)", re.DOTALL)
"""Code and addresses of links, which are not prose."""


def prose(path: Path) -> str:
    """The text of a file with everything but its prose blanked, so that line numbers stay."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        lines = [""] * (text.count("\n") + 1)
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                name = tokenize.tok_name[token.type]
                if name in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
                    for i, part in enumerate(token.string.split("\n")):
                        lines[token.start[0] - 1 + i] += f" {part.strip('# ')}"
        text = "\n".join(lines)
    return CODE.sub(lambda match: "\n" * match[0].count("\n") + " ", text)


def hits(path: Path) -> Iterator[str]:
    """Each discouraged wording of a file: its place, the words, and what to write instead."""
    text = prose(path)
    for words, instead in PATTERNS.items():
        for match in words.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: '{' '.join(match[0].split())}': {instead}"


def main() -> None:
    """Print the hits in the given files, or in all that are checked."""
    paths = [Path(name) for name in sys.argv[1:]]
    paths = paths or [path for name in CONFIG["checked"] for path in sorted(ROOT.glob(name))]
    files = {path.resolve() for path in paths if path.is_file() and path.suffix in SUFFIXES}
    found = [hit for path in sorted(files) for hit in hits(path)]
    print("\n".join(found) or f"{len(files)} files: no discouraged wording")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
