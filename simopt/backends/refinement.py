r"""Conic programmes solved to rounding: primal-dual steps from where a back end stopped.

min ½xᵀPx + ⟨q, x⟩ with equalities Ex = g and Ax + s = b, s in a product K of symmetric cones. A solution has multipliers y and z ∈ K with
Px + q + Eᵀy + Aᵀz = 0 and ⟨s, z⟩ = 0. With x = x₀ + Nt, EN = 0, only t, s and z are left.

In the scaling Wz = W⁻ᵀs = λ (`symmetric_cones`) a Newton step for λ ∘ (W dz + W⁻ᵀds) = r solves the least-squares problem that has the
rows P^½N and W⁻ᵀAN. They are factorised as QR. Back ends factorise NᵀPN + NᵀAᵀW⁻¹W⁻ᵀAN, whose condition is the square: they stall early
where eigenvalues are multiple, as those of the real form of a Hermitian matrix are. The path is followed to where ⟨s, z⟩ is the gap that
is asked for, and then to residuals of rounding. There s and z lie inside, farther than rounding reaches, so that both bounds are proven.

Source: L. Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), §§6–7.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.linalg as la
from cvxpy.atoms import EXP_ATOMS, PSD_ATOMS

from simopt.backends.symmetric_cones import ConeProduct, Orthant, SecondOrderCone, SemidefiniteTriangle
from simopt.core.arrays import Array

ROUNDED = 2.0**-44  # of its terms: a residual, or a gap, that counts as rounding
PATIENCE, REFINEMENTS, NEAREST = 5, 3, 0.99  # steps that gain nothing, solves of the system of each, and how far it may go to the boundary
DEPENDENT = 1e-12  # of the largest pivot: that of an equality which follows from others
LARGEST = 4e9  # operations of a factorisation: one of more takes a second of the processor


def is_refined(problem: cp.Problem) -> bool:
    """Whether answers are refined: a semidefinite constraint or function, and no other cone that is not symmetric."""
    atoms = set(problem.atoms())
    is_semidefinite = not atoms.isdisjoint(PSD_ATOMS) or any(isinstance(row, cp.PSD) for row in problem.constraints)
    is_semidefinite |= any(v.attributes["PSD"] or v.attributes["NSD"] for v in problem.variables())
    return is_semidefinite and atoms.isdisjoint([*EXP_ATOMS, cp.quantum_rel_entr])


def solve(problem: cp.Problem, options: dict[str, Any], gap: float) -> None:
    """Have CLARABEL solve the problem, and refine the answer to this gap, relative to the value; the errors are CVXPY's."""
    data, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=options)
    raw = chain.solve_via_data(problem, data, solver_opts=options)
    problem.unpack_results(refined(data, raw, gap), chain, inverse)


def refined(data: dict[str, Any], raw: Any, gap: float) -> Any:
    """CLARABEL's answer with this gap and residuals of rounding; the answer itself where none is found, or a cone is not symmetric."""
    dims, zero, q = data["dims"], data["dims"].zero, data["c"]
    x, s, z = (np.array(part, dtype=float) for part in (raw.x, raw.s, raw.z))
    is_symmetric = not (dims.exp or dims.p3d or dims.pnd)
    if not (is_symmetric and dims.psd and len(s) * len(x) ** 2 <= LARGEST and "Infeasible" not in str(raw.status)):
        return raw
    cones = [*([Orthant(dims.nonneg)] if dims.nonneg else []), *map(SecondOrderCone, dims.soc), *map(SemidefiniteTriangle, dims.psd)]
    p = data["P"].toarray() if "P" in data else np.zeros((len(q), len(q)))
    e, a, b = data["A"][:zero].toarray(), data["A"][zero:].toarray(), data["b"][zero:]
    try:
        onto, n = _solution_of(e)
        x += onto @ (data["b"][:zero] - e @ x)
        programme = _ConicProgramme(n.T @ p @ n, n.T @ (p @ x + q), a @ n, b - a @ x, ConeProduct(cones))
        target = max(gap * abs(float(raw.obj_val)), ROUNDED * float(np.abs(q) @ np.abs(x)))
        found = programme.followed(s[zero:], z[zero:], target)
    except (np.linalg.LinAlgError, ValueError):  # s or z are on the boundary; numbers are beyond the floats
        return raw
    if found is None:
        return raw
    t, _, z = found
    x += n @ t
    slope = p @ x + q
    z = np.append(-onto.T @ (slope + a.T @ z), z)
    value = float(x @ (slope + q)) / 2
    return SimpleNamespace(status="Solved", x=x, z=z, obj_val=value, solve_time=raw.solve_time, iterations=raw.iterations)


