"""Training sets Z and the functions f = Σ_j a_j k(·, x_j) that learners make of them, with the exact distance between two functions.

Two functions on the same points are subtracted coefficient by coefficient *before* any norm is taken. The norm is evaluated as ‖K^{1/2} a‖
with the factor of K, never as √(aᵀK a). The quadratic form of nearly opposite coefficients has a floor of √ε ‖f‖ ≈ 1.5e-8 ‖f‖; the
factored norm of the merged coefficients has one of ε ‖f‖.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import extended
from simopt.data.similarities.base import of_checked
from simopt.equivalence.gram_spectrum import EPS, GramSpectrum, spectrum

SimilarityFunction = Callable[[Array, Array], Array]

BLOCK = 1 << 22  # kernel values held at one time when a function is evaluated


class _GramCache:
    """The Gram matrix of some inputs and its spectrum, each computed once: what sets with the same inputs share."""

    def __init__(self, inputs: Array, similarity: SimilarityFunction, gram: Array | None = None) -> None:
        self._inputs, self._similarity, self._gram = inputs, similarity, gram

    @property
    def known(self) -> bool:
        """Whether the matrix has been computed."""
        return self._gram is not None

    @property
    def gram(self) -> Array:
        """K = (k(x_i, x_j)), symmetric, not necessarily semidefinite."""
        if self._gram is None:
            symmetric = getattr(self._similarity, "gram", None)  # exactly symmetric where the similarity knows how
            K = symmetric(self._inputs) if symmetric is not None else self._similarity(self._inputs, self._inputs)
            self._gram = validate.gram("gram", K, n=len(self._inputs), psd=False)
        return self._gram

    @cached_property
    def spectrum(self) -> GramSpectrum:
        """The eigenvalues and eigenvectors of K."""
        return spectrum(self.gram)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Z = {(x_1, y_1), …, (x_n, y_n)} with the similarity that the learners use. Equal points are kept as often as they occur.

    Attributes
    ----------
    inputs : Array, shape (n, p)
    targets : Array, shape (n,)
    similarity : callable
        (n, p), (m, p) → (n, m). Functions need it positive semidefinite; that is checked where a norm is taken.

    Raises
    ------
    InvalidProblem
        for shapes that disagree, no samples, or values that are not finite.
    """

    inputs: Array
    targets: Array
    similarity: SimilarityFunction
    _kernel: _GramCache = field(init=False, repr=False)

    def __post_init__(self) -> None:
        targets = validate.vector("targets", self.targets)
        inputs = validate.matrix("inputs", self.inputs)
        validate.same_length(inputs=inputs, targets=targets)
        object.__setattr__(self, "inputs", inputs)
        object.__setattr__(self, "targets", targets)
        self._with(_GramCache(inputs, self.similarity))

    def _with(self, kernel: _GramCache) -> Self:
        object.__setattr__(self, "_kernel", kernel)
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"inputs": self.inputs, "targets": self.targets, "similarity": self.similarity}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self._with(_GramCache(self.inputs, self.similarity))

    def __len__(self) -> int:
        return self.n

    @property
    def n(self) -> int:
        """Number of samples |Z|."""
        return int(self.targets.shape[0])

    @property
    def gram(self) -> Array:
        """K_ij = k(x_i, x_j), shape (n, n), symmetric; computed once. O(n² p)."""
        return self._kernel.gram

    @property
    def spectrum(self) -> GramSpectrum:
        """Eigendecomposition of K, computed once. O(n³)."""
        return self._kernel.spectrum

    @cached_property
    def coordinates(self) -> Array:
        """z = Qᵀ y, the targets in the basis of the spectrum, shape (n,)."""
        return self.spectrum.vectors.T @ self.targets

    @cached_property
    def features(self) -> Array:
        """F = Q diag(√d) over the d > 0 of the spectrum, shape (n, r): F Fᵀ = K to rounding, and ‖f‖_H = ‖w‖₂ for f = Fw on the inputs."""
        known = self.spectrum
        kept = known.values > 0
        out: Array = known.vectors[:, kept] * np.sqrt(known.values[kept])
        return out

    def of_features(self, w: npt.ArrayLike) -> KernelFunction:
        """The function with the coordinates w of shape (r,), α = Q diag(1/√d) w; its `error` is what rounding makes of α."""
        known = self.spectrum
        kept = known.values > 0
        coordinates = validate.vector("w", w, length=int(np.sum(kept)))
        f = self.function(known.vectors[:, kept] @ (coordinates / np.sqrt(known.values[kept])))
        off = known.features(f.coefficients)
        off[kept] -= coordinates
        return replace(f, error=float(np.linalg.norm(off)))

    def without(self, i: int) -> TrainingSet:
        """Z^i: Z minus its i-th element.

        Raises
        ------
        InvalidProblem
            when nothing would be left (the empty set is not a training set), or there is no sample i.
        """
        i = self._index(i)
        if self.n == 1:
            raise InvalidProblem("without: a set of one sample minus that sample is empty, and the empty set is not a training set")
        return self.subset([j for j in range(self.n) if j != i])

    def replace(self, i: int, x: npt.ArrayLike, y: float) -> TrainingSet:
        """Z with its i-th element changed to (x, y); x has shape (p,)."""
        i = self._index(i)
        inputs, targets = np.array(self.inputs), np.array(self.targets)
        inputs[i] = point("x", x, inputs.shape[1])
        targets[i] = validate.finite("y", y)
        return TrainingSet(inputs, targets, self.similarity)

    def subset(self, indices: Sequence[int] | npt.NDArray[np.intp]) -> TrainingSet:
        """The samples with these indices, in this order, repeated where an index is. Takes its Gram matrix from this set's, if known."""
        chosen = np.array([self._index(i) for i in validate.numbers("sample", indices).tolist()], dtype=np.intp)
        part = TrainingSet(self.inputs[chosen], self.targets[chosen], self.similarity)
        return part._with(_GramCache(part.inputs, self.similarity, self.gram[np.ix_(chosen, chosen)])) if self._kernel.known else part

    def with_targets(self, targets: npt.ArrayLike) -> TrainingSet:
        """The same inputs with other targets, shape (n,); shares what is known about the Gram matrix."""
        return TrainingSet(self.inputs, validate.vector("targets", targets), self.similarity)._with(self._kernel)

    def function(self, coefficients: Array, error: float = 0.0, log_norm: float | None = None) -> KernelFunction:
        """Σ_j a_j k(·, x_j) over the points of this set, a of shape (n,)."""
        return KernelFunction(self.similarity, self.inputs, coefficients, error, log_norm, home=self)

    def fingerprint(self) -> str:
        """Hash of the content: inputs, targets and the description of the similarity."""
        digest = hashlib.sha256(repr(self.similarity).encode())
        for array in (self.inputs, self.targets):
            digest.update(str(array.shape).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def _index(self, i: float) -> int:
        found = validate.whole("sample", i)
        if found >= self.n:
            raise InvalidProblem(f"sample {found}: the set has samples 0 to {self.n - 1}")
        return found


@dataclass(frozen=True, eq=False)
class KernelFunction:
    """f = Σ_j a_j k(·, c_j), known up to `error` in the norm of the hypothesis space.

    Attributes
    ----------
    similarity : callable
        the kernel k.
    centres, coefficients : Array, shapes (k, p) and (k,)
    error : float
        radius in the H-norm of a ball around f that holds the function that the learner defines.
    log_norm : float or None
        log ‖f‖ when the learner knows it better than the coefficients do (they may underflow).
    home : TrainingSet or None
        a set whose inputs are the centres; lends its eigendecomposition.
    """

    similarity: SimilarityFunction
    centres: Array
    coefficients: Array
    error: float = 0.0
    log_norm: float | None = None
    home: TrainingSet | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        centres = validate.matrix("centres", self.centres, minimum=0)
        object.__setattr__(self, "centres", centres)
        object.__setattr__(self, "coefficients", validate.vector("coefficients", self.coefficients, length=centres.shape[0], minimum=0))
        if self.log_norm is not None and type(self.log_norm) is not float:  # NaN where the norm is not known
            object.__setattr__(self, "log_norm", validate.bound("log_norm", self.log_norm))
        if type(self.error) is not float or not self.error >= 0:  # ∞ where nothing is known of f
            object.__setattr__(self, "error", extended("error", self.error))

    def __call__(self, X: Array) -> Array:
        """f at the rows of X, shape (m, p) → (m,); kernel values are formed in blocks. O(m k p)."""
        points = validate.matrix("X", X, cols=self.centres.shape[1])
        out, values = np.zeros(points.shape[0]), of_checked(self.similarity)
        if self.coefficients.size:
            step = max(1, BLOCK // self.coefficients.size)
            for start in range(0, points.shape[0], step):
                block = slice(start, start + step)
                out[block] = values(points[block], self.centres) @ self.coefficients
        return out

    def __sub__(self, other: KernelFunction) -> KernelFunction:
        """f − g, coefficients merged on equal centres; its error is the sum of both."""
        error = self.error + other.error
        if self.home is not None and self.home is other.home:
            return KernelFunction(self.similarity, self.centres, self.coefficients - other.coefficients, error, home=self.home)
        _same_kernel(self.similarity, other.similarity)
        if self.centres.shape == other.centres.shape and np.array_equal(self.centres, other.centres):
            home = self.home if self.home is not None else other.home
            return KernelFunction(self.similarity, self.centres, self.coefficients - other.coefficients, error, home=home)
        centres, coefficients = merged(
            np.concatenate([self.centres, other.centres]), np.concatenate([self.coefficients, -other.coefficients])
        )
        return KernelFunction(self.similarity, centres, coefficients, error)

    def __mul__(self, factor: float) -> KernelFunction:
        """factor · f."""
        return replace(self, coefficients=factor * self.coefficients, error=abs(factor) * self.error, log_norm=None)

    __rmul__ = __mul__

    def inner(self, other: KernelFunction) -> float:
        """⟨f, g⟩_H; on different centres by ¼ (‖f + g‖² − ‖f − g‖²). O(n²) on a common training set, O(k³) at most otherwise."""
        if self.home is not None and self.home is other.home:
            known = self.home.spectrum
            return float(known.features(self.coefficients) @ known.features(other.coefficients))
        return 0.25 * ((self - (-1.0) * other).norm() ** 2 - (self - other).norm() ** 2)

    def norm(self) -> float:
        """‖f‖_H of the coefficients as they are, without the error. O(n²) on a training set with known spectrum, else O(k³) at most."""
        if self.home is not None:
            return self.home.spectrum.norm(self.coefficients)
        centres, coefficients = merged(self.centres, self.coefficients)
        return _norm(self.similarity, centres, coefficients)

    def size(self) -> float:
        """log ‖f‖_H, −∞ for f = 0; finite also where the norm underflows, if the learner gave `log_norm`."""
        if self.log_norm is not None:
            return self.log_norm
        norm = self.norm()
        return math.log(norm) if norm > 0 else -math.inf

    def distance(self, other: KernelFunction) -> float:
        """‖f − g‖_H of the coefficients; the distance of the true functions differs from it by at most `error + other.error`."""
        return (self - other).norm()


def zero(similarity: SimilarityFunction, dimension: int) -> KernelFunction:
    """f = 0 on points with `dimension` coordinates."""
    return KernelFunction(similarity, np.zeros((0, validate.whole("dimension", dimension, minimum=1))), np.zeros(0))


def point(name: str, x: npt.ArrayLike, dimension: int) -> Array:
    """One point as a vector of this many coordinates; a number where there is one."""
    return validate.vector(name, np.atleast_1d(validate.numbers(name, x)), length=dimension)


def merged(centres: Array, coefficients: Array) -> tuple[Array, Array]:
    """Equal centres made one, their coefficients added; centres whose coefficients cancel are dropped. O(k log k)."""
    if not coefficients.size:
        return centres, coefficients
    distinct, place = np.unique(centres + 0.0, axis=0, return_inverse=True)  # + 0.0 makes −0.0 and 0.0 one number
    added = np.bincount(place.ravel(), weights=coefficients, minlength=distinct.shape[0])
    kept = added != 0.0
    return distinct[kept], added[kept]


def _norm(similarity: SimilarityFunction, centres: Array, coefficients: Array) -> float:
    unit = float(np.max(np.abs(coefficients), initial=0.0))
    if unit == 0.0:
        return 0.0
    K, a = similarity(centres, centres), coefficients / unit
    square = float(a @ (K @ a))
    rounding = 4 * EPS * math.sqrt(a.size) * float(np.abs(a) @ (np.abs(K) @ np.abs(a)))
    # The quadratic form is good where it does not cancel; only else is the factor of K worth its time.
    if rounding <= 1e-12 * square:
        return unit * math.sqrt(square)
    return unit * spectrum(K).norm(a)


def _same_kernel(one: SimilarityFunction, two: SimilarityFunction) -> None:
    if one is not two and one != two:
        raise InvalidProblem(f"functions of different spaces have no distance: {one!r} and {two!r}")
