"""Gram matrices of kernel problems: checked once, eigendecomposed once, and the way from a factor's coordinates back to coefficients.

K = Q diag(d) Qᵀ. Conic solvers see the truncated factor F = Q_r diag(√d_r), d_r > 1e-10 d_max, and optimise over u with f = F u
(a Gram matrix inside a quadratic form makes them fail). The answer is judged with K itself, so the truncation is inside the certificate.

Weak duality needs K ⪰ 0: λ αᵀKα is convex and αᵀKα ≥ 0 only then; of an indefinite K, however little, the optimum is −∞ or another one.
Rounding makes least eigenvalues of −1e-16 λ_max and below; those that it cannot explain are refused. So a rigorous certificate proves
K ⪰ 0, or is of the problem with K + δI in the place of K, and says so (`certified`). δ is the least for which that is proven. The formulas
are the same, with another matrix of floats. Certificates in floats are of K, up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.arithmetic.definite import semidefinite_shift, shifted
from simopt.core import validate
from simopt.core.arrays import Array, Point
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Axes
from simopt.core.frozen_matrix import FrozenMatrix
from simopt.data.similarities import Similarity
from simopt.data.similarities.base import of_simopt
from simopt.model.problem import Problem, own, owns_its_data, with_fields

CHECKED = "gram was checked"  # in the state of a problem that is pickled
TRUNCATION = 1e-10  # eigenvalues below this fraction of the largest one are left out of the factor


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

        In exact arithmetic both Q_rᵀα = u/√d and Q_rᵀα = (Q_rᵀy − √d u)/μ hold at the solution. An error δ of u costs δ/√d in the first and
        √d δ/μ in the second, so each direction takes the smaller. Directions outside the factor have (Qᵀα)_i = (Qᵀy)_i/(d_i + μ). Those
        whose eigenvalue is only rounding are left out: there α could be anything, and a large α only adds noise to K α. y = 0 has α = 0,
        whatever noise u is. O(n²).
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
        fraction = mu / (self.values + mu) if mu > 0 else (self.values == 0).astype(float)
        out: Array = self.vectors @ (fraction * (self.vectors.T @ residual))
        return out

    def scaled(self, by: float) -> Factor:
        """The factor of `by`·K."""
        return Factor(self.vectors, self.values * by, self.rank)


class KernelProblem(Problem):
    """The base of the problems in an RKHS: K, its factor, and f = 0; each declares its fields in the order of its formula."""

    by_hand: ClassVar[str] = "judged with K itself, not with the truncated factor that is declared; time"

    gram: Gram

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), CHECKED: isinstance(self.gram.base, CheckedGram)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        was = bool(state.get(CHECKED, False))
        rest = {name: value for name, value in state.items() if name != CHECKED}
        super().__setstate__({**rest, "gram": trusted(rest["gram"], valid=was)})  # pickling loses the owner

    @property
    def factor(self) -> Factor:
        """Eigendecomposition of K and its truncated factor F."""
        return factor_of(self.gram)

    def trivial_point(self) -> Point:
        """α = 0."""
        return {"alpha": np.zeros(len(self.gram))}

    def as_certified(self, num: Arithmetic) -> tuple[Problem, str]:
        """The problem with K + δI where K ⪰ 0 is not proven (see `certified`); made once."""
        gram, name = certified(self.gram, num, "gram")
        if gram is self.gram:
            return self, name
        made: KernelProblem | None = vars(self).get("_as_certified")
        if made is None or made.gram is not gram:
            made = vars(self)["_as_certified"] = with_fields(self, gram=gram)
        return made, name


class CheckedGram(FrozenMatrix):
    """A Gram matrix that was checked, and its factor once that is known: the `base` of the one array that is a view of its memory.

    Sweeps and rescalings build thousands of problems on one matrix; what they share lives as long as that array.

    Parameters
    ----------
    base : array
        K, symmetric.
    multiple_of : (array, float), optional
        a matrix and a number: K has the factor of their product.
    immutable : bool, optional
        whether nobody else can write on K; by default this is looked at.
    valid : bool
        whether K is known to be symmetric and PSD to rounding; else it is looked at before it is judged.
    symmetrised : bool
        whether K = (A + Aᵀ)/2 of a matrix A ≠ Aᵀ.
    """

    symmetric = True

    def __init__(
        self,
        base: Array,
        multiple_of: tuple[Array, float] | None = None,
        *,
        immutable: bool | None = None,
        valid: bool = True,
        symmetrised: bool = False,
    ) -> None:
        super().__init__(base, immutable=owns_its_data(base) if immutable is None else immutable)
        self.base, self.multiple_of, self.symmetrised = base, multiple_of, symmetrised
        self._factor: Factor | None = None
        self._proven: tuple[float, Array | None] | None = None
        self._seen = self._digest() if valid else None

    def factor(self) -> Factor:
        """Computed once; that of a multiple from the factor of what it is a multiple of."""
        if self._factor is None:
            self._factor = decomposed(self.base) if self.multiple_of is None else factor_of(self.multiple_of[0]).scaled(self.multiple_of[1])
        return self._factor

    def has_factor(self) -> bool:
        """Whether there is no eigendecomposition to do."""
        return self._factor is not None or (self.multiple_of is not None and has_factor(self.multiple_of[0]))

    def check_unchanged(self, name: str) -> None:
        """Refuse K if it is no longer the matrix that was checked. O(n²) where others can write on it.

        Raises
        ------
        InvalidProblem
            for a K that has changed.
        """
        if self.immutable and self._seen is not None:
            return
        now = self._digest()
        if self._seen is None:
            validate.gram(name, self.base)
            self._seen = now
        if now != self._seen:
            raise InvalidProblem(f"{name}: changed since the problem was made, which does not own an array of that size; make it anew")

    def proven(self, gram: Array) -> tuple[float, Array]:
        """δ and K + δI ⪰ 0, proven, with the factor of K; `gram`, which this lends, where δ = 0. O(n³), once."""
        if self._proven is None:
            shift = semidefinite_shift(self.base)
            raised = None
            if shift > 0.0:
                owner = CheckedGram(shifted(self.base, shift), (gram, 1.0), immutable=True)
                owner._proven, raised = (0.0, None), np.asarray(owner)
            self._proven = shift, raised
        shift, raised = self._proven
        return shift, gram if raised is None else raised

    def _digest(self) -> int:
        """A digest of the sums of the rows, as integers; 0 where nobody can write on K."""
        return 0 if self.immutable else hash(np.add.reduce(np.ascontiguousarray(self.base).view(np.uint64), axis=1).tobytes())


def certified(gram: Array, num: Arithmetic, name: str) -> tuple[Array, str]:
    """The matrix that a certificate in this arithmetic is about, and what it is where it is not quite the one that was given.

    In floats K itself. In any other arithmetic K + δI, as `K + delta * numpy.eye(n)` gives it, with the least δ for which that is proven to
    be positive semidefinite; δ = 0 is K itself.

    Raises
    ------
    InvalidProblem
        for a matrix that changed since it was checked.
    """
    gram = checked(name, gram)  # what did not come through the type of a field, as by `object.__setattr__`
    owner = cast(CheckedGram, gram.base)
    owner.check_unchanged(name)
    if num is FLOAT:
        return gram, ""
    shift, raised = owner.proven(gram)
    half = f"({name} + {name}ᵀ)/2" if owner.symmetrised else ""
    if raised is gram:
        return gram, half
    if not np.isfinite(shift):
        raise InvalidProblem(f"{name}: not proven to be positive semidefinite with anything added to its diagonal; change its unit")
    return raised, f"{half or name} + {shift:g}·I"


def checked(name: str, gram: npt.ArrayLike, n: int | None = None) -> Array:
    """A valid, exactly symmetric PSD Gram matrix; one that came out of this function before is not looked at again.

    (The check costs as much as a solve.)
    """
    if isinstance(gram, np.ndarray) and isinstance(gram.base, CheckedGram):
        return validate.matrix(name, gram, rows=n) if n is not None and gram.shape[0] != n else gram
    valid = validate.squarable(name, validate.gram(name, gram, n=n, psd=False))
    symmetrised = not np.array_equal(valid, valid.T)
    if symmetrised:
        valid = 0.5 * (valid + valid.T)
    validate.semidefinite(name, valid)
    return np.asarray(CheckedGram(own(valid), symmetrised=symmetrised))


Gram = Annotated[Array, checked, Axes("n", "n")]


def trusted(gram: Array, *, valid: bool = True) -> Array:
    """The matrix, which is valid, as problems own it; itself if it is that already.

    If it is not known to be valid, or others can write on it, it is validated at its first certificate.
    """
    if isinstance(gram.base, CheckedGram):
        return gram
    owned = own(gram)
    return np.asarray(CheckedGram(owned, valid=valid and owns_its_data(owned)))


def of_points(similarity: Similarity, X: Array) -> Array:
    """K(X, X) of a similarity that is PSD, as problems own it. O(n²): of simopt's own similarities no eigenvalue is asked.

    That they are PSD is a theorem, `gram` makes K symmetric to the last bit, and rounding of n ε λ_max is what `validate.gram` forgives. A
    similarity of another package, or one made of such, is looked at like any matrix: what it says of itself may be a mistake.

    Raises
    ------
    InvalidProblem
        for values that are not finite, and for one that is not positive semidefinite (with the eigenvalue).
    """
    K = similarity.gram(X)
    if not (similarity.psd and similarity.symmetric and of_simopt(similarity)):
        return checked("similarity", K, len(X))
    validate.squarable("similarity", np.diagonal(validate.all_finite("similarity", K)))  # the diagonal holds the largest entry
    return np.asarray(CheckedGram(K, immutable=True))


def decomposed(gram: Array) -> Factor:
    """The factor of K. O(n³)."""
    values, vectors = np.linalg.eigh(gram)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    return Factor(vectors, values, int(np.count_nonzero(values > TRUNCATION * values[0])))


def factor_of(gram: Array) -> Factor:
    """The factor of K, computed once for each matrix that was checked and its multiples."""
    return gram.base.factor() if isinstance(gram.base, CheckedGram) else decomposed(gram)


def has_factor(gram: Array) -> bool:
    """Whether the eigendecomposition of K (or of the matrix that K is a multiple of) is at hand."""
    return isinstance(gram.base, CheckedGram) and gram.base.has_factor()


def rescaled(gram: Array, by: float) -> Array:
    """`by`·K, valid because K is, sharing K's factor; K itself when by = 1."""
    return gram if by == 1.0 else np.asarray(CheckedGram(gram * by, (gram, by), immutable=True))
