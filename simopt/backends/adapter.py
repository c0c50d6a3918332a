"""One solve of a declaration by a CVXPY back end, with its native status.

CVXPY's `Problem.solve` loses the native status when it raises, and keeps stale values. The adapter therefore canonicalises, calls the
solver on the data, and unpacks by itself. A returned point is unpacked whatever the status is: the certificate judges it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.backends import clockless, ecos_process
from simopt.backends.bounds_of_expressions import leave_a_point
from simopt.backends.diagonals import flattened
from simopt.backends.own_residuals import OwnResiduals, own_residuals
from simopt.backends.table import BackEnd
from simopt.core.arrays import Array
from simopt.core.threads import quiet
from simopt.model.status import Status
from simopt.processes.worker import Worker

if TYPE_CHECKING:
    import cvxpy as cp


@dataclass(frozen=True)
class NativeResult:
    """The result of a back end: values by variable name, duals by constraint label, and its own status."""

    point: dict[str, Any] | None
    multipliers: dict[str, Any] | None
    status: Status
    status_text: str
    iterations: int
    setup_seconds: float
    solve_seconds: float
    reductions: tuple[str, ...] = ()  # CVXPY's, by name
    residuals: OwnResiduals | None = None  # where they were asked for
    has_points: bool = True  # where that was asked for: False if bounds that CVXPY added may leave the back end's programme without any

    @property
    def summary(self) -> str:
        """One line: CVXPY's reductions, the native status, iterations and seconds."""
        return f"{' → '.join(self.reductions)}: {self.status_text}, {self.iterations} iterations, {self.solve_seconds:.3g} s"


CVXPY_STATUSES = {
    "optimal": (Status.OPTIMAL, "optimal"),
    "optimal_inaccurate": (Status.GAP_OPEN, "optimal_inaccurate"),
    "user_limit": (Status.GAP_OPEN, "user_limit"),
    "infeasible": (Status.INFEASIBLE, "infeasible"),
    "infeasible_inaccurate": (Status.INFEASIBLE, "infeasible_inaccurate"),
    "unbounded": (Status.UNBOUNDED, "unbounded"),
    "unbounded_inaccurate": (Status.UNBOUNDED, "unbounded_inaccurate"),
}  # CVXPY's statuses, for back ends whose native ones are unknown


class Refused(ValueError):
    """The back end cannot represent the problem."""


