"""The layers: the frame knows no content by name, problems no solvers, solvers no claims; CONTRIBUTING's map of the tree is complete."""

import ast
import re
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
