"""Structure of the source: imports run one way, and memory has an owner."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter

import pytest

from tests.helpers import FILES, ROOT


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """The modules of the project that these nodes import, without their parent packages."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in FILES else str(node.module) for name in inside}
    return names & FILES.keys()


def read(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text())


IMPORTS = {name: imported(ast.walk(read(name))) for name in FILES}
"""All imports of each module, those in functions and for type checkers too."""


def unit(name: str) -> str:
    """The folder of a module; the file itself if it is directly in one of `FOLDERS`."""
    path = FILES[name].relative_to(ROOT)
    return str(path if len(path.parts) == 2 else path.parent)


def test_folders_import_in_no_circle() -> None:
    """Between files, Python itself refuses circles."""
    assert "four_seasons_env.engine.jit" in IMPORTS["four_seasons_env.engine.kernel"]
    needs: dict[str, set[str]] = {unit(name): set() for name in FILES}
    for name, others in IMPORTS.items():
        needs[unit(name)] |= {unit(other) for other in others} - {unit(name)}
    TopologicalSorter(needs).prepare()  # an error names the circle


ORDER = {
    "four_seasons_env": ("*", "agents", "play", "experiments"),
    "four_seasons_env.agents": (
        "agent",
        "policy_files",
        "names",
        "scripted",
        "search",
        "network policy_agent",
        "training",
        "planner learned",
    ),
    "four_seasons_env.experiments": (
        "command_line",
        "folders workers",
        "crossed",
        "summary",
        "players",
        "play comparison",
        "blocks",
        "monitor tables",
        "plots",
        "*",
        "studies",
    ),
}
"""Files and folders of a package, lowest first: each imports only itself and lower ones.

Two names in one string do not import each other. "*" is everything that is not listed; without it,
this order says nothing about other files."""


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_downwards(package: str) -> None:
    places = {part: i for i, parts in enumerate(ORDER[package]) for part in parts.split()}
    found = {}
    for name in FILES:
        if f"{name}.".startswith(f"{package}."):
            part = name.removeprefix(f"{package}.").partition(".")[0]
            found[name] = part if part in places else "*"
    wrong = {
        (name, other)
        for name, part in found.items()
        for other in IMPORTS[name] & found.keys()
        if found[other] != part and places.get(found[other], -1) >= places.get(part, len(places))
    }
    assert not wrong


MAKES_ARRAY = re.compile(r"np\.(empty|zeros|ones|full|array|concatenate)(_like)?|.*\.copy")


def is_compiled(function: ast.FunctionDef) -> bool:
    """Those that `by_type` chooses carry no mark, but have no annotations, like most others."""
    marks = {ast.unparse(each) for each in function.decorator_list}
    return function.returns is None or bool(marks & {"jit", "internal", "inlined", "merged"})


def may_make_records(call: ast.Call) -> bool:
    """Whether a call makes an array, and does not say that it is one of numbers."""
    maker, dtype = ast.unparse(call.func), ast.unparse(call.args[-1:])
    floats = maker in ("np.empty", "np.zeros", "np.ones") and len(call.args) == 1
    return bool(MAKES_ARRAY.fullmatch(maker)) and not (floats or dtype.startswith("np."))


def test_records_belong_to_callers():
    """See `engine/jit.py`. An exception would stand here with its reason."""
    assert not {
        (module, function.name, ast.unparse(call))
        for module in FILES
        for function in ast.walk(read(module))
        if isinstance(function, ast.FunctionDef) and is_compiled(function)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and may_make_records(call)
    }
