"""Writes docs/public.md, the page of all that is public: names, entry points, commands, file formats, variables, and paths that have moved.

    python docs/public_names.py

Names and their sentences are read from the code. What other packages build on is what the pages that teach it, and the example package in
tests/plugin, import.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "public.md"
MODULES = {
    "simopt": "what everybody uses",
    "simopt.estimators": "scikit-learn estimators (extra `ml`)",
    "simopt.data.similarities": "similarity functions",
    "simopt.compare": "comparing solvers (extra `compare`)",
    "simopt.conformance": "the suite that problems and solvers have to pass",
    "simopt.claims": "the language of claims",
    "simopt.arithmetic": "float, interval and rational numbers behind one interface",
    "simopt.duality": "certificates of a `cvxpy.Problem`, step by step",
}
TEACHING = ("CONTRIBUTING.md", "docs/extending.md", "docs/by_hand.md", "docs/own_family.md", "tests/plugin/**/*.py")
WRITTEN_BY_RUNS = ("league.md",)  # lines of a day, which promise no name
SHOWING = ("README.md", "docs/*.md", "docs/methods/*.md", "notebooks/*.ipynb")
FORMATS = {
    "simopt-solution": "`simopt solve --json`, `--output`",
    "simopt-solutions": "`simopt solve --json`, `--output`, of several problems",
    "simopt-certificates": "`simopt certify --json`, `--output`",
    "simopt-equivalence": "`simopt equivalence --json`, `--output`",
    "simopt-equivalences": "`simopt equivalence --all --json`",
    "simopt-table": "`simopt reproduce --json`, `--output`",
    "simopt-report": "`verdicts.json` of `simopt verify --report DIR`",
    "simopt-witness": "`*.witness.json` of `simopt verify`, read by `simopt replay`",
    "simopt-proof": "`*.proof.json` of `simopt verify`, read by `simopt recheck` and by `recheck.py` alone",
    "simopt-conic-certificate": "`simopt.save_certificate`, `simopt certify --save`, read by `simopt recheck`",
    "simopt-compare": "a run, and the tables, in the folder of `simopt compare`",
    "simopt-comparison": "`simopt compare --json`",
    "simopt-herd": "`Herd.save`",
    "simopt index model": "`IndexModel.save`",
    "simopt monotone function": "`MonotoneFunction.save`",
    "simopt parameter map": "`ParameterMap.save`",
    "simopt-ordinal-rule": "`OrdinalRule.save`",
    "simopt-ranker": "`LandmarkedRanker.save`",
    "simopt-sparse-fit": "`SparseFit.save`",
    "simopt-goodness-curve": "`GoodnessCurve.save`",
}
POLICY = """\
# What is public

This page lists all that is public; everything else may change in any release. `python docs/public_names.py` writes it from the code.

## What is promised

* **Names** below, and fields of what is returned, keep their meaning. One that has to go works for one more release: it gives a
  `DeprecationWarning` that names what takes its place, and stands in the changelog. So do parameters of public functions and options of
  solvers.
* **Registered names** stay: problems with their fields, bounds and multipliers, solvers, similarities, data sets, claims, tables.
* **Files** carry a format with a number. A release reads every file whose format has the number below. A format that changes gets another
  number, and a file of the old one is refused by name, never misread.
* **Pickles** of problems, solutions, certificates and estimators are read by later releases for as long as the modules that they name
  can be imported (see the last section). For longer, keep files or the data.
