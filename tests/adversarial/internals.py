"""Which functions are entry points: they take arrays or numbers from outside, and have to refuse what they cannot use.

Derived, not listed. The signature of an entry point takes arrays or numbers that nobody has checked. It is public
(docs/public_names.py), or promises to refuse bad input: it calls `validate` or names InvalidProblem. All other functions are internal.

A parameter annotated `Array` was checked already, as problems, spectra and the like were. `npt.ArrayLike`, `Any`, `Number` and
`SupportsFloat` come from outside, and so do numbers of a function that takes nothing that was checked before.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import simopt

SCANNED = (
    *("simopt.core", "simopt.data", "simopt.model", "simopt.certificates", "simopt.backends", "simopt.processes", "simopt.duality"),
    *("simopt.solving", "simopt.equivalence", "simopt.claims.statistics"),
)
GROUPS = ("problems", "solvers", "estimators")
OUTSIDE = re.compile(r"ArrayLike|_SupportsArray|\bAny\b|SupportsFloat|\bNumber\b|Annotated")
CHECKED = re.compile(
    r"\b(Array|Value|ndarray|Floats|Indices|NDArray|Arithmetic|Problem|Fit|Rows|Hinges|Spectrum|Expression|Affine|Side|Stage|Level|Walk|Factor"
    r"|Support|Bounds|Fraction|Exact)\b"
)
NUMBER = re.compile(r"\b(float|int)\b")
REFUSING = re.compile(r"\bvalidate\.|\bInvalidProblem\b")
CHECKS = ("name", "what", "field", "label", "called")  # the first parameter of a check: what its messages call the value

# modules, classes and functions that refuse bad input, and are called by an entry point all the same
INTERNALS: dict[str, tuple[str, ...]] = {
    "declarations: CVXPY has checked their numbers": ("duality",),
    "the driver calls them, and has checked the problem and their options": (
        *(f"solvers.{family}.solvers" for family in ("isotonic", "sparse")),
        "solving.solver:SolverSpec.check_options",
    ),
    "engines: they run on fields of a checked problem, or on what an entry point has checked": (
        *("solvers.goodness.ordinal_exact", "solvers.sparse.feature_gram"),
        *("solvers.sparse.gram_rows", "solvers.sparse.forward_selection:select", "solvers.power.grid:spectral_grid"),
        *("equivalence.path_search", "equivalence.weak:apart", "equivalence.weak:mapped"),
    ),
    "formulas of points and multipliers: the judge has checked them": (
        *("certificates", "model.problem", "problems.bounds", "problems.m_power_rls"),
    ),
    "checks, walked wherever they are used": (
        *("core.fields", "equivalence.decide:listed", "equivalence.weak:check_resolution"),
        *("problems.domains", "problems.thresholds"),
        *(
            "estimators.base",
            "estimators.cross_validation",
            "estimators.index_models.index_scaling",
            "estimators.index_models.isotron:hold_out",
        ),
        *(
            "estimators.landmarked.landmark_choice:checked_indices",
            "estimators.landmarked.landmark_predictor",
            "estimators.one_against_rest",
            "estimators.one_fit",
            "estimators.sample_weights",
        ),
        *(
            "estimators.ordinal.landmarked_ordinal:DataUnits",
            "estimators.ordinal.landmarked_ordinal:DataUnits.of_the_problem",
            "estimators.ordinal.landmarked_ordinal:ranked",
        ),
        *("estimators.ordinal.ordinal:training_labels", "estimators.ordinal.ordinal:cuts_and_margins"),
    ),
    "examples and recipes, made of random numbers and data sets": ("problems.examples", "problems.recipes"),
    "bounds on files and their contents: other tests of this folder attack them": ("data.datasets", "core.archive"),
    "errors and records: functions that are walked make them, and those of files are checked by what reads them": (
        *("core.errors", "core.monotone_function:MonotoneFunction.from_json", "data.similarities.base:from_json"),
        *("estimators.ordinal.ordinal_rule:OrdinalRule", "estimators.ranking.ranker:LandmarkedRanker"),
    ),
    "pictures of what functions that are walked take": (
        "estimators.herding.herd_plot",
        "estimators.index_models.index_plot",
        "estimators.ordinal.ordinal_plot",
    ),
    "abstract: every subclass is walked": (
        "data.similarities.base:Similarity",
        "estimators.landmarked.landmark_choice:LandmarkSelection.select",
    ),
}
ENTIRE = {"Similarity"}  # classes of which all methods are internal


def is_internal(key: str) -> bool:
    """Whether a function, its class or its module stands in the list; a class stands for its constructor only, or for all of it."""
    home, _, path = key.partition(":")
    parts = home.split(".")
    modules = {".".join(parts[: i + 1]) for i in range(len(parts))}
    listed = {each for row in INTERNALS.values() for each in row}
    owner = path.split(".")[0]
    return key in listed or bool(modules & listed) or (owner in ENTIRE and f"{home}:{owner}" in listed)


@cache
def entry_points() -> list[tuple[str, Callable[..., Any]]]:
    """Every function, constructor and method that has to refuse bad input, as `module:name` below simopt."""
    unchecked = ((key, function) for key, function in functions() if next(iter(parameters(function)), "") not in CHECKS)
    return [(key, function) for key, function in unchecked if is_public(key) or REFUSING.search(source(function))]


@cache
def functions() -> list[tuple[str, Callable[..., Any]]]:
    """Every function, constructor and method of the packages that are scanned that takes arrays or numbers nobody has checked."""
    names = [item.name for item in walk_packages(simopt.__path__, "simopt.") if item.name.startswith(SCANNED)]
    for group in GROUPS:
        names += [item.name for item in walk_packages(import_module(f"simopt.{group}").__path__, f"simopt.{group}.")]
    found = []
    for name in names:
        module = import_module(name)
        for own, item in sorted(vars(module).items()):
            if not own.startswith("_") and getattr(item, "__module__", None) == name:
                found += [(f"{name.removeprefix('simopt.')}:{path}", each) for path, each in _callables(own, item) if takes_numbers(each)]
    return found


@cache
def _public() -> set[str]:
    """`module:name` of what is public, by the module that defines it."""
    spec = spec_from_file_location("public_names", Path(__file__).resolve().parents[2] / "docs" / "public_names.py")
    assert spec is not None and spec.loader is not None
    page = module_from_spec(spec)  # docs/ stays out of the path: other tests have modules of the same names
    spec.loader.exec_module(page)
    things = {name: getattr(import_module(module), name) for module, name in page.public()}
    return {f"{each.__module__.removeprefix('simopt.')}:{name}" for name, each in things.items() if hasattr(each, "__module__")}


def is_public(key: str) -> bool:
    """Whether a function, or the class of a method, is public."""
    home, _, path = key.partition(":")
    return f"{home}:{path.split('.')[0]}" in _public()


def source(function: Callable[..., Any]) -> str:
    """The text of a function; of a class that of its constructor."""
    made = vars(function).get("__post_init__") or vars(function).get("__init__") if inspect.isclass(function) else function
    return "" if made is None or not inspect.isfunction(made) else inspect.getsource(made)


def _callables(name: str, item: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    if inspect.isfunction(item):
        yield name, item
    if not inspect.isclass(item) or issubclass(item, Exception | simopt.Problem):  # of a problem the fields are walked
        return
    if not dataclasses.is_dataclass(item) or hasattr(item, "__post_init__"):  # others are bare records
        yield name, item
    for method, member in vars(item).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(function) and (method == "__call__" or not method.startswith("_")):
            yield f"{name}.{method}", function


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Names of the parameters, with their annotations as text."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return {}
    named = [p for p in signature.parameters.values() if p.name not in ("self", "cls") and p.kind is not p.VAR_KEYWORD]
    return {p.name: p.annotation if isinstance(p.annotation, str) else repr(p.annotation) for p in named}


def takes_numbers(function: Callable[..., Any]) -> bool:
    """Whether it takes arrays or numbers that nobody has checked."""
    kinds = parameters(function)
    if next(iter(kinds), "") == "num":  # a formula, in any arithmetic
        return False
    outside = any(OUTSIDE.search(kind) for kind in kinds.values())
    checked = any(CHECKED.search(kind) and not OUTSIDE.search(kind) for kind in kinds.values())
    return outside or (not checked and any(NUMBER.search(kind) for kind in kinds.values()))
