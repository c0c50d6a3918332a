"""`fit` and `predict` of estimators against scikit-learn's, on points: similarities, checks and certificates are on the clock.

The clock is the processor's, as fits of a millisecond drown in what others do on the machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from pairs import PAIRS, Table, arguments, interleave, met

TARGETS = {"MPower": 1.0, "HingeSVM": 1.5, "LandmarkedSVR": 0.8, "isotonic": 1.3, "isotonic, predict": 1.3}
DIMENSION, WIDTH, EPSILON = 8, 16.0, 0.05
QUERIES = 1_000_000


def svc_gap(peer: Any, X: Any, labels: Any, strength: float) -> float:
    """The relative gap of SVC's own answer at its default tolerance, as simopt certifies it: what ours is asked for."""
    from simopt.data.similarities import Gaussian
    from simopt.problems.bounds import Penalty
    from simopt.problems.hinge_svm import HingeSVM
    from simopt.solving.entry_points import certify

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
    theirs = make_pipeline(Nystroem(gamma=gamma, random_state=0), LinearSVR(C=10.0, epsilon=EPSILON, dual="auto", random_state=0))
    ours, note = of_equal_loss(X, y, theirs.fit(X, y))
    yield "LandmarkedSVR", lambda: ours.fit(X, y), lambda: theirs.fit(X, y), note


def of_equal_loss(X: Any, y: Any, peer: Any) -> tuple[Any, str]:
    """Ours with a loss of at most the peer's: on its landmarks and as few samples more as that takes, at the strongest λ, a power of ten.

    The peer has an intercept, ours has the median of y in its place; further landmarks are what it costs to make up for it.

    Raises
    ------
    ArithmeticError
        where forty more and λ = 1e-12 are not enough: then there is nothing to compare.
    """
    from simopt.data.similarities import Gaussian
    from simopt.estimators import LandmarkedSVRegressor

    def loss(model: Any) -> float:
        return float(np.mean(np.maximum(np.abs(model.predict(X) - y) - EPSILON, 0.0)))

    given, strengths, found = loss(peer), 10.0 ** np.arange(-4, -13, -1.0), np.inf
    for more in (0, 5, 10, 20, 40):
        landmarks = np.concatenate([peer[0].components_, X[:more]])
        for strength in strengths:
            model = LandmarkedSVRegressor(Gaussian(WIDTH), landmarks=landmarks, regularization=strength, epsilon=EPSILON)
            if (found := loss(model.fit(X, y))) <= given:
                return model, f"losses {found:.4f} and {given:.4f}, λ = {strength:.0e}, {more} landmarks more"
    raise ArithmeticError(f"the loss of LinearSVR is {given:.4f}, and ours is {found:.4f}")


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
    table = Table("estimators: fit and predict against scikit-learn, time of the processor", "estimator, n")
    worst: dict[str, float] = {}
    sizes = (300,) if options.quick else (1000, 2000, 4000)
    for n in (*sizes, 3000 if options.quick else QUERIES):
        for name, ours, peer, note in [*(cases(n) if n in sizes else ()), *isotonic(n)]:
            result = interleave(ours, peer, pairs=2 if options.quick else PAIRS, clock=time.process_time)
            table.add(f"{name}, {n}", result, note)
            worst[name] = max(worst.get(name, 0.0), result.ratio)
    table.close(options, "; ".join(f"largest ratio of {name} {met(ratio, TARGETS[name])}" for name, ratio in worst.items()))


if __name__ == "__main__":
    main()
