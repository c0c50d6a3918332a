"""Families whose members are declared problems: solved by `simopt.solve`, with the radius that the certificate of each solution proves."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simopt.core import validate
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.equivalence.family import Family, Interval, positive
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.model.problem import Problem, is_cvxpy
from simopt.solving.solution import Solution

if TYPE_CHECKING:
    import cvxpy as cp

    from simopt.equivalence.declared_radius import Element, Radius

ROUNDING = 8 * EPS  # a certificate evaluated in floats is trusted to this fraction of ‖f‖
NAMES = ("alpha", "w")
Pose = Callable[[float, TrainingSet], "Problem | cp.Problem | tuple[cp.Problem, cp.Variable]"]
RadiusOf = Callable[[Problem, Solution], float]


def certificate_radius(problem: Problem, solution: Solution) -> float:
    """`Problem.distance` of the solution's gap; ∞ without a certificate."""
    if solution.certificate is None or solution.point is None:
        return math.inf
    return problem.distance(solution.certificate.gap, dict(solution.point))


@dataclass(frozen=True)
class DeclaredFamily(Family):
    """A(λ)(Z) is the solution of a declared problem; `fit` solves it, and `radius` says where its radius comes from.

    Attributes
    ----------
    pose : callable
        (λ, Z) → the problem.
    solver : str
    tol, time_limit : float
        gap and seconds asked for.
    radius_of : callable
        (problem, solution) → radius, for problems of simopt whose distance is written by hand.
    """

    pose: Pose = field(kw_only=True)
    solver: str = "clarabel"
    tol: float = 1e-9
    time_limit: float = 60.0
    radius_of: RadiusOf = certificate_radius

    def solved(self, parameter: float, Z: TrainingSet) -> tuple[KernelFunction, Radius]:
        """The function, and its radius with the rule that proved it.

        Raises
        ------
        ArithmeticError
            when the solver returns no point.
        InvalidProblem
            for a parameter outside the domain, and when the problem has no variable alpha or w of the right size.
        """
        return self._solved(self.inside(parameter, Z), Z)

    def _solved(self, parameter: float, Z: TrainingSet) -> tuple[KernelFunction, Radius]:
        from simopt.equivalence.declared_radius import Radius
        from simopt.solving.entry_points import solve

        posed = self.pose(parameter, Z)
        problem, element = _read(posed, Z)
        solution = solve(problem, self.solver, tol=self.tol, time_limit=self.time_limit)
        if solution.point is None:
            said = f"{solution.reported_status}: {solution.message}"
            raise ArithmeticError(f"{self.name} at {parameter:g}: {self.solver} returned no point ({said})")
        if element is None:
            f = Z.function(np.asarray(solution.point["alpha"]))
            found = Radius(self.radius_of(problem, solution), f"the distance of {problem.name}")
        else:
            f, found = _proven(problem, element, solution, Z)
        error = found.value + f.error + ROUNDING * f.norm()
        return replace(f, error=error), replace(found, value=error)

    def again(self, *, solver: str | None = None, tol: float | None = None) -> DeclaredFamily:
        """The same members by another solver or to another tolerance."""
        return learned(
            self.name.removesuffix(f" by {self.solver}"),
            self.pose,
            solver=solver or self.solver,
            tol=self.tol if tol is None else tol,
            time_limit=self.time_limit,
            domain=self.domain,
            radius=self.radius_of,
        )

    def radius(self, parameter: float, Z: TrainingSet) -> Radius:
        """The radius of A(λ)(Z) and the rule that gives it; where it is ∞, why nothing is known of the optimum.

        Raises
        ------
        ArithmeticError, InvalidProblem
            as `solved`.
        """
        return self.solved(parameter, Z)[1]


