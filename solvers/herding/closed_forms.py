"""Problems whose solution is a formula: linear loss over balls, penalised linear loss, MMD, several kernels, the Bayes classifier.

Each registered function yields one iterate. A kernel costs one product with K, 2 n² flops; the workspace is a few vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simopt.arithmetic import FLOAT
from simopt.ground.arrays import Array
from simopt.problems import _unit_ball
from simopt.problems.bayes_linear_loss import BayesLinearLoss
from simopt.problems.mean_classifier import MeanClassifier
from simopt.problems.mmd import MaximumMeanDiscrepancy
from simopt.problems.multiple_kernel_mean import MultipleKernelMean
from simopt.solving.solution import Iterate
from simopt.solving.solver import solver

NAME = "closed-form"


def unit(gram: Array, mean: Array) -> Array:
    """Coefficients of m/‖m‖ from those of m; 0 if ‖m‖ = 0, where every f in the ball is as good. One product with K."""
    size = float(_unit_ball.length(FLOAT, gram, mean))
    return mean / size if size > 0.0 else np.zeros_like(mean)


@solver(NAME, solves=MeanClassifier.form("ball"), summary="f = ω_S/‖ω_S‖", rank=10)
def mean_classifier(problem: MeanClassifier, *, tol: float) -> Iterator[Iterate]:
    """α = (y/n)/‖ω_S‖; α = 0 if ω_S = 0. RMW Theorem 2."""
    mean = problem.labels / len(problem.labels)
    yield Iterate({"alpha": unit(problem.gram, mean)}, {"predictions": mean}, 0.0)


@solver(NAME, solves=MeanClassifier.form("penalty"), summary="f = ω_S/λ", rank=10)
def mean_classifier_penalised(problem: MeanClassifier, *, tol: float) -> Iterator[Iterate]:
    """α = y/(nλ): the gradient λf − ω_S vanishes. No product with K."""
    mean = problem.labels / len(problem.labels)
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
