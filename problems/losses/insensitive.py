r"""The ε-insensitive loss on features, plain or smoothed, with any bound on w.

Two hinges a sample, [y_i − ε − f_i]_+ (below) and [f_i − y_i − ε]_+ (above), f = Ψw, smoothed by inf-convolution with βv²/2.
    ℓ̃_β(r) = min_v βv²/2 + ℓ_ε(r − v) = s(r − ε) + s(−r − ε),
    s(h) = min_v βv²/2 + [h − v]_+ = βt²/2 + [h − 1/β]_+,  t = min([h]_+, 1/β).
(One v serves both hinges, which are never active together as ε ≥ 0.) s is 0 below 0, quadratic up to 1/β and linear with slope 1 beyond;
[h]_+ − 1/(2β) ≤ s(h) ≤ [h]_+, and s'(h) = min([βh]_+, 1) is β-Lipschitz. β = ∞ is [h]_+ itself (t = 0).
Conjugate: s*(b) = b²/(2β) on [0, 1]. A hinge of weight c, 1/n or that of its sample (`sample_weights`), has a multiplier a in [0, c], which
costs c s*(a/c) = a²/(2βc) in the dual. With u = a/(cβ), the v whose multiplier is a, each hinge contributes to the gap
    c s(h) + a²/(2βc) − ah = (βc/2) (t − u)² + (c − a)[h − 1/β]_+ + a[−h]_+ ≥ 0.
Source: Kar & Jain 2012, §3.2; Shalev-Shwartz, Srebro & Zhang 2010.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import add
from typing import Annotated, Any, ClassVar, Self, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core import validate
from simopt.core.arrays import Array, Multipliers, Point
from simopt.core.fields import NonNegative, Targets
from simopt.data.landmarks import equal_columns
from simopt.data.row_blocks import LARGE, Request, RowPass, StreamedFeatures
from simopt.model.problem import Image, Law, Problem, Rescale, change_of_units, laws_of_samples
from simopt.problems import recipes
from simopt.problems.losses import hinge_rows
from simopt.problems.norms import squares, vectors
from simopt.problems.sample_weights import SampleWeights, in_parts


def positive_or_infinite(name: str, smoothness: SupportsFloat) -> float:
    """β > 0, possibly ∞.

    Raises
    ------
    InvalidProblem
        for a number that is not positive, or whose inverse squared leaves float64.
    """
    if isinstance(smoothness, float) and smoothness == math.inf:
        return math.inf
    beta = validate.positive(name, smoothness)
    validate.squarable(name, np.array([beta]))
    return beta


Smoothness = Annotated[float, positive_or_infinite]


def hinge(num: Arithmetic, h: Value, smoothness: float) -> Value:
    """s(h), elementwise."""
    if isinstance(smoothness, float) and smoothness == math.inf:
        return num.pos(h)
    beta = num.lift(smoothness)
    end = num.lift(1.0) / beta
    t = num.clip(h, 0.0, end)
    return t * t * beta / 2 + num.pos(h - end)


def slope(h: Array, smoothness: float) -> Array:
    """s'(h) = min([βh]_+, 1) in floats; for β = ∞ 1 where h > 0, else 0."""
    if isinstance(smoothness, float) and smoothness == math.inf:
        return np.where(h > 0, 1.0, 0.0)
    with np.errstate(over="ignore"):
        return np.clip(h * smoothness, 0.0, 1.0)


def loss(residual: Array, epsilon: float, smoothness: float) -> Array:
    """ℓ̃_β(r) of residuals r in floats, elementwise."""
    out: Array = np.asarray(hinge(FLOAT, np.abs(residual) - epsilon, smoothness))
    return out


def mean_loss(num: Arithmetic, *arguments: Value, sample_weights: SampleWeights, smoothness: float) -> Value:
    """Σ c s(h) over all hinges."""
    return sum((sample_weights.mean(num, hinge(num, h, smoothness)) for h in arguments), num.lift(0.0))


def suggested(h: Array, sample_weights: SampleWeights, smoothness: float) -> Array:
    """a = c s'(h), the multipliers that the arguments of the hinges suggest; exact, save at the kink of β = ∞."""
    out: Array = slope(h, smoothness) * sample_weights.each(FLOAT)
    return out


