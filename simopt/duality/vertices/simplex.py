"""The vertex at which HiGHS's simplex method ends, and what it proves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import Interval
from simopt.arithmetic.interval_matrix import IntervalMatrix
from simopt.arithmetic.linear import exponents_of, rescaled
from simopt.core.arrays import Array
from simopt.duality.vertices.linear_programme import LinearProgramme
from simopt.duality.vertices.vertex import ProvenVertex, SimplexBasis, vertex

TOLERANCE = 1e-10  # of both feasibilities, HiGHS's least
TILT = 1e-9  # of a cost, above HiGHS's tolerance
TIME_LIMIT = 60.0  # seconds
LEAST = 1e-12  # size of an entry of A that HiGHS keeps: its smallest setting
INFINITE = 1e20  # to HiGHS
CLEAR = 1e6  # sizes of the largest wrong sign: what is as large is certain to keep its sign


def optimal_vertex(linear: LinearProgramme) -> ProvenVertex | None:
    """The vertex at which the simplex method ends, or one beside it; None where it reports no optimum.

    If rounding decides wrongly that a bound or a row holds, the violation is magnified and solved for from the vertex's basis.

    Source: A. M. Gleixner, D. E. Steffy and K. Wolter, Iterative refinement for linear programming, INFORMS J. Comput. 28 (2016).
    """
    found = _vertex_of(linear, linear)
    if found is None or found.upper is not None:
        return found
    refined = _vertex_of(linear, _left(found), found.basis)
    return refined if refined is not None and refined.upper is not None else found


def further_vertices(linear: LinearProgramme, first: ProvenVertex | None) -> Iterator[ProvenVertex]:
    """Vertices that may prove a bound which the first vertex does not.

    Multipliers of a wrong sign are below HiGHS's tolerance: they are magnified and solved for, as violations are. Then all is done once
    more with rows and columns scaled by powers of two. HiGHS drops small numbers and refuses large ones, and a basis has no scale.
    """
    if first is not None and first.lower is None:
        yield from _each(_vertex_of(linear, _slight(first), first.basis))
    for even in _each(_vertex_of(linear, _equilibrated(linear))):
        yield even
        if even.upper is None:
            yield from _each(_vertex_of(linear, _equilibrated(_left(even))))
        if even.lower is None:
            yield from _each(_vertex_of(linear, _equilibrated(_slight(even)), even.basis))


def _each(result: ProvenVertex | None) -> Iterator[ProvenVertex]:
    if result is not None:
        yield result


def _vertex_of(linear: LinearProgramme, other: LinearProgramme, start: SimplexBasis | None = None) -> ProvenVertex | None:
    """The vertex of the basis that HiGHS calls optimal for another programme; None where there is no such basis."""
    basis = _optimal_basis(other, start)
    return None if basis is None else vertex(linear, basis)


def _left(near: ProvenVertex) -> LinearProgramme:
    """What is left at a vertex, magnified."""
    left = near.residuals()
    low, high, constants = (_magnified(part, left.violation) for part in (left.low, left.high, left.constants))
    return replace(near.linear, low=low, high=high, constants=Interval(constants))


def _slight(near: ProvenVertex) -> LinearProgramme:
    """The programme with the reduced costs at a vertex in place of its costs, magnified so that the largest of a wrong sign is near 1.

    ⟨c, x⟩ = ⟨d, x⟩ − ⟨y, Ax⟩: where d_j or y_i is much larger its size does not matter, and is cut to CLEAR.
    """
    linear, (d, y, wrong) = near.linear, near.duals()
    d, y = (np.clip(_magnified(part, wrong), -CLEAR, CLEAR) for part in (d, np.where(near.linear.equality, 0.0, y)))
    return replace(linear, cost=_row(d - linear.matrix.mid.T @ y))


def _equilibrated(linear: LinearProgramme) -> LinearProgramme:
    """The same with the largest entry of each row and column near 1, in floats."""
    rows, columns = exponents_of(linear.matrix.mid)
    with np.errstate(all="ignore"):
        return replace(
            linear,
            cost=_row(np.ldexp(_flat(linear.cost), -columns)),
            matrix=IntervalMatrix(rescaled(linear.matrix.mid, rows, columns)),
            constants=Interval(np.ldexp(linear.constants.mid, -rows)),
            low=np.ldexp(linear.low, columns),
            high=np.ldexp(linear.high, columns),
        )


def _row(numbers: Array) -> IntervalMatrix:
    return IntervalMatrix(sp.csr_array(numbers[None, :]))


def _optimal_basis(linear: LinearProgramme, start: SimplexBasis | None) -> SimplexBasis | None:
    """The basis that HiGHS calls optimal, from another one on; None where it reports no optimum."""
    import highspy

    highs = _solved(linear, _flat(linear.cost), linear.low, linear.high, linear.constants.mid, start)
    if highs is None:
        return None
    basis, kind = highs.getBasis(), highspy.HighsBasisStatus
    columns, rows = (np.array([int(status) for status in side]) for side in (basis.col_status, basis.row_status))
    basic, upper = int(kind.kBasic), int(kind.kUpper)
    return SimplexBasis(columns == basic, rows != basic, columns == upper, basis)


def inner_multipliers(linear: LinearProgramme) -> Array | None:
    """Multipliers of the rows at which no reduced cost of a column with one bound is near 0; None where HiGHS finds none.

    They are those of costs that are a little smaller where x_j has a lower bound only, and larger where it has an upper one only.
    """
    cost = _flat(linear.cost)
    tilt = TILT * np.maximum(np.abs(cost), 1.0)
    one_sided = np.isfinite(linear.low).astype(float) - np.isfinite(linear.high)
    highs = _solved(linear, cost - tilt * one_sided, linear.low, linear.high, linear.constants.mid, None)
    return None if highs is None else -np.array(highs.getSolution().row_dual)


def _solved(linear: LinearProgramme, cost: Array, low: Array, high: Array, constants: Array, start: SimplexBasis | None) -> Any:
    """HiGHS after a run that it calls optimal; None after any other."""
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = linear.matrix.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, low, high
    model.row_lower_, model.row_upper_ = np.where(linear.equality, -constants, -np.inf), -constants
    by_column = sp.csc_array(linear.matrix.mid)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = by_column.indptr, by_column.indices, by_column.data
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {"output_flag": False, "time_limit": TIME_LIMIT, "small_matrix_value": LEAST}
    options |= {"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE}
    for name, value in options.items():
        highs.setOptionValue(name, value)
    if highs.passModel(model) == highspy.HighsStatus.kError:
        return None
    if start is not None and start.native is not None:
        highs.setBasis(start.native)
    highs.run()
    return highs if highs.getModelStatus() == highspy.HighsModelStatus.kOptimal else None


def _flat(row: IntervalMatrix) -> Array:
    return np.asarray(row.mid.toarray()[0])


def _magnified(numbers: Array, least: float) -> Array:
    """Numbers times a power of two that brings the given one near 1; ±∞ beyond what HiGHS calls finite."""
    found = np.ldexp(numbers, 1 - int(np.frexp(least)[1]) if least > 0.0 else 0)
    return np.where(np.abs(found) >= INFINITE, np.copysign(np.inf, found), found)
