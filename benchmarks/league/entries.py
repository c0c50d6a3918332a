"""What the league is played on: files, recipes of the catalogue, models of the gallery, each with the lines of Python that make it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import cvxpy as cp

import simopt
from benchmarks.price import instances as files
from simopt.compare import instances
from simopt.core import registry
from simopt.core.errors import NotAvailable
from simopt.files import formats

GALLERY = Path(__file__).resolve().parents[2] / "docs"
SIZES = {False: 200, True: 60}  # rows of data of a recipe, by --quick
FEW = {"lp": 3, "qp": 4, "catalogue": 6, "gallery": 9, "files": 5}  # entries of a set in a quick league
SETS = {
    "lp": "Linear programmes of Netlib, from `SIMOPT_INSTANCES`",
    "qp": "Quadratic programmes of Maros and Mészáros, from `SIMOPT_INSTANCES`",
    "catalogue": "The recipes of the catalogue, on generated data",
    "gallery": "The models of the gallery",
    "files": "Files of the folder that was named",
}


@dataclass(frozen=True)
class Entry:
    """A problem of the league.

    Attributes
    ----------
    set, name : str
    make : callable
        builds the `cvxpy.Problem`, or that of the catalogue.
    size : int or None
        samples, of a recipe of the catalogue.
    lines : tuple of str
        Python that leaves `problem`, run in `home`.
    home : str
        where these lines are run, in words; the path itself is `folder`.
    """

    set: str
    name: str
    make: Callable[[], Any]
    size: int | None
    lines: tuple[str, ...]
    home: str
    folder: Path


def entries(sets: Sequence[str], folder: Path | None, quick: bool) -> tuple[list[Entry], list[str]]:
    """The entries in the order in which they are played, and of each set that is not at hand the reason.

    Sets take turns, so that a league that is cut short has a part of each.
    """
    made: dict[str, list[Entry]] = {}
    missing = []
    for name in sets:
        try:
            found = list(_of(name, folder, quick))
        except NotAvailable as error:
            missing.append(f"{SETS[name]}: {error}")
            continue
        made[name] = found[:: max(1, len(found) // FEW[name])][: FEW[name]] if quick else found
    turns = [((i + 0.5) / len(these), each) for these in made.values() for i, each in enumerate(these)]
    return [each for _, each in sorted(turns, key=lambda turn: turn[0])], missing


def _of(name: str, folder: Path | None, quick: bool) -> Iterator[Entry]:
    if name in ("lp", "qp"):
        paths = files.files(name)
        yield from (_file(name, path) for path in (islice(paths, len(paths) // 2) if quick else paths))
    elif name == "catalogue":
        yield from _recipes(SIZES[quick])
    elif name == "gallery":
        yield from _models()
    elif folder is None:
        raise NotAvailable("none was named; --files DIR")
    else:
        yield from (_file(name, path) for path in sorted(folder.rglob("*")) if path.is_file() and formats.ending(path) in formats.READ)


def _file(group: str, path: Path) -> Entry:
    lines = ("import simopt", "", f"problem = simopt.read({path.name!r})")
    return Entry(group, path.name, partial(simopt.read, path), None, lines, "the folder of the file", path.parent)


def _recipes(rows: int) -> Iterator[Entry]:
    registry.load("problems")
    for name, kind in registry.items("problem"):
        if not kind.__module__.startswith("simopt.problems."):
            continue
        size = rows // instances.GROUP if instances.counts(kind) == "queries" else rows
        arguments: dict[str, Any] = {"size": size, "conditioning": None, "settings": {}, "seed": 0}
        words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        lines = (
            "import simopt",
            "from simopt.compare.instances import build",
            "from simopt.core import registry",
            "",
            f"recipe = registry.find('problem', {name!r})",
            f"problem = build(recipe, None, {words}).declare()",
        )
        yield Entry("catalogue", name, partial(instances.build, kind, None, **arguments), size, lines, "any folder", GALLERY)


def _models() -> Iterator[Entry]:
    sys.path.insert(0, str(GALLERY))
    try:
        import model_pages
    finally:
        sys.path.remove(str(GALLERY))
    for field in model_pages.fields():
        for model in field.models:
            lines = ("import simopt", f"from {field.name} import {model.name}", "", f"problem = {model.name}()")
            yield Entry("gallery", f"{field.name}.{model.name}", model.problem, None, lines, "docs/models", model_pages.FOLDER)


CLASSES = ("linear", "quadratic", "second-order cones", "exponential and power cones", "semidefinite")


def class_of(problem: cp.Problem) -> str:
    """The hardest of the cones that the problem needs, as CVXPY sees it; of those without cones, whether the objective has squares."""
    data = problem.get_problem_data(cp.CLARABEL)[0]
    dims, squares = data["dims"], data.get("P")
    if dims.psd:
        return CLASSES[4]
    if dims.exp or dims.p3d or getattr(dims, "pnd", None):
        return CLASSES[3]
    if dims.soc:
        return CLASSES[2]
    return CLASSES[1] if squares is not None and squares.nnz else CLASSES[0]
