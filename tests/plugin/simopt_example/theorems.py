"""A claim about quantile regression."""

from collections.abc import Iterator

import numpy as np

import simopt
import simopt.claims as sc
from simopt.core.arrays import Array
from simopt_example.quantile_regression import QuantileRegression

KOENKER_BASSETT = sc.Paper("kb", "KB", "R. Koenker and G. Bassett", "Regression Quantiles", 1978, "Econometrica")


def far_and_near_targets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random problems; one sample with a target far away, where the bound is attained."""
    yield {"psi": np.array([[2.0]]), "y": np.array([100.0]), "strength": 1.0, "level": 0.75}
    for _ in range(trial.count(4, 20)):
        psi, y = trial.rng.normal(size=(8, 2)), trial.rng.normal(size=8)
        yield {"psi": psi, "y": y, "strength": float(10 ** trial.rng.uniform(-1, 1)), "level": float(trial.rng.uniform(0.1, 0.9))}


@sc.claim(
    "KB-norm", paper=KOENKER_BASSETT, place="none: an example", kind=sc.INEQUALITY,
    says=r"For λ > 0, 0 < τ < 1 and ‖ψ_i‖ ≤ R, the minimiser w of the penalised problem has ‖w‖ ≤ max(τ, 1−τ) R/λ.",
    instances=far_and_near_targets, resolution=1e-7, knobs={"c": 1.0}, mutants={"c = 1/2": {"c": 0.5}},
)  # fmt: skip
def the_penalty_bounds_the_coefficients(psi: Array, y: Array, strength: float, level: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """w = Ψᵀa/λ with |a_i| ≤ max(τ, 1−τ)/n."""
    problem = QuantileRegression(psi, y, strength, level)
    solution = simopt.solve(problem, tol=1e-12)
    length = float(np.max(np.linalg.norm(problem.features, axis=1)))
    bound = trial["c"] * max(problem.level, 1 - problem.level) * length / problem.regularization
    error = problem.distance(solution.certificate.gap)
    yield sc.at_most(float(np.linalg.norm(solution.point["w"])), bound, "‖w‖ ≤ max(τ, 1−τ) R/λ", error=error, scale=bound)
