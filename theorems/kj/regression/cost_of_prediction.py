r"""'More efficient at test time' (Section 1): how many similarities a prediction takes, counted.

Whoever predicts at a new point evaluates K against points it keeps: kernel regression against all n training points, a landmarked predictor
against its d landmarks, one with k weights that are not 0 against those k. Time follows the count and depends on the machine; the count is
what is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from simopt.claims import *
from simopt.data.landmarks import LandmarkMap
from simopt.data.similarities import Manhattan, Sigmoid, Similarity
from simopt.ground.arrays import Array
from simopt.solvers.sparse.forward_selection import forward_selection
from simopt.solvers.squares.kernel_regression import NadarayaWatson

SECTION = "regression"


class Counted:
    """A similarity that counts the values asked of it."""

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity
        self.asked = 0

    def __call__(self, points: Array, landmarks: Array) -> Array:
        """K of all pairs."""
        self.asked += len(points) * len(landmarks)
        return np.asarray(self.similarity(points, landmarks), dtype=float)


def settings(trial: Trial) -> Iterator[Instance]:
    """Training points n, landmarks d to choose from, k of them chosen, m new points; both similarities of the paper."""
    for n, d, k in ((200, 100, 10), (300, 200, 30)):
        for kind in ("sigmoid", "manhattan"):
            X = trial.rng.normal(size=(n, 6))
            y = np.sin(X[:, 0]) + 0.1 * trial.rng.normal(size=n)
            chosen = np.sort(trial.rng.choice(n, size=d, replace=False))
            yield {"X": X, "y": y, "chosen": chosen, "k": k, "kind": kind, "new": trial.rng.normal(size=(40, 6))}


@claim(
    "KJ-cost",
    paper=KAR_JAIN,
    section=SECTION,
    place="Section 1: 'predictors that are also more efficient at test time'; Section 3.2: pruning landmarks 'would speed up test "
    "routines'",
    kind=EXPERIMENT,
    expected=HOLDS,
    says=r"A prediction of RegLand-Sp with k of d landmarks takes **k** similarities and is that of all d with the weights 0 elsewhere; "
    r"RegLand on d landmarks takes d, KR all n training points. (Counted, by running all of them: n = 200 and 500, d = 100 and 300, k = "
    r"10 and 50.)",
    instances=settings,
    resolution=1e-9,
    knobs={"pruned": True},
    mutants={"landmarks without weight are kept": {"pruned": False}},
    note="The saving is n/k over KR and d/k over the landmarks to choose from. **On equally many landmarks, as in Figure 1a and Table 1a, "
    "RegLand takes just as many**: there the sparse predictor is better (KJ-X1-data), not cheaper. Training costs all n·d similarities.",
    cost=0.5,
)
def similarities_of_a_prediction(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Counts of all predictors on the same points; predictions with and without the landmarks that have no weight."""
    X, y, new, k = instance["X"], instance["y"], instance["new"], instance["k"]
    K = Counted(Manhattan() if instance["kind"] == "manhattan" else Sigmoid(1.0 / X.shape[1], -1.0))
    whole = LandmarkMap(K, X[instance["chosen"]])
    weights = forward_selection(whole(X), y, count=k).weights
    with_all, asked_of_all = _asked(K, lambda: whole.predict(new, weights))
    kept = np.flatnonzero(weights) if trial["pruned"] else np.arange(whole.d)
    few = LandmarkMap(K, whole.landmarks[kept])
    with_few, asked_of_few = _asked(K, lambda: few.predict(new, weights[kept] * np.sqrt(few.d / whole.d)))
    _, asked_by_kr = _asked(K, lambda: NadarayaWatson(K, X, y, fallback=0.0)(new))
    yield equal(with_few, with_all, "predictions", scale=float(np.max(np.abs(with_all))))
    yield at_most(asked_of_few, len(new) * k, "similarities, RegLand-Sp")
    yield equal(asked_of_all, len(new) * whole.d, "similarities, all landmarks")
    yield equal(asked_by_kr, len(new) * len(X), "similarities, KR")


def _asked(K: Counted, predict: Callable[[], Array]) -> tuple[Array, int]:
    """Predictions, and how many values of K they took."""
    before = K.asked
    found = predict()
    return found, K.asked - before
