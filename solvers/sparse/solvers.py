"""Regression on landmarks over the ℓ₁ ball, whose solutions have few weights that are not 0: the smoothed ε-insensitive loss.

A growing set S of columns with Newton steps on it (`newton`) is the default (the highest rank of `@solver` is). The reason: a step costs
n|S|², and one of interior points n d². It goes over to these by itself where the solution is not sparse, and they have a name, too. Forward
greedy selection, one column a step, is the algorithm of the paper, with the rules that repair it. What selects columns for the squared loss
(`forward_selection`, `foba`) is no programme over a ball and is called as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.core import validate
from simopt.problems.sparse_landmarked import SparseLandmarked
from simopt.solvers.sparse import sparse_interior
from simopt.solvers.sparse.forward_greedy import RULES, greedy_steps, rough
from simopt.solvers.sparse.newton import fully_corrective, multipliers
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver


@solver("active-set", solves=SparseLandmarked, summary="fully corrective active set, semismooth Newton on the faces of the ball", rank=10)
def active_set(
    problem: SparseLandmarked, *, tol: float, max_iter: int = 2000, dense: int = 200, wide: int = 2000, adding: float = 0.5
) -> Iterator[Iterate]:
    """One look at all columns an iterate: O(nd). Between looks O(n|S|²) a Newton step, of which a few are made.

    `adding` is the fraction of ‖G‖_∞ from which columns join S. If S grows past `dense`, or the gap stays open, interior points take over,
    and for more than `wide` columns accelerated projected gradients.
    """
    return fully_corrective(problem, tol, max_iter, dense, wide, adding)


@solver("interior-point", solves=SparseLandmarked, summary="Mehrotra's predictor-corrector for hinges and ℓ₁ ball", rank=5)
def interior_point(problem: SparseLandmarked, *, tol: float, max_iter: int = 100) -> Iterator[Iterate]:
    """10 to 40 iterations of n d² + d³/3 multiplications, whatever β and however many weights are 0; 25 vectors of n numbers beside Ψ.

    If the ball is far larger than the solution needs, B times the rounding errors of the gradient remain of the gap.
    """
    return sparse_interior.interior_point(problem, tol=tol, max_iter=max_iter)


@solver(
    "forward-greedy",
    solves=SparseLandmarked,
    summary="Algorithm 2: one coordinate a step; as printed, corrected, by line search, pairwise, or with corrections",
    supports=rough,
    rank=1,
)
def greedy(problem: SparseLandmarked, *, tol: float, rule: str = "corrective", max_iter: int = 100_000) -> Iterator[Iterate]:
    """One product with Ψ and one column a step. The multipliers are those of the gradient, so that the gap is δ_t.

    `rule` is "printed", "corrected", "line-search" (each R(w) − R* = O(1/t), no better in general), "pairwise" (linear convergence) or
    "corrective" (as good where features are nearly dependent).
    """
    validate.choice("rule", rule, RULES)
    for t, step in enumerate(greedy_steps(problem, rule)):
        yield Iterate({"w": step.weights}, multipliers(step.slopes, problem.sample_weights.floats), step.delta)
        if t + 1 >= max_iter:
            return
