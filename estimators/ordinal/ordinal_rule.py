r"""A rule for ordered labels 1, …, r: a score f(x) = ⟨w, Ψ(x)⟩ over landmarks, and thresholds that cut the line into r intervals.

With b_0 = −∞ and b_r = ∞ the label of x is the y with b_{y−1} ≤ f(x) < b_y. A score at a threshold belongs to the upper class (Kar & Jain
2012, Appendix E), and a class whose thresholds are equal has an empty interval and is never predicted.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from simopt.certificates.certificate import Certificate
from simopt.core import archive, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.data.landmarks import LandmarkMap, Values, similarity_name
from simopt.data.similarities import Similarity
from simopt.estimators.landmarked.landmark_predictor import parts_over_landmarks, similarity_record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "simopt-ordinal-rule-1"
WHAT = "an ordinal rule"
FORMS = ("exc", "imc")

Labels = NDArray[np.intp]


@dataclass(frozen=True)
class OrdinalErrors:
    """How a rule does on samples whose labels are known.

    Attributes
    ----------
    absolute : float
        mean of |ŷ − y|, the ordinal loss of Kar & Jain ("average absolute error").
    wrong : float
        fraction of ŷ ≠ y.
    violated : float
        fraction of samples with margin < γ.
    confusion : (r, r) array of ints
        samples of label i + 1 (rows) that got the label j + 1 (columns).
    """

    absolute: float
    wrong: float
    violated: float
    confusion: Labels = field(repr=False)

    def __str__(self) -> str:
        n = int(self.confusion.sum())
        return f"{n} samples: mean |ŷ − y| {self.absolute:.4g}, wrong {self.wrong:.3g}, margin below γ {self.violated:.3g}"


@dataclass(frozen=True, eq=False)
class OrdinalRule:
    """x ↦ the y with b_{y−1} ≤ ⟨w, Ψ(x)⟩ < b_y.

    Attributes
    ----------
    similarity : Similarity or function
    landmarks : (d, p) array
        what Ψ compares x with.
    weights : (d,) array
        w.
    thresholds : (r − 1,) array
        b_1 ≤ … ≤ b_{r−1}. −∞ and ∞ belong to classes at the ends that had no samples, see `simopt.estimators.ordinal.ordinal.ordinal`.
    counts : (r,) array of ints
        training samples of each class.
    form : str
        "exc" or "imc".
    certificate : Certificate
        bounds on the optimum of the problem that was solved; moving thresholds of empty classes afterwards does not raise its value.
    gamma, delta : float
        margin γ and spacing Δ that were asked for.
    provenance : mapping
        problem, solver, status, seconds and versions.
    """

    similarity: Similarity | Values
    landmarks: Array
    weights: Array
    thresholds: Array
    counts: Labels
    form: str
    certificate: Certificate
    gamma: float = 1.0
    delta: float = 0.0
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        validate.vector("weights", self.weights)
        validate.choice("form", self.form, FORMS)
        validate.positive("gamma", self.gamma)
        validate.nonnegative("delta", self.delta)
        counts = validate.vector("counts", self.counts, length=len(self.thresholds) + 1)
        odd = np.flatnonzero((counts < 0) | (counts != np.round(counts)))
        if odd.size:
            raise InvalidProblem(f"counts: {counts[odd[0]]:g} at index {int(odd[0])} is no number of samples, 0, 1, 2, …")
        b = np.asarray(self.thresholds, dtype=float)
        drops = np.flatnonzero(b[1:] < b[:-1])
        if drops.size or np.any(np.isnan(b)):
            j = int(drops[0]) if drops.size else int(np.argmax(np.isnan(b)))
            raise InvalidProblem(f"thresholds: not in order at index {j} (b_{j + 1} = {b[j]:g}); they must not decrease")
        for name in ("landmarks", "weights", "thresholds", "counts"):
            view = np.asarray(getattr(self, name)).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        """One line: classes, landmarks, thresholds, what is never predicted, and the certified gap."""
        cuts = np.array2string(np.asarray(self.thresholds), precision=4, max_line_width=10**6, threshold=12)
        never = f", never {', '.join(map(str, self.never))}" if self.never else ""
        unseen = f", without samples {', '.join(map(str, self.missing))}" if self.missing else ""
        return (
            f"{self.classes} classes{unseen}, {len(self.landmarks)} landmarks of {similarity_name(self.similarity)}, "
            f"thresholds {cuts}{never}; gap/scale {self.certificate.relative_gap:.1e}"
        )

    @property
    def classes(self) -> int:
        """r."""
        return len(self.thresholds) + 1

    @property
    def missing(self) -> tuple[int, ...]:
        """Classes without training samples."""
        return tuple(int(k) + 1 for k in np.flatnonzero(np.asarray(self.counts) == 0))

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """[b_{y−1}, b_y) for y = 1, …, r."""
        ends = [-math.inf, *map(float, self.thresholds), math.inf]
        return tuple(pairwise(ends))

    @property
    def never(self) -> tuple[int, ...]:
        """Classes whose interval is empty: no x is given their label."""
        return tuple(y for y, (low, high) in enumerate(self.intervals, start=1) if low == high)

    @cached_property
    def map(self) -> LandmarkMap:
        """Ψ."""
        return LandmarkMap(self.similarity, self.landmarks)

    def scores(self, X: Any) -> Array:
        """f(x) at the rows of X (array, memory map or Dask array), shape (k,), in blocks."""
        return self.map.predict(X, self.weights)

    def predict(self, X: Any) -> Labels:
        """Labels 1, …, r of the rows of X, shape (k,)."""
        return self.labels_of(self.scores(X))

    def margins(self, X: Any, labels: npt.ArrayLike | None = None) -> Array:
        """min(f − b_{y−1}, b_y − f), shape (k,): how far the score is inside the interval of y, negative if it is outside.

        y are the given labels, or those predicted, whose margins are ≥ 0. A sample has no hinge loss (EXC) iff its margin is ≥ γ.

        Raises
        ------
        InvalidProblem
            for labels outside 1, …, r, naming the index.
        """
        scores = self.scores(X)
        return self.margins_of(scores, self.labels_of(scores) if labels is None else self.checked(labels, scores.size))

    def evaluate(self, X: Any, labels: npt.ArrayLike) -> OrdinalErrors:
        """Errors against known labels. A label in 1, …, r that training lacked is an honest label, and counts with its distance.

        Raises
        ------
        InvalidProblem
            for labels outside 1, …, r, naming the index.
        """
        scores = self.scores(X)
        known, found = self.checked(labels, scores.size), self.labels_of(scores)
        confusion = np.zeros((self.classes, self.classes), dtype=np.intp)
        np.add.at(confusion, (known - 1, found - 1), 1)
        violated = float(np.mean(self.margins_of(scores, known) < self.gamma))
        return OrdinalErrors(float(np.mean(np.abs(found - known))), float(np.mean(found != known)), violated, confusion)

    def labels_of(self, scores: npt.ArrayLike) -> Labels:
        """Labels of scores that are known already; ±∞ lie in the classes at the ends.

        Raises
        ------
        InvalidProblem
            for a score that is no number, with its index: NaN would be sorted behind all thresholds, into class r.
        """
        values = validate.numbers("scores", scores)
        lost = np.flatnonzero(np.isnan(values))
        if lost.size:
            raise InvalidProblem(
                f"scores: {lost.size} of {values.size} are NaN (first at index {int(lost[0])}), and lie in no interval; remove them first"
            )
        found: Labels = 1 + np.searchsorted(self.thresholds, values, side="right")
        return found

    def margins_of(self, scores: Array, labels: Labels) -> Array:
        """Margins of scores that are known already, for labels that are."""
        ends = np.array(self.intervals)[labels - 1]
        out: Array = np.minimum(scores - ends[:, 0], ends[:, 1] - scores)
        return out

    def checked(self, labels: npt.ArrayLike, length: int) -> Labels:
        """Labels as whole numbers 1, …, r."""
        known = validate.labels("labels", labels, allowed=range(1, self.classes + 1), length=length)
        return known.astype(np.intp)

    def plot(self, X: Any, labels: npt.ArrayLike) -> Figure:
        """Scores by class, with thresholds and margins. Needs matplotlib."""
        from simopt.estimators.ordinal.ordinal_plot import plot_rule

        return plot_rule(self, X, labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to a .npz or .json file, all of it or nothing; `load` gives the same rule back, bit by bit.

        Raises
        ------
        InvalidProblem
            for another suffix, and for a similarity that is a Python function of one's own.
        OSError
            when the file cannot be written.
        """
        values = {item.name: getattr(self, item.name) for item in dataclasses.fields(self)}
        values |= {"similarity": similarity_record(self.similarity), "certificate": dataclasses.asdict(self.certificate)}
        values |= {name: np.asarray(values[name]) for name in ("landmarks", "weights", "thresholds", "counts")}
        archive.save(path, {"format": FORMAT, **values}, WHAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OrdinalRule:
        """Read what `save` wrote.

        Raises
        ------
        InvalidFile
            for a file that is corrupt or holds something else.
        """
        found = archive.load(path, FORMAT, WHAT)
        with archive.rebuilding(path, WHAT):
            return _rebuilt(found)


def _rebuilt(record: dict[str, Any]) -> OrdinalRule:
    thresholds, counts = _thresholds(record["thresholds"]), archive.numbers("counts", record["counts"], whole=True)
    if thresholds.ndim != 1 or counts.shape != (thresholds.size + 1,):
        raise ValueError(f"{thresholds.size} thresholds for {counts.size} classes")
    made = {"thresholds": thresholds, "counts": counts, **parts_over_landmarks(record)}
    return OrdinalRule(**archive.entries(OrdinalRule, record, **made))


def _thresholds(values: Any) -> Array:
    """JSON has no ∞: what it lost before the finite ones was −∞, what it lost after them ∞."""
    b = np.array([math.nan if value is None else value for value in values], dtype=float)
    lost = np.isnan(b)
    if lost.all():
        raise ValueError("no threshold is finite, so that it is not known where ∞ begins")
    first = int(np.argmin(lost))
    b[:first][lost[:first]] = -math.inf
    b[first:][lost[first:]] = math.inf
    return b
