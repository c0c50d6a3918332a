"""What pyproject.toml says of the package is what the tree holds."""

import ast
import re
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import simopt
from simopt.core.errors import NotAvailable
from simopt.core.extras import DISTRIBUTION, install, needed

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
    lines = (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in lines if not line.startswith("#")}
    assert all("==" in line for line in lines if not line.startswith("#"))
    assert not any("/" in line or "@" in line for line in lines)
    table = project()["project"]
    extras = table["optional-dependencies"]
    wanted = [*table["dependencies"], *(item for extra in extras.values() for item in extra)]
    assert {item.split(">=")[0].lower() for item in wanted} <= pinned


def test_hashes_are_of_the_pinned_versions_and_cover_what_they_should() -> None:
    text = (ROOT / "requirements" / "hashes.txt").read_text(encoding="utf-8")
    pins = re.findall(
        r"^([\w.-]+==[\w.]+)(?: ; python_version < \"3\.13\")? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
    )
    listed = (ROOT / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert {pin for pin, _ in pins} <= {line.lower().replace("_", "-") for line in listed}
    assert "".join(line for line in text.splitlines() if "==" in line).count("==") == len(pins), "a version without hashes"
    assert len(text.splitlines()) == 1 + len(pins) + text.count("--hash="), "neither a version nor a hash: an address, say"
    table = project()["project"]
    extras = [item for name, extra in table["optional-dependencies"].items() if name not in ("ecos", "bench", "backends") for item in extra]
    wanted = {re.split(r"[>=;]", item)[0].lower().replace("_", "-") for item in [*table["dependencies"], *extras]}
    assert wanted <= {pin.split("==")[0] for pin, _ in pins}


def test_no_text_sends_anyone_to_the_other_project_called_simopt() -> None:
    assert project()["project"]["name"] == DISTRIBUTION == "simopt-convex"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\0")
    files = [ROOT / name for name in listed if name] or [path for path in ROOT.rglob("*.py") if "venv" not in path.parts[0]]
    install = r"\b(pip3?|pipx|uv|conda|mamba|poetry|pdm)\b[^\n`]{0,40}?\b(install|add|run|tool)\b[^\n`]{0,60}?"
    wrong = re.compile(rf"""{install}['"\s]simopt(?!-convex|[\w/.]|\s+[a-z])|pip::simopt(?!-convex)|['"\s]simopt\[""")
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8", errors="replace") for path in files if path.is_file()}
    assert not [
        f"{name}: {found[0]}" for name, text in texts.items() if name != "tests/test_packaging.py" and (found := wrong.search(text))
    ]
    assert all(wrong.search(text) for text in ("pip install 'simopt[plot]'", "pip install -U simopt", '"pip::simopt"', "uv add simopt\n"))
    assert not any(
        wrong.search(text) for text in ("pip install 'simopt-convex[plot]'", "pip::simopt-convex", "pip install -e . # simopt/x")
    )
    said = [name for name, text in texts.items() if DISTRIBUTION in text and name.split("/")[0] in FOLDERS]
    assert said == ["simopt/core/extras.py"], "extras.install makes this sentence"


@pytest.mark.parametrize("extra", sorted(project()["project"]["optional-dependencies"]))
def test_the_sentence_is_a_command_that_pip_takes(extra: str) -> None:
    *_, wanted = shlex.split(install(extra))
    assert wanted == f"{project()['project']['name']}[{extra}]"


def test_every_extra_that_is_asked_for_exists_and_brings_what_is_missing() -> None:
    extras = project()["project"]["optional-dependencies"]
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
                if name == "needed" and isinstance(node, ast.Call) and all(isinstance(each, ast.Constant) for each in node.args[::2]):
                    module, extra = (getattr(each, "value", "") for each in node.args[::2])
                    assert any(item.startswith(module.partition(".")[0]) for item in extras[extra]), f"{path}: {module} is not in {extra}"


def test_a_module_that_is_missing_is_told_with_its_extra() -> None:
    with pytest.raises(NotAvailable, match=r"^this needs no_such_module: pip install 'simopt-convex\[plot\]' \(No module named "):
        needed("no_such_module.inner", "this needs", "plot")
