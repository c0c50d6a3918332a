"""Examples in docstrings run and print what they show. The modules are taken from the installed package, wherever its folders lie."""

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDERS = ("simopt", "simopt.problems", "simopt.solvers", "simopt.theorems", "simopt.estimators")


def modules() -> set[str]:
    """All modules; the content folders need not lie below simopt/."""
    names = set(FOLDERS)
    for folder in FOLDERS:
        package = importlib.import_module(folder)
        names |= {module.name for module in pkgutil.walk_packages(package.__path__, f"{folder}.")}
    return names


def with_examples() -> Iterator[str]:
    """Names of the modules in whose text a prompt stands; the others need not be imported."""
    for name in sorted(modules()):
        found = find_spec(name)
        assert found is not None and found.origin is not None
        if ">>> " in Path(found.origin).read_text(encoding="utf-8"):
            yield name


MODULES = list(with_examples())


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0
    assert results.attempted > 0


def test_all_content_folders_are_searched() -> None:
    assert {"simopt", "simopt.solvers.isotonic.lipschitz", "simopt.data.similarities"} <= set(MODULES)
