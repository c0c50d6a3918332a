"""The residuals of a back end's answer in the programme that it was given, recomputed from its point and multipliers.

CVXPY hands a back end min ½xᵀPx + qᵀx subject to Ax + b ∈ K, and perhaps l ≤ x ≤ u. An answer (x, z) has the residuals dist(Ax + b, K),
‖Px + q − Aᵀz‖∞ with dist(z, K*), and |xᵀPx + qᵀx + bᵀz|. Each is divided by 1 and the sizes of all that it is the difference of, which is
at least what any of the solvers divides by: an answer within its solver's tolerance is within it here.

Distances to cones are bounded from above by moves along one coordinate. Multipliers of bounds are what they take of stationarity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simopt.core.arrays import Array


@dataclass(frozen=True)
class OwnResiduals:
    """Relative residuals: `primal` of the point, `dual` of the multipliers, and the `gap` between them; nan without multipliers."""

    primal: float
    dual: float = math.nan
    gap: float = math.nan

    @property
    def of_optimality(self) -> float:
        """The largest one; nan without multipliers."""
        return math.nan if math.isnan(self.dual) else max(self.primal, self.dual, self.gap)


@dataclass(frozen=True)
class _Block:
    """The rows of one constraint: CVXPY's constraint, and which rows."""

    row: Any
    rows: slice


def own_residuals(data: dict[str, Any], chain: Any, inverse: Any, raw: Any) -> OwnResiduals | None:
    """The residuals of a raw result; None where there is no point, or a cone or layout that is not known here."""
    stuffed, last = data.get("param_prob"), chain.solver
    if stuffed is None or getattr(stuffed, "dir_cones", None):
        return None
    solution = last.invert(raw, inverse[-1])
    values = list((solution.primal_vars or {}).values())  # the whole x, by its number or by a word, as the interface likes
    if len(values) != 1 or values[0] is None or np.size(values[0]) != stuffed.x.size:
        return None
    x = np.asarray(values[0], dtype=float).reshape(-1)
    with_squares = stuffed.P is not None
    P, q, _, A, b = stuffed.apply_parameters(quad_obj=True) if with_squares else (None, *stuffed.apply_parameters())
    Px = P @ x if with_squares else np.zeros(len(x))
    s, b = A @ x + b, np.asarray(b, dtype=float)
    blocks, end = [], 0
    for row in stuffed.constraints:
        size = sum(argument.size for argument in row.args)
        blocks.append(_Block(row, slice(end, end + size)))
        end += size
    low, high = _ends(stuffed, len(x))
    outside = float(np.max(np.maximum(low - x, x - high), initial=0.0))
    distances = [_distance(block, s[block.rows], last, dual=False) for block in blocks]
    if any(distance is None for distance in distances) or not np.isfinite(s).all():
        return None
    primal = max([outside, *(float(d) for d in distances if d is not None)]) / _unit(b, s - b, s, x)
    z = _multipliers(blocks, solution.dual_vars or {}, last, len(s))
    if z is None:
        return OwnResiduals(primal)
    both = (_dual_and_gap(blocks, last, signs * z, (x, Px, q, A, b), (low, high)) for signs in _signs(blocks, len(s)))
    return OwnResiduals(primal, *min(both, key=max))


def _dual_and_gap(
    blocks: list[_Block], last: Any, z: Array, form: tuple[Array, Array, Array, Any, Array], ends: tuple[Array, Array]
) -> tuple[float, float]:
    x, Px, q, A, b = form
    pulled, (low, high) = A.T @ z, ends
    left = Px + q - pulled
    of_low = np.where(np.isfinite(low), np.maximum(left, 0.0), 0.0)
    of_high = np.where(np.isfinite(high), np.maximum(-left, 0.0), 0.0)
    distances = [_distance(block, z[block.rows], last, dual=True) or 0.0 for block in blocks]
    unit = _unit(q, Px, pulled, z)
    dual = max([float(np.abs(left - of_low + of_high).max(initial=0.0)), *distances]) / unit
    parts = float(x @ Px), float(q @ x), float(b @ z), float(of_high @ _finite(high) - of_low @ _finite(low))
    return dual, abs(sum(parts)) / (1.0 + sum(map(abs, parts)))


def _unit(*parts: Array) -> float:
    """1 and the lengths of all that a residual is the difference of."""
    return 1.0 + sum(float(np.linalg.norm(part)) for part in parts)


def _finite(ends: Array) -> Array:
    return np.where(np.isfinite(ends), ends, 0.0)


def _ends(stuffed: Any, n: int) -> tuple[Array, Array]:
    """Bounds of x that are no rows."""
    low, high = (getattr(stuffed, name, None) for name in ("lower_bounds", "upper_bounds"))
    return (
        np.full(n, -np.inf) if low is None else np.asarray(low, dtype=float),
        np.full(n, np.inf) if high is None else np.asarray(high, dtype=float),
    )


def _signs(blocks: list[_Block], size: int) -> list[Array]:
    """Signs of multipliers: interfaces differ in that of equalities, of which the better one is taken."""
    from cvxpy.constraints import Zero

    signs = np.ones(size)
    for block in blocks:
        if isinstance(block.row, Zero):
            signs[block.rows] = -1.0
    return [np.ones(size), signs]


