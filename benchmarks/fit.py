"""`fit` and `predict` of estimators against scikit-learn's, on points: similarities, checks and certificates are on the clock."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, interleave, met

TARGETS = {"MPower": 1.0, "HingeSVM": 1.5, "LandmarkedSVR": 0.8, "isotonic": 1.3, "isotonic, predict": 1.3}
DIMENSION, WIDTH = 8, 16.0
QUERIES = 1_000_000


def svc_gap(peer: Any, X: Any, labels: Any, strength: float) -> float:
    """The relative gap of SVC's own answer at its default tolerance, as simopt certifies it: what ours is asked for."""
    from simopt.data.similarities import Gaussian
    from simopt.problems.bounds import Penalty
    from simopt.problems.hinge_svm import HingeSVM
    from simopt.solving.certificate import certify

    alpha = np.zeros(len(X))
    alpha[peer.support_] = peer.dual_coef_[0]
    problem = HingeSVM(Gaussian(WIDTH).gram(X), labels, Penalty(strength), True)
    return max(certify(problem, {"alpha": alpha, "bias": peer.intercept_[0]}).relative_gap, 1e-9)


def cases(n: int) -> Iterator[tuple[str, Any, Any, str]]:
    """Name, ours, the peer, and a note; all on the same n points."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, LinearSVR

    from simopt import estimators
    from simopt.data.similarities import Gaussian

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, DIMENSION))
    truth = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    y, labels = truth + 0.1 * rng.normal(size=n), np.sign(truth + 0.3 * rng.normal(size=n))
    gamma = 1.0 / WIDTH
    ridge = estimators.MPowerRegressor(Gaussian(WIDTH), power=1.5, regularization=1e-3)
    yield "MPower", lambda: ridge.fit(X, y), lambda: KernelRidge(kernel="rbf", gamma=gamma, alpha=n * 1e-3).fit(X, y), "m = 1.5"
    gap = svc_gap(SVC(gamma=gamma).fit(X, labels), X, labels, 1.0 / n)
    machine = estimators.HingeSVMClassifier(Gaussian(WIDTH), regularization=1.0 / n, tol=gap)
    yield "HingeSVM", lambda: machine.fit(X, labels), lambda: SVC(gamma=gamma).fit(X, labels), f"to SVC's relative gap, {gap:.0e}"
    ours = estimators.LandmarkedSVRegressor(Gaussian(WIDTH), landmarks=100, regularization=1e-7, epsilon=0.05, random_state=0)
    theirs = make_pipeline(Nystroem(gamma=gamma, random_state=0), LinearSVR(C=10.0, epsilon=0.05, dual="auto", random_state=0))
    losses = [float(np.mean(np.maximum(np.abs(model.fit(X, y).predict(X) - y) - 0.05, 0.0))) for model in (ours, theirs)]
    yield "LandmarkedSVR", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), f"losses {losses[0]:.4f} and {losses[1]:.4f}"


def isotonic(n: int) -> Iterator[tuple[str, Any, Any, str]]:
    """`fit` and `predict` of the isotonic fit."""
    from sklearn.isotonic import IsotonicRegression

    from simopt.estimators import LipschitzIsotonicRegressor

    rng = np.random.default_rng(0)
    z = rng.normal(size=n)
    y, Z = z + rng.normal(size=n), z[:, None]
    ours, peer = LipschitzIsotonicRegressor(np.inf, feature=0), IsotonicRegression(out_of_bounds="clip")
    yield "isotonic", lambda: ours.fit(Z, y), lambda: peer.fit(z, y), ""
    fitted, other = ours.fit(Z, y), peer.fit(z, y)
    yield "isotonic, predict", lambda: fitted.predict(Z), lambda: other.predict(z), f"{fitted.function_.nodes.size} nodes"


def main() -> None:
    """n = 1000, 2000 and 4000; the isotonic fit also at a million samples."""
    options = arguments(__doc__ or "")
    warnings.simplefilter("ignore")  # LinearSVR at its own limit of iterations
    table = Table("Estimators: fit and predict against scikit-learn", "estimator, n")
    worst: dict[str, float] = {}
    sizes = (300,) if options.quick else (1000, 2000, 4000)
    for n in (*sizes, 3000 if options.quick else QUERIES):
        for name, ours, peer, note in [*(cases(n) if n in sizes else ()), *isotonic(n)]:
            result = interleave(ours, peer, pairs=2 if options.quick else PAIRS)
            table.add(f"{name}, {n}", result, note)
            worst[name] = max(worst.get(name, 0.0), result.ratio)
    table.close(options, "; ".join(f"largest ratio of {name} {met(ratio, TARGETS[name])}" for name, ratio in worst.items()))


if __name__ == "__main__":
    main()
