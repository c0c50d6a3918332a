"""The names that our content packages register, read from their sources without importing them.

A module that registers a name has it in quotes in its source, so that few modules need to be imported for a name. `theorems.twins` makes
names of problems with a penalty and a ball: these are read from the forms of the problems. `simopt list problems` shows literals, which
are above the formulas. A name or a literal that cannot be read so is no error: the caller then imports everything.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TWINS = "simopt.theorems.twins.equivalences"
SHOWN = ("name", "title", "source", "parameters", "arithmetics")
METHODS = re.compile(r"^    (?:def|async def|@).*?(?=^[^\s)]|\Z)", re.MULTILINE | re.DOTALL)
BODY = re.compile(r"^(?:async )?def (\w+).*?(?=^[^\s)]|\Z)", re.MULTILINE | re.DOTALL)


class Unread(Exception):
    """Something that cannot be read from the source of this module."""


@dataclass(frozen=True)
class Outline:
    """A module without the bodies of its functions: names it imports and where from, what it assigns, its classes, what is decorated."""

    imported: dict[str, tuple[str, str]]
    assigned: dict[str, ast.expr]
    classes: dict[str, ast.ClassDef]
    decorated: list[tuple[str, ast.expr, str]]  # name of the decorator, the decorator, name of what it decorates


@cache
def modules(group: str) -> dict[str, str]:
    """Modules of a content package and their sources, in the order of import; empty where no sources are installed."""
    found: dict[str, str] = {}
    for folder in importlib.import_module(f"simopt.{group}").__path__:
        for path in sorted(Path(folder).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            found[".".join(("simopt", group, *parts)).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


def saying(group: str, name: str) -> list[str]:
    """Modules of a content package that have `name` in quotes in their source (`-` and `_` alike, any case), or make it of twins."""
    letters = "".join("[-_]" if letter in "-_" else re.escape(letter) for letter in name)
    quoted = re.compile(rf"[\"']{letters}[\"']", re.IGNORECASE)
    found = [module for module, text in modules(group).items() if quoted.search(text)]
    made = [each for kind in ("family", "equivalence") for each in _of_twins(kind)] if group == "theorems" else []
    return [*found, TWINS] if any(quoted.fullmatch(f"'{each}'") for each in made) and TWINS not in found else found


@cache
def solving(problem: str) -> tuple[str, ...]:
    """Modules that register a solver of the problem of this name, and those whose solvers may be of it.

    Raises
    ------
    Unread
        if there are no sources.
    """
    if not modules("solvers"):
        raise Unread("simopt.solvers")
    found: dict[str, None] = {}
    for module in modules("solvers"):
        for decorator in _decorators(module, "solver"):
            try:
                if problem in _solver(module, decorator)["problems"]:
                    found[module] = None
            except Unread:
                found[module] = None
    return tuple(found)


def problems() -> list[dict[str, Any]]:
    """Our problems, as `simopt list problems --json` shows them.

    Raises
    ------
    Unread
        if something of them cannot be read.
    """
    solvers = [_solver(module, decorator) for module in modules("solvers") for decorator in _decorators(module, "solver")]
    solvers.sort(key=lambda solver: -solver["rank"])
    rows = []
    for module in modules("problems"):
        for kind, _, cls in outline(module).decorated if "\n@problem" in _text(module) else ():
            if kind == "problem":
                for form in _forms(module, cls).values():
                    name, title, source, parameters, arithmetics = (
                        form[each] if each in form else _attribute(module, cls, each) for each in SHOWN
                    )
                    own = [solver["name"] for solver in solvers if name in solver["problems"]]
                    row = {"name": name, "title": title, "source": source, "solvers": own, "parameters": parameters}
                    rows.append({**row, "arithmetics": arithmetics, "module": module})
    if not rows:
        raise Unread("simopt.problems")
    return rows


@cache
def twins() -> tuple[tuple[str, str], ...]:
    """Names of our problems that have a penalty and a ball of one number each; a problem whose source does not show it is left out."""
    found: list[tuple[str, str]] = []
    for module in modules("problems"):
        for cls in [cls for kind, _, cls in outline(module).decorated if kind == "problem"] if "\n@problem" in _text(module) else ():
            with suppress(Unread):
                forms = _forms(module, cls)
                for penalty in forms:
                    ball = penalty.replace("penalty", "ball")
                    if penalty != ball in forms and all(_numbers(module, cls, key) == 1 for key in (penalty, ball)):
                        found.append((forms[penalty]["name"], forms[ball]["name"]))
    return tuple(found)


def _numbers(module: str, cls: str, key: str) -> int:
    """How many numbers the bound of a form has."""
    place, bounds = _stated(module, cls, "bounds")
    if not isinstance(bounds, ast.Dict):
        raise Unread(place)
    kinds = {_value(place, name): kind for name, kind in zip(bounds.keys, bounds.values, strict=True) if name is not None}
    home = _home(place, ast.unparse(kinds[key]))
    names = {ast.unparse(line.target) for _, line in _annotated(*home) if not ast.unparse(line.annotation).startswith("ClassVar")}
    return len(names)


def registered(group: str, kind: str) -> list[tuple[str, dict[str, Any]]]:
    """The names that decorators `@kind(name, …)` register, each with those keywords of it that are literals.

    Raises
    ------
    Unread
        if a name is no literal, or there are no sources.
    """
    if not modules(group):
        raise Unread(f"simopt.{group}")
    found: list[tuple[str, dict[str, Any]]] = []
    for module in modules(group):
        for made in _decorators(module, kind):
            if not isinstance(made, ast.Call) or not made.args:
                raise Unread(module)
            literal = {each.arg: each.value.value for each in made.keywords if each.arg and isinstance(each.value, ast.Constant)}
            found.append((_value(module, made.args[0]), literal))
    written = {name for name, _ in found}
    return found + [(name, {}) for name in (_of_twins(kind) if group == "theorems" else ()) if name not in written]


def _of_twins(kind: str) -> list[str]:
    """The families that `TWINS` registers under the names of problems, unless one of that name is written by hand, and their maps."""
    if kind == "equivalence":
        return ["-to-".join(pair) for pair in twins()]
    return [name for pair in twins() for name in pair] if kind == "family" else []


def _decorators(module: str, kind: str) -> list[ast.expr]:
    """The decorators of this name, or of this name in an imported module (`@sc.claim`)."""
    return [made for name, made, _ in outline(module).decorated if name == kind] if re.search(rf"\n@(\w+\.)?{kind}", _text(module)) else []


@cache
def outline(module: str) -> Outline:
    """The outline of a module of ours."""
    text = _text(module)
    try:
        tree = ast.parse(BODY.sub(r"def \1(): ...\n", METHODS.sub("", text)))
    except SyntaxError:  # a text had a line like the head of a function
        tree = ast.parse(text)
    made = Outline({}, {}, {}, [])
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            made.imported.update({each.asname or each.name: (node.module, each.name) for each in node.names})
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            made.assigned[node.targets[0].id] = node.value
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            if isinstance(node, ast.ClassDef):
                made.classes[node.name] = node
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Name | ast.Attribute):
                    name = called.id if isinstance(called, ast.Name) else called.attr
                    made.decorated.append((name, decorator, node.name))
    return made


def _text(module: str) -> str:
    group = module.split(".")[1]
    if group in ("problems", "solvers", "theorems") and module in modules(group):
        return modules(group)[module]
    found = find_spec(module)
    if found is None or found.origin is None:
        raise Unread(module)
    return Path(found.origin).read_text(encoding="utf-8")


def _home(module: str, name: str) -> tuple[str, str]:
    """The module that defines a name which another module uses, and the name there."""
    while module.startswith("simopt.") and name in outline(module).imported:
        module, name = outline(module).imported[name]
    return module, name


def _attribute(module: str, cls: str, name: str) -> Any:
    """The value of a class attribute, of the class itself or of the first of its bases that has one that is a literal."""
    return _value(*_stated(module, cls, name))


def _stated(module: str, cls: str, name: str) -> tuple[str, ast.expr]:
    """The module and the expression that give a class attribute its value: of the class itself, else of the first base that has one."""
    for place, line in _annotated(module, cls):
        if isinstance(line.target, ast.Name) and line.target.id == name and line.value is not None:
            return place, line.value
    raise Unread(module)


def _annotated(module: str, cls: str) -> Iterator[tuple[str, ast.AnnAssign]]:
    """The annotated names of a class and then of its bases, as far as they are ours, each with its module."""
    if module.startswith("simopt.") and cls in outline(module).classes:
        head = outline(module).classes[cls]
        yield from ((module, line) for line in head.body if isinstance(line, ast.AnnAssign))
        for base in head.bases:
            yield from _annotated(*_home(module, ast.unparse(base)))


def _solver(module: str, decorator: ast.expr) -> dict[str, Any]:
    """Name, problems and rank of a solver."""
    if not isinstance(decorator, ast.Call) or len(decorator.args) != 1:
        raise Unread(module)
    given = {keyword.arg: keyword.value for keyword in decorator.keywords}
    if None in given or "solves" not in given:
        raise Unread(module)
    names = _names(module, given["solves"])
    return {"name": _value(module, decorator.args[0]), "problems": names, "rank": _value(module, given["rank"]) if "rank" in given else 0}


def _names(module: str, value: ast.expr) -> list[str]:
    """Names of the problems that an expression gives: a class, one form of it, a tuple of them, or the name of any."""
    if isinstance(value, ast.Tuple):
        return [name for each in value.elts for name in _names(module, each)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "form":
        cls = value.func.value
        if not isinstance(cls, ast.Name):
            raise Unread(module)
        return [_forms(*_home(module, cls.id))[_value(module, value.args[0])]["name"]]
    if not isinstance(value, ast.Name):
        raise Unread(module)
    home, name = _home(module, value.id)
    if home.startswith("simopt.") and name in outline(home).assigned:
        return _names(home, outline(home).assigned[name])
    return [form["name"] for form in _forms(home, name).values()]


def _forms(module: str, cls: str) -> dict[str, dict[str, Any]]:
    """The attributes of each form of a class; of a class with one form, its name."""
    try:
        found: dict[str, dict[str, Any]] = _attribute(module, cls, "forms")
        return found
    except Unread:
        return {"": {"name": _attribute(module, cls, "name")}}


def _value(module: str, value: ast.expr) -> Any:
    """A literal, or the one that a name stands for."""
    if isinstance(value, ast.Name):
        home, name = _home(module, value.id)
        if not home.startswith("simopt.") or name not in outline(home).assigned:
            raise Unread(module)
        return _value(home, outline(home).assigned[name])
    try:
        return ast.literal_eval(value)
    except ValueError:
        raise Unread(module) from None
