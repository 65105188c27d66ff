"""A digest of the source files that a module depends on: its own, and those that it imports."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path


@functools.cache
def folder_digest(folder: Path) -> str:
    """The SHA-256, in hex, of the Python files of a folder and of the folders in it."""
    return _digest(sorted(folder.rglob("*.py")))


@functools.cache
def module_digest(name: str) -> str:
    """The SHA-256, in hex, of the files that a module depends on.

    These are the module's own file, the files that it imports at the top level, those that they
    import, and so on. Only files of this package, and of the module's own outermost package or
    script folder, count; packages installed in that folder and imports inside functions do not. For
    a module without a file, as in a notebook, it is `folder_digest` of this package; for one in a
    zip archive, it covers the whole archive.

    Args:
        name: of a module that is imported, or is being imported.
    """
    if archive := getattr(getattr(sys.modules.get(name), "__loader__", None), "archive", None):
        return _digest([Path(archive)])
    own = _file(name)
    if own is None:
        return folder_digest(_PACKAGE)
    homes = (_PACKAGE, _outermost(own))
    files: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if module in files or path is None or not _belongs(path, homes):
            continue
        files[module] = path
        waiting += _imports(module, path)
    return _digest(files[module] for module in sorted(files))


def _belongs(path: Path, homes: Iterable[Path]) -> bool:
    """Whether a file is Python source in one of the folders, and of no package installed there."""
    below = [path.relative_to(home).parts for home in homes if path.is_relative_to(home)]
    is_source = path.suffix == ".py" and path.is_file()
    return is_source and any("site-packages" not in parts for parts in below)


def _file(module: str) -> Path | None:
    file = getattr(sys.modules.get(module), "__file__", None)
    return None if file is None else Path(file)


def _outermost(path: Path) -> Path:
    """The folder of the outermost package of a file; its own folder if it has no package."""
    folder = path.parent
    while (folder.parent / "__init__.py").is_file():
        folder = folder.parent
    return folder


_PACKAGE = _outermost(Path(__file__))


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _imports(module: str, path: Path) -> tuple[str, ...]:
    """The names that a module imports at the top level; some are modules, others are not."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return tuple(_named(ast.parse(path.read_bytes()).body, package))


def _named(statements: Sequence[ast.stmt], package: str) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            name = "." * statement.level + (statement.module or "")
            source = importlib.util.resolve_name(name, package)
            yield source
            yield from (f"{source}.{alias.name}" for alias in statement.names)
        elif isinstance(statement, ast.Try):
            handlers = [each for handler in statement.handlers for each in handler.body]
            yield from _named([*statement.body, *handlers, *statement.orelse], package)
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            yield from _named([*statement.body, *statement.orelse], package)
