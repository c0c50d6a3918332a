r"""The bound on x in the interior-point method of ordinal goodness: the box |v| ≤ 1 of a similarity, the ball ‖u‖ ≤ R of a kernel.

Each has slacks with multipliers of its own, and adds to the equation Gᵀ(Σ Ma) + … = 0, to the Newton matrix and to its right-hand side
(solvers/goodness/ordinal_hinges.py). The free variables of a state are x and b.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from simopt.core.arrays import Array
from simopt.solvers.interior.pairs import InteriorState, Parts


class Region(ABC):
    """A bound on x: the parts from the fourth on of slacks and multipliers."""

    joint = False  # whether primal and dual variables have to go equally far

    @abstractmethod
    def start(self, pull: Array, mean_mass: float) -> tuple[Array, Parts, Parts]:
        """x, slacks and multipliers, given Gᵀq and the size of a mass."""

    @abstractmethod
    def r_dual(self, x: InteriorState) -> Array:
        """The region's term in the equation Gᵀq + … = 0."""

    @abstractmethod
    def matrix(self, x: InteriorState, into: Array) -> None:
        """Adds the region's part of the Newton matrix to the lower triangle of that of x."""

    def r_primal(self, x: InteriorState) -> Parts:
        """The residuals of its slacks."""
        return ()

    def corrector_r_primal(self, r_primal: Parts, dx: Array) -> Parts:
        """The same less its change to second order by a predictor dx."""
        return r_primal

    @abstractmethod
    def rhs(self, x: InteriorState, r_comp: Parts, r_primal: Parts) -> Array:
        """Its part of the right-hand side."""

    @abstractmethod
    def direction(self, x: InteriorState, dx: Array, r_comp: Parts, r_primal: Parts) -> tuple[Parts, Parts]:
        """Changes of its slacks and multipliers."""

    def with_longest_slack(self, x: InteriorState) -> InteriorState:
        """The state after a step, with slacks of the region that are as long as x allows."""
        return x


class BoxRegion(Region):
    """−1 ≤ v ≤ 1."""

    def __init__(self, size: int) -> None:
        self.size = size

    def start(self, pull: Array, mean_mass: float) -> tuple[Array, Parts, Parts]:
        """v = 0 and z with Gᵀq + z_l − z_u = 0."""
        low = np.maximum(-pull, 0.0) + max(0.2 * float(np.mean(np.abs(pull))), 1e-3 * mean_mass)
        one = np.ones(self.size)
        return 0.0 * one, (one, one), (low, low + pull)

    def r_dual(self, x: InteriorState) -> Array:
        """z_l − z_u."""
        out: Array = x.multipliers[3] - x.multipliers[4]
        return out

    def matrix(self, x: InteriorState, into: Array) -> None:
        """diag(z_l/(v + 1) + z_u/(1 − v))."""
        at = np.arange(self.size)
        into[at, at] += x.multipliers[3] / x.slacks[3] + x.multipliers[4] / x.slacks[4]

    def rhs(self, x: InteriorState, r_comp: Parts, r_primal: Parts) -> Array:
        """Residuals of the products over slacks."""
        out: Array = r_comp[0] / x.slacks[3] - r_comp[1] / x.slacks[4]
        return out

    def direction(self, x: InteriorState, dx: Array, r_comp: Parts, r_primal: Parts) -> tuple[Parts, Parts]:
        """±dv."""
        (left, right), (low, high) = x.slacks[3:], x.multipliers[3:]
        return (dx, -dx), ((r_comp[0] - low * dx) / left, (r_comp[1] + high * dx) / right)


class BallRegion(Region):
    """‖u‖ ≤ R."""

    joint = True

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def start(self, pull: Array, mean_mass: float) -> tuple[Array, Parts, Parts]:
        """λ and u with λu = Gᵀq, ‖u‖ ≤ R/√2; λ so large that a Gᵀq which is 0 to rounding does not send u across the ball with no λ."""
        strength = max(np.sqrt(2.0) * float(np.linalg.norm(pull)) / self.radius, 2.0 * mean_mass / self.radius**2)
        u: Array = pull / strength
        return u, (np.array([0.5 * (self.radius**2 - float(u @ u))]),), (np.array([strength]),)

    def r_dual(self, x: InteriorState) -> Array:
        """−λu."""
        return -x.multipliers[3] * x.free[0]

    def matrix(self, x: InteriorState, into: Array) -> None:
        """λI + (λ/ω)uuᵀ."""
        u, ratio = x.free[0], float(x.multipliers[3][0] / x.slacks[3][0])
        n, at = len(u), np.arange(len(u))
        into[:n, :n] += ratio * np.outer(u, u)
        into[at, at] += x.multipliers[3][0]

    def r_primal(self, x: InteriorState) -> Parts:
        """½(R² − ‖u‖²) − ω."""
        return (0.5 * (self.radius**2 - x.free[0] @ x.free[0]) - x.slacks[3],)

    def corrector_r_primal(self, r_primal: Parts, dx: Array) -> Parts:
        """Less ½‖du‖²."""
        return (r_primal[0] - 0.5 * float(dx @ dx),)

    def rhs(self, x: InteriorState, r_comp: Parts, r_primal: Parts) -> Array:
        """−u(r_comp − λ·r_primal)/ω."""
        out: Array = -x.free[0] * ((r_comp[0] - x.multipliers[3] * r_primal[0]) / x.slacks[3])
        return out

    def direction(self, x: InteriorState, dx: Array, r_comp: Parts, r_primal: Parts) -> tuple[Parts, Parts]:
        """dω and dλ."""
        domega = r_primal[0] - x.free[0] @ dx
        return (domega,), ((r_comp[0] - x.multipliers[3] * domega) / x.slacks[3],)

    def with_longest_slack(self, x: InteriorState) -> InteriorState:
        """ω raised to ½(R² − ‖u‖²): its tangent may say that the ball ends before it does, and short steps would follow.

        On K = 1 + 1e-8 XXᵀ and R = 10 a step that brought ‖u‖ from 0.6 to 1.9 left ω = 0.25 of 48. The run stood at a gap of 1e-4.
        """
        slack = np.maximum(x.slacks[3], 0.5 * (self.radius**2 - float(x.free[0] @ x.free[0])))
        return x._replace(slacks=(*x.slacks[:3], slack))
