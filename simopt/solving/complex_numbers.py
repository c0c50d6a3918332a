"""Problems with complex variables or data: the real problem of their parts is certified, and values and dual values are put together.

Both have the same optimum, so that bounds are the same. A complex equality has the multiplier u + iv, u of its real part, v of its
imaginary part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.reductions.solution import Solution as Unpacked

from simopt.arithmetic import Arithmetic
from simopt.backends.adapter import dense_value
from simopt.certificates.certificate import Certificate
from simopt.core.arrays import Multipliers, Point
from simopt.core.errors import Interrupted, InvalidProblem
from simopt.core.threads import quiet
from simopt.duality.reading.complex_numbers import IMAGINARY, RealProblem, real_problem
from simopt.model.status import Status
from simopt.solving import as_written
from simopt.solving.cvxpy_values import turns
from simopt.solving.run import Progress
from simopt.solving.solution import Solution, frozen


def certify(
    problem: cp.Problem,
    point: Point | None,
    multipliers: Multipliers | None,
    num: Arithmetic,
    solver: str | None,
    tol: float,
    values_stay: bool = False,
) -> Certificate:
    """Bounds on the optimum of a problem with complex numbers; see `simopt.certify`."""
    with turns.of(variable.id for variable in problem.variables()):
        form = real_problem(problem)
        _take_values(form, needed=solver is None and point is None)
        _take_dual_values(form)
        known = None if point is None else _parts_of_point(form, point)
        given = None if multipliers is None else _parts_of_multipliers(form, multipliers)
        return as_written.certify(form.problem, known, given, num, solver, tol, values_stay, problem)


def solve(problem: cp.Problem, progress: Progress | None, time_limit: float, **options: Any) -> Solution:
    """Solve a problem with complex numbers, and put values, dual values, value and status into it."""
    with turns.of(variable.id for variable in problem.variables()):
        form = real_problem(problem)
        try:
            solution = as_written.solve(form.problem, progress, time_limit, **options)
        except Interrupted as stop:
            raise Interrupted(_put(form, problem, stop.done)) from None
        return _put(form, problem, solution)


def _take_values(form: RealProblem, needed: bool) -> None:
    for split in form.variables:
        value = complex_value(split.variable)
        if value is None and needed:
            raise InvalidProblem(f"variable {split.name}: it has no value; solve the problem first, or name a solver")
        parts = (None, None) if value is None else split.parts(value)
        for inner, part in zip((split.real, split.imaginary), parts, strict=True):
            if inner is not None:
                inner.save_value(part)


def complex_value(variable: cp.Variable) -> Any:
    """The value of a variable as a dense array, if it has one."""
    value = variable.value if variable.sparse_idx is None else variable.value_sparse
    return None if value is None else np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=complex)


def _take_dual_values(form: RealProblem) -> None:
    for constraint, real, imaginary in form.constraints:
        if real is not None and not constraint.is_complex():
            for dual, inner in zip(constraint.dual_variables, real.dual_variables, strict=True):
                inner.save_value(dual.value)
        elif isinstance(constraint, cp.PSD) and constraint.dual_variables[0].value is not None:
            real.dual_variables[0].save_value(_dilated_dual(np.asarray(constraint.dual_variables[0].value), real.shape))
        elif not isinstance(constraint, cp.SOC) and constraint.dual_variables[0].value is not None:
            value = np.asarray(constraint.dual_variables[0].value)
            for part, inner in ((value.real, real), (value.imag, imaginary)):
                if inner is not None:
                    inner.dual_variables[0].save_value(part)


def _dilated_dual(dual: Any, shape: tuple[int, ...]) -> Any:
    """The multiplier D of [A, −B; B, A] ⪰ 0 with ⟨D, [A, −B; B, A]⟩ = Re⟨Y, A + iB⟩ for the multiplier Y of A + iB ⪰ 0."""
    return dual.real if dual.shape == shape else np.block([[dual.real, -dual.imag], [dual.imag, dual.real]]) / 2


def _hermitian_dual(dual: Any, shape: tuple[int, ...]) -> Any:
    """The multiplier of A + iB ⪰ 0 from that of [A, −B; B, A] ⪰ 0, or of A ⪰ 0 where there is no imaginary part."""
    if dual.shape == shape:
        return dual
    n = shape[0]
    return dual[:n, :n] + dual[n:, n:] + 1j * (dual[n:, :n] - dual[:n, n:])


def _parts_of_point(form: RealProblem, point: Point) -> Point:
    parts: Point = dict(point)
    for split in form.variables:
        if split.name not in point:
            raise InvalidProblem(f"point: {split.name} is missing; it has {', '.join(sorted(point)) or 'nothing'}")
        value = np.asarray(parts.pop(split.name))
        if value.size != split.variable.size:
            raise InvalidProblem(f"point: {split.name} has {value.size} entries, expected {split.variable.size}")
        for inner, part in zip((split.real, split.imaginary), split.parts(value), strict=True):
            if inner is not None:
                parts[inner.name()] = part
    return parts


def _parts_of_multipliers(form: RealProblem, multipliers: Multipliers) -> Multipliers:
    parts: Multipliers = dict(multipliers)
    for constraint, real, imaginary in form.constraints:
        label = (real.label if real is not None else imaginary.label.removesuffix(IMAGINARY)) if constraint.is_complex() else None
        if label in parts and isinstance(constraint, cp.PSD):
            parts[label] = _dilated_dual(np.asarray(parts[label]), real.shape)
        elif label in parts and imaginary is not None:
            value = np.asarray(parts.pop(label))
            parts[imaginary.label] = value.imag
            if real is not None:
                parts[real.label] = value.real
    return parts


def _put(form: RealProblem, problem: cp.Problem, solution: Solution) -> Solution:
    """The solution in complex numbers; values and dual values are put into the problem as CVXPY puts them."""
    for constraint in problem.constraints:
        for dual in constraint.dual_variables:
            dual.save_value(None)
    for split in form.variables:
        split.variable.save_value(None)
    if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        problem.unpack(Unpacked(form.problem.status, form.problem.value, {}, {}, {}))
        return replace(solution, point=_whole(form, solution.point), direction=_whole(form, solution.direction))
    if solution.point is None or solution.certificate is None:
        return solution
    point = _whole(form, solution.point)
    values = {v.id: np.zeros(v.shape) if not v.size else dense_value(v) for v in problem.variables() if not v.is_complex()}
    values |= {v.id: np.zeros(v.shape, dtype=complex) for v in problem.variables() if v.is_complex()}
    values |= {split.variable.id: np.array(point[split.name]) for split in form.variables}
    with quiet():
        problem.unpack(Unpacked(form.problem.status, None, values, {}, {}))
    for constraint, real, imaginary in form.constraints:
        if real is not None and not constraint.is_complex():
            for dual, inner in zip(constraint.dual_variables, real.dual_variables, strict=True):
                dual.save_value(inner.value)
        elif isinstance(constraint, cp.PSD):
            if real.dual_variables[0].value is not None:
                constraint.dual_variables[0].save_value(_hermitian_dual(np.asarray(real.dual_variables[0].value), constraint.shape))
        elif not isinstance(constraint, cp.SOC):
            u, v = (None if part is None else part.dual_variables[0].value for part in (real, imaginary))
            if u is not None or v is not None:
                constraint.dual_variables[0].save_value((0.0 if u is None else u) + (0.0 if v is None else 1j * v))
    return replace(solution, point=point)


def _whole(form: RealProblem, parts: Any) -> Any:
    """A point of the real problem with its complex variables put together."""
    if parts is None:
        return None
    whole = dict(parts)
    for split in form.variables:
        real, imaginary = (None if inner is None else whole.pop(inner.name(), None) for inner in (split.real, split.imaginary))
        whole[split.name] = split.value(real, imaginary)
    return frozen(whole)
