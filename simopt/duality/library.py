"""Which of CVXPY's functions are which atoms. What is not in the table is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

from simopt.duality.affine import Map, Negation, Scaling, Selection, Totals
from simopt.duality.atoms.absolute import Absolute
from simopt.duality.atoms.base import Atom
from simopt.duality.atoms.entropy import Entropy
from simopt.duality.atoms.euclidean import EuclideanNorm
from simopt.duality.atoms.exponential import Exponential
from simopt.duality.atoms.geometric_mean import NegativeGeometricMean
from simopt.duality.atoms.huber import Huber
from simopt.duality.atoms.largest_size import LargestSize
from simopt.duality.atoms.log_sum_exp import LogSumExp
from simopt.duality.atoms.logarithm import NegativeLogarithm
from simopt.duality.atoms.logistic import Logistic
from simopt.duality.atoms.maximum import Maximum
from simopt.duality.atoms.power import Power
from simopt.duality.atoms.power_norm import PowerNorm
from simopt.duality.atoms.quadratic_form import QuadraticForm
from simopt.duality.atoms.square import Square
from simopt.duality.atoms.sum_largest import SumLargest
from simopt.duality.vectors import Indices
from simopt.errors import Unreadable

if TYPE_CHECKING:
    from simopt.duality.expressions import Expressions


@dataclass(frozen=True)
class Reading:
    """Where an atom is read: the reader, and the expression."""

    reader: Expressions
    expression: Any

    def term(self, atom: Atom, argument: Any = None, sign: int = 1) -> Map:
        """The node sign·φ(z), z the first argument unless another is given."""
        z = self.expression.args[0] if argument is None else argument
        return self.reader.term(self.expression, atom, self.reader.map(z), self.reader.bend(z), sign, z)

    def groups(self) -> tuple[Indices, int]:
        """The group of each entry of the first argument, by the axis over which the function runs."""
        return axis_groups(self.expression.args[0].shape, self.expression.axis, self.expression.size)

    def refuse(self, what: str, remedy: str = "") -> Unreadable:
        """An error that names this expression."""
        return Unreadable(what, str(self.expression), remedy)


def axis_groups(shape: tuple[int, ...], axis: Any, count: int) -> tuple[Indices, int]:
    """Which entry of the reduced array each entry of an array of this shape goes into, both flat, column by column."""
    reduced = np.sum(np.zeros(shape), axis=axis, keepdims=True).shape
    number = np.arange(count).reshape(reduced, order="F")
    return np.broadcast_to(number, shape).reshape(-1, order="F").astype(np.intp), count


def _elementwise(make: Callable[[], Atom], sign: int = 1) -> Callable[[Reading], Map]:
    return lambda at: at.term(make(), sign=sign)


def _over_axis(make: Callable[[Indices, int], Atom], sign: int = 1) -> Callable[[Reading], Map]:
    return lambda at: at.term(make(*at.groups()), sign=sign)


def _sum_of_sizes(at: Reading) -> Map:
    return Totals(at.term(Absolute()), *at.groups())


def _squares_over(at: Reading) -> Map:
    below = at.expression.args[1]
    if not below.is_constant():
        raise at.refuse("a quotient of variables (quad_over_lin)", "divide by a constant")
    total = Totals(at.term(Square()), *at.groups())
    known = isinstance(below, cp.Constant)
    if not (np.all(below.value > 0) if known else below.is_nonneg()):
        raise at.refuse("a quotient whose denominator is not known to be positive (quad_over_lin)", "declare the parameter with pos=True")
    one = known and np.all(below.value == 1)
    return total if one else Scaling(at.reader.factor(below, at.expression.shape), total, divides=True)


def _power(at: Reading) -> Map:
    given = at.expression.p
    if not isinstance(given, cp.Constant):
        raise at.refuse("a power whose exponent is a parameter", "give the exponent as a number")
    p = float(given.value)
    if p == 1.0:
        return at.reader.map(at.expression.args[0])
    if p == 2.0:
        return at.term(Square())
    if not p > 1.0:
        raise at.refuse(f"the power {p:g}", "powers are read for exponents > 1")
    return at.term(Power(p))


def _norm(at: Reading) -> Map:
    p = at.expression.p
    if p == 2:
        return at.term(EuclideanNorm(*at.groups()))
    if not p > 1:
        raise at.refuse(f"the {p}-norm", "p-norms are read for p ≥ 1")
    return at.term(PowerNorm(*at.groups(), p))


def _huber(at: Reading) -> Map:
    threshold = at.reader.factor(at.expression.M, at.expression.M.shape)
    return at.term(Huber(lambda num: threshold.constant(num)[0]))


def _largest_of(at: Reading, sign: int) -> Map:
    """maximum, and minimum as −max(−z)."""
    e = at.expression
    parts = [at.reader.broadcast(argument, e.shape) for argument in e.args]
    stacked: Map = Selection(tuple(parts), np.arange(e.size * len(parts)))
    group = np.tile(np.arange(e.size), len(parts))
    fixed = np.repeat([argument.is_constant() for argument in e.args], e.size)
    bend = np.concatenate([np.broadcast_to(at.reader.bend(argument)[:1], e.size) for argument in e.args])
    stacked, bend = (stacked, bend) if sign > 0 else (Negation(stacked), -bend)
    return at.reader.term(e, Maximum(group, e.size, fixed), stacked, bend, sign)


def _largest_entry(at: Reading, sign: int) -> Map:
    z = at.expression.args[0]
    return at.term(Maximum(*at.groups()), z if sign > 0 else -z, sign)


def _sum_largest(at: Reading) -> Map:
    e = at.expression
    if e.axis is not None:
        raise at.refuse("sum_largest along an axis", "write one sum_largest a row")
    if not 0 < e.k <= e.args[0].size:
        raise at.refuse(f"sum_largest of {e.k} entries out of {e.args[0].size}", "sum no more entries than there are")
    return at.term(SumLargest(e.k))


def _geometric_mean(at: Reading) -> Map:
    e = at.expression
    if e.axis is not None:
        raise at.refuse("geo_mean along an axis", "write one geo_mean a row")
    raw = e.w if isinstance(e, cp.GeoMeanApprox) else e.p
    weights = [Fraction(float(w)) if isinstance(w, (float, np.floating)) else Fraction(w) for w in raw]
    if len(weights) != e.args[0].size or min(weights) <= 0:
        raise at.refuse("geo_mean with a weight 0", "leave out the entries of weight 0")
    total = sum(weights)
    return at.term(NegativeGeometricMean(tuple(w / total for w in weights)), sign=-1)


def _quadratic_form(at: Reading) -> Map:
    z, constant = at.expression.args
    if not isinstance(constant, cp.Constant) or z.is_constant():
        raise at.refuse("a quadratic form whose matrix is no plain constant", "write sum_squares(F.T @ x) with P = F Fᵀ")
    given = constant.value
    matrix = np.asarray(given.toarray() if sp.issparse(given) else given, dtype=float)
    if not np.array_equal(matrix, matrix.T):
        raise at.refuse("a quadratic form with a matrix that is not symmetric", "give (P + Pᵀ)/2")
    for sign in (1, -1):
        atom = QuadraticForm(sign * matrix)
        if atom.least > 0.0:
            return at.term(atom, sign=sign)
    raise at.refuse("a quadratic form with a matrix that is not proven definite", "write sum_squares(F.T @ x) with P = F Fᵀ")


ATOMS: dict[type, Callable[[Reading], Map]] = {
    cp.abs: _elementwise(Absolute),
    cp.exp: _elementwise(Exponential),
    cp.logistic: _elementwise(Logistic),
    cp.log: _elementwise(NegativeLogarithm, -1),
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
    cp.log_sum_exp: _over_axis(LogSumExp),
    cp.GeoMean: _geometric_mean,
    cp.GeoMeanApprox: _geometric_mean,
    cp.QuadForm: _quadratic_form,
}
