"""A back end of one's own: a dense interior-point method for quadratic programmes, behind CVXPY's interface for solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from cvxpy import settings
from cvxpy.reductions.solution import Solution, failure_solution
from cvxpy.reductions.solvers import utilities
from cvxpy.reductions.solvers.qp_solvers.qp_solver import QpSolver

from simopt import Status
from simopt.backends import BackEnd, add_back_end


class DenseInteriorPoint(QpSolver):
    """min ½⟨x, Px⟩ + ⟨q, x⟩ subject to Ax = b, Fx ≤ g: Mehrotra's predictor and corrector, all matrices dense."""

    MIP_CAPABLE = False

    def name(self) -> str:
        """What CVXPY calls it."""
        return "DENSE_INTERIOR_POINT"

    def import_solver(self) -> None:
        """NumPy is all that it needs."""

    def cite(self, data: dict[str, Any]) -> str:
        """Nothing to cite."""
        return ""

    def solve_via_data(
        self, data: dict[str, Any], warm_start: bool, verbose: bool, solver_opts: dict[str, Any], solver_cache: Any = None
    ) -> dict[str, Any]:
        """Run the method on CVXPY's data."""
        P, A, F = (data[key].toarray() for key in (settings.P, settings.A, settings.F))
        return interior_point(P, data[settings.Q], A, data[settings.B], F, data[settings.G], **solver_opts)

    def invert(self, raw: dict[str, Any], inverse: dict[str, Any]) -> Solution:
        """Values and duals by CVXPY's numbers of variables and constraints."""
        if not np.all(np.isfinite(raw["x"])):
            return failure_solution(settings.SOLVER_ERROR, {})
        rows = (("y", self.EQ_CONSTR), ("z", self.NEQ_CONSTR))
        duals: dict[int, Any] = {}
        for key, constraints in rows:
            duals |= utilities.get_dual_values(raw[key], utilities.extract_dual_value, inverse[constraints])
        status = settings.OPTIMAL if raw["status"] == "solved" else settings.OPTIMAL_INACCURATE
        return Solution(status, raw["value"] + inverse[settings.OFFSET], {self.VAR_ID: raw["x"]}, duals, {})


def interior_point(P: Any, q: Any, A: Any, b: Any, F: Any, g: Any, *, tol: float = 1e-8, max_iter: int = 100) -> dict[str, Any]:
    """Newton's method on Px + q + Aᵀy + Fᵀz = 0, Ax = b, Fx + s = g, sz = σμ, with s, z > 0."""
    n, k, m = len(q), len(b), len(g)
    x, y, s, z = np.zeros(n), np.zeros(k), np.maximum(g, 1.0), np.ones(m)
    status, iterations = "iterations", 0
    while True:
        residuals = P @ x + q + A.T @ y + F.T @ z, A @ x - b, F @ x + s - g
        mean = s @ z / max(m, 1)
        if max(mean, *(np.max(np.abs(r), initial=0.0) for r in residuals)) <= tol:
            status = "solved"
        if status == "solved" or iterations == max_iter:
            break
        iterations += 1
        matrix = np.block([[P + (F.T * (z / s)) @ F, A.T], [A, np.zeros((k, k))]])

        def direction(target: Any, residuals: Any = residuals, matrix: Any = matrix, s: Any = s, z: Any = z) -> tuple[Any, ...]:
            dual, equal, r_primal = residuals
            right = np.concatenate([-dual - F.T @ ((z * r_primal + target - s * z) / s), -equal])
            step = np.linalg.lstsq(matrix, right, rcond=None)[0]
            dx = step[:n]
            dz = (z * (F @ dx + r_primal) + target - s * z) / s
            return dx, step[n:], -r_primal - F @ dx, dz

        _, _, ds, dz = direction(0.0)
        reach = min(_longest_step(s, ds), _longest_step(z, dz))
        centre = ((s + reach * ds) @ (z + reach * dz) / max(s @ z, 1e-300)) ** 3
        dx, dy, ds, dz = direction(centre * mean - ds * dz)
        x, y = x + (length := 0.99 * min(_longest_step(s, ds), _longest_step(z, dz))) * dx, y + length * dy
        s, z = s + length * ds, z + length * dz
    return {"x": x, "y": y, "z": z, "value": x @ P @ x / 2 + q @ x, "status": status, "iterations": iterations}


def _longest_step(v: Any, dv: Any) -> float:
    """How far v > 0 may go along dv, at most 1/0.99."""
    return float(min(1 / 0.99, np.min(-v[dv < 0] / dv[dv < 0], initial=np.inf)))


def native_status(raw: dict[str, Any]) -> tuple[object, int]:
    """Its own word, and its iterations."""
    return raw["status"], raw["iterations"]


add_back_end(
    BackEnd(
        name="dense-interior-point",
        cvxpy_name="DENSE_INTERIOR_POINT",
        package="simopt_example",
        cones=frozenset(),
        tolerance=("tol",),
        max_iter="max_iter",
        statuses={"solved": (Status.OPTIMAL, "solved"), "iterations": (Status.ITERATION_LIMIT, "iteration limit")},
        read=native_status,
        make=DenseInteriorPoint,
    )
)