def _multipliers(blocks: list[_Block], duals: dict[Any, Any], last: Any, size: int) -> Array | None:
    """z in the order of the rows; None where one is missing, or scaled in a way that is not known here."""
    from cvxpy.constraints import ExpCone, SvecPSD

    z = np.zeros(size)
    for block in blocks:
        value = duals.get(block.row.id)
        if value is None or (isinstance(block.row, SvecPSD) and not last.PSD_SQRT2_SCALING):
            return None
        flat = np.asarray(value, dtype=float).reshape(-1, order="F")
        if flat.size != block.rows.stop - block.rows.start or not np.isfinite(flat).all():
            return None
        if isinstance(block.row, ExpCone):
            ordered = np.empty((flat.size // 3, 3))
            ordered[:, list(last.EXP_CONE_ORDER)] = flat.reshape(-1, 3)
            flat = ordered.ravel()
        z[block.rows] = flat
    return z


def _distance(block: _Block, v: Array, last: Any, dual: bool) -> float | None:
    """An upper bound on the distance of v to the cone of the constraint, or to its dual; None for a cone that is not known here."""
    from cvxpy.constraints import PSD, SOC, ExpCone, NonNeg, PowCone3D, SvecPSD, Zero

    row = block.row
    if isinstance(row, Zero):
        return 0.0 if dual else float(np.abs(v).max(initial=0.0))
    if isinstance(row, NonNeg):
        return float(np.maximum(-v, 0.0).max(initial=0.0))
    if isinstance(row, SOC):
        ends = np.cumsum(row.cone_sizes())[:-1]
        return max([0.0, *(float(np.linalg.norm(part[1:]) - part[0]) for part in np.split(v, ends) if part.size)])
    if isinstance(row, PSD | SvecPSD):
        return max([0.0, *(-float(np.linalg.eigvalsh(matrix)[0]) for matrix in _matrices(row, v, last))])
    if isinstance(row, ExpCone):
        triples = v.reshape(-1, 3)[:, list(last.EXP_CONE_ORDER)].T
        return float(_from_exponential(*(_turned(triples) if dual else triples)).max(initial=0.0))
    if isinstance(row, PowCone3D):
        alpha = np.asarray(row.alpha.value, dtype=float).ravel()
        x, y, z = v.reshape(-1, 3).T
        first, second = (x / alpha, y / (1.0 - alpha)) if dual else (x, y)
        return float(_from_power(first, second, z, alpha).max(initial=0.0))
    return None


def _matrices(row: Any, v: Array, last: Any) -> list[Array]:
    """The matrices of semidefinite rows: whole, column by column, or their triangles."""
    from cvxpy.constraints import PSD

    found, start = [], 0
    for n in row.cone_sizes():
        if isinstance(row, PSD):
            matrix, start = v[start : start + n * n].reshape(n, n), start + n * n
        else:
            flat, start = v[start : start + n * (n + 1) // 2], start + n * (n + 1) // 2
            upper = str(getattr(last.PSD_TRIANGLE_KIND, "name", last.PSD_TRIANGLE_KIND)).upper() == "UPPER"
            i, j = np.tril_indices(n) if upper else np.triu_indices(n)  # column by column of one is row by row of the other
            matrix = np.zeros((n, n))
            matrix[i, j] = matrix[j, i] = np.where(i == j, flat, flat / (math.sqrt(2.0) if last.PSD_SQRT2_SCALING else 1.0))
        found.append((matrix + matrix.T) / 2)
    return found


def _turned(v: Array) -> Array:
    """K* of the exponential cone as K: (u − v, −u, w)."""
    return np.array([v[0] - v[1], -v[0], v[2]])


def _from_exponential(x: Array, y: Array, z: Array) -> Array:
    """A bound on the distance to ye^{x/y} ≤ z: along z, along x, or to the face x ≤ 0, y = 0, z ≥ 0."""
    with np.errstate(all="ignore"):
        face = np.max([np.maximum(x, 0.0), np.abs(y), np.maximum(-z, 0.0)], axis=0)
        along_z = np.where(y > 0.0, np.maximum(y * np.exp(x / y) - z, 0.0), np.inf)
        along_x = np.where((y > 0.0) & (z > 0.0), np.maximum(x - y * np.log(z / y), 0.0), np.inf)
    nearest: Array = np.nanmin([face, along_z, along_x], axis=0)
    return nearest


def _from_power(x: Array, y: Array, z: Array, alpha: Array) -> Array:
    """A bound on the distance to |z| ≤ x^α y^{1−α}, x and y ≥ 0: along z, x or y."""
    below = np.maximum(np.maximum(-x, -y), 0.0)
    x, y, size = np.maximum(x, 0.0), np.maximum(y, 0.0), np.abs(z)
    with np.errstate(all="ignore"):
        along_z = np.maximum(size - x**alpha * y ** (1.0 - alpha), 0.0)
        along_x = np.maximum((size / y ** (1.0 - alpha)) ** (1.0 / alpha) - x, 0.0)
        along_y = np.maximum((size / x**alpha) ** (1.0 / (1.0 - alpha)) - y, 0.0)
    nearest: Array = below + np.nanmin([along_z, along_x, along_y], axis=0)
    return nearest
