"""Import every module that the tree has from the installed wheel: a package missing from pyproject.toml is missing there alone.

Modules of a folder whose extra is not installed must say which extra that is.

Run in an empty folder as `python import_wheel.py TREE` with the wheel installed and nothing else of simopt on the path.
"""

import importlib
import sys
from importlib.util import find_spec
from pathlib import Path

FOLDERS = {
    "simopt": "simopt",
    "problems": "simopt.problems",
    "solvers": "simopt.solvers",
    "theorems": "simopt.theorems",
    "estimators": "simopt.estimators",
}
EXTRA = {"estimators": ("sklearn", "simopt-convex[ml]")}  # what a folder needs beyond the core, and the extra that an error must name


def modules(tree: Path) -> list[str]:
    """The dotted names that the files of the tree should have once installed."""
    names = []
    for folder, package in FOLDERS.items():
        for path in sorted((tree / folder).rglob("*.py")):
            parts = [package, *path.relative_to(tree / folder).with_suffix("").parts]
            names.append(".".join(parts).removesuffix(".__init__"))
    return names


def lacks_its_extra(name: str, error: ImportError) -> bool:
    """Whether the module is one of an extra that is not installed, and its error says so."""
    for folder, (needed, extra) in EXTRA.items():
        if f"{name}.".startswith(f"{FOLDERS[folder]}.") and find_spec(needed) is None:
            return extra in str(error)
    return False


def main() -> int:
    """Import them all; the exit status is the number that failed, at most 1."""
    tree = Path(sys.argv[1]).resolve()
    names = modules(tree)
    failed = 0
    for name in names:
        if name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            if not lacks_its_extra(name, error):
                print(f"{name}: {error}")
                failed += 1
            continue
        if module.__file__ is None or tree in Path(module.__file__).resolve().parents:
            print(f"{name}: imported from {module.__file__}, not from the wheel")
            failed += 1
    print(f"{len(names)} modules in the tree, {failed} of them not importable from the wheel")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
