"""Checks of what a problem says of itself: names, docstrings, data handling, examples and the declaration."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from typing import Any

import numpy as np

from simopt.backends import adapter
from simopt.backends.table import CLARABEL, FIRST_CLASS
from simopt.conformance.setting import SEED, examples_of, require
from simopt.core import registry
from simopt.core.errors import InvalidProblem
from simopt.core.threads import quiet
from simopt.model.problem import Problem

KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
AUTOMATIC = re.compile(r"(var|param)\d+")


def check_identity(cls: type[Problem]) -> None:
    """Name, title, docstrings, class attributes; registered; a frozen dataclass without `==`."""
    require(KEBAB.fullmatch(cls.name), f"name: {cls.name!r} is not kebab-case (like 'kernel-ridge')")
    require(
        registry.get("problem", cls.name) is cls, f"{cls.__name__} is not what is registered as {cls.name!r}; decorate it with @problem"
    )
    require(cls.title, "title: give the class a one-line title for listings")
    params = getattr(cls, "__dataclass_params__", None)
    require(params is not None and params.frozen and not params.eq, f"decorate {cls.__name__} with @dataclass(frozen=True, eq=False)")
    unknown = sorted(set(cls.parameters) - set(cls.settable()))
    require(not unknown, f"parameters: {unknown} are not fields")
    require({"float", "interval"} <= set(cls.arithmetics), "arithmetics: 'float' and 'interval' are expected of every problem")
    require("min" in (cls.__doc__ or ""), f"{cls.__name__}: the docstring must state the programme (min …) and derive its dual")
    for name, member in vars(cls).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else getattr(member, "fget", None) or member
        if inspect.isfunction(function) and not name.startswith("_"):
            require(inspect.getdoc(function), f"{cls.__name__}.{name} has no docstring")
    require("from_data" in vars(cls) or any("from_data" in vars(base) for base in cls.__mro__[1:-1]), "from_data: a recipe is missing")


def check_examples(cls: type[Problem]) -> None:
    """At least two ordinary examples and a degenerate one, with names of their own, the same for the same generator."""
    examples = examples_of(cls)
    names = [example.name for example in examples]
    require(len(set(names)) == len(names), f"examples: names repeat: {names}")
    require(sum(not e.degenerate for e in examples) >= 2, "examples: at least two that are not degenerate are needed")
    require(any(e.degenerate for e in examples), "examples: a degenerate one is needed (targets 0, one sample, ties, …)")
    again = [example.problem.fingerprint() for example in cls.examples(np.random.default_rng(SEED))]
    require(again == [e.problem.fingerprint() for e in examples], "examples: they must depend on `rng` only")
    require(all(type(e.problem) is cls for e in examples), f"examples: all must be {cls.__name__}")


def check_data(cls: type[Problem]) -> None:
    """Data are read-only, pickled whole, part of the fingerprint, and refused when they are not finite."""
    problem = next(e.problem for e in examples_of(cls) if not e.degenerate)
    mark = problem.fingerprint()
    twin = pickle.loads(pickle.dumps(problem))
    require(twin.fingerprint() == mark, "pickling changes the data")
    require(
        dataclasses.replace(problem).fingerprint() == mark, "dataclasses.replace(problem) changes the data; __post_init__ must accept them"
    )
    for item in dataclasses.fields(problem):
        value = getattr(problem, item.name)
        _check_field(problem, twin, item.name, value, mark)


def _check_field(problem: Problem, twin: Problem, name: str, value: Any, mark: str) -> None:
    other: Any
    bad: Any
    if isinstance(value, np.ndarray) and value.dtype == float and value.size:
        for owner in (problem, twin):
            require(not getattr(owner, name).flags.writeable, f"{name}: must be read-only (call super().__post_init__())")
        other, bad = value.copy(), value.copy()
        other[(-1,) * value.ndim] += 1e-9 * (1.0 + abs(other[(-1,) * value.ndim]))
        bad[(-1,) * value.ndim] = np.nan
    elif isinstance(value, float):
        other, bad = value * (1 + 1e-12) + 1e-300 if np.isfinite(value) else 1.0, np.nan
    else:
        return
    changed = copy.copy(problem)
    object.__setattr__(changed, name, other)
    require(changed.fingerprint() != mark, f"{name}: the fingerprint does not see a change of it")
    try:
        dataclasses.replace(problem, **{name: bad})
    except InvalidProblem as error:
        require(name in str(error), f"{name}: the error about a value that is not finite does not name it: {error}")
        return
    require(False, f"{name}: a value that is not finite is accepted; call super().__post_init__(), or check it in your own")


def check_declaration(cls: type[Problem]) -> None:
    """DCP and DPP, everything named and labelled, parameters named like fields, representable in every first-class back end."""
    import cvxpy as cp

    found: set[str] = set()
    for example in examples_of(cls):
        where = f"declare() of example {example.name!r}"
        try:
            declaration = example.problem.declare()
        except InvalidProblem as error:
            require(len(str(error)) > 10, f"{where} refuses without a reason")
            continue
        require(isinstance(declaration.objective, cp.Minimize), f"{where}: must minimise")
        require(declaration.is_dcp() and declaration.is_dpp(), f"{where}: is not DCP and DPP; products of parameters must be one parameter")
        labels = [c.label for c in declaration.constraints]
        require(all(labels), f'{where}: every constraint needs a label, `(…).set_label("…")`')
        require(len(set(labels)) == len(labels), f"{where}: labels repeat: {labels}")
        names = [v.name() for v in (*declaration.variables(), *declaration.parameters())]
        require(not any(map(AUTOMATIC.fullmatch, names)), f"{where}: variables and parameters need names, got {names}")
        unknown = {p.name() for p in declaration.parameters()} - set(cls.parameters)
        require(not unknown, f"{where}: parameters {sorted(unknown)} are not in the class's `parameters` (names of fields)")
        found |= {p.name() for p in declaration.parameters()}
        for parameter in declaration.parameters():
            value = getattr(example.problem, parameter.name())
            require(np.array_equal(parameter.value, value), f"{where}: {parameter.name()} is {parameter.value}, the field is {value}")
        _check_cones(example.problem, where)
    missing = sorted(set(cls.parameters) - found)
    require(not missing, f"parameters: no example's declaration has a cp.Parameter for {missing}")


def _check_cones(problem: Problem, where: str) -> None:
    for backend in {backend.cones: backend for backend in FIRST_CLASS}.values():  # of back ends with the same cones, one
        try:
            with quiet():  # CLARABEL, which takes all cones, stands in for one that is not installed
                data, *_ = adapter.canonicalise(problem.for_back_ends(cones=backend.cones), CLARABEL if backend.missing else backend)
        except adapter.Refused as error:
            reason = str(error)
        else:
            reason = "" if "power" in backend.cones or not data["dims"].p3d else "the declaration needs power cones"
        require(not reason, f"{where}: {reason}; declare(cones={sorted(backend.cones)}) must keep to the cones it is given")
