"""The mean of labelled points in balls, and the point of a hull nearest to it.

Linear loss over a ball, or with a penalty on the norm, has a formula as its solution: one iterate, one product with K, 2 n² flops, a few
vectors. So have the maximum mean discrepancy, several kernels (that of the longest mean) and the Bayes classifier. Over the hull of the
points themselves (herding, and the hinge SVM there while no margin exceeds 1) Frank–Wolfe methods give weight to few of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.core.arrays import Array
from simopt.model.problem import Problem
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.herding import Herding
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.mmd import MaximumMeanDiscrepancy
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.problems.norms import unit_ball
from simopt.solvers.herding.atoms import StoredAtoms, largest_margin
from simopt.solvers.herding.frank_wolfe import iterates
from simopt.solvers.herding.frank_wolfe_steps import StepRule
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

NAME = "closed-form"


def unit(gram: Array, mean: Array) -> Array:
    """Coefficients of m/‖m‖ from those of m; 0 if ‖m‖ = 0, where every f in the ball is as good. One product with K."""
    size = float(unit_ball.length(FLOAT, gram, mean))
    return mean / size if size > 0.0 else np.zeros_like(mean)


@solver(NAME, solves=MeanClassifier.form("ball"), summary="f = ω_S/‖ω_S‖", rank=10)
def mean_classifier(problem: MeanClassifier, *, tol: float) -> Iterator[Iterate]:
    """α = (y/n)/‖ω_S‖, or (p∘y)/‖ω_S‖; α = 0 if ω_S = 0. RMW Theorem 2."""
    mean = problem.mean(FLOAT)
    yield Iterate({"alpha": unit(problem.gram, mean)}, {"predictions": mean}, 0.0)


@solver(NAME, solves=MeanClassifier.form("penalty"), summary="f = ω_S/λ", rank=10)
def mean_classifier_penalised(problem: MeanClassifier, *, tol: float) -> Iterator[Iterate]:
    """α = y/(nλ), or p∘y/λ: the gradient λf − ω_S vanishes. No product with K."""
    mean = problem.mean(FLOAT)
    yield Iterate({"alpha": mean / problem.regularization}, {"predictions": mean}, 0.0)


@solver(NAME, solves=MaximumMeanDiscrepancy, summary="f = (μ₊ − μ₋)/‖μ₊ − μ₋‖", rank=10)
def mmd(problem: MaximumMeanDiscrepancy, *, tol: float) -> Iterator[Iterate]:
    """α = d/‖m‖ with the witness m = ½(μ₊ − μ₋) = Σ d_i φ(x_i); α = 0 if the means are equal. RMW §3.1."""
    d = problem.witness()
    yield Iterate({"alpha": unit(problem.gram, d)}, {"predictions": d}, 0.0)


@solver(NAME, solves=MultipleKernelMean, summary="f = ω_S/‖ω_S‖ of the kernel with the longest mean", rank=10)
def multiple_kernel_mean(problem: MultipleKernelMean, *, tol: float) -> Iterator[Iterate]:
    """α_b = (y/n)/‖ω^b‖ for the first b with the largest ‖ω^b‖, 0 for all other kernels. RMW §3.4."""
    alpha = np.zeros(problem.grams.shape[:2])
    best = int(np.argmax(problem.lengths()))
    alpha[best] = unit(problem.kernels[best], problem.labels / len(problem.labels))
    yield Iterate({"alpha": alpha}, problem.multipliers({"alpha": alpha}), 0.0)


@solver(NAME, solves=BayesLinearLoss, summary="f = sign(2η − 1)", rank=10)
def bayes_linear_loss(problem: BayesLinearLoss, *, tol: float) -> Iterator[Iterate]:
    """f_x = sign(p(x, 1) − p(x, −1)), 0 where η = ½. O(m). RMW Theorem 1."""
    f = np.sign(problem.signed_mass())
    yield Iterate({"f": f}, problem.multipliers({"f": f}), 0.0)


@solver(
    "frank-wolfe", solves=Herding, summary="Frank–Wolfe steps on the hull; by default fully corrective (Wolfe's nearest point)", rank=10
)
def frank_wolfe(problem: Herding, *, tol: float, steps: str | StepRule = "fully-corrective", max_iter: int = 100_000) -> Iterator[Iterate]:
    """The point of the hull nearest to ω_P; gap 2⟨ω − ω_P, ω − ψ_s⟩.

    `steps` is "uniform" (kernel herding), "line-search" (Algorithm 1), "away", "pairwise", "blended" or "fully-corrective", of which all
    but the first two converge linearly, or a `StepRule`. A step is O(k), but O(|S|k) if it is blended or fully corrective, with |S| atoms
    that have weight. Fully corrective steps take O(|S|²) more for each atom that comes or goes.
    """
    linear = problem.scores(problem.target_weights())
    square = float(problem.target_weights() @ linear)
    chosen = problem.candidates
    atoms = StoredAtoms(problem.gram, problem.labels, linear[problem.atoms], square, chosen)
    return iterates(atoms, 2.0, steps, max_iter)


def _why_not_linear(problem: Problem) -> str | None:
    if isinstance(problem, HingeSVMHull) and (largest := largest_margin(problem.gram, problem.labels)) > 1.0:
        return (
            f"margins in the hull reach {largest:.6g} > 1, where the hinge bends; with similarities of at most 1 "
            "it is linear and the problem is herding"
        )
    return None


@solver(
    "frank-wolfe",
    solves=HingeSVMHull,
    summary="the same where the hinge is linear on the hull: herding of ω_S/λ",
    supports=_why_not_linear,
    rank=10,
)
def frank_wolfe_hull(
    problem: HingeSVMHull, *, tol: float, steps: str | StepRule = "fully-corrective", max_iter: int = 100_000
) -> Iterator[Iterate]:
    """With linear hinges the objective is 1 − ⟨ω_S, ω⟩ + (λ/2)‖ω‖² = (λ/2)‖ω − ω_S/λ‖² + const.; gap λ⟨ω − ω_S/λ, ω − ψ_s⟩."""
    linear = problem.scores(FLOAT, np.full(len(problem.labels), 1.0 / len(problem.labels)))
    strength = problem.regularization
    square = float(np.mean(linear)) / strength**2
    return iterates(StoredAtoms(problem.gram, problem.labels, linear / strength, square), strength, steps, max_iter)