def learned(
    name: str,
    pose: Pose,
    *,
    solver: str = "clarabel",
    tol: float = 1e-9,
    time_limit: float = 60.0,
    domain: Callable[[TrainingSet], Interval] = positive,
    radius: RadiusOf = certificate_radius,
) -> DeclaredFamily:
    """A family whose members are solved through `simopt.solve`, with the radius that each certificate gives (not only when it is OPTIMAL).

    For a `cvxpy.Problem` the radius is proven from the declaration, in intervals: `simopt.equivalence.declared_radius` has the rules. It
    is ∞ where the declaration has no multiple of ‖f‖² and no power of ‖f‖: answers are then UNDECIDED, and `radius(λ, Z).why` says why.

    Parameters
    ----------
    pose : callable
        (λ, Z) → a `cvxpy.Problem` with a variable named "alpha", shape (n,), the coefficients of f = Σ_j α_j k(·, x_j), whose norm is
        declared by `cp.quad_form(alpha, cp.psd_wrap(Z.gram))`. Or one named "w", shape (r,), the coordinates of f in `Z.features`, whose
        norm is ‖w‖₂. Take w where the Gram matrix is singular to rounding. Or (problem, variable), the variable in the role of alpha.
        Or one of simopt's kernel problems, with a point {"alpha": …} over the points of Z.
    domain : callable
        Z → the interval of λ.
    radius : callable
        (problem, solution) → radius in the H-norm around the solution that holds the optimum; for simopt's problems written by hand.

    Raises (on use)
    ---------------
    ArithmeticError
        when the solver returns no point.
    InvalidProblem
        when there is no such variable.

    >>> import cvxpy as cp, numpy as np
    >>> from simopt.data.similarities import Gaussian
    >>> def huber(lam, Z):
    ...     w = cp.Variable(Z.features.shape[1], name="w")
    ...     return cp.Problem(cp.Minimize(cp.sum(cp.huber(Z.targets - Z.features @ w)) / Z.n + lam * cp.sum_squares(w)))
    >>> Z = TrainingSet(np.arange(6.0)[:, None], np.array([0.0, 1.0, 0.0, -1.0, 0.0, 9.0]), Gaussian(1.0))
    >>> f = learned("huber", huber)(0.1, Z)
    >>> f.error < 1e-4 * f.norm()
    True
    """

    def fit(parameter: float, Z: TrainingSet) -> KernelFunction:
        return found._solved(parameter, Z)[0]

    tol, time_limit = validate.positive("tol", tol), validate.seconds("time_limit", time_limit)
    found = DeclaredFamily(f"{name} by {solver}", fit, domain, pose=pose, solver=solver, tol=tol, time_limit=time_limit, radius_of=radius)
    return found


def _read(posed: Any, Z: TrainingSet) -> tuple[Problem, Element | None]:
    """The problem, and the variable that is the function; None where the problem knows its own distance in H."""
    from simopt.duality.declaration import DeclaredProblem
    from simopt.duality.declared import Declared

    if isinstance(posed, Problem) and not isinstance(posed, (Declared, DeclaredProblem)):
        return posed, None
    if isinstance(posed, DeclaredProblem):
        return posed, _element(posed.derived, None, Z)
    problem, variable = posed if isinstance(posed, tuple) else (posed, None)
    if not (isinstance(problem, Declared) or is_cvxpy(problem)):
        raise InvalidProblem(f"pose: a cvxpy.Problem or a problem of simopt needed, {type(problem).__name__} given")
    try:
        declared = problem if isinstance(problem, Declared) else Declared.of(problem)
    except Unreadable as error:
        raise InvalidProblem(f"pose: {error}; for a Gram matrix that is singular to rounding declare w in Z.features") from error
    return declared, _element(declared, variable, Z)


def _element(declared: Any, variable: Any, Z: TrainingSet) -> Element:
    from simopt.equivalence.declared_radius import Element

    leaves = declared.programme.leaves
    if variable is not None:
        key = declared.programme.variables.get(variable.id)
        if key not in leaves:
            raise InvalidProblem(f"pose: the variable {variable.name()} is none of the problem, or an equality defines it")
        leaf, coefficients = leaves[key], True
    else:
        named = {leaf.name: leaf for leaf in leaves.values() if leaf.name in NAMES}
        if len(named) != 1:
            has = ", ".join(sorted(leaf.name for leaf in leaves.values())) or "none"
            raise InvalidProblem(f"pose: one variable named alpha (coefficients) or w (coordinates in Z.features) needed; it has {has}")
        ((name, leaf),) = named.items()
        coefficients = name == "alpha"
    size = Z.n if coefficients else Z.features.shape[1]
    if leaf.size != size:
        raise InvalidProblem(f"pose: {leaf.name} has {leaf.size} entries, {size} needed on this set")
    return Element(leaf, Z.gram if coefficients else None)


def _proven(problem: Problem, element: Element, solution: Solution, Z: TrainingSet) -> tuple[KernelFunction, Radius]:
    """The function of the point that intervals make feasible, and the radius around it."""
    from simopt.arithmetic import INTERVAL, Interval
    from simopt.certificates.assessment import judge
    from simopt.duality.declared import Declared
    from simopt.equivalence.declared_radius import declared_radius

    given = None if solution.multipliers is None else dict(solution.multipliers)
    found = judge(problem, dict(solution.point or {}), given, INTERVAL)
    x = found.point[element.leaf.name]
    middle, spaced = (x.mid.ravel(), x.rad.ravel()) if isinstance(x, Interval) else (np.asarray(x, dtype=float).ravel(), np.zeros(1))
    declared = problem if isinstance(problem, Declared) else problem.derived  # type: ignore[attr-defined]
    f, off = (Z.function(middle) if element.gram is not None else Z.of_features(middle)), element.norm(spaced)
    sizes = max(element.norm(middle) - off, 0.0), element.norm(middle) + off
    return replace(f, error=f.error + off), declared_radius(declared, element, found.point, sizes, found.multipliers)
