"""CVXPY's expressions in fractions, by definition and without simopt: what an expression is at a point, and whether a point is feasible.

Numbers are fractions (`flint.fmpq`). A root that is none, an exponential or a logarithm is an enclosure (`flint.arb`). What a parameter
promises is not looked at: only the numbers that it holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import DivExpression
from cvxpy.atoms.affine.concatenate import Concatenate
from cvxpy.atoms.affine.diag import diag_mat, diag_vec
from cvxpy.atoms.affine.hstack import Hstack
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.affine.vstack import Vstack
from cvxpy.atoms.affine.wraps import psd_wrap, symmetric_wrap
from flint import arb, ctx, fmpq

Exact = Any  # an array of objects: fmpq or arb
Point = Mapping[int, Exact]  # values of variables by CVXPY's number
PRECISION = 400  # bits of an enclosure
ZERO = fmpq(0)


def number(x: Any) -> Any:
    """The fraction that a float or integer is."""
    return fmpq(*map(int, (x.item() if isinstance(x, np.generic) else x).as_integer_ratio()))


def lifted(values: Any) -> Exact:
    """An array of numbers as fractions."""
    plain = np.asarray(values.toarray() if sp.issparse(values) else values)
    found = np.empty(plain.shape, dtype=object)
    for at in np.ndindex(plain.shape):
        found[at] = number(plain[at])
    return found


def fixed_value(leaf: Any) -> Any:
    """The numbers that a leaf holds at this moment."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return leaf.value_sparse if leaf.sparse_idx is not None else leaf.value


def value(e: Any, point: Point) -> Exact:
    """The expression at the point.

    Raises
    ------
    NotImplementedError
        where it holds a function that is not in the tables below.
    ArithmeticError
        where the point is outside of its domain.
    """
    if isinstance(e, cp.Variable):
        return point[e.id]
    if isinstance(e, (cp.Constant, cp.Parameter)):
        return lifted(fixed_value(e))
    if type(e) not in FUNCTIONS:
        raise NotImplementedError(type(e).__name__)
    found = np.asarray(FUNCTIONS[type(e)](e, *(value(argument, point) for argument in e.args)), dtype=object)
    return found.reshape(e.shape, order="F")


def feasible(problem: cp.Problem, point: Point) -> bool:
    """Whether the point is proven to satisfy every constraint and every attribute of a variable."""
    return all(_satisfied(row, point) for row in problem.constraints) and all(_allowed(v, point) for v in problem.variables())


def _satisfied(row: Any, point: Point) -> bool:
    if isinstance(row, cp.SOC):
        top, inner = (value(argument, point) for argument in row.args)
        columns = inner.reshape(-1, 1) if inner.ndim < 2 else inner if row.axis == 0 else inner.T
        return all(at_most(norm(columns[:, j]), t) for j, t in enumerate(np.atleast_1d(top).reshape(-1)))
    sides = [value(argument, point) for argument in row.args]
    if type(row).__name__ == "Inequality":
        left, right = np.broadcast_arrays(*sides)
        return all(at_most(x, y) for x, y in zip(left.flat, right.flat, strict=True))
    if type(row).__name__ == "Equality":
        left, right = np.broadcast_arrays(*sides)
        return all(same(x, y) for x, y in zip(left.flat, right.flat, strict=True))
    tests = {cp.Zero: lambda x: same(x, ZERO), cp.NonNeg: lambda x: at_most(ZERO, x), cp.NonPos: lambda x: at_most(x, ZERO)}
    if type(row) not in tests:
        raise NotImplementedError(type(row).__name__)
    return all(tests[type(row)](x) for x in sides[0].flat)


def _allowed(v: Any, point: Point) -> bool:
    x, said = point[v.id], v.attributes
    signs = [s for s, names in ((1, ("nonneg", "pos")), (-1, ("nonpos", "neg"))) if any(said[name] for name in names)]
    if not all(at_most(ZERO, s * entry) for s in signs for entry in x.flat):
        return False
    if said["symmetric"] and not all(same(a, b) for a, b in zip(x.flat, x.T.flat, strict=True)):
        return False
    there = np.eye(v.shape[0], dtype=bool) if said["diag"] else np.ones(v.shape, dtype=bool)
    if v.sparse_idx is not None:
        there = np.zeros(v.shape, dtype=bool)
        there[v.sparse_idx] = True
    if not all(same(entry, ZERO) for entry in x[~there].flat):
        return False
    for end, sign in zip(v.bounds or (), (-1, 1), strict=False):
        given = value(end, point) if isinstance(end, cp.Expression) else np.asarray(end, dtype=float)
        for at in zip(*np.nonzero(there), strict=True) if v.ndim else [()]:
            limit = np.broadcast_to(given, v.shape)[at]
            finite = isinstance(limit, (fmpq, arb)) or np.isfinite(limit)
            limit = limit if isinstance(limit, (fmpq, arb)) or not finite else number(limit)
            if finite and not at_most(sign * x[at], sign * limit):
                return False
    return not (said["PSD"] or said["NSD"])  # of which nothing is planted


