"""tφ(z/t), the perspective of another atom: relative entropies, squares over a variable, rows of exponential cones."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import Atom, DeclaredConjugate, Elementwise
from simopt.duality.atoms.total import Total
from simopt.duality.graph.vectors import Mask, Value, above, broadcast, divisor, full, is_zero, known, nothing, vector, where

STEPS, STEP = 8, 1e-6  # of Newton's method, and of its differences


class Perspective(Atom):
    """ψ(z, t) = tφ(z/t) for t > 0 and 0 at (0, 0); (sψ)*(u, v) = 0 for v ≤ −(sφ)*(u), else ∞: sup_t t(v + (sφ)*(u)).

    The remainder is t(sφ(z/t) + (sφ)*(u) − ⟨u, z/t⟩) + t(−v − (sφ)*(u)). Arguments are z, then t.

    Parameters
    ----------
    atom : Atom
        φ; a function of single numbers, with a t for each, or one function of all.
    size, count : int
        entries of z, and of t.
    """

    formula, conjugate_formula, domain_formula = "tφ(z/t), t > 0", "0", "v ≤ −φ*(u)"
    degree_formula = "1"

    def __init__(self, atom: Atom, size: int, count: int) -> None:
        if count != atom.outputs(size):
            raise ValueError(f"{count} denominators for {atom.outputs(size)} functions ({type(atom).__name__}); give one for each")
        self.atom, self.length, self.count = atom, size, count

    @property
    def degree(self) -> float | None:
        return 1.0

    def outputs(self, n: int) -> int:
        return self.count

    def _split(self, x: Value) -> tuple[Value, Value]:
        return x[np.arange(self.length)], x[np.arange(self.length, self.length + self.count)]

    def _quotient(self, num: Arithmetic, x: Value) -> tuple[Value, Value, Mask]:
        """z/t, t, and where t is known to be positive; elsewhere the first two have no meaning."""
        z, t = self._split(x)
        divided, positive = divisor(num, t)
        return z / broadcast(num, divided, self.length), where(num, positive, t, num.zeros(self.count)), positive

    def value(self, num: Arithmetic, z: Value) -> Value:
        ratio, t, positive = self._quotient(num, z)
        return t * self.atom.value(num, where(num, np.broadcast_to(positive, self.length), ratio, full(num, 1.0, self.length)))

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        ratio, _, positive = self._quotient(num, z)
        zero = is_zero(num, z)
        apart = np.broadcast_to(positive, self.length) & self.atom.inside(num, ratio, nonnegative[: self.length])
        nowhere = np.broadcast_to(zero[self.length :], self.length) & zero[: self.length]
        return np.concatenate([apart | nowhere, positive | zero[self.length :]])

    def _costs(self, num: Arithmetic, u: Value, s: Value) -> Value | None:
        """(sφ)*(u), for each t; None where u is outside of the domain."""
        if isinstance(self.atom, Elementwise):
            return None if self.atom.outside(num, u, s).any() else self.atom.conjugates(num, u, s)
        cost = self.atom.conjugate(num, u, s)
        return vector(num, cost) if known(num, cost) else None

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """u into the domain of (sφ)*, v down to −(sφ)*(u)."""
        u_z, v = self._split(u)
        u_z = self.atom.project(num, u_z, s)
        costs = self._costs(num, u_z, s)
        return num.concat([u_z, v if costs is None else num.minimum(v, -costs)])

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """−v − (sφ)*(u) for v. For u, in floats, the part of a step that the convex cost allows; else a number of the same sign."""
        u_z, v = self._split(u)
        costs = self._costs(num, u_z, s)
        if costs is None:
            return full(num, -1.0, len(u))
        left = -v - costs
        margin = num.minimum(self.atom.margin(num, u_z, s), broadcast(num, left, self.length))
        return num.concat([self._affordable(u_z, s, margin, broadcast(num, left, self.length)) if num is FLOAT else margin, left])

    def _affordable(self, u: Array, s: Array, margin: Array, left: Array) -> Array:
        """The part of the margin for which the cost, convex in u, rises by at most `left`; the margin itself if φ is not elementwise."""
        atom = self.atom.atom if isinstance(self.atom, Total) else self.atom
        if not isinstance(atom, Elementwise):
            return margin
        scale, step = np.broadcast_to(s, u.shape), np.maximum(margin, 0.0)
        here, *there = (atom.conjugates(FLOAT, u + shift, scale) for shift in (0.0, step, -step))
        rise = np.maximum(np.max(there, axis=0) - here, left)
        return np.where(margin > 0.0, margin * np.divide(left, rise, out=np.zeros(len(u)), where=rise > 0.0), margin)

    def inward(self, u: Array, by: float) -> Array:
        """v moved below −(sφ)*(u) by a fraction of the largest entry, as both may be 0 on the boundary."""
        u_z, v = self._split(u)
        return np.concatenate([u_z, v - by * np.max(np.abs(u), initial=0.0)])

    def matched(self, u: Array, s: Array, fixed: Mask, by: float) -> Array:
        """u in floats where (sφ)*(u) is −v less a fraction of the largest entry: entries that are `fixed` are computed from the others.

        If t is fixed this is v. If z is fixed and φ is elementwise, it is the u of z, by Newton's method.
        """
        (u_z, v), spare = self._split(u), by * np.max(np.abs(u), initial=0.0)
        free = fixed[: self.length] & ~fixed[self.length :] if isinstance(self.atom, Elementwise) else np.zeros(self.length, dtype=bool)
        for _ in range(STEPS if free.any() else 0):
            step = STEP * (1.0 + np.abs(u_z))
            here, ahead, behind = (self._costs(FLOAT, u_z + shift, s) for shift in (0.0, step, -step))
            if here is None or ahead is None or behind is None:
                break
            with np.errstate(all="ignore"):
                moved = u_z - (here + v + spare) / (ahead - behind) * (2.0 * step)
            u_z = np.where(free & np.isfinite(moved), moved, u_z)
        costs = self._costs(FLOAT, u_z, s)
        return np.concatenate([u_z, v if costs is None else np.where(fixed[self.length :], -costs - spare, v)])

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        u_z, v = self._split(u)
        costs = self._costs(num, u_z, s)
        if costs is None or not known(num, num.sum(costs)) or not known(num, num.sum(v)) or above(num, v, -costs).any():
            return nothing(num)
        return num.lift(0.0)

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        u_z, v = u[: self.length], u[self.length :]
        declare = self.atom.declared_conjugates if isinstance(self.atom, Elementwise) else self.atom.declared_conjugate
        costs, domain = declare(u_z, s)
        return cp.Constant(0.0), [*domain, v + costs <= 0]

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        """t times the remainder of the atom at z/t, and t times −v − (sφ)*(u)."""
        ratio, t, positive = self._quotient(num, z)
        u_z, v = self._split(u)
        ratio = where(num, np.broadcast_to(positive, self.length), ratio, full(num, 1.0, self.length))
        if isinstance(self.atom, Elementwise):
            near = self.atom.remainders(num, ratio, u_z, s)
        else:
            near = vector(num, self.atom.remainder(num, ratio, u_z, s))
        costs = self._costs(num, u_z, s)
        return nothing(num) if costs is None else num.sum(t * near + t * num.pos(-v - costs))

    def slope(self, z: Array, s: Array) -> Array:
        ratio, _, _ = self._quotient(FLOAT, z)
        u_z = self.atom.slope(ratio, s)
        costs = self._costs(FLOAT, u_z, s)
        return np.concatenate([u_z, np.zeros(self.count) if costs is None else -costs])
