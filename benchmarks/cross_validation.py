"""5-fold cross-validation: 100 × 30 pairs (λ, m) in units of one eigendecomposition, and estimators that choose against GridSearchCV."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met, part_of
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from simopt.data.similarities import Gaussian
from simopt.estimators import (
    HingeSVMClassifier,
    HingeSVMClassifierCV,
    LandmarkedRidgeCV,
    LandmarkedRidgeRegressor,
    LandmarkedSVRegressor,
    LandmarkedSVRegressorCV,
    MPowerRegressor,
    MPowerRegressorCV,
)
from simopt.solvers.squares.cross_validation import cross_validate
from simopt.solvers.squares.spectrum import decompose


def main() -> None:
    """n = 2000, Gaussian kernels in 2, 5 and 20 dimensions."""
    options = arguments(__doc__ or "")
    table = Table("5-fold cross-validation of 3000 pairs against one eigendecomposition", "n, dimension")
    lam, powers = np.logspace(-8, 2, 100), np.linspace(1.1, 4.0, 30)
    ratios = []
    for n in (300,) if options.quick else (2000,):
        for dimension in (2, 5, 20):
            gram, y = gaussian_problem(n, dimension)
            best = cross_validate(gram, y, lam, powers)
            result = interleave(
                lambda gram=gram, y=y: cross_validate(gram, y, lam, powers),
                lambda gram=gram, y=y: decompose(gram, y),
                pairs=2 if options.quick else PAIRS,
            )
            note = f"best λ = {best.regularization:.1e}, m = {best.power:.2f}"
            table.add(f"{n}, {dimension}", result, note, regularization=best.regularization, power=best.power)
            ratios.append(result.ratio)
    table.close(options, f"eigendecompositions {met(max(ratios), 2.2)}")
    choosing(options)


def choosing(options: argparse.Namespace) -> None:
    """Ten λ on five folds of 400 points: each CV estimator against GridSearchCV of the plain one and of scikit-learn's."""
    n = 100 if options.quick else 400
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n)
    labels = np.where(y > 0.0, "up", "down")
    lam, width = np.logspace(0, -5, 10), Gaussian(2.0)
    rbf = {"kernel": "rbf", "gamma": 1.0 / width.mu}
    drawn = {"random_state": 0, "landmarks": 50}
    trained = 0.8 * n
    ridges, costs = {"alpha": (lam * trained).tolist()}, {"C": (1.0 / (lam * trained)).tolist()}
    ours: dict[str, tuple[Any, Any, Any, Any]] = {
        "MPowerRegressorCV, m = 2": (
            MPowerRegressorCV(width, powers=[2.0], fit_intercept=False),
            MPowerRegressor(width, power=2.0),
            KernelRidge(**rbf),
            ridges,
        ),
        "HingeSVMClassifierCV": (HingeSVMClassifierCV(width), HingeSVMClassifier(width), SVC(**rbf), costs),
        "LandmarkedRidgeCV": (LandmarkedRidgeCV(width, **drawn), LandmarkedRidgeRegressor(width, **drawn), None, None),
        "LandmarkedSVRegressorCV": (LandmarkedSVRegressorCV(width, **drawn), LandmarkedSVRegressor(width, **drawn), None, None),
    }
    table = Table("estimators that choose against GridSearchCV", f"10 λ, 5 folds, n = {n}")
    found: dict[str, list[str]] = {"its plain estimator": [], "scikit-learn's": []}
    for name, (model, plain, peer, grid) in ours.items():
        model.set_params(regularizations=lam)
        targets = labels if "Classifier" in name else y
        peers = [("its plain estimator", plain, {"regularization": lam})] + ([("scikit-learn's", peer, grid)] if peer is not None else [])
        for over, other, values in peers:
            search = GridSearchCV(other, values)
            result = interleave(
                lambda model=model, targets=targets: model.fit(X, targets),
                lambda search=search, targets=targets: search.fit(X, targets),
                pairs=2 if options.quick else 3,
            )
            apart = float(np.max(np.abs(model.cv_results_["mean_test_score"] - search.cv_results_["mean_test_score"])))
            table.add(f"{name} / {over}", result, f"scores apart {apart:.1e}, same choice: {model.best_index_ == search.best_index_}")
            found[over].append(f"{result.ratio:.3f}")
    table.close(part_of(options, "choosing"), "; ".join(f"ratio to GridSearchCV over {over} {', '.join(r)}" for over, r in found.items()))


if __name__ == "__main__":
    main()
