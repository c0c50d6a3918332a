"""Checks of one (problem, solver) pair: statuses, brackets, agreement with the other solvers, options, laws, units."""

from __future__ import annotations

import inspect
import math

import numpy as np

from simopt.backends.table import installed
from simopt.conformance.setting import ONLY_HONEST, ROUNDING, SEED, TOL, examples_of, require, run, solved, unit_of
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.model.problem import Example, Image, Problem, changed
from simopt.model.status import Status
from simopt.solving.driver import choose
from simopt.solving.entry_points import solve
from simopt.solving.solution import Solution
from simopt.solving.solver import SolverSpec, solvers_of
from simopt.solving.sweep import path

HONEST = {Status.OPTIMAL, Status.GAP_OPEN, Status.ITERATION_LIMIT, Status.TIME_LIMIT}
UNITS = (1e-9, 1e9)


def check_statuses(cls: type[Problem], solver: str) -> None:
    """OPTIMAL on every ordinary example (ECOS and SCS: an honest status); on degenerate ones an honest status; always a valid bracket.

    A bracket around an optimum 0 may stay open if it is next to nothing of the objective's terms.
    """
    supported = 0
    for index, example in enumerate(examples_of(cls)):
        solution = solved(cls, solver, index)
        where = f"{solver} on {example.name!r}"
        if solution.status is Status.UNSUPPORTED:
            _check_refusal(example, solver, solution)
            continue
        supported += not example.degenerate
        if not example.degenerate and solver not in ONLY_HONEST:
            hint = "" if solution.multipliers else "; a solver for a non-smooth problem must yield multipliers"
            require(solution.status is Status.OPTIMAL or _reads_zero(solution), f"{where}: {_ending(solution)}{hint}")
        require(solution.status in HONEST, f"{where}: {_ending(solution)}; every example has a solution")
        _check_bracket(example.problem, solution, where)
    require(supported, f"{solver} supports none of the examples that are not degenerate")


def _reads_zero(solution: Solution) -> bool:
    found = solution.certificate
    return found is not None and found.holds_zero and found.gap_over_terms <= TOL


def _check_refusal(example: Example, solver: str, solution: Solution) -> None:
    where = f"{solver} on {example.name!r}"
    require(len(solution.message) > 10, f"{where}: unsupported without a reason")
    if isinstance(choose(example.problem, solver), SolverSpec):
        return
    try:
        example.problem.declare()
    except InvalidProblem:
        return
    require(False, f"{where}: {solution.message}; only a problem whose declare() refuses may be out of a first-class back end's reach")


def _check_bracket(problem: Problem, solution: Solution, where: str) -> None:
    found = solution.certificate
    require(found is not None and solution.point is not None, f"{where}: {_ending(solution)}, without a point")
    if found is None or solution.point is None:
        return
    require(math.isfinite(found.upper), f"{where}: the upper bound is {found.upper}")
    room = ROUNDING * unit_of(problem, found.upper)
    require(found.lower <= found.upper + room, f"{where}: the bracket is empty: {found}")
    require((solution.status is Status.OPTIMAL) == found.closes(TOL), f"{where}: {_ending(solution)}, but {found}")
    again = problem.restore(dict(solution.point))
    moved = max(float(np.max(np.abs(np.asarray(again[k]) - v) / (1 + np.abs(v)), initial=0.0)) for k, v in solution.point.items())
    require(moved <= ROUNDING, f"{where}: the solution's point is not feasible, restoring moves it by {moved:.1e}")


def check_agreement(cls: type[Problem], solver: str) -> None:
    """The bracket of this solver overlaps with that of every other one, so that values agree within their gaps."""
    others = [name for name in solver_names(cls) if name != solver]
    for index, example in enumerate(examples_of(cls)):
        one = solved(cls, solver, index)
        for name in others:
            two = solved(cls, name, index)
            if one.certificate is None or two.certificate is None:
                continue
            room = ROUNDING * unit_of(example.problem, one.value, two.value)
            require(
                one.certificate.lower <= two.value + room and two.certificate.lower <= one.value + room,
                f"{example.name}: the brackets of {solver} and {name} do not meet: {one.certificate} and {two.certificate}",
            )
            if one.optimal and two.optimal:
                apart = abs(one.value - two.value)
                require(
                    apart <= one.certificate.gap + two.certificate.gap + room,
                    f"{example.name}: {solver} and {name} differ by {apart:.3e}, more than both gaps",
                )


