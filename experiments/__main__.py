"""The commands: `python -m experiments` lists them, `python -m experiments NAME` runs one.

Listing imports none of them: names and descriptions are read from their source.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent


def commands() -> dict[str, str]:
    """The name of each command and the first line of its docstring."""
    found = {}
    for path in sorted(_HERE.glob("[!_]*.py")):
        source = ast.parse(path.read_text(encoding="utf-8"))
        functions = {each.name for each in source.body if isinstance(each, ast.FunctionDef)}
        if "main" in functions:
            found[path.stem] = (ast.get_docstring(source) or "").partition("\n")[0]
    return found


def run_by_name(name: str, arguments: Sequence[str]) -> None:
    """Run a command as `python -m experiments.NAME` does."""
    sys.argv = [str(_HERE / f"{name}.py"), *arguments]
    importlib.import_module(f"{__package__}.{name}").main()


def main() -> None:
    """List the commands, or run the one that is named first."""
    name, *arguments = sys.argv[1:] or ["--help"]
    known = commands()
    if name in ("-h", "--help"):
        width = max(map(len, known))
        print("usage: python -m experiments COMMAND [flags]; COMMAND --help lists its flags\n")
        for each, description in known.items():
            print(f"  {each:{width}}  {description}")
    elif name in known:
        run_by_name(name, arguments)
    else:
        from four_seasons_env.rules import nearest

        print(f"error: unknown command {name!r}: {nearest(name, known)}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
