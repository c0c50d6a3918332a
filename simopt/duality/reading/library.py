"""The table of CVXPY's functions and their atoms. A function that is not in the table is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.suppfunc import SuppFuncAtom
from cvxpy.reductions.dcp2cone.canonicalizers.suppfunc_canon import suppfunc_canon

from simopt.arithmetic import Arithmetic
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem, Unreadable
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.concave_norm import NegativePowerNorm
from simopt.duality.atoms.decreasing_power import DecreasingPower
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.euclidean import EuclideanNorm
from simopt.duality.atoms.exponential import Exponential
from simopt.duality.atoms.geometric_mean import NegativeGeometricMean
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.largest_size import LargestSize
from simopt.duality.atoms.log_sum_exp import LogSumExp
from simopt.duality.atoms.logarithm import NegativeLogarithm
from simopt.duality.atoms.logistic import LogisticAtom
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.perspective import Perspective
from simopt.duality.atoms.power import Power
from simopt.duality.atoms.power_norm import PowerNorm
from simopt.duality.atoms.quadratic_form import QuadraticForm
from simopt.duality.atoms.square import Square
from simopt.duality.atoms.sum_largest import SumLargest
from simopt.duality.atoms.total import Total
from simopt.duality.graph.affine import Constant, Map, Negation, ScalingMap, SumMap, Totals, dense, matrix_of, stacked
from simopt.duality.graph.vectors import Indices
from simopt.duality.reading.matrices import MATRIX_FUNCTIONS

if TYPE_CHECKING:
    from simopt.duality.reading.expressions import Expressions


@dataclass(frozen=True)
class AtomContext:
    """The context in which an atom is read: the reader, and the expression."""

    reader: Expressions
    expression: Any

    def term(self, atom: Atom, sign: int = 1, numbers: Sequence[int] = (0,)) -> Map:
        """The node sign·φ(z), z the first argument unless others are given."""
        return self.reader.term(self.expression, atom, self.reader.argument(self.expression, numbers), sign)

    def groups(self) -> tuple[Indices, int]:
        """The group of each entry of the first argument, by the axis over which the function runs."""
        return axis_groups(self.expression.args[0].shape, self.expression.axis, self.expression.size)

    def refuse(self, what: str, remedy: str = "") -> Unreadable:
        """An error that names this expression."""
        return Unreadable(what, str(self.expression), remedy)


def axis_groups(shape: tuple[int, ...], axis: Any, count: int) -> tuple[Indices, int]:
    """The entry of the reduced array to which each entry of an array of this shape belongs, both flat, column by column."""
    reduced = np.sum(np.zeros(shape), axis=axis, keepdims=True).shape
    number = np.arange(count).reshape(reduced, order="F")
    return np.broadcast_to(number, shape).reshape(-1, order="F").astype(np.intp), count


def _elementwise(make: Callable[[], Atom], sign: int = 1) -> Callable[[AtomContext], Map]:
    return lambda at: at.term(make(), sign=sign)


def _over_axis(make: Callable[[Indices, int], Atom], sign: int = 1) -> Callable[[AtomContext], Map]:
    return lambda at: at.term(make(*at.groups()), sign=sign)


def _sum_of_sizes(at: AtomContext) -> Map:
    return Totals(at.term(Absolute()), *at.groups())


def _squares_over(at: AtomContext) -> Map:
    below = at.expression.args[1]
    known = isinstance(below, cp.Constant)
    if known and not np.all(below.value > 0):
        raise at.refuse("a quotient whose denominator is not positive (quad_over_lin)", "divide by a positive number")
    if not known and not (below.is_constant() and below.is_nonneg()):  # its sign depends on the point
        return _squares_over_numbers(at)
    total = Totals(at.term(Square()), *at.groups())
    one = known and np.all(below.value == 1)
    return total if one else ScalingMap(at.reader.factor(below, at.expression.shape), total, divides=True)


def _squares_over_numbers(at: AtomContext) -> Map:
    """Σz²/t, a perspective for each sum."""
    e, (group, count) = at.expression, at.groups()
    if count == 1:
        return at.term(Perspective(Total(Square()), e.args[0].size, 1), numbers=(0, 1))
    z, n, parts = at.reader.argument(e, (0, 1)), e.args[0].size, []
    for j in range(count):
        own = np.append(np.flatnonzero(group == j), n)
        parts.append(at.reader.term(e, Perspective(Total(Square()), len(own) - 1, 1), z.picked(own), 1))
    return stacked(parts)


def _log_of_one_more(at: AtomContext) -> Map:
    """log1p: log(1 + z)."""
    written = cp.log(1 + at.expression.args[0])
    at.reader.rewritten[id(at.expression)] = (at.expression, written)
    return at.reader.map(written)


def _relative_entropy(at: AtomContext, tilt: float) -> Map:
    """x log(x/y) as y ψ(x/y), ψ(z) = z log z; of kl_div ψ(z) = z log z − z + 1."""
    e = at.expression
    return at.reader.term(e, Perspective(Entropy(tilt), e.size, e.size), at.reader.argument(e, (0, 1), e.shape), 1)


def _power(at: AtomContext) -> Map:
    exponent = at.expression.p
    if not isinstance(exponent, cp.Constant):
        raise at.refuse("a power whose exponent is a parameter", "give the exponent as a number")
    p = float(exponent.value)
    if p == 0.0:
        return Constant.of(np.ones(at.expression.shape))
    if p == 1.0:
        return at.reader.map(at.expression.args[0])
    if p == 2.0:
        return at.term(Square())
    if p > 1.0:
        return at.term(Power(p))
    return at.term(DecreasingPower(p), -1 if p > 0.0 else 1)


def _norm(at: AtomContext) -> Map:
    p = at.expression.p
    if p < 1:
        if at.expression.axis is not None:
            raise at.refuse(f"the {p}-norm along an axis", "write one norm a row")
        return at.term(NegativePowerNorm(p), -1)
    if p == 2:
        return at.term(EuclideanNorm(*at.groups()))
    return at.term(PowerNorm(*at.groups(), p))


def _huber(at: AtomContext) -> Map:
    threshold = at.reader.factor(at.expression.M, at.expression.M.shape)
    return at.term(Huber(lambda num: threshold.constant(num)[0]))


def _largest_of(at: AtomContext, sign: int) -> Map:
    """maximum, and minimum as −max(−z)."""
    e = at.expression
    z = at.reader.argument(e, range(len(e.args)), e.shape)
    fixed = np.repeat([argument.is_constant() for argument in e.args], e.size)
    atom = Maximum(np.tile(np.arange(e.size), len(e.args)), e.size, fixed)
    return at.reader.term(e, atom, z if sign > 0 else z.negative(), sign)


def _largest_entry(at: AtomContext, sign: int) -> Map:
    z = at.reader.argument(at.expression)
    return at.reader.term(at.expression, Maximum(*at.groups()), z if sign > 0 else z.negative(), sign)


def _running_maximum(at: AtomContext) -> Map:
    """cummax: entry i is the largest of those up to i on its line."""
    e = at.expression
    number = np.arange(e.size).reshape(e.shape, order="F")
    lines = number.reshape(1, -1) if e.axis is None else np.moveaxis(number, e.axis, -1).reshape(-1, number.shape[e.axis])
    last, first = np.tril_indices(lines.shape[1])
    group, index = lines[:, last].reshape(-1), lines[:, first].reshape(-1)
    return at.reader.term(e, Maximum(group, e.size), at.reader.argument(e).picked(index), 1)


def _sum_largest(at: AtomContext) -> Map:
    e = at.expression
    if e.axis is not None:
        raise at.refuse("sum_largest along an axis", "write one sum_largest a row")
    if not 0 < e.k <= e.args[0].size:
        raise at.refuse(f"sum_largest of {e.k} entries out of {e.args[0].size}", "sum no more entries than there are")
    return at.term(SumLargest(e.k))


def _sorted_product(at: AtomContext) -> Map:
    """dotsort: Σ_k (w_k − w_{k+1}) (the sum of the k largest z_i), w in falling order, filled up with zeros, w_{n+1} = 0."""
    z, weights = at.expression.args
    if not isinstance(weights, cp.Constant):
        raise at.refuse("dotsort with weights that are no numbers", "give them as numbers")
    n = z.size
    padded = np.zeros(n)
    padded[: weights.size] = np.asarray(dense(weights.value), dtype=float).reshape(-1)
    falling = np.append(np.sort(padded)[::-1], 0.0)
    parts: list[Map] = [ScalingMap(Constant.of(falling[n - 1 : n]), Totals(at.reader.map(z), np.zeros(n, dtype=np.intp), 1))]
    written = falling[n - 1] * cp.sum(z)
    for k in range(1, n):
        if falling[k - 1] > falling[k]:
            step, largest = SumMap((Constant.of(falling[k - 1 : k]), Negation(Constant.of(falling[k : k + 1])))), cp.sum_largest(z, k)
            parts.append(ScalingMap(step, at.reader.map(largest)))
            written += (falling[k - 1] - falling[k]) * largest
    at.reader.rewritten[id(at.expression)] = (at.expression, written)
    return SumMap(tuple(parts))


def _geometric_mean(at: AtomContext) -> Map:
    e = at.expression
    if getattr(e, "axis", None) is not None:  # CVXPY 1.9.0 has geometric means of all entries only
        raise at.refuse("geo_mean along an axis", "write one geo_mean a row")
    raw = e.w if isinstance(e, cp.GeoMeanApprox) else e.p
    weights = [Fraction(float(w)) if isinstance(w, (float, np.floating)) else Fraction(w) for w in raw]
    total = sum(weights)
    return mean(at, [w / total for w in weights])


def mean(at: AtomContext, weights: Sequence[Fraction]) -> Map:
    """Π z_i^{w_i} with these weights, over the entries of nonzero weight."""
    e, z = at.expression, at.reader.argument(at.expression)
    n = z.map.size
    if len(weights) < n:  # entries of weight 0 do not enter the mean
        z = z.picked(np.array([i for i in range(n) if not np.any(e.numeric([ones_but(e.args[0].shape, i)]))]))
    return at.reader.term(e, NegativeGeometricMean(tuple(weights)), z, -1)


def ones_but(shape: tuple[int, ...], i: int) -> Any:
    """Ones, with a 0 at index i, column by column."""
    ones = np.ones(int(np.prod(shape)))
    ones[i] = 0.0
    return ones.reshape(shape, order="F")


def _quadratic_form(at: AtomContext) -> Map:
    """zᵀPz; the atom proves, when it is judged, that P is semidefinite with the sign that DCP assumes.

    Entries that P links to no other are squares Σ p_ii z_i², which need no proof of more than p_ii ≥ 0, and no range.
    """
    z, form = at.expression.args
    if z.is_constant() or not form.is_constant():
        raise at.refuse("a quadratic form whose matrix is no constant", "write quad_over_lin for a variable denominator")
    sign, promise = (1 if form.is_psd() else -1), form
    if isinstance(form, cp.psd_wrap):  # its promise is proven below, or refused
        promise = form.args[0]
    constant, argument = at.reader.factor(promise, promise.shape), at.reader.argument(at.expression)
    linked, squares = np.arange(form.shape[0]), np.zeros(0, dtype=np.intp)
    if not promise.parameters():
        linked, squares, known = _parted(promise.value, sign)
        kept = promise.value.copy()
    whole = len(linked) == form.shape[0]

    def weights() -> Array:
        if isinstance(kept, np.ndarray) and np.array_equal(promise.value, kept):
            return known
        *parts, found = _parted(promise.value, sign)
        if not all(map(np.array_equal, parts, (linked, squares))):
            raise InvalidProblem(f"the matrix of {at.expression}: other entries than before are 0; read the problem again")
        return found

    def matrix(num: Arithmetic) -> Any:
        plain = dense(matrix_of(num, constant, form.shape))
        plain = plain if whole else plain[np.ix_(linked, linked)]
        return plain if sign > 0 else -plain

    parts: list[Map] = []
    if len(linked):
        definite = QuadraticForm(matrix)
        atom = definite.of_any_rank() if definite.support() is None else definite
        parts.append(at.reader.term(at.expression, atom, argument if whole else argument.picked(linked), sign))
    if len(squares):
        each = at.reader.term(at.expression, Square(), argument.picked(squares), sign)
        parts.append(Totals(ScalingMap(Constant(weights, len(squares)), each), np.zeros(len(squares), dtype=np.intp), 1))
    return parts[0] if len(parts) == 1 else SumMap(tuple(parts))


def _support_function(at: AtomContext) -> Map:
    """sup ⟨x, y⟩ over a set: by the dual of the cones in which CVXPY writes the set."""
    written, rows = suppfunc_canon(at.expression, at.expression.args)
    at.reader.required += rows
    at.reader.rewritten[id(at.expression)] = (at.expression, written)
    return at.reader.map(written)


def _parted(matrix: Any, sign: int) -> tuple[Indices, Indices, Array]:
    """The entries of z that zᵀPz links to others; those that it does not, but for p_ii = 0; and their |p_ii|.

    All are linked if P is 0, or if it has a p_ii of the other sign: then it is for the atom to refuse it.
    """
    (row, column), diagonal = matrix.nonzero(), sign * np.asarray(matrix.diagonal(), dtype=float)
    beside = row != column
    linked = np.unique(np.concatenate([row[beside], column[beside]]))
    squares = np.setdiff1d(np.flatnonzero(diagonal), linked)
    if np.any(diagonal < 0.0) or not len(linked) + len(squares):
        return np.arange(len(diagonal)), squares[:0], diagonal[:0]
    return linked, squares, diagonal[squares]


ATOMS: dict[type, Callable[[AtomContext], Map]] = {
    cp.abs: _elementwise(Absolute),
    cp.exp: _elementwise(Exponential),
    cp.logistic: _elementwise(LogisticAtom),
    cp.log: _elementwise(NegativeLogarithm, -1),
    cp.log1p: _log_of_one_more,
    cp.entr: _elementwise(Entropy, -1),
    cp.huber: _huber,
    cp.Power: _power,
    cp.PowerApprox: _power,
    cp.quad_over_lin: _squares_over,
    cp.norm1: _sum_of_sizes,
    cp.norm_inf: _over_axis(LargestSize),
    cp.Pnorm: _norm,
    cp.PnormApprox: _norm,
    cp.maximum: lambda at: _largest_of(at, 1),
    cp.minimum: lambda at: _largest_of(at, -1),
    cp.max: lambda at: _largest_entry(at, 1),
    cp.min: lambda at: _largest_entry(at, -1),
    cp.sum_largest: _sum_largest,
    cp.dotsort: _sorted_product,
    cp.cummax: _running_maximum,
    cp.rel_entr: lambda at: _relative_entropy(at, 0.0),
    cp.kl_div: lambda at: _relative_entropy(at, 1.0),
    cp.log_sum_exp: _over_axis(LogSumExp),
    cp.GeoMean: _geometric_mean,
    cp.GeoMeanApprox: _geometric_mean,
    cp.QuadForm: _quadratic_form,
    SuppFuncAtom: _support_function,
    **MATRIX_FUNCTIONS,
}