def cost(num: Arithmetic, *admitted_multipliers: Value, sample_weights: SampleWeights, smoothness: float) -> Value:
    """Σ a²/(2βc), which the dual pays for the smoothing; 0 for β = ∞."""
    if isinstance(smoothness, float) and smoothness == math.inf:
        return num.lift(0.0)
    return sum((num.dot(sample_weights.per_weight(num, a), a) for a in admitted_multipliers), num.lift(0.0)) / 2 / num.lift(smoothness)


def slack(num: Arithmetic, h: Value, a: Value, sample_weights: SampleWeights, smoothness: float) -> Value:
    """Σ (βc/2)(t − a/(cβ))² + (c − a)[h − 1/β]_+ + a[−h]_+, the hinges' part of the gap; 0 ≤ a ≤ c."""
    if isinstance(smoothness, float) and smoothness == math.inf:
        return hinge_rows.slack(num, h, a, sample_weights)
    beta = num.lift(smoothness)
    end = num.lift(1.0) / beta
    difference = num.clip(h, 0.0, end) - sample_weights.per_weight(num, a) / beta
    ends = num.dot(num.pos(sample_weights.each(num) - a), num.pos(h - end)) + num.dot(a, num.pos(h * -1))
    return sample_weights.mean(num, difference * difference) * beta / 2 + ends


