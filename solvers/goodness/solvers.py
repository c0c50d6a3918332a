r"""The solvers of goodness: which one each of its programmes has, and when.

Each minimises a loss of the predictions f = Gv over weights v in a box or a ball; thresholds join v for ordinal targets. Interior points
come first: few iterations, each one Cholesky factorisation, and a gap from the point and the multipliers at hand.
  losses of hinges      interior points in box or ball; at large B rounding stops them in the box, and the dual simplex method of HiGHS
                        gives the last iterate
  the squared loss      interior points in the box, then an active set from there; in a ball, the secular equation of its multiplier
  a choice function     the simplex method for hinges, interior points with a knapsack row for squares
  the smallest B        Newton's method on the curve B ↦ ε₀(B)
The curve itself, the programmes in fractions and the enclosures have functions of their own (curve.py, exact.py, ordinal_exact.py,
enclosure.py, direct_reduction.py). An engine is imported by the way that takes it: who solves one programme waits for no other's.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.model.problem import Problem
from simopt.problems.goodness import Goodness
from simopt.problems.goodness_choice import GoodnessChoice
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.kernel_ranking import KernelRanking
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.problems.ranking_goodness import RankingGoodness
from simopt.problems.smallest_bound import SmallestBound
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


def linear(problem: Problem) -> str | None:
    """Why the problem is no linear programme; None if it is one."""
    return "the squared loss is no linear programme" if getattr(problem, "loss", None) == "squared" else None


def quadratic(problem: Problem) -> str | None:
    """Why the problem is no least-squares problem; None if it is one."""
    return None if getattr(problem, "loss", None) == "squared" else "the loss is no square; simplex solves the linear programme"


@solver("interior-point", solves=Goodness, summary="Mehrotra's method on the box, simplex where it stagnates", rank=10)
def interior_point(problem: Goodness, *, tol: float, max_iter: int = 80) -> Iterator[Iterate]:
    """Kar & Jain 2012, Definition 2. N × N memory, 4N³/3 flops an iteration (N³/3 for the squared loss)."""
    from simopt.solvers.goodness.box_hinges import hinge_iterates
    from simopt.solvers.goodness.box_squares import squared_iterates

    if problem.loss == "squared":
        yield from squared_iterates(problem, tol, max_iter)
    else:
        yield from hinge_iterates(problem, tol, max_iter)
        yield from simplex(problem, tol=tol)


@solver("simplex", solves=Goodness, supports=linear, summary="dual simplex of HiGHS on w = x/max p, multipliers from its rows", rank=5)
def simplex(problem: Goodness, *, tol: float) -> Iterator[Iterate]:
    """One vertex. For a sweep over B, `goodness_curve` keeps the basis between bounds."""
    from simopt.solvers.goodness.simplex import GoodnessSimplex

    found = GoodnessSimplex(problem).solve(problem.bound)
    yield Iterate({"v": found.v}, {"predictions": found.q}, 0.0)


@solver("simplex", solves=GoodnessChoice, supports=linear, summary="dual simplex of HiGHS on v = v⁺ − v⁻ with Σ p(v⁺ + v⁻) ≤ τ", rank=10)
def choice_simplex(problem: GoodnessChoice, *, tol: float) -> Iterator[Iterate]:
    """R is only there to bound Σ p|v| by τ: 2N weights, one row more than `Goodness`. Kar & Jain 2012, Definition 7."""
    from simopt.solvers.goodness.choice import relaxed

    yield relaxed(problem)


@solver("interior-point", solves=GoodnessChoice, supports=quadratic, summary="Mehrotra's method on the box and the knapsack row", rank=5)
def choice_interior_point(problem: GoodnessChoice, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """The squared loss. N × N memory, N³/3 flops an iteration. Kar & Jain 2012, Definition 7."""
    from simopt.solvers.goodness.knapsack_squares import knapsack_iterates

    yield from knapsack_iterates(problem, tol, max_iter)


@solver("interior-point", solves=KernelGoodness, summary="interior points in a factor of K; squared loss: secular equation", rank=10)
def kernel_interior_point(problem: KernelGoodness, *, tol: float, max_iter: int = 80) -> Iterator[Iterate]:
    """Kar & Jain 2012, Definition 4. n r² + r³/3 flops an iteration, r the numerical rank of K; squared loss: one eigendecomposition."""
    from simopt.solvers.goodness.ball_hinges import ball_iterates, squared

    if problem.loss == "squared":
        yield squared(problem)
    else:
        yield from ball_iterates(problem, tol, max_iter)


@solver("interior-point", solves=OrdinalGoodness, summary="Mehrotra's method in (w, b), simplex where it stagnates", rank=10)
def ordinal_interior_point(problem: OrdinalGoodness, *, tol: float, max_iter: int = 80) -> Iterator[Iterate]:
    """Kar & Jain 2012, Definition 12. N × N memory, 4N³/3 flops an iteration."""
    from simopt.solvers.goodness.ordinal_hinges import ordinal_iterates
    from simopt.solvers.goodness.ordinal_simplex import vertex

    yield from ordinal_iterates(problem, tol, max_iter)
    yield vertex(problem)


@solver("simplex", solves=OrdinalGoodness, summary="dual simplex of HiGHS on (w, b), multipliers from its rows", rank=5)
def ordinal_simplex(problem: OrdinalGoodness, *, tol: float) -> Iterator[Iterate]:
    """One vertex. Kar & Jain 2012, Definition 12."""
    from simopt.solvers.goodness.ordinal_simplex import vertex

    yield vertex(problem)


@solver("interior-point", solves=KernelOrdinalGoodness, summary="interior points in a factor of K and the thresholds", rank=10)
def kernel_ordinal_interior_point(problem: KernelOrdinalGoodness, *, tol: float, max_iter: int = 80) -> Iterator[Iterate]:
    """Kar & Jain 2012, Definition 26. n r² + r³/3 flops an iteration, r the numerical rank of K."""
    from simopt.solvers.goodness.ordinal_hinges import ordinal_iterates

    yield from ordinal_iterates(problem, tol, max_iter)


@solver("closed-form", solves=KernelRanking, summary="one Cholesky factorisation, refined until the certificate closes", rank=10)
def ranking_closed_form(problem: KernelRanking, *, tol: float, max_iter: int = 4) -> Iterator[Iterate]:
    """N³/3 flops; every further iterate is a step of refinement, 4 N² flops."""
    from simopt.solvers.goodness.kernel_ranking import refined

    yield from refined(problem, max_iter)


@solver("interior-point", solves=RankingGoodness, summary="Mehrotra's method on the box, as for squared goodness", rank=10)
def ranking_interior_point(problem: RankingGoodness, *, tol: float, max_iter: int = 80) -> Iterator[Iterate]:
    """O(nN²), then N³/3 flops an iteration."""
    from simopt.solvers.goodness.box_squares import ranking_iterates

    yield from ranking_iterates(problem, tol, max_iter)


@solver("newton", solves=SmallestBound, summary="Newton's method on the curve of goodness, warm simplex or interior points", rank=10)
def smallest_bound_newton(problem: SmallestBound, *, tol: float, max_iter: int = 200) -> Iterator[Iterate]:
    """From B = 0 upwards; finitely many steps for the linear losses. Kar & Jain 2012, Definition 2."""
    from simopt.solvers.goodness.smallest_bound import newton_on_curve

    yield from newton_on_curve(problem, max_iter)
