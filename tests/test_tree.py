"""The layers: the frame knows no content by name, problems no solvers, solvers no claims; CONTRIBUTING's map of the tree is complete."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BANNED = {
    "simopt": ("problems", "solvers", "estimators", "theorems"),  # it finds them in its registry
    "problems": ("solvers", "estimators", "theorems"),
    "solvers": ("estimators", "theorems"),
    "estimators": ("theorems",),
    "theorems": ("estimators",),
}


def imported(path: Path) -> set[str]:
    """Modules that a file imports anywhere, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def needed(node: ast.AST) -> Iterator[str]:
    """Modules that a tree of syntax imports when it runs, also inside functions; not what is imported for types only."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
        yield from (name for child in node.orelse for name in needed(child))
    else:
        yield from (name for child in ast.iter_child_nodes(node) for name in needed(child))


def arrows() -> dict[str, set[str]]:
    """Module -> modules that it needs."""
    modules = {}
    for folder in BANNED:
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts if folder == "simopt" else ("simopt", *parts))
            modules[name.removesuffix(".__init__")] = path
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in modules.items()}
    homes = {name: {full if full in modules else full.rpartition(".")[0] for full in needed(tree)} for name, tree in trees.items()}
    return {name: found & set(modules) for name, found in homes.items()}


def in_circles(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is left when modules that need none of the others, or that none of them needs, are taken away again and again."""
    left = dict(graph)
    while True:
        wanted = {name for names in left.values() for name in names}
        inner = {name: names & set(left) for name, names in left.items() if name in wanted and names & set(left)}
        if inner == left:
            return left
        left = inner


def test_no_two_files_need_each_other() -> None:
    graph = arrows()
    assert graph["simopt.driver"] >= {"simopt.run", "simopt.duality.as_written"}  # the second is imported inside a function
    assert "simopt.problem" not in graph["simopt.duality.dual_programme"]  # for types only
    assert not in_circles(graph), in_circles(graph)


def test_circles_are_found() -> None:
    circle = {"a": {"b"}, "b": {"c"}, "c": {"a"}}
    assert in_circles({**circle, "into": {"a"}, "out of": set(), "b": {"c", "out of"}}) == circle
    assert in_circles({"itself": {"itself"}}) and not in_circles({"a": {"b", "c"}, "b": {"c"}, "c": set()})


@pytest.mark.parametrize("folder", BANNED)
def test_nothing_imports_what_is_built_on_it(folder: str) -> None:
    names = {(path.name, name) for path in (ROOT / folder).rglob("*.py") for name in imported(path)}
    assert len(names) > 10
    assert not {(path, name) for path, name in names if name.startswith("simopt.") and name.split(".")[1] in BANNED[folder]}


def test_the_map_of_the_tree_is_complete() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = re.search(r"## The tree\n\n```\n(.*?)```", text, re.S)
    assert drawn is not None
    listed = re.findall(r"^( *)(\w+)/ ", drawn[1], re.M)
    assert {name for indent, name in listed if not indent} == {*BANNED, "data", "tests", "docs", "notebooks", "benchmarks"}
    assert all((ROOT / name).is_dir() for indent, name in listed if not indent)
    packages = {path.parent.name for path in (ROOT / "simopt").glob("*/__init__.py")}
    assert {name for indent, name in listed if indent} == packages - set(BANNED)
