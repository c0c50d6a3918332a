"""What pyproject.toml says of the package is what the tree holds."""

import re
import tomllib
from pathlib import Path
from typing import Any

import simopt

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {
    "simopt": "simopt",
    "problems": "simopt.problems",
    "solvers": "simopt.solvers",
    "theorems": "simopt.theorems",
    "estimators": "simopt.estimators",
}


def project() -> dict[str, Any]:
    """pyproject.toml, parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_package_of_the_tree_is_listed() -> None:
    found = set()
    for folder, package in FOLDERS.items():
        for init in (ROOT / folder).rglob("__init__.py"):
            found.add(".".join([package, *init.parent.relative_to(ROOT / folder).parts]))
    tool = project()["tool"]
    assert set(tool["setuptools"]["packages"]) == found


def test_no_module_stands_in_a_folder_without_init() -> None:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            assert (path.parent / "__init__.py").is_file(), path


def test_the_version_is_said_once() -> None:
    assert project()["project"]["version"] == simopt.__version__
    assert f"version: {simopt.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_constraints_hold_no_address_and_cover_the_dependencies() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines if not line.startswith("#")}
    assert all("==" in line for line in lines if not line.startswith("#"))
    assert not any("/" in line or "@" in line for line in lines)
    table = project()["project"]
    extras = table["optional-dependencies"]
    wanted = [*table["dependencies"], *(item for extra in extras.values() for item in extra)]
    assert {item.split(">=")[0].lower() for item in wanted} <= pinned


def test_no_text_sends_anyone_to_the_other_project_called_simopt() -> None:
    assert project()["project"]["name"] == "simopt-convex"
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    wrong = re.compile(r"pip install (-\S+ )*['\"]?simopt(?!-convex)\b")
    assert not [path.name for path in files if wrong.search(path.read_text(encoding="utf-8"))]