def at_most(x: Any, y: Any) -> bool:
    """Whether x ≤ y is proven."""
    return bool(high(x - y) <= 0)


def same(x: Any, y: Any) -> bool:
    """Whether x = y is proven."""
    return bool(low(x - y) == high(x - y) == 0)


def low(x: Any) -> Fraction:
    """The lower end of what the number may be."""
    return Fraction(int(x.p), int(x.q)) if isinstance(x, fmpq) else _exact(x.lower())


def high(x: Any) -> Fraction:
    """The upper end."""
    return Fraction(int(x.p), int(x.q)) if isinstance(x, fmpq) else _exact(x.upper())


def _exact(x: Any) -> Fraction:
    if not x.is_finite():
        raise ArithmeticError("an enclosure without end")
    man, exp = x.man_exp()
    return Fraction(int(man)) * Fraction(2) ** int(exp)


# ── functions of numbers ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def ball(x: Any) -> Any:
    """An enclosure of a number."""
    ctx.prec = PRECISION
    return x if isinstance(x, arb) else arb(x)


def root(x: Any) -> Any:
    """√x, a fraction where it is one."""
    if isinstance(x, fmpq):
        if x < 0:
            raise ArithmeticError("the root of a negative number")
        p, q = (int(n.isqrt()) for n in (x.p, x.q))
        if p * p == int(x.p) and q * q == int(x.q):
            return fmpq(p, q)
    return ball(x).sqrt()


def logarithm(x: Any) -> Any:
    """log x for x > 0."""
    if low(x) <= 0:
        raise ArithmeticError("the logarithm of a number that is not positive")
    return ZERO if isinstance(x, fmpq) and x == 1 else ball(x).log()


def exponential(x: Any) -> Any:
    """eˣ."""
    return fmpq(1) if isinstance(x, fmpq) and x == 0 else ball(x).exp()


def power(x: Any, p: Any) -> Any:
    """x^p where CVXPY has it finite; where it does not, what its `numeric` says."""
    whole = int(p.q) == 1
    if whole and (p >= 0 or low(x) != 0):
        return x ** int(p)
    if int(p.q) == 2 and low(x) >= 0 and (p > 0 or low(x) > 0):
        return root(x) ** int(p.p)
    if low(x) <= 0:
        raise ArithmeticError("a power outside of its domain")
    return ball(x) ** ball(p)


def larger(x: Any, y: Any) -> Any:
    """max(x, y)."""
    return max(x, y) if isinstance(x, fmpq) and isinstance(y, fmpq) else ball(x).max(ball(y))


def largest(entries: Iterable[Any]) -> Any:
    """The largest of some numbers."""
    found, *others = entries
    for other in others:
        found = larger(found, other)
    return found


def size(x: Any) -> Any:
    """|x|."""
    return abs(x) if isinstance(x, fmpq) else larger(x, -x)


def norm(entries: Iterable[Any]) -> Any:
    """The Euclidean norm."""
    return root(sum((x * x for x in entries), ZERO))


def entropy(x: Any) -> Any:
    """x log x, 0 at 0."""
    return ZERO if isinstance(x, fmpq) and x == 0 else x * logarithm(x)


def relative(x: Any, y: Any) -> Any:
    """x log(x/y), 0 at (0, y)."""
    return ZERO if isinstance(x, fmpq) and x == 0 else x * logarithm(x / y)


# ── functions of CVXPY ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _entries(function: Callable[..., Any]) -> Callable[..., Exact]:
    return lambda e, *z: np.frompyfunc(function, len(z), 1)(*z)


def _lines(function: Callable[[Exact], Any]) -> Callable[..., Exact]:
    """A function of all entries, or along an axis."""

    def along(e: Any, z: Exact) -> Exact:
        axis = e.axis
        if axis is None:
            return np.array([function(list(z.reshape(-1, order="F")))], dtype=object)
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        moved = np.moveaxis(z, [a % z.ndim for a in axes], range(len(axes)))
        kept = moved.shape[len(axes) :]
        found = np.empty(kept, dtype=object)
        for at in np.ndindex(kept):
            found[at] = function(list(moved[(slice(None),) * len(axes) + at].reshape(-1)))
        return found.reshape(-1, order="F")

    return along


def _squares_over(e: Any, z: Exact, t: Exact) -> Exact:
    if low(t.flat[0]) == 0 == high(t.flat[0]):
        raise ArithmeticError("a quotient by 0")
    if e.args[1].variables() and low(t.flat[0]) < 0:
        raise ArithmeticError("a denominator that is not positive")
    return _lines(lambda entries: sum((x * x for x in entries), ZERO))(e, z) / t.flat[0]


