r"""'More efficient at test time' (Section 1), 'greatly increases training and testing times' (Section 3.2): similarities are counted.

Whoever predicts at a new point evaluates K against points it keeps. Kernel regression keeps all n training points, a landmarked predictor
its d landmarks, one with k weights that are not 0 those k. Time follows the count and depends on the machine; the count is what is claimed.

If landmarks are informative with probability τ, independently, s informative ones are met after s/τ on average: E = 1 + (1 − τ)E for
each. Among d ≤ s/(2τ) there are s with probability at most (e/4)^{s/2}, by Chernoff's bound at twice the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import comb

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Manhattan, Sigmoid, Similarity
from simopt.solvers.sparse.forward_selection import forward_selection
from simopt.solvers.squares.kernel_regression import NadarayaWatson

SECTION = "regression"


class CountedSimilarity:
    """A similarity that counts the values asked of it."""

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity
        self.evaluated = 0

    def __call__(self, points: Array, landmarks: Array) -> Array:
        """K of all pairs."""
        self.evaluated += len(points) * len(landmarks)
        return np.asarray(self.similarity(points, landmarks), dtype=float)


def settings(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Training points n, landmarks d to choose from, k of them chosen, m new points; both similarities of the paper."""
    for n, d, k in ((200, 100, 10), (300, 200, 30)):
        for kind in ("sigmoid", "manhattan"):
            X = trial.rng.normal(size=(n, 6))
            y = np.sin(X[:, 0]) + 0.1 * trial.rng.normal(size=n)
            chosen = np.sort(trial.rng.choice(n, size=d, replace=False))
            yield {"X": X, "y": y, "chosen": chosen, "k": k, "kind": kind, "new": trial.rng.normal(size=(40, 6))}


@sc.claim(
    "KJ-cost",
    section=SECTION,
    place="Section 1: 'predictors that are also more efficient at test time'; Section 3.2: pruning landmarks 'would speed up test "
    "routines'",
    kind=sc.EXPERIMENT,
    says=r"A prediction of RegLand-Sp with k of d landmarks takes **k** similarities and is that of all d with the weights 0 elsewhere; "
    r"RegLand on d landmarks takes d, KR all n training points. (Counted, by running all of them: n = 200 and 300, d = 100 and 200, k = 10 "
    r"and 30.)",
    instances=settings,
    resolution=1e-9,
    knobs={"pruned": True},
    mutants={"landmarks without weight are kept": {"pruned": False}},
    note="The saving is n/k over KR and d/k over the landmarks to choose from. **On equally many landmarks, as in Figure 1a and Table 1a, "
    "RegLand takes just as many**: there the sparse predictor is better (KJ-X1-data), not cheaper. Training costs all n·d similarities "
    "(KJ-cost-landmarks).",
)
def similarities_of_a_prediction(X: Array, y: Array, new: Array, k: int, kind: str, chosen: Array, trial: sc.Trial) -> Iterator[sc.Check]:
    """Counts of all predictors on the same points; predictions with and without the landmarks that have no weight."""
    K = CountedSimilarity(Manhattan() if kind == "manhattan" else Sigmoid(1.0 / X.shape[1], -1.0))
    whole = LandmarkMap(K, X[chosen])
    weights = forward_selection(whole(X), y, count=k).weights
    with_all, asked_of_all = _counted(K, lambda: whole.predict(new, weights))
    kept = np.flatnonzero(weights) if trial["pruned"] else np.arange(whole.d)
    few = LandmarkMap(K, whole.landmarks[kept])
    with_few, asked_of_few = _counted(K, lambda: few.predict(new, weights[kept] * np.sqrt(few.d / whole.d)))
    _, asked_by_kr = _counted(K, lambda: NadarayaWatson(K, X, y, fallback=0.0)(new))
    yield sc.equal(with_few, with_all, "predictions", scale=float(np.max(np.abs(with_all))))
    yield sc.at_most(asked_of_few, len(new) * k, "similarities, RegLand-Sp")
    yield sc.equal(asked_of_all, len(new) * whole.d, "similarities, all landmarks")
    yield sc.equal(asked_by_kr, len(new) * len(X), "similarities, KR")


