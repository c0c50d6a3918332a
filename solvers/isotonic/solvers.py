"""Monotone functions of one variable with bounded slopes, and the losses that match a monotone transfer function.

The nearest in squares is found exactly by a dynamic programme along the chain of samples (`chain_programme`; `pooling` where every step is
free or zero). The nearest in the largest distance is half-way between two envelopes. A matching loss over a ball is minimised by Newton
steps; GLM-tron, whose error falls as 1/t at worst, is there to be compared with and has the lower rank.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.core import validate
from simopt.problems.lipschitz_isotonic import LipschitzIsotonic
from simopt.problems.matching_loss import MatchingLoss
from simopt.problems.sup_distance import SupDistance
from simopt.solvers.isotonic.envelopes import enveloped
from simopt.solvers.isotonic.matching_loss import newton_in_ball, projected_gradients
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver("lpav", solves=LipschitzIsotonic, summary="exact dynamic programme on the derivative of the cost-to-go, O(m √m) at worst", rank=1)
def lpav(problem: LipschitzIsotonic, *, tol: float) -> Iterator[Iterate]:
    """The exact solution, at once; its multipliers are the cumulative residuals.

    O(m) on random data, O(m √m) at worst; about 10 floats a sample.
    Source: Kakade, Kalai, Kanade & Shamir 2011, §4, for the problem.
    """
    from simopt.solvers.isotonic.bounded_chain import fit_problem  # kernels that the other problems have no use for

    x, tau = fit_problem(problem)
    yield Iterate({"x": x}, problem.as_multipliers(tau))


@solver("envelopes", solves=SupDistance, summary="the mean of the least member above and the greatest below, exactly, O(n)", rank=1)
def envelopes(problem: SupDistance, *, tol: float) -> Iterator[Iterate]:
    """x = (A + B)/2, A the least monotone Lipschitz function above y and B the greatest below, with the worst pair's multipliers. O(n)."""
    above, below = enveloped(problem)
    x = 0.5 * (above + below)
    yield Iterate({"x": x}, problem.multipliers({"x": x}))


@solver("newton", solves=MatchingLoss, summary="Newton steps over the ball by its secular equation, exact line search", rank=10)
def newton(problem: MatchingLoss, *, tol: float, max_iter: int = 1000) -> Iterator[Iterate]:
    """The loss is minimised between w and the minimiser over the ball of its second-order model there.

    A step costs min(m, d)²(m + d) multiplications and the products of the line search, at most one a halving.
    """
    return newton_in_ball(problem, max_iter)


@solver("glm-tron", solves=MatchingLoss, summary="w + (η/m) Σ (y − u(⟨w, x⟩)) x, drawn back into the ball; first order", rank=1)
def glm_tron(problem: MatchingLoss, *, tol: float, max_iter: int = 100_000, every: int = 10) -> Iterator[Iterate]:
    """GLM-tron's step is one of gradient descent on the matching loss; with η = 1/(Lip(u) λ_max(XᵀX/m)) it descends, whatever ‖x‖ is.

    Two products with X a step, of which every `every`-th is shown; the error falls as 1/t at worst. The paper has no ball, and η = 1 with
    ‖x‖ ≤ 1; estimators/index_models/isotron.py runs it so. Source: Kakade, Kalai, Kanade & Shamir 2011, Algorithm 1.
    """
    return projected_gradients(problem, max_iter, validate.whole("every", every, minimum=1))
