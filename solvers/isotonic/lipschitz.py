"""Lipschitz isotonic regression by the exact dynamic programme of the chain; L = ∞ is the pool-adjacent-violators problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simopt.certificates.certificate import Certificate
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.figures import draw, new_figure
from simopt.core.monotone_function import EXTRAPOLATIONS, MonotoneFunction
from simopt.core.ordering import ordered
from simopt.problems.domains import chain
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.solvers.isotonic.bounded_chain import fit_problem
from simopt.solvers.isotonic.pooled_gap import relative_gap
from simopt.solving.entry_points import certify

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """An exact fit.

    Attributes
    ----------
    problem : LipschitzIsotonic
        the samples, sorted by z.
    x, tau : (n,) and (n + 1,) arrays
        the fit at the sorted z, and its multipliers (see problems/domains/chain.py).
    order : (n,) array
        places of the sorted samples in what was given.
    extrapolation : str
        rule of the function beyond the samples.
    """

    problem: LipschitzIsotonic
    x: Array
    tau: Array
    order: npt.NDArray[np.intp]
    extrapolation: str = "constant"

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        """One line: the samples, the function, and the certified bracket."""
        return f"fit of {self.x.size} samples, L = {self.problem.lipschitz:g}: {self.function}; {self.certificate}"

    def plot(self) -> Figure:
        """Samples, the larger the heavier, and the function through the fit.

        Raises
        ------
        NotAvailable
            when matplotlib is not installed.
        """
        figure = new_figure(5.0, 3.5, "isotonic fits")
        axes = figure.subplots()
        given = self.problem
        axes.scatter(given.positions, given.targets, s=12.0 * given.mass / given.mass.max(), color="0.6", lw=0)
        draw(axes, self.function)
        axes.set(xlabel="z", ylabel="y, u(z)", title=f"L = {given.lipschitz:g}")
        return figure

    @cached_property
    def fitted(self) -> Array:
        """The fit at the samples in the order in which they were given."""
        out = np.empty_like(self.x)
        out[self.order] = self.x
        return out

    @cached_property
    def function(self) -> MonotoneFunction:
        """The piecewise linear function through the fit."""
        return MonotoneFunction.through(self.problem.positions, self.x, self.extrapolation)

    @cached_property
    def certificate(self) -> Certificate:
        """Bounds on the optimum. O(n)."""
        return certify(self.problem, {"x": self.x}, self.problem.as_multipliers(self.tau))

    def closes(self, tol: float) -> bool:
        """Whether the relative gap is proven to be at most `tol`: in one pass where that is enough, else by the certificate. O(n)."""
        return relative_gap(self.problem, self.x, self.tau) <= tol or self.certificate.closes(tol)


def lipschitz_isotonic(
    z: npt.ArrayLike,
    y: npt.ArrayLike,
    lipschitz: float = 1.0,
    weights: npt.ArrayLike | None = None,
    *,
    lower_slopes: npt.ArrayLike | None = None,
    upper_slopes: npt.ArrayLike | None = None,
    low: float | None = None,
    high: float | None = None,
    outside: str = "refuse",
    extrapolation: str = "constant",
) -> IsotonicFit:
    """min Σ w_i (u(z_i) − y_i)² over non-decreasing functions u with slopes at most L, z in any order.

    >>> lipschitz_isotonic([0.0, 1.0, 2.0], [0.0, 3.0, 3.0], lipschitz=2.0).fitted.round(9)
    array([0.5, 2.5, 3. ])

    Parameters
    ----------
    z, y : (n,) arrays
        places and targets; equal places get equal values.
    lipschitz : float
        L ≥ 0; ∞ for isotonic regression.
    weights : (n,) array, optional
        w ≥ 0, not all 0.
    lower_slopes, upper_slopes : (n − 1,) arrays, optional
        further bounds on the slopes between consecutive places of the sorted z; errors about them count samples in that order.
    low, high, outside
        range of u, and what becomes of targets outside of it: "refuse", "clip" or "keep".
    extrapolation : str
        "constant", "linear" or "refuse", beyond the samples.

    O(n log n) for the sort and O(n) for the fit on random data, O(n √n) at worst.

    Raises
    ------
    InvalidProblem
        for what LipschitzIsotonic refuses; z and y are its positions and targets.
    """
    validate.choice("extrapolation", extrapolation, EXTRAPOLATIONS)
    targets = validate.vector("targets", y)
    places = validate.vector("positions", z, length=len(targets), like="targets")
    # Looked at before the sort, so that an error names the entry that was given.
    mass = None if weights is None else chain.weights("weights", validate.vector("weights", weights, length=len(targets), like="targets"))
    targets = chain.in_range(targets, chain.end("low", low, -math.inf), chain.end("high", high, math.inf), outside)
    order, places = ordered(places)
    problem = LipschitzIsotonic(
        places,
        targets[order],
        lipschitz,
        None if mass is None else mass[order],
        None if lower_slopes is None else validate.numbers("lower_slopes", lower_slopes),
        None if upper_slopes is None else validate.numbers("upper_slopes", upper_slopes),
        low,
        high,
        outside,
    )
    x, tau = fit_problem(problem)
    return IsotonicFit(problem, x, tau, order, extrapolation)
