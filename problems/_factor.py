"""Gram matrices of kernel problems: checked once, eigendecomposed once, and the way from a factor's coordinates back to coefficients.

K = Q diag(d) Qᵀ. Conic solvers see the truncated factor F = Q_r diag(√d_r), d_r > 1e-10 d_max, and optimise over u with f = F u
(a Gram matrix inside a quadratic form makes them fail); the answer is judged with K itself, so the truncation is inside the certificate.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simopt import validate
from simopt.arrays import Array, Point
from simopt.errors import InvalidProblem
from simopt.problem import Problem, freeze, own

TRUNCATION = 1e-10  # eigenvalues below this share of the largest one are left out of the factor


@dataclass(frozen=True, eq=False)
class Factor:
    """K = Q diag(d) Qᵀ with d ≥ 0 in decreasing order (negative eigenvalues, which are rounding, count as 0) and the rank kept.

    Attributes
    ----------
    vectors : (n, n) array
        Q.
    values : (n,) array
        d.
    rank : int
        r, number of eigenvalues above the truncation.
    """

    vectors: Array
    values: Array
    rank: int

    @property
    def matrix(self) -> Array:
        """F of shape (n, max(r, 1)); one zero column when K = 0."""
        if self.rank == 0:
            return np.zeros((self.values.size, 1))
        head: Array = self.vectors[:, : self.rank] * np.sqrt(self.values[: self.rank])
        return head

    @property
    def width(self) -> int:
        """Number of columns of F."""
        return max(self.rank, 1)

    def coefficients(self, u: Array, targets: Array, mu: float) -> Array:
        """α with K α ≈ F u, for a u that nearly solves Fᵀ(y − F u) = μ u.

        In exact arithmetic both Q_rᵀα = u/√d and Q_rᵀα = (Q_rᵀy − √d u)/μ hold at the solution; an error δ of u costs δ/√d in the first
        and √d δ/μ in the second, so each direction takes the smaller. Directions outside the factor have (Qᵀα)_i = (Qᵀy)_i/(d_i + μ);
        those whose eigenvalue is only rounding, where α could be anything and a large α only adds noise to K α, are left out. y = 0 has
        α = 0, whatever noise u is. O(n²).
        """
        if not np.any(targets):
            return np.zeros_like(targets)
        r = self.rank
        d = self.values
        y = self.vectors.T @ targets
        out = np.zeros_like(d)
        root = np.sqrt(d[:r])
        head = np.asarray(u, dtype=float).reshape(-1)
        if head.size != self.width:
            raise InvalidProblem(f"point: u has {head.size} values, expected {self.width}, the columns of the factor")
        head = head[:r]
        out[:r] = head / root
        if mu > 0:
            shrunk = d[:r] < mu
            out[:r][shrunk] = (y[:r] - root * head)[shrunk] / mu
            real = d > d.size * np.finfo(float).eps * d[0]
            real[:r] = False
            out[real] = y[real] / (d[real] + mu)
        alpha: Array = self.vectors @ out
        return alpha

    def damped(self, residual: Array, mu: float) -> Array:
        """Q diag(μ/(d + μ)) Qᵀ r: z that minimises ‖z − r‖² + ‖z‖²_K/μ. O(n²)."""
        share = mu / (self.values + mu) if mu > 0 else (self.values == 0).astype(float)
        out: Array = self.vectors @ (share * (self.vectors.T @ residual))
        return out

    def scaled(self, by: float) -> Factor:
        """The factor of `by`·K."""
        return Factor(self.vectors, self.values * by, self.rank)


class KernelProblem(Problem):
    """What the problems in an RKHS have in common: K, its factor, and f = 0; each declares its fields in the order of its formula."""

    gram: Array

    def _check_gram(self, n: int) -> None:
        freeze(self, gram=checked("gram", self.gram, n))

    @property
    def factor(self) -> Factor:
        """Eigendecomposition of K and its truncated factor F."""
        return factor_of(self.gram)

    def trivial_point(self) -> Point:
        """α = 0."""
        return {"alpha": np.zeros(len(self.gram))}


_checked: dict[int, weakref.ref[Array]] = {}
_factors: dict[int, tuple[weakref.ref[Array], Factor]] = {}
_origins: dict[int, tuple[weakref.ref[Array], Array, float]] = {}


def checked(name: str, gram: npt.ArrayLike, n: int | None = None) -> Array:
    """A valid, exactly symmetric PSD Gram matrix; one that came out of this function before is not looked at again.

    (Sweeps and rescalings build thousands of problems on one matrix, and the check costs as much as a solve.)
    """
    if isinstance(gram, np.ndarray) and _is(_checked.get(id(gram)), gram):
        return validate.matrix(name, gram, rows=n) if n is not None and gram.shape[0] != n else gram
    valid = validate.squarable(name, validate.gram(name, gram, n=n))
    if not np.array_equal(valid, valid.T):
        valid = 0.5 * (valid + valid.T)
    return trusted(valid)


def trusted(gram: Array) -> Array:
    """Remember that the matrix is valid (it is, being a positive multiple of one that is) and return it as problems own it."""
    owned = own(gram)
    key = id(owned)
    _checked[key] = weakref.ref(owned, lambda _: _checked.pop(key, None))
    return owned


def factor_of(gram: Array) -> Factor:
    """The factor of K, computed once for each matrix and its multiples. O(n³)."""
    known = _factors.get(id(gram))
    if known is not None and _is(known[0], gram):
        return known[1]
    origin = _origins.get(id(gram))
    if origin is not None and _is(origin[0], gram):
        factor = factor_of(origin[1]).scaled(origin[2])
    else:
        values, vectors = np.linalg.eigh(gram)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        factor = Factor(vectors, values, int(np.count_nonzero(values > TRUNCATION * values[0])))
    key = id(gram)
    _factors[key] = (weakref.ref(gram, lambda _: _factors.pop(key, None)), factor)
    return factor


def has_factor(gram: Array) -> bool:
    """Whether the eigendecomposition of K (or of the matrix that K is a multiple of) is at hand."""
    known, origin = _factors.get(id(gram)), _origins.get(id(gram))
    if known is not None and _is(known[0], gram):
        return True
    return origin is not None and _is(origin[0], gram) and has_factor(origin[1])


def rescaled(gram: Array, by: float) -> Array:
    """`by`·K, valid because K is, sharing K's factor; K itself when by = 1."""
    if by == 1.0:
        return gram
    out = trusted(gram * by)
    key = id(out)
    _origins[key] = (weakref.ref(out, lambda _: _origins.pop(key, None)), gram, by)
    return out


def _is(reference: weakref.ref[Array] | None, gram: Array) -> bool:
    return reference is not None and reference() is gram