def run(
    declaration: cp.Problem,
    backend: BackEnd,
    *,
    tol: float | None,
    max_iter: int | None,
    time_limit: float,
    options: dict[str, Any],
    examined: bool = False,
) -> NativeResult:
    """Solve the declaration once at native tolerance `tol`; None leaves the back end its own tolerance and number of iterations.

    With `examined` the answer's residuals in the programme of the back end are computed too, off its clock, or whether that has points.

    Raises
    ------
    Refused
        when the back end cannot represent the problem.
    KeyboardInterrupt
        also when the back end caught the interrupt and only reported it.
    """
    start = time.perf_counter()
    with quiet():
        data, chain, inverse = canonicalise(declaration, backend)
    setup, reductions = time.perf_counter() - start, tuple(type(each).__name__ for each in chain.reductions)
    native = _native_options(backend, tol, max_iter, time_limit, options)

    def no_point(status: Status, text: str) -> NativeResult:
        return NativeResult(None, None, status, text, 0, setup, time.perf_counter() - start, reductions)

    start = time.perf_counter()
    try:
        with _process(backend, chain) as process, quiet():
            start = time.perf_counter()
            if process is None:
                raw = _by_cvxpy(declaration, data, chain, backend, native)
            elif backend.name == "ecos":
                raw = _ecos(process, data, native, time_limit)
            else:
                raw = process.call(chain.solver, clockless.sent(data), native, seconds=time_limit)
    except TimeoutError:
        return NativeResult(
            None, None, Status.TIME_LIMIT, f"ended after {time_limit:g} s", 0, setup, time.perf_counter() - start, reductions
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # back ends raise whatever they like (a panic of Rust is no Exception): a failed solve, with its message
        return no_point(Status.FAILED, f"{type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    code, iterations = (None, 0) if backend.read is None or not _own(backend, chain) else backend.read(raw)
    if code in backend.interrupted:
        raise KeyboardInterrupt
    status, status_text = backend.statuses.get(code, (Status.GAP_OPEN, str(code)))
    with quiet():
        present = code is not None and backend.present is not None and status not in (Status.INFEASIBLE, Status.UNBOUNDED)
        # for the last two x is a ray, not a point
        reported, point, multipliers = _unpack(declaration, chain, inverse, backend.present(raw) if present and backend.present else raw)
    if code is None or not backend.statuses:
        status, status_text = CVXPY_STATUSES.get(reported, (Status.FAILED, reported))
        iterations = iterations or _counted(declaration)
    own = own_residuals(data, chain, inverse, raw) if examined and point is not None else None
    has_points = not (examined and status is Status.INFEASIBLE) or leave_a_point(data)
    return NativeResult(point, multipliers, status, status_text, iterations, setup, seconds, reductions, own, has_points)


def canonicalise(declaration: cp.Problem, backend: BackEnd) -> tuple[dict[str, Any], Any, Any]:
    """Data in the form of the back end, the chain of reductions, and the way back.

    Raises
    ------
    Refused
        when the back end has no cone for this declaration, or CVXPY fails on it.
    """
    import cvxpy as cp

    try:
        enforce = bool(declaration.parameters()) and declaration.is_dpp()
        data, chain, inverse = flattened(declaration).get_problem_data(backend.solver, enforce_dpp=enforce, solver_opts={})
    except cp.error.SolverError as error:
        raise Refused(f"{backend.name} cannot take this declaration: {error}") from error
    except Exception as error:  # reductions raise any exception
        raise Refused(f"CVXPY failed on this declaration: {type(error).__name__}: {error}") from error
    return data, chain, inverse


def _native_options(backend: BackEnd, tol: float | None, max_iter: int | None, limit: float, options: dict[str, Any]) -> dict[str, Any]:
    native: dict[str, Any] = {} if tol is None else dict.fromkeys(backend.tolerance, max(tol, backend.floor))
    limit_iterations = backend.default_max_iter if max_iter is None and tol is not None else max_iter
    if backend.max_iter and limit_iterations is not None:
        native |= dict.fromkeys([backend.max_iter] if isinstance(backend.max_iter, str) else backend.max_iter, int(limit_iterations))
    if backend.time_limit:
        native[backend.time_limit] = float(limit)
    return native | options


def _process(backend: BackEnd, chain: Any) -> AbstractContextManager[Worker | None]:
    """A process for a back end that has to be ended from outside; None for any other."""
    if backend.name == "ecos":
        return ecos_process.ready()
    return clockless.ready(chain.solver) if backend.apart and _own(backend, chain) else nullcontext()


def _by_cvxpy(declaration: cp.Problem, data: dict[str, Any], chain: Any, backend: BackEnd, native: dict[str, Any]) -> Any:
    """The raw result of the back end. One that cannot continue from its last answer (the sparsity has changed) starts anew."""
    if backend.warm and backend.cvxpy_name in declaration._solver_cache:
        try:
            return chain.solve_via_data(declaration, data, warm_start=True, verbose=False, solver_opts=dict(native))
        except Exception:
            declaration._solver_cache.pop(backend.cvxpy_name, None)
    return chain.solve_via_data(declaration, data, warm_start=backend.warm and backend.name == "scs", verbose=False, solver_opts=native)


def _own(backend: BackEnd, chain: Any) -> bool:
    """Whether the back end itself has run: CVXPY evaluates a declaration without variables by itself."""
    return str(chain.solver.name()) == backend.cvxpy_name


def _counted(declaration: cp.Problem) -> int:
    stats = declaration.solver_stats
    count = None if stats is None else stats.num_iters
    return int(count) if isinstance(count, Integral) else 0


def _ecos(process: Worker, data: dict[str, Any], options: dict[str, Any], time_limit: float) -> dict[str, Any]:
    from cvxpy.reductions.solvers.conic_solvers.ecos_conif import dims_to_solver_dict
    from scipy import sparse

    def matrix(a: Any) -> Any:
        return None if a is None else sparse.csc_matrix((a.data, a.indices, a.indptr), shape=a.shape)

    cones = dims_to_solver_dict(data["dims"])
    cones = {key: [int(k) for k in value] if key == "q" else int(value) for key, value in cones.items() if key in {"l", "q", "e"}}
    args = (data["c"], matrix(data["G"]), data["h"], cones, matrix(data["A"]), data["b"])
    result: dict[str, Any] = process.call(*args, seconds=time_limit, verbose=False, **options)
    return result


def _unpack(declaration: cp.Problem, chain: Any, inverse: Any, raw: Any) -> tuple[str, dict[str, Any] | None, dict[str, Any] | None]:
    """CVXPY's status, values and duals; None for those that are missing or not finite."""
    import cvxpy as cp

    for variable in declaration.variables():
        variable.value = None
    try:
        declaration.unpack_results(raw, chain, inverse)
    except (cp.error.SolverError, ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}", None, None
    reported = str(declaration.status)
    point = {v.name(): dense_value(v) for v in declaration.variables()}
    if any(value is None or not np.all(np.isfinite(value)) for value in point.values()):
        return reported, None, None
    duals = dict(_duals(declaration))
    values = {name: np.asarray(value, dtype=float) for name, value in point.items()}
    if any(value is None for value in duals.values()):
        return reported, values, None
    return reported, values, {label: np.asarray(value, dtype=float) for label, value in duals.items()}


def _duals(declaration: cp.Problem) -> Iterator[tuple[str, Any]]:
    """Dual values by label; for a cone that has several by label and number: "ball of 0"."""
    for row in declaration.constraints:
        if row.label and len(row.dual_variables) == 1:
            yield row.label, row.dual_value
        elif row.label:
            parts = ((f"{row.label} of {number}", dual.value) for number, dual in enumerate(row.dual_variables))
            yield from ((label, value) for label, value in parts if value is not None)


def dense_value(variable: cp.Variable) -> Array | None:
    """The value of a variable as a dense array, if it has one."""
    value = variable.value if variable.sparse_idx is None else variable.value_sparse
    return None if value is None else np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