def _huber(e: Any, z: Exact) -> Exact:
    m = value(e.M, {}).flat[0]
    return np.frompyfunc(lambda x: x * x if size(x) <= m else 2 * m * size(x) - m * m, 1, 1)(z)


def _sum_largest(e: Any, z: Exact) -> Any:
    entries = sorted(z.flat, reverse=True)
    whole = int(e.k)
    rest = number(float(e.k)) - whole
    return sum(entries[:whole], ZERO) + (rest * entries[whole] if rest else ZERO)


def _power_of(e: Any, z: Exact) -> Exact:
    p = number(float(e.p.value))
    even = int(p.q) == 1 and int(p.p) % 2 == 0 and p > 0
    if e.args[0].variables() and not even and any(low(x) < 0 for x in z.flat):  # where it is +∞ to CVXPY
        raise ArithmeticError("a power outside of its domain")
    return np.frompyfunc(lambda x: power(x, p), 1, 1)(z)


def _norm_of(e: Any, z: Exact) -> Exact:
    if e.p != 2:
        raise NotImplementedError(f"the {e.p}-norm")
    return _lines(norm)(e, z)


def _mean(e: Any, z: Exact) -> Any:
    weights = list(e.w if isinstance(e, cp.GeoMeanApprox) else e.p)
    if any(w != weights[0] for w in weights):
        raise NotImplementedError("a mean with weights")
    if any(low(x) < 0 for x in z.flat):
        raise ArithmeticError("the mean of a negative number")
    product = np.prod(z)
    return root(product) if len(z) == 2 else ball(product) ** (ball(fmpq(1)) / len(z))


def _moved(e: Any, *z: Exact) -> Exact:
    """What only moves entries, as CVXPY moves their numbers."""
    ends = np.cumsum([0, *(part.size for part in z)])
    numbers = [np.arange(a, a + part.size, dtype=float).reshape(part.shape, order="F") for a, part in zip(ends, z, strict=False)]
    entries = np.concatenate([part.reshape(-1, order="F") for part in z])
    return entries[np.asarray(e.numeric(numbers)).astype(int)]


FUNCTIONS: dict[type, Callable[..., Any]] = {
    cp.AddExpression: lambda e, *z: sum(z[1:], z[0]),
    NegExpression: lambda e, z: -z,
    cp.multiply: lambda e, x, y: x * y,
    DivExpression: lambda e, x, y: x / y,
    cp.MulExpression: lambda e, x, y: x @ y,
    cp.Sum: lambda e, z: np.sum(z, axis=e.axis, keepdims=e.keepdims),
    cp.Trace: lambda e, z: np.trace(z),
    cp.cumsum: lambda e, z: np.cumsum(z, axis=e.axis),
    cp.kron: lambda e, x, y: np.kron(x, y),
    diag_vec: lambda e, z: np.diag(z, e.k) + ZERO,
    psd_wrap: lambda e, z: z,
    symmetric_wrap: lambda e, z: z,
    cp.abs: _entries(size),
    cp.exp: _entries(exponential),
    cp.log: _entries(logarithm),
    cp.logistic: _entries(lambda x: (1 + ball(x).exp()).log()),
    cp.entr: _entries(lambda x: -entropy(x)),
    cp.rel_entr: _entries(relative),
    cp.kl_div: _entries(lambda x, y: relative(x, y) - x + y),
    cp.maximum: lambda e, *z: np.frompyfunc(lambda *entries: largest(entries), len(z), 1)(*z),
    cp.minimum: lambda e, *z: np.frompyfunc(lambda *entries: -largest([-x for x in entries]), len(z), 1)(*z),
    cp.max: _lines(largest),
    cp.min: _lines(lambda entries: -largest([-x for x in entries])),
    cp.norm1: _lines(lambda entries: sum(map(size, entries), ZERO)),
    cp.norm_inf: _lines(lambda entries: largest(map(size, entries))),
    cp.Pnorm: _norm_of,
    cp.PnormApprox: _norm_of,
    cp.Power: _power_of,
    cp.PowerApprox: _power_of,
    cp.quad_over_lin: _squares_over,
    cp.QuadForm: lambda e, z, p: np.sum(z.reshape(-1) * (p @ z.reshape(-1))),
    cp.huber: _huber,
    cp.sum_largest: _sum_largest,
    cp.log_sum_exp: _lines(lambda entries: sum((ball(x).exp() for x in entries), arb(0)).log()),
    cp.GeoMean: _mean,
    cp.GeoMeanApprox: _mean,
} | dict.fromkeys((index, special_index, Promote, Hstack, Vstack, Concatenate, cp.reshape, cp.transpose, cp.broadcast_to, diag_mat), _moved)
FUNCTIONS[cp.upper_tri] = _moved