* **Numbers** are not promised to the last bit. That a certificate encloses the optimum is.
* **The command line** keeps commands, options and exit statuses. Keys of its JSON stay; new ones may come. Texts for people may change.
* Versions follow [Semantic Versioning](https://semver.org/). Before 1.0 what is taken away goes with a minor release (0.1 → 0.2).
"""


def summary(thing: Any) -> str:
    """The first sentence of a docstring, for a cell of a table; of a constant or an alias its kind."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)) or isinstance(thing, types.GenericAlias):
        return "a type" if "Alias" in type(thing).__name__ or thing is Any else f"constant: {type(thing).__name__}"
    return re.split(r"(?<=\.)\s", " ".join((inspect.getdoc(thing) or "").split()), maxsplit=1)[0].removesuffix(".").replace("|", "\\|")


def names_of(module: str) -> list[str]:
    """The names of one module, each with its sentence."""
    loaded = import_module(module)
    rows = [f"| `{name}` | {summary(getattr(loaded, name))} |" for name in listed()[module]]
    return [f"### `{module}`: {MODULES[module]}", "", "| name | |", "|---|---|", *rows, ""]


def imported(paths: Iterable[str]) -> set[tuple[str, str]]:
    """Module and name of what pages, notebooks and packages import from simopt: the examples that people copy."""
    names = set()
    for path in (path for place in paths for path in sorted(ROOT.glob(place)) if path.name not in WRITTEN_BY_RUNS):
        for text in examples(path):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "simopt":
                    names |= {(node.module, alias.name) for alias in node.names if alias.name != "*"}
    return names


def examples(path: Path) -> list[str]:
    """The Python in a file: a module, the cells of a notebook, the examples of a page."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        return [re.sub(r"^%.*$", "", cell, flags=re.M) for cell in cells]
    return [text] if path.suffix == ".py" else re.findall(r"```python\n(.*?)```", text, re.S)


def listed() -> dict[str, list[str]]:
    """Module -> its public names."""
    return {module: list(import_module(module).__all__) for module in MODULES}


def others(paths: Iterable[str]) -> list[tuple[str, str]]:
    """What is imported there beyond the modules that are listed; of problems and theorems the registered names are public."""
    known = {name for names in listed().values() for name in names}
    content = ("simopt.problems", "simopt.theorems")
    return sorted((module, name) for module, name in imported(paths) if name not in known and not module.startswith(content))


def public() -> set[tuple[str, str]]:
    """Module and name of all that is public."""
    return {(module, name) for module, names in listed().items() for name in names} | imported((*TEACHING, *SHOWING))


def table(title: str, pairs: list[tuple[str, str]]) -> list[str]:
    """A section with a table of modules and names."""
    rows = [f"| `{module}` | `{name}` | {summary(getattr(import_module(module), name))} |" for module, name in pairs]
    return [f"### {title}", "", "| module | name | |", "|---|---|---|", *rows, ""]


def extending() -> list[str]:
    """What packages with content of their own import, and what else the pages of the methods show."""
    teaching = others(TEACHING)
    shown = [pair for pair in others(SHOWING) if pair not in teaching]
    return [*table("What other packages build on", teaching), *table("What the examples of pages and notebooks call", shown)]


def records() -> list[str]:
    """Classes with fields, but problems, that are public names or returned by public functions."""
    from simopt.model.problem import Problem

    things = [getattr(import_module(module), name) for module, name in public() if not module.startswith("simopt.theorems")]
    for each in filter(inspect.isfunction, list(things)):
        returned = each.__annotations__.get("return")
        things.append(vars(import_module(each.__module__)).get(returned, returned) if isinstance(returned, str) else returned)
    kinds = {each for each in things if inspect.isclass(each) and is_dataclass(each) and not issubclass(each, Problem)}
    named = {f"{each.__module__}.{each.__name__}": [item.name for item in fields(each) if not item.name.startswith("_")] for each in kinds}
    rows = [f"| `{kind}` | {', '.join(f'`{name}`' for name in names)} |" for kind, names in sorted(named.items()) if names]
    return ["### Fields of what is returned", "", "| class | fields |", "|---|---|", *rows, ""]


def groups() -> list[str]:
    """The entry-point groups in which other packages name their modules."""
    from simopt.core import registry

    known = dict.fromkeys([*registry.GROUPS, *registry.GROUP_OF.values()])
    return ["## Entry-point groups", "", ", ".join(f"`simopt.{group}`" for group in known) + ": see [extending](extending.md).", ""]


def commands() -> list[str]:
    """Commands and their options, as the parser knows them."""
    import typer.main

    from simopt.cli.main import app

    def rows(command: Any, path: str) -> Iterator[str]:
        inner = getattr(command, "commands", {})
        spelled = [option for each in command.params for option in each.opts if each.param_type_name == "option"]
        arguments = [each.name.upper() for each in command.params if each.param_type_name == "argument"]
        if not inner or spelled:
            yield f"| `{' '.join([path, *arguments])}` | {', '.join(f'`{option}`' for option in spelled) or '–'} |"
        for name, each in inner.items():
            yield from rows(each, f"{path} {name}")

    head = ["## The command line", "", "What each does: [the command line](commands.md).", "", "| command | options |", "|---|---|"]
    return [*head, *rows(typer.main.get_command(app), "simopt"), ""]


def written(root: Path = ROOT) -> set[str]:
    """Formats that stand in the sources, with their numbers."""
    texts = [
        path.read_text(encoding="utf-8")
        for folder in ("simopt", "solvers", "estimators", "problems")
        for path in (root / folder).rglob("*.py")
    ]
    return {each for text in texts for each in re.findall(r'(?:FORMAT|MATRIX|"format":?) ?=? "(simopt[- ][a-z -]+[/ -]\d+)"', text)}


def formats() -> list[str]:
    """What is written to files, with the number of its format."""
    known = {re.sub(r"[/ -]\d+$", "", each): each for each in written()}
    rows = [f"| `{known[name]}` | {said} |" for name, said in FORMATS.items()]
    return ["## File formats", "", "| format | written by |", "|---|---|", *rows, ""]


def variables() -> list[str]:
    """Variables of the environment that the library reads."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "simopt").rglob("*.py")]
    names = sorted({name for text in texts for name in re.findall(r"\bSIMOPT_[A-Z_]+", text)})
    return ["## Variables of the environment", "", ", ".join(f"`{name}`" for name in names) + ": see [installing](installing.md).", ""]


def moved() -> list[str]:
    """Paths and names that have changed, and until when the old ones work."""
    from simopt.core.moved import FIELDS, MOVED, RENAMED, UNTIL

    names = {f"{path}.{old}": new for path, names in RENAMED.items() for old, new in names.items()}
    kinds = {f"{path}.{kind}": names for path, kinds in FIELDS.items() for kind, names in kinds.items()}
    names |= {f"{kind}.{old}": new for kind, names in kinds.items() for old, new in names.items()}
    called = [f"| `{old}` | `{new}` |" for old, new in sorted(names.items())]
    rows = [f"| `{old}` | {', '.join(f'`{new}`' for new in paths)} |" for old, paths in sorted(MOVED.items())]
    head = [
        "## Modules that have moved",
        "",
        f"The old paths work, with a `DeprecationWarning`, until simopt {UNTIL}; pickles that name them, too.",
        "",
    ]
    changed = ["## Classes, functions and fields that have another name", "", "For as long as old paths.", ""]
    return [*head, "| old | new |", "|---|---|", *rows, "", *changed, "| old | new |", "|---|---|", *called, ""]


def page() -> str:
    """The whole page."""
    parts: Iterable[list[str]] = (names_of(module) for module in MODULES)
    rest = (extending(), records(), groups(), commands(), formats(), variables(), moved())
    lines = [line for part in (*parts, *rest) for line in part]
    return "\n".join([POLICY, "## Names", "", *lines]).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
