"""Structure of the source: imports run one way, long code is explained, memory has an owner."""

import ast
import functools
import io
import re
import tokenize
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.helpers import FILES, FOLDERS, ROOT


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
    "four_seasons_env.agents": ("scripted", "search", "network", "training", "planner learned"),
    "four_seasons_env.experiments": (
        "command_line",
        "folders workers",
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


MAX_CODE = {
    "four_seasons_env": 8_250,
    "agents": 3_240,
    "experiments": 2_810,
    "docs": 810,
    "tests": 8_500,
}
"""Lines of code of each folder: less by structure, not by squeezing. Explanations do not count."""
MIN_COMMENTS, MIN_EXAMPLES = 750, 60
"""Lines of comments, and of examples in docstrings, in all of `FOLDERS`."""
MAX_SILENT = 25
"""Lines of code of a function without a comment."""


class Weight(NamedTuple):
    """What a file weighs, in lines, and its long functions without a comment."""

    code: int
    comments: int
    examples: int
    silent: list[str]


def weigh(path: Path) -> Weight:
    text = path.read_text()
    lines, tree = text.splitlines(), ast.parse(text)
    filled = {number for number, line in enumerate(lines, 1) if line.strip()}
    # 1. Docstrings, also those of fields, are statements that are only a text.
    docs: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            docs |= {*range(node.lineno, (node.end_lineno or 0) + 1)}
    examples = sum(lines[number - 1].lstrip().startswith((">>>", "...")) for number in docs)
    # 2. Comments, with a line of their own or at the end of one.
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    starts = {token.start for token in tokens if token.type == tokenize.COMMENT}
    comments = {line for line, column in starts if not lines[line - 1][:column].strip()}
    trailing = {line for line, _ in starts} - comments
    # 3. Functions whose steps or reasons nobody says.
    silent = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = {*range(node.body[0].lineno, (node.end_lineno or 0) + 1)} & filled - docs
            explained = body & comments or len(body & trailing) > 2
            if len(body - comments) > MAX_SILENT and not explained:
                silent.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
    code = len(filled - docs - comments)
    return Weight(code, len(comments), examples, silent)


@functools.cache
def weights(folder: str) -> list[Weight]:
    """The weights of a folder's files, without those of folders that are linked into it."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [weigh(path) for path in paths if path.resolve().is_relative_to(ROOT / folder)]


@pytest.mark.parametrize("folder", MAX_CODE)
def test_folders_stay_small(folder: str) -> None:
    assert sum(each.code for each in weights(folder)) <= MAX_CODE[folder]


def test_source_is_explained() -> None:
    files = [each for folder in FOLDERS for each in weights(folder)]
    assert sum(each.comments for each in files) >= MIN_COMMENTS
    assert sum(each.examples for each in files) >= MIN_EXAMPLES


def test_long_functions_say_their_steps() -> None:
    assert not [name for folder in FOLDERS for each in weights(folder) for name in each.silent]


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
