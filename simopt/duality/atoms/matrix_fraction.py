"""The matrix fraction tr XᵀP⁻¹X."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval
from simopt.arithmetic.definite import semidefinite_rank
from simopt.arithmetic.eigenvalues import least_bound
from simopt.arithmetic.linear import solve
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom, DeclaredConjugate
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.symmetric_matrix import INSIDE, LEAST, clipped, decomposed
from simopt.duality.graph.vectors import Mask, Value, full, inner, is_zero, nothing, vector


class MatrixFraction(Atom):
    """φ(X, P) = tr XᵀP⁻¹X for P ≻ 0; (sφ)* = 0 at u = (Y, W) for [[−W, Y/2], [Yᵀ/2, sI]] ⪰ 0.

    z is vec(X), column by column, above the triangle of P (`symmetric_matrix`).

    Parameters
    ----------
    n, m : int
        X is n × m, P is n × n.
    """

    formula, conjugate_formula, domain_formula = "tr XᵀP⁻¹X", "0", "[[−W, Y/2], [Yᵀ/2, I]] ⪰ 0"
    degree_formula = "1"

    def __init__(self, n: int, m: int) -> None:
        self.n, self.m, self.cone = n, m, SemidefiniteCone(n)
        self.length = n * m + self.cone.length

    @property
    def degree(self) -> float | None:
        return 1.0

    def _upper(self, z: Value) -> Value:
        shape, x = (self.n, self.m), z[: self.n * self.m]
        if isinstance(x, Interval):
            return Interval(x.mid.reshape(shape, order="F"), x.rad.reshape(shape, order="F"))
        return x.reshape(shape, order="F")

    def _lower(self, z: Value) -> Value:
        return z[self.n * self.m :]

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        matrix = self.cone.matrix(num, self._lower(z))
        definite = semidefinite_rank(matrix) == self.n if num is RATIONAL else least_bound(num, matrix) > 0.0
        return np.full(self.length, definite)

    def value(self, num: Arithmetic, z: Value) -> Value:
        x, p = self._upper(z), self.cone.matrix(num, self._lower(z))
        if num is INTERVAL:
            return vector(num, self._enclosed(x, p))
        solved = solve(num, p, x)
        return vector(num, nothing(num) if solved is None else num.pos(num.dot(vector(num, x), vector(num, solved))))

    def _enclosed(self, x: Interval, p: Interval) -> Value:
        """2⟨X, W⟩ − ⟨W, PW⟩ + tr RᵀP⁻¹R with W near P⁻¹X and R = X − PW: the last is at most ‖R‖²/λ_min(P), and of second order.

        So the condition of P, which has an optimum on the boundary in many models, costs no digits.
        """
        least = least_bound(INTERVAL, p)
        near = solve(FLOAT, p.mid, x.mid) if least > 0.0 else None
        if near is None:
            return nothing(INTERVAL)
        w, image = Interval(near), INTERVAL.matvec(p, Interval(near))
        rest, tangent = vector(INTERVAL, x - image), vector(INTERVAL, x + x - image)
        most = INTERVAL.upper(INTERVAL.dot(rest, rest) / Interval(least))
        return INTERVAL.pos(INTERVAL.dot(tangent, vector(INTERVAL, w)) + Interval.hull(0.0, most))

    def _block(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """[[−W, Y/2], [Yᵀ/2, sI]]."""
        y, w = self._upper(u) * num.lift(np.array(0.5)), -self.cone.dual_matrix(num, self._lower(u))
        scale = num.lift(np.eye(self.m)) * s[0]
        if not isinstance(y, Interval):
            return np.block([[w, y], [y.T, scale]])
        return Interval(*(np.block([[a, b], [b.T, c]]) for a, b, c in zip(*((x.mid, x.rad) for x in (w, y, scale)), strict=True)))

    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        """The least eigenvalue of the block."""
        return least_bound(num, self._block(num, u, s))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return full(num, max(self.distance(num, u, s), LEAST), self.length)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """W lowered by what the block lacks."""
        if is_zero(num, s).all():
            return num.zeros(self.length)
        if self.distance(num, u, s) >= 0.0:
            return u
        y, w = (np.asarray(num.mid(part), dtype=float) for part in (self._upper(u), self.cone.dual_matrix(num, self._lower(u))))
        least = y @ y.T / (4 * float(num.mid(s)[0]))
        lowered = clipped(-w - least) + least
        lowered += np.eye(self.n) * (self.n + self.m) * INSIDE * float(np.max(np.abs(lowered), initial=0.0))
        return num.lift(np.concatenate([y.reshape(-1, order="F"), -self.cone.coordinates(lowered)]))

    def matched(self, u: Array, s: Array, x: Array, by: float) -> Array:
        """(Y, W) in floats with the W of u, and the Y that is best beside it for a constant X, drawn inside by the fraction `by`.

        max ⟨Y, X⟩ subject to YYᵀ ⪯ −4sW: Y = 2√s (−W)^½ Q, Q the orthogonal polar factor of (−W)^½ X.
        """
        values, vectors = decomposed(-self.cone.dual_matrix(FLOAT, self._lower(u)))
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        image = root @ self._upper(x)
        if not np.isfinite(image).all():
            return u
        left, _, right = np.linalg.svd(image, full_matrices=False)
        y = 2.0 * np.sqrt(s[0]) * (1.0 - by) * root @ left @ right
        return np.concatenate([y.reshape(-1, order="F"), self._lower(u)])

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        return num.lift(0.0) if self.distance(num, u, s) >= 0.0 else nothing(num)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(inner(num, s, self.value(num, z)) - inner(num, u, z))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        y = cp.reshape(u[: self.n * self.m], (self.n, self.m), order="F") / 2
        block = cp.bmat([[-self.cone.declared_dual(u[self.n * self.m :]), y], [y.T, s[0] * np.eye(self.m)]])
        return cp.Constant(0.0), [block >> 0]

    def slope(self, z: Array, s: Array) -> Array:
        try:
            solved = np.linalg.solve(self.cone.matrix(FLOAT, self._lower(z)), self._upper(z))
        except np.linalg.LinAlgError:  # an eigenvalue is 0 to rounding, and counts as above 0
            return np.full(self.length, np.nan)
        return np.concatenate([2 * s[0] * solved.reshape(-1, order="F"), self.cone.coordinates(-s[0] * solved @ solved.T)])
