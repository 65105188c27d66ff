"""`python -m four_seasons_env` lists what can be done without training, `... NAME` does it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence

_COMMANDS = {
    "rules": ("four_seasons_env.commands.rules", "list the rule sets"),
    "play": ("four_seasons_env.play.__main__", "play in the browser, or on the terminal"),
    "solve": ("four_seasons_env.commands.solve", "solve one deal and print the game"),
    "compile": ("four_seasons_env.precompile", "compile the environments ahead of time"),
}
"""Each command's module, whose `main` takes the arguments, and what it does."""


def commands() -> dict[str, str]:
    """What each installed command does, by its name."""
    return {
        name: about
        for name, (module, about) in _COMMANDS.items()
        if importlib.util.find_spec(module) is not None
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """List the commands, or run the one that is named first.

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C; either prints one line.
    """
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    known = commands()
    if name in ("-h", "--help"):
        print("usage: python -m four_seasons_env COMMAND [options]; COMMAND --help lists them\n")
        for each, about in known.items():
            print(f"  {each:8} {about}")
        return
    try:
        if name not in known:
            from four_seasons_env.rules import nearest

            raise ValueError(f"unknown command {name!r}: {nearest(name, known)}")
        importlib.import_module(_COMMANDS[name][0]).main(rest)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
