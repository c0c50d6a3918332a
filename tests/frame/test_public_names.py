"""The short way in: every public name is what it should be, whatever else has been imported."""

import subprocess
import sys
from pkgutil import iter_modules

import simopt

EVERY_MODULE = """
import inspect
from importlib import import_module
from pkgutil import walk_packages
import simopt
names = [module.name for module in walk_packages(simopt.__path__, "simopt.")]
names += [
    module.name
    for group in ("problems", "solvers", "theorems", "estimators")
    for module in walk_packages(import_module(f"simopt.{group}").__path__, f"simopt.{group}.")
]
for name in names:
    if not name.endswith("__main__"):
        import_module(name)
for name in simopt.__all__:
    found = getattr(simopt, name)
    print(name, "version" if name == "__version__" else "class" if inspect.isclass(found) else "function" if callable(found) else found)
"""


def test_no_module_stands_in_the_place_of_a_public_name() -> None:
    done = subprocess.run([sys.executable, "-c", EVERY_MODULE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    kinds = {name: "version" if name == "__version__" else "class" if name[0].isupper() else "function" for name in simopt.__all__}
    assert found == kinds


def test_no_module_bears_a_public_name() -> None:
    assert not {module.name for module in iter_modules(simopt.__path__)} & set(simopt.__all__)


def test_every_public_name_is_that_of_its_home() -> None:
    assert {*simopt._HOMES, "__version__"} == set(simopt.__all__)
    assert all(getattr(simopt, name).__name__ == name for name in simopt._HOMES)
