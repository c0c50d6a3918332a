r"""Problems whose points, or multipliers, lie on a face of a cone: bounds from a problem in which they do not.

Let [V N] be regular. If Z N = 0 and VᵀZV ⪰ 0, then Z ⪰ 0: a problem restricted to that has upper bounds of the original as upper bounds. If
Z ⪰ 0, then VᵀZV ⪰ 0: a problem relaxed to that has lower bounds of the original as lower bounds. So N is a guess that needs no proof: the
common null space of feasible matrices Z, or that of a multiplier U = VWVᵀ. It is guessed from eigenvectors in floats, whose echelon form is
rounded to simple fractions. Where there is no such basis, there is no face.

Source: G. Pataki, The geometry of semidefinite programming, Handbook of Semidefinite Programming (2000), for faces.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg as la
from numpy.typing import NDArray

from simopt.core.arrays import Array

FLAT = 1e-5  # of the largest eigenvalue: what counts as 0
SIMPLE, NEAR = 64, 1e-4  # the largest denominator of a basis, and how far its entries may be off


@dataclass(frozen=True, eq=False)
class Face:
    """V and N with whole entries, [V N] regular; `restricted` is whether Z N = 0 is demanded."""

    across: Array
    null_space: Array
    restricted: bool

    def whole(self, multiplier: Array) -> Array:
        """U = VWVᵀ."""
        return np.asarray(self.across @ multiplier @ self.across.T)


def rank(matrix: Array) -> int:
    """The number of eigenvalues that count as positive; 0 where the matrix is not finite."""
    return int(np.sum(~_flat(np.linalg.eigvalsh((matrix + matrix.T) / 2)))) if np.isfinite(matrix).all() else 0


def face(matrix: Array, restricted: bool) -> Face | None:
    """The face that a semidefinite matrix of floats suggests; None if it is definite or 0, or has a null space without a simple basis."""
    if not np.isfinite(matrix).all():
        return None
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    flat = _flat(values)
    if not flat.any() or flat.all():
        return None
    basis = vectors[:, flat].T
    leading = la.qr(basis, pivoting=True, mode="economic")[2][: len(basis)]
    echelon = np.linalg.solve(basis[:, leading], basis)
    if not np.isfinite(echelon).all() or not are_simple(echelon):
        return None
    fractions = [[Fraction(float(x)).limit_denominator(SIMPLE) for x in row] for row in echelon]
    if any(fractions[i][j] != (i == k) for k, j in enumerate(leading) for i in range(len(leading))):
        return None  # [V N] is regular because these columns are those of the identity
    rows = [[float(x * math.lcm(*(y.denominator for y in row))) for x in row] for row in fractions]
    others = np.setdiff1d(np.arange(len(values)), leading)
    return Face(np.eye(len(values))[:, others], np.array(rows).T, restricted)


def are_simple(values: Array) -> bool:
    """Whether each number is near a fraction k/d with d ≤ SIMPLE. Few of a random basis are, so that none of them is computed there."""
    left = values.reshape(-1)
    for d in range(1, SIMPLE + 1):
        left = left[np.abs(left - np.rint(left * d) / d) > NEAR]
    return not len(left)


def _flat(values: Any) -> NDArray[np.bool_]:
    return np.asarray(values <= FLAT * float(np.max(np.abs(values), initial=0.0)))
