r"""Steps inside the ℓ₁ ball: the projection onto it, and the minimiser of a quadratic model over the faces around a point.

With signs σ fixed, w = σ∘z and z ≥ 0, Σ z ≤ B is a simplex. There the model ⟨g, z' − z⟩ + ½(z' − z)ᵀH(z' − z) is minimised on the free
coordinates F, by solving
    H_FF d + μ1 = −g_F,   Σ d = 0 if the sum is at its bound (else μ = 0).
The step goes as far as z' ≥ 0 and Σ z' ≤ B allow. The coordinate that stopped it is dropped, and the system is solved again. Then a
coordinate whose reduced gradient g_j + μ is negative is freed, until there is none.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.linalg

from simopt.core.arrays import Array

RIDGE = 1e-11  # of the mean of the diagonal, so that equal columns have a step
TIGHT = 1e-12
TOGETHER = 20
NEGLIGIBLE = 1e-12  # of the largest slope: reduced gradients no further below 0 are 0


def project(v: Array, radius: float) -> Array:
    """The nearest point to v with ‖w‖₁ ≤ B: soft thresholding at the level where the sum fits. O(d log d).

    Source: Duchi, Shalev-Shwartz, Singer & Chandra 2008.
    """
    size = np.abs(v)
    if float(np.sum(size)) <= radius:
        return v.copy()
    ordered = np.sort(size)[::-1]
    excess = np.cumsum(ordered) - radius
    last = int(np.flatnonzero(ordered * np.arange(1, len(v) + 1) > excess)[-1])
    level = excess[last] / (last + 1)
    out: Array = np.sign(v) * np.maximum(size - level, 0.0)
    return out


def model_minimiser(H: Array, g: Array, z: Array, radius: float, free: npt.NDArray[np.bool_]) -> Array:
    """argmin of the model over z' ≥ 0, Σ z' ≤ B (H positive semidefinite), by an active-set method from z; z is 0 off `free`.

    One solve in |F| unknowns for every change of F. At first all coordinates that would fall below 0 are dropped together and the point is
    projected, and all with a negative reduced gradient are freed together. After `TOGETHER` changes of that kind it is one at a time, so
    that the model falls with every step. Ends early after 5 times as many solves as there are coordinates.
    """
    start, z, free = z, z.copy(), free.copy()
    tight = float(z.sum()) >= radius * (1.0 - TIGHT)
    gradient = g.copy()
    small = NEGLIGIBLE * float(np.max(np.abs(g), initial=0.0))
    many = TOGETHER
    for _ in range(5 * len(z) + 10):
        F, mu = free.nonzero()[0], 0.0
        if F.size:
            own, inner = z[F], H[F[:, None], F]
            d, mu = _solve(inner, gradient[F], tight)
            if tight and mu < 0.0:
                tight = False
                d, mu = _solve(inner, gradient[F], False)
            if many > 0 and np.count_nonzero(own + d < 0.0) > 1:
                many -= 1
                z[F] = project(np.maximum(own + d, 0.0), radius)
                free &= z > 0.0
                tight = float(z.sum()) >= radius * (1.0 - TIGHT)
                gradient = g + H @ (z - start)
                continue
            step, bound = _longest_step(own, d, radius - float(own.sum()), tight)
            moved = own + step * d
            stopped = F[(d < 0.0) & (moved <= 0.0)] if step < 1.0 and not bound else F[:0]
            z[F] = np.maximum(moved, 0.0)
            gradient += step * (d @ H[F])
            free[stopped], z[stopped] = False, 0.0
            tight = tight or bound
            if step < 1.0:
                continue
        reduced = np.where(free, np.inf, gradient + mu)
        if not np.min(reduced) < -small:
            break
        if many > 0:
            many -= 1
            free |= reduced < -small
        else:
            free[int(np.argmin(reduced))] = True
    return z


def _longest_step(z: Array, d: Array, whole: float, tight: bool) -> tuple[float, bool]:
    """How much of d is feasible, at most all of it, and whether it is the sum that stops it."""
    falling = d < 0.0
    step = min(1.0, float((z[falling] / -d[falling]).min(initial=1.0)))
    total = float(d.sum())
    if not tight and total > 0.0 and step * total > whole:
        return max(whole, 0.0) / total, True
    return step, False


def _solve(H: Array, gradient: Array, tight: bool) -> tuple[Array, float]:
    """d and μ with Hd + μ1 = −g, Σ d = 0; or μ = 0. LAPACK without SciPy's checks, which take longer than so small a system."""
    n = len(H)
    mean = float(H.trace()) / n
    ridge = RIDGE * mean if mean > 0.0 else 1.0
    while True:
        matrix = H.T.copy(order="F")
        matrix.ravel(order="K")[:: n + 1] += ridge
        factor, info = scipy.linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info == 0:
            break
        ridge *= 100.0
        if not math.isfinite(ridge):
            raise np.linalg.LinAlgError("the model's matrix is not finite")
    right = np.empty((n, 2 if tight else 1), order="F")
    right[:, 0] = -gradient
    if tight:
        right[:, 1] = 1.0
    found, _ = scipy.linalg.lapack.dpotrs(factor, right, lower=1, overwrite_b=1)
    if not tight:
        return found[:, 0], 0.0
    mu = float(found[:, 0].sum() / found[:, 1].sum())
    return found[:, 0] - mu * found[:, 1], mu
