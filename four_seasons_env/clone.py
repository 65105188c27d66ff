"""In a clone: the top-level packages `agents` and `experiments` below `four_seasons_env` too.

A wheel holds these packages themselves at this place, and not this file (`setup.py`). What is
written for the one runs with the other: `from four_seasons_env.agents import make_agent`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType

_PACKAGE = "four_seasons_env"
_ROOT = Path(__file__).parents[1]


class _SameModules(MetaPathFinder, InspectLoader):
    """Finds `four_seasons_env.agents.X` as the very module `agents.X`, so that no class is double.

    Args:
        name: of the top-level package.
    """

    def __init__(self, name: str) -> None:
        self._below = f"{_PACKAGE}.{name}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec, if it is below the package."""
        if not fullname.startswith(self._below):
            return None
        found = importlib.util.find_spec(_top_level(fullname))
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The top-level module."""
        module = importlib.import_module(_top_level(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back, for it has run already."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType | None:
        """Its code, for `python -m`."""
        name = _top_level(fullname)
        found = importlib.util.find_spec(name)
        loader = found.loader if found else None
        return loader.get_code(name) if isinstance(loader, InspectLoader) else None

    def get_source(self, fullname: str) -> str | None:
        """Its source."""
        found = importlib.util.find_spec(_top_level(fullname))
        return Path(found.origin).read_text("utf-8") if found and found.origin else None


def _top_level(fullname: str) -> str:
    return fullname.removeprefix(f"{_PACKAGE}.")


def hand_on(name: str) -> None:
    """Let the package of this name below `four_seasons_env` be the clone's top-level one.

    Args:
        name: "agents" or "experiments".

    Raises:
        ImportError: if another package of this name hides the clone's.
    """
    if str(_ROOT) not in sys.path:
        sys.path.append(str(_ROOT))
    module = importlib.import_module(name)
    if Path(str(module.__file__)).parent != _ROOT / name:
        raise ImportError(f"{module.__file__} hides the package {name!r} of {_ROOT}")
    sys.meta_path.insert(0, _SameModules(name))
    sys.modules[f"{_PACKAGE}.{name}"] = module