def check_options(cls: type[Problem], solver: str) -> None:
    """An unknown option is an error that names the solver; a hand-written solver's options have defaults and its docstring is there."""
    problem = next(e.problem for e in examples_of(cls) if not e.degenerate)
    try:
        solve(problem, solver, no_such_option=1)
    except UnknownName as error:
        require("no_such_option" in str(error), f"{solver}: the error about an unknown option does not name it: {error}")
    else:
        require(False, f"{solver} accepts an option that does not exist; options are keyword-only parameters, not **kwargs")
    for spec in solvers_of(cls):
        if spec.name != solver:
            continue
        tol = inspect.signature(spec.run).parameters.get("tol")
        require(tol is not None and tol.kind is inspect.Parameter.KEYWORD_ONLY, f"{solver}: `tol` must be a keyword-only parameter")
        missing = [name for name, default in spec.options.items() if default is inspect.Parameter.empty]
        require(not missing, f"{solver}: options {missing} have no default")
        require(inspect.getdoc(spec.run) and spec.summary, f"{solver}: a docstring and a one-line summary are missing")


def check_solves_images(cls: type[Problem], solver: str) -> None:
    """Solving the image of an example under each law gives `factor` times the optimum, within the gaps, where the solver takes it."""
    example, solution = _first(cls, solver)
    own = [spec for spec in solvers_of(cls) if spec.name == solver]
    for number, law in enumerate(cls.laws()):
        image = law.apply(example.problem, np.random.default_rng(SEED + number))
        if any(spec.reason_against(image.problem) is not None for spec in own):
            continue
        _compare(example, solution, image, run(image.problem, solver), f"{solver} on {example.name!r} under the law {law.name!r}")


def check_solves_in_any_unit(cls: type[Problem], solver: str) -> None:
    """A change of units by 10^±9 changes neither the status nor, up to its factor, the optimum."""
    example, solution = _first(cls, solver)
    for law in cls.laws():
        for factor in UNITS if law.by is not None else ():
            image = law.by(example.problem, factor) if law.by is not None else Image(example.problem)
            mapped = run(image.problem, solver)
            where = f"{solver} on {example.name!r} in other units, {law.name!r} by {factor:g}"
            cut_short = solver in ONLY_HONEST and Status.TIME_LIMIT in (mapped.status, solution.status)  # by the machine, not by the unit
            same = mapped.status is solution.status or cut_short
            require(same, f"{where}: {_ending(mapped)} instead of {solution.status.value}; see normalised()")
            _compare(example, solution, image, mapped, where)


def _compare(example: Example, solution: Solution, image: Image, mapped: Solution, where: str) -> None:
    one, two = solution.certificate, mapped.certificate
    require(one is not None and two is not None, f"{where}: {_ending(mapped)}, without a point")
    if one is not None and two is not None:
        room = ROUNDING * unit_of(example.problem, one.upper)
        meet = two.lower <= image.factor * (one.upper + room) and image.factor * (one.lower - room) <= two.upper
        require(meet, f"{where}: the bracket {two} does not meet {image.factor:g} times {one}")


def check_sweeps(cls: type[Problem], solver: str) -> None:
    """path() over each declared parameter gives what fresh solves give."""
    example, _ = _first(cls, solver)
    for field in cls.parameters:
        start = float(getattr(example.problem, field))
        for value, solution in path(example.problem, field, [start, 1.5 * start], solver, tol=TOL):
            fresh = solve(example.problem if value == start else changed(example.problem, **{field: value}), solver, tol=TOL)
            require(
                solution.status is fresh.status and solution.provenance.fingerprint == fresh.provenance.fingerprint,
                f"path over {field}: {_ending(solution)} at {value:g}, fresh: {fresh.status.value}; parameter and field must agree",
            )
            if solution.certificate is not None and fresh.certificate is not None:
                room = ROUNDING * unit_of(example.problem, fresh.value)
                meet = solution.certificate.lower <= fresh.value + room and fresh.certificate.lower <= solution.value + room
                require(meet, f"path over {field} at {value:g}: {solution.certificate} does not meet a fresh {fresh.certificate}")


def solver_names(cls: type[Problem]) -> list[str]:
    """Hand-written solvers of the problem and the back ends, of the three, that are installed."""
    return [spec.name for spec in solvers_of(cls)] + [backend.name for backend in installed()]


def _first(cls: type[Problem], solver: str) -> tuple[Example, Solution]:
    """The first ordinary example that the solver supports."""
    for index, example in enumerate(examples_of(cls)):
        if not example.degenerate and solved(cls, solver, index).status is not Status.UNSUPPORTED:
            return example, solved(cls, solver, index)
    raise AssertionError(f"{solver} supports none of the examples of {cls.name}")


def _ending(solution: Solution) -> str:
    gap = "" if solution.certificate is None else f", relative gap {solution.certificate.relative_gap:.2e}"
    return f"{solution.status.value} ({solution.reported_status or solution.message}){gap}"