class InsensitiveRegression(Problem):
    """(1/n) Σ ℓ̃_β(⟨w, ψ_i⟩ − y_i); a problem declares the fields, in the order of its formula, and adds what bounds w.

    With a field `weights` the normalised weights of the samples take the place of 1/n.
    """

    by_hand: ClassVar[str] = "features are streamed: by hand in blocks, derived in memory as a whole; time"

    features: StreamedFeatures
    targets: Targets
    epsilon: NonNegative
    smoothness: Smoothness

    @property
    def growth(self) -> int:
        """|f − y| beyond ε."""
        return 1

    @cached_property
    def sample_weights(self) -> SampleWeights:
        """1/n, or those of the samples."""
        return SampleWeights.of(len(self.targets), getattr(self, "weights", None))

    @abstractmethod
    def in_units(self, s: float, c: float) -> Self:
        """The same problem with y, ε and 1/β multiplied by s and Ψ by c: values × s, w × s/c."""

    @cached_property
    def row_pass(self) -> RowPass:
        """The features in blocks, so that no formula needs more than these beside its data."""
        return RowPass(self.features, LARGE)

    def prefetch(self, points: Sequence[tuple[Arithmetic, Point]], multipliers: Sequence[tuple[Arithmetic, Multipliers]]) -> None:
        """Ψw and Ψᵀ(p − q) of all these, and of what the first point suggests, in one pass."""
        if not all(np.any(num.mid(num.lift(point["w"]))) for num, point in points):
            return
        n = len(self.targets)
        requests = [Request("matvec", num, num.lift(point["w"])) for num, point in points]
        for num, own in multipliers:
            if all(key in own and np.size(own[key]) == n for key in ("above", "below")):
                requests.append(Request("rmatvec", num, self.differences(num, own)))

        def then(part: slice, f: Array) -> Array:
            above, below = self._capped(FLOAT, self._suggested(part, f), part)
            v: Array = above - below
            return v

        self.row_pass.prefetch(requests, then if points[0][0] is FLOAT else None)

    def predictions(self, num: Arithmetic, w: Value) -> Iterator[tuple[slice, Value]]:
        """f = Ψw by ranges of samples; w = 0 needs no features."""
        if squares.all_zero(num, w):
            yield from ((part, num.zeros(part.stop - part.start)) for part in self.row_pass.parts)
        else:
            yield from zip(self.row_pass.parts, self.row_pass.matvec(num, w), strict=True)

    def hinges(self, num: Arithmetic, w: Value) -> Iterator[tuple[slice, tuple[Value, Value]]]:
        """f − y − ε (above) and y − ε − f (below) by ranges of samples."""
        for part, f in self.predictions(num, w):
            yield part, self._sides(num, part, f)

    def _sides(self, num: Arithmetic, part: slice, f: Value) -> tuple[Value, Value]:
        residual = f - num.lift(self.targets[part])
        return residual - num.lift(self.epsilon), residual * -1 - num.lift(self.epsilon)

    def loss(self, num: Arithmetic, w: Value) -> Value:
        """(1/n) Σ ℓ̃_β(f_i − y_i)."""
        beta = self.smoothness
        return reduce(
            add, (mean_loss(num, *pair, sample_weights=self.sample_weights.on(part), smoothness=beta) for part, pair in self.hinges(num, w))
        )

    def admitted_multipliers(self, num: Arithmetic, multipliers: Multipliers, part: slice = slice(None)) -> tuple[Value, Value]:
        """p and q in [0, 1/n] of a range of samples, without what the two have in common.

        The hinges of one sample are never both active, and a common part m adds −2εm to the bound. (Any multipliers may be judged, so this
        happens in floats whatever the arithmetic.)
        """
        return self._capped(num, {key: np.asarray(multipliers[key], dtype=float).reshape(-1)[part] for key in ("above", "below")}, part)

    def _capped(self, num: Arithmetic, own: Multipliers, part: slice) -> tuple[Value, Value]:
        above, below = (np.maximum(own[key], 0.0) for key in ("above", "below"))
        common = np.minimum(above, below)
        sample_weights = self.sample_weights.on(part)
        return hinge_rows.capped(num, above - common, sample_weights), hinge_rows.capped(num, below - common, sample_weights)

    def differences(self, num: Arithmetic, multipliers: Multipliers) -> list[Value]:
        """v = p − q by ranges of samples; g = Ψᵀv."""
        pairs = (self.admitted_multipliers(num, multipliers, part) for part in self.row_pass.parts)
        return [above - below for above, below in pairs]

    def lagrangian(self, num: Arithmetic, multipliers: Multipliers) -> tuple[Value, Value]:
        """Σ (q − p) y − ε Σ (p + q) − (n/(2β)) Σ (p² + q²), the part of the Lagrangian without w, and g = Ψᵀ(p − q)."""
        v: list[Value] = []

        def term(part: slice) -> Value:
            above, below = self.admitted_multipliers(num, multipliers, part)
            v.append(above - below)
            smoothing = cost(num, above, below, sample_weights=self.sample_weights.on(part), smoothness=self.smoothness)
            return num.dot(below - above, num.lift(self.targets[part])) - num.sum(above + below) * num.lift(self.epsilon) - smoothing

        value = reduce(add, map(term, self.row_pass.parts))
        return value, self.row_pass.rmatvec(num, v)

    def trivial_optimum(self, num: Arithmetic, w: Value, multipliers: Multipliers) -> bool:
        """Whether y, w, p and q are all 0: then every term of the gap is 0, also where radii of intervals would say otherwise."""
        return squares.all_zero(num, self.targets, w) and not any(map(np.any, self.admitted_multipliers(FLOAT, multipliers)))

    def hinge_gap(self, num: Arithmetic, w: Value, multipliers: Multipliers) -> tuple[Value, Value]:
        """The hinges' part of the gap, and g = Ψᵀ(p − q)."""
        v: list[Value] = []

        def left() -> Iterator[Value]:
            for part, pair in self.hinges(num, w):
                own = self.admitted_multipliers(num, multipliers, part)
                v.append(own[0] - own[1])
                yield from (slack(num, h, a, self.sample_weights.on(part), self.smoothness) for h, a in zip(pair, own, strict=True))

        rest = reduce(add, left())
        return rest, self.row_pass.rmatvec(num, v)

    def multipliers(self, point: Point) -> Multipliers:
        """q_i = s'(y_i − ε − f_i)/n, p_i = s'(f_i − y_i − ε)/n: exact if β < ∞; else 1/n or 0, exact away from the kinks."""
        w, n = np.asarray(point["w"], dtype=float), len(self.targets)
        out = {"above": np.empty(n), "below": np.empty(n)}
        for part, f in self.predictions(FLOAT, w):
            for key, own in self._suggested(part, f).items():
                out[key][part] = own
        return out

    def _suggested(self, part: slice, f: Array) -> dict[str, Array]:
        """Multipliers that predictions of a range of samples suggest."""
        sides = zip(("above", "below"), self._sides(FLOAT, part, f), strict=True)
        return {key: suggested(h, self.sample_weights.on(part), self.smoothness) for key, h in sides}

    @property
    def duplicates(self) -> tuple[tuple[int, int], ...]:
        """Pairs (i, j) of equal features, i the first of its kind: landmarks that were drawn twice, or are alike to every sample."""
        return equal_columns(self.features)

    def trivial_point(self) -> Point:
        """w = 0."""
        return {"w": np.zeros(self.features.shape[1])}

    def scale(self) -> float:
        """Loss at w = 0, or ε where that is 0."""
        return float(self.objective(self.trivial_point())) or self.epsilon

    def normalised(self) -> tuple[Self, Rescale]:
        """y/σ, ε/σ, βσ, Ψ/κ with powers of two near max(|y_i|, ε) and max ‖ψ_i‖: w = w'σ/κ, f = f'σ; multipliers are pure numbers.

        κ = 1, and Ψ itself, where that is nearly so (see `vectors.row_unit`).
        """
        sigma = squares.power_of_two(max(squares.largest(self.targets), self.epsilon))
        kappa = vectors.row_unit(self.row_pass)
        back = squares.scaling(w=sigma / kappa, f=sigma, slack_below=sigma, slack_above=sigma, v=sigma)
        return self.in_units(1.0 / sigma, 1.0 / kappa), Rescale(back)

    @classmethod
    def laws(cls) -> list[Law]:
        """Scaling of targets, ε, 1/β and what bounds w together; scaling of the features; sign; permutation; duplication."""

        def scale_features(problem: Any, rng: np.random.Generator) -> Image:
            c = float(2.0 ** rng.integers(-20, 21))
            return Image(problem.in_units(1.0, c), 1.0, squares.scaling(w=1.0 / c))

        def mirror(problem: Any, rng: np.random.Generator) -> Image:
            """Targets × −1 exchange the two hinges."""

            def swap(values: Multipliers) -> Multipliers:
                return {"above": values["below"], "below": values["above"]}

            return Image(replace(problem, targets=-problem.targets), 1.0, squares.scaling(w=-1.0), swap)

        def select(problem: Any, order: NDArray[np.intp], weight: Any) -> Image:
            """The samples in this order, repeated ones included, each with `weight` times its multipliers."""

            def carry(values: Multipliers | Point) -> Multipliers:
                return {key: np.asarray(values[key])[order] * weight for key in ("above", "below")}

            own = {} if getattr(problem, "weights", None) is None else {"weights": problem.weights[order]}
            return Image(replace(problem, features=problem.features[order], targets=problem.targets[order], **own), 1.0, multipliers=carry)

        weighted = [in_parts(select, "targets")] if "weights" in cls.__dataclass_fields__ else []
        return [
            change_of_units("targets, ε and 1/β × s", lambda problem, s: Image(problem.in_units(s, 1.0), s, squares.scaling(w=s))),
            Law("features × c", scale_features),
            Law("targets × −1", mirror),
            *laws_of_samples(select, "targets"),
            *weighted,
        ]


def instances(rng: np.random.Generator) -> Iterator[tuple[str, Array, Array, float, bool]]:
    """Name, features, targets, ε, degenerate."""
    features, targets = recipes.small_regression(rng, 24, 3)
    yield "three features", features, targets, 0.1, False
    yield "ε = 0", features, targets, 0.0, False
    wide, some = recipes.small_regression(rng, 6, 10)
    yield "more features than samples", wide, some, 0.05, False
    yield "one sample", np.ones((1, 1)), np.array([4.0]), 0.5, False
    yield "ε above every |y|", features, targets, 100.0, True
    yield "zero targets", features, np.zeros(24), 0.0, True
    yield "zero features", np.zeros((5, 2)), np.arange(5.0), 0.1, True