def _solution_of(equalities: Array) -> tuple[Array, Array]:
    """A right inverse of independent rows of E, with columns 0 for the others, and N."""
    q, r, order = la.qr(equalities.T, pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > DEPENDENT * np.max(diagonal, initial=0.0)))
    onto = np.zeros(equalities.T.shape)
    onto[:, order[:rank]] = la.solve_triangular(r[:rank, :rank], q[:, :rank].T).T
    return onto, q[:, rank:]


def _root(p: Array) -> Array:
    """F of full rank with FᵀF = P, to rounding."""
    values, vectors = np.linalg.eigh(p)
    positive = values > ROUNDED * np.max(values, initial=0.0)
    return np.asarray((vectors[:, positive] * np.sqrt(values[positive])).T)


@dataclass(frozen=True, eq=False)
class _ConicProgramme:
    """min ½tᵀPt + ⟨q, t⟩ with At + s = b, s in a cone."""

    p: Array
    q: Array
    a: Array
    b: Array
    cone: ConeProduct

    def followed(self, s: Array, z: Array, target: float) -> tuple[Array, Array, Array] | None:
        """t, s and z with ⟨s, z⟩ ≤ target and residuals of rounding, by steps from t = 0; None where the given ones are, or none are found.

        First both are moved inside, by the size of their residuals at least, so that all products of their eigenvalues are alike.
        """
        t, root, idle = np.zeros(len(self.q)), _root(self.p), 0
        least = self._merit(t, s, z, target)
        if least <= 1.0:
            return None
        off_dual, off_primal, s_size, z_size = (float(np.max(np.abs(v))) for v in (*self._residuals(t, s, z), s, z))
        product = max(off_primal * z_size, off_dual * s_size, target / self.cone.degree)
        s, z = s + product / (z_size or 1.0) * self.cone.unit, z + product / (s_size or 1.0) * self.cone.unit
        while idle < PATIENCE:
            step = self._step(t, s, z, target / 2, root)
            t, s, z = (before + change for before, change in zip((t, s, z), step, strict=True))
            merit = self._merit(t, s, z, target)
            if merit <= 1.0:
                return t, s, z
            idle, least = (0, merit) if merit < least else (idle + 1, least)
        return None

    def _residuals(self, t: Array, s: Array, z: Array) -> tuple[Array, Array]:
        return self.p @ t + self.q + self.a.T @ z, self.a @ t + s - self.b

    def _merit(self, t: Array, s: Array, z: Array, target: float) -> float:
        """The largest of ⟨s, z⟩/target and of both residuals over what counts as their rounding."""
        p, q, a, b, t_size = *map(np.abs, (self.p, self.q, self.a, self.b)), np.abs(t)
        terms = p @ t_size + q + a.T @ np.abs(z), a @ t_size + np.abs(s) + b
        with np.errstate(all="ignore"):  # nan, of which no step gains anything
            residuals = [np.max(np.abs(r)) / (ROUNDED * np.max(each)) for r, each in zip(self._residuals(t, s, z), terms, strict=True)]
            return float(np.max([s @ z / np.float64(target), *residuals]))

    def _step(self, t: Array, s: Array, z: Array, target: float, root: Array) -> tuple[Array, Array, Array]:
        """Mehrotra's predictor and corrector, which lower ⟨s, z⟩ to no less than the target."""
        self.cone.scale(s, z)
        point, scaled = self.cone.scaled, self.cone.primal(self.a.T).T
        r_dual, r_primal = self._residuals(t, s, z)
        factor = la.qr(np.vstack([root, scaled]), mode="r")[0][: len(t)]

        def direction(wanted: Array) -> tuple[Array, Array, Array]:
            """dt, W⁻ᵀds and W dz, of which the last two have the sum `wanted`."""
            dt, ds, dz = np.zeros(len(t)), np.zeros(len(s)), np.zeros(len(z))
            for _ in range(REFINEMENTS):
                rest = self.cone.primal(r_primal + self.a @ dt + self.cone.primal_back(ds)) + wanted - ds - dz
                slope = r_dual + self.p @ dt + self.a.T @ self.cone.dual_back(dz) + scaled.T @ rest
                more = -la.solve_triangular(factor, la.solve_triangular(factor, slope, trans="T"))
                more_z = rest + scaled @ more
                dt, ds, dz = dt + more, wanted - dz - more_z, dz + more_z
            return dt, ds, dz

        def length(ds: Array, dz: Array) -> float:
            return NEAREST / max(NEAREST, self.cone.depth(ds), self.cone.depth(dz))

        _, ds, dz = direction(-point)
        aim = max((1.0 - length(ds, dz)) ** 3 * float(s @ z), target) / self.cone.degree
        dt, ds, dz = direction(self.cone.quotient(aim * self.cone.unit - self.cone.product(ds, dz)) - point)
        far = length(ds, dz)
        return far * dt, far * self.cone.primal_back(ds), far * self.cone.dual_back(dz)
