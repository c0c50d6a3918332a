"""Terms that the least-squares problems in an RKHS share: the mean square, its dual term, and norms in H, in any arithmetic.

f = Σ α_j k(·, x_j) is represented by its coefficients; ‖f‖²_H = αᵀKα. A Gram matrix may have eigenvalues of −1e-16 from rounding, so
squared norms are clipped at 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array, Multipliers, Point
from simopt.model.problem import Image, Law, Rescale, laws_of_samples
from simopt.problems.norms import gram_factor
from simopt.problems.sample_weights import in_parts


def squared_norm(num: Arithmetic, gram: Array, a: Value) -> Value:
    """max(aᵀKa, 0)."""
    return num.pos(num.dot(a, num.matvec(gram, a)))


def mean_square(num: Arithmetic, residual: Value, n: int) -> Value:
    """(1/n) ‖r‖²."""
    return num.dot(residual, residual) / n


def dual_term(num: Arithmetic, v: Value, targets: Value, n: int) -> Value:
    """min_f (1/n) ‖y − f‖² + vᵀf = vᵀy − (n/4) ‖v‖²."""
    return num.dot(v, targets) - num.dot(v, v) * n / 4


def misfit(num: Arithmetic, v: Value, residual: Value, n: int) -> Value:
    """(n/4) ‖v − (2/n) r‖²: what the mean square and its dual term leave of the gap."""
    difference = v - residual * 2 / n
    return num.dot(difference, difference) * n / 4


def candidates(gram: Array, targets: Array, alpha: Array, mu: float) -> Iterator[Multipliers]:
    """Dual candidates of a point that nearly solves (K + μI)α = y, with residual r = y − (K + μI)α; the last only if K's factor is at hand.

    v = (2/n)(μα + z) leaves the gap (1/n)(‖z − r‖² + ‖z‖²_K/μ) plus what the norm of α is off. z = 0 gives ‖r‖²/n; z = r, which is
    v = (2/n)(y − Kα), is the sharper where K does not see r; z = μ(K + μI)^{-1} r is the best.
    """
    fitted = gram @ alpha
    rest = targets - fitted
    with np.errstate(over="ignore", invalid="ignore"):
        slope = mu * alpha
        yield {"predictions": slope * (2.0 / len(targets))}
        yield {"predictions": rest * (2.0 / len(targets))}
        if gram_factor.has_factor(gram):
            best = slope + gram_factor.factor_of(gram).damped(rest - slope, mu)
            yield {"predictions": best * (2.0 / len(targets))}


def all_zero(num: Arithmetic, *values: Value) -> bool:
    """Whether every entry is exactly 0 (an interval that merely contains 0 is not)."""
    return all(not np.any(num.mid(v)) and not np.any(getattr(v, "rad", 0.0)) for v in values)


def power_of_two(x: float) -> float:
    """The largest power of two that is not above x > 0; 1 for x = 0."""
    return math.ldexp(0.5, math.frexp(x)[1]) if x > 0 else 1.0


def power_of_four(x: float) -> float:
    """The power of four nearest below x > 0, so that its root is exact too; 1 for x = 0."""
    if x <= 0:
        return 1.0
    exponent = math.frexp(x)[1] - 1
    return math.ldexp(1.0, exponent - exponent % 2)


def kernel_rescale(sigma: float, kappa: float) -> Rescale:
    """Way back from targets y/σ and kernel K/κ: α = α'σ/κ, u = u'σ/√κ, f = f'σ, v = v'σ. Exact for powers of two and of four."""
    return Rescale(
        scaling(alpha=sigma / kappa, u=sigma / math.sqrt(kappa), f=sigma),
        scaling(predictions=sigma),
    )


def largest(x: Array) -> float:
    """max |x_i|."""
    return float(np.max(np.abs(x), initial=0.0))


def sample_laws(field: str) -> list[Law]:
    """Laws of a kernel problem whose data are `gram` and one value per sample in `field`, and whose loss is a mean.

    With each sample given twice, coefficients and multipliers are halved.
    """
    return laws_of_samples(_selecting(field), field)


def parts_law(field: str) -> Law:
    """The law of samples in parts (`sample_weights.in_parts`) of such a problem that has weights."""
    return in_parts(_selecting(field), field)


def _selecting(field: str) -> Callable[[Any, NDArray[np.intp], Any], Image]:
    """The problem on the samples of an order, rows and columns of its Gram matrix included."""

    def select(problem: Any, order: NDArray[np.intp], weight: Any) -> Image:
        weights = getattr(problem, "weights", None)
        own = {} if weights is None else {"weights": weights[order]}
        image = replace(problem, gram=problem.gram[np.ix_(order, order)], **{field: getattr(problem, field)[order]}, **own)

        def carry(values: Point | Multipliers) -> dict[str, Array]:
            per_sample = {key: np.asarray(value) for key, value in values.items() if np.shape(value) == (len(problem.gram),)}
            numbers = {key: np.asarray(value) for key, value in values.items() if np.shape(value) == ()}  # an intercept
            return numbers | {key: value[order] * weight for key, value in per_sample.items()}

        return Image(image, 1.0, carry, carry)

    return select


def scaling(**factors: float) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Map that multiplies the named entries of a point or of multipliers."""

    def apply(values: Mapping[str, Any]) -> dict[str, Any]:
        return {key: np.asarray(value) * factors.get(key, 1.0) for key, value in values.items()}

    return apply