def rare_landmarks(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Densities τ, how many informative landmarks are wanted, training points n and new points m."""
    for tau, wanted in ((Fraction(1, 10), 4), (Fraction(1, 20), 6), (Fraction(1, 4), 10)):
        yield {"tau": tau, "wanted": wanted, "n": 30, "m": 7, "seed": int(trial.rng.integers(2**31))}


def chance(d: int, tau: Fraction, wanted: int) -> Fraction:
    """P(at least `wanted` of d landmarks are informative)."""
    return 1 - sum((comb(d, k) * tau**k * (1 - tau) ** (d - k) for k in range(wanted)), Fraction(0))


@sc.claim(
    "KJ-cost-landmarks",
    section=SECTION,
    place="Section 3.2: 'this greatly increases training and testing times'; 'would speed up training and test routines'",
    kind=sc.EXPERIMENT,
    says=r"Landmarks that are informative with probability τ each: s informative ones are met after s/τ random ones on average, and among "
    r"d ≤ s/(2τ) with probability at most (e/4)^{s/2}. The landmarked space of n training points takes n·d similarities, a prediction d, "
    r"so that both are **1/τ times** what s informative landmarks would take. Pruning to k landmarks by RegLand-Sp takes d to k in each "
    r"prediction, **and nothing off the n·d of training**, which come before it. (Counted by running LandmarkMap and forward selection, d "
    r"= ⌈s/τ⌉.)",
    instances=rare_landmarks,
    resolution=0.0,
    knobs={"share": Fraction(1, 2), "pruned first": False},
    mutants={"among 2s/τ": {"share": Fraction(2)}, "pruned before training": {"pruned first": True}},
    note="'Would speed up training' is true of what is done with the similarities once they are there, or of landmarks that are pruned "
    "without a look at their similarities; of the similarities themselves it is not true of the method that follows. 'Greatly' is 1/τ. "
    "Seconds are not claimed.",
)
def similarities_of_the_landmarked_space(tau: Fraction, wanted: int, n: int, m: int, seed: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """The mean and the tail, then all counts."""
    share = sc.symbols("tau")[0]
    yield sc.equal(1 + (1 - share) * (1 / share), 1 / share, "mean number of draws for one more")
    few = int(trial["share"] * wanted / tau)
    yield sc.at_most(
        chance(few, tau, wanted), (sc.exp(sc.rational(1)) / 4) ** (wanted // 2), f"P({wanted} of {few} informative), τ = {tau}"
    )
    rng = np.random.default_rng(seed)
    d = -(-wanted // tau)
    X, new = rng.normal(size=(max(n, d), 3)), rng.normal(size=(m, 3))
    K = CountedSimilarity(Manhattan())
    whole = LandmarkMap(K, X[: wanted if trial["pruned first"] else d])
    features, evaluated = _counted(K, lambda: whole(X[:n]))
    yield sc.equal(evaluated, n * d, "similarities, training")
    weights = forward_selection(features, np.sin(X[:n, 0]), count=min(wanted, 3)).weights
    kept = np.flatnonzero(weights)
    _, before = _counted(K, lambda: whole.predict(new, weights))
    _, after = _counted(K, lambda: LandmarkMap(K, whole.landmarks[kept]).predict(new, weights[kept]))
    yield sc.equal(before, m * d, "similarities, predictions from all landmarks")
    yield sc.equal(after, m * len(kept), "similarities, predictions from those kept")
    _, informative = _counted(K, lambda: LandmarkMap(K, X[:wanted])(X[:n]))
    yield sc.at_least(evaluated * tau, informative, "training with s informative landmarks, over τ")


def _counted(K: CountedSimilarity, predict: Callable[[], Array]) -> tuple[Array, int]:
    """Predictions or features, and how many values of K they took."""
    before = K.evaluated
    found = predict()
    return found, K.evaluated - before
