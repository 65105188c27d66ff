"""The house: imports run one way, and signatures are short enough to read."""

import ast
from collections.abc import Iterator

from tests.helpers import ROOT

FOLDERS = {
    "four_seasons_env": "",
    "agents": "four_seasons_env.",
    "experiments": "four_seasons_env.",
}
"""The folders of the source, and what stands before their names in a module's."""

FILES = {
    prefix + ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for folder, prefix in FOLDERS.items()
    for path in sorted((ROOT / folder).rglob("*.py"))
}
"""Source files by the name of their module."""

MOST = 8
"""Positional parameters of a function."""


def nodes_at_file_level(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs when a file is imported: no bodies of functions, nothing for type checkers only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from nodes_at_file_level(node)


def imported(nodes: Iterator[ast.AST]) -> set[str]:
    """The modules of the project that these nodes import, a module's packages not counted."""
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


def test_the_files_are_found():
    assert {
        "four_seasons_env.game",
        "four_seasons_env.agents.registry",
        "four_seasons_env.experiments.compare",
    } <= FILES.keys()
    assert "four_seasons_env.engine.jit" in imported(
        nodes_at_file_level(read("four_seasons_env.engine.kernel"))
    )


def test_no_files_import_each_other_in_a_circle():
    needs = {name: imported(nodes_at_file_level(read(name))) - {name} for name in FILES}
    while free := {name for name, others in needs.items() if not others & needs.keys()}:
        needs = {name: others for name, others in needs.items() if name not in free}
    assert not needs, "these are in a circle, or import one that is"


LAYERS = ("", ".agents", ".play", ".experiments")
"""Packages below `four_seasons_env`, the rest of it first: none imports one that follows."""


def layer(name: str) -> int:
    found = [
        i for i, each in enumerate(LAYERS) if f"{name}.".startswith(f"four_seasons_env{each}.")
    ]
    return max(found)


def test_imports_run_one_way() -> None:
    wrong = {
        (name, other)
        for name in FILES
        for other in imported(ast.walk(read(name)))
        if layer(other) > layer(name)
    }
    assert not wrong


def long_functions() -> set[str]:
    """Functions, by module and name, that take more positional parameters than `MOST`."""
    found = set()
    for module in FILES:
        for node in ast.walk(read(module)):
            if isinstance(node, ast.FunctionDef):
                names = [each.arg for each in node.args.posonlyargs + node.args.args]
                if len(set(names) - {"self", "cls"}) > MOST:
                    found.add(f"{module}.{node.name}")
    return found


def test_signatures_are_short():
    assert not long_functions()
