"""What survives a change of the data: a feasible point, or a finite bound, of all problems whose numbers differ by at most 1e-6 relatively.

The data are the numbers of the conic form, min ½xᵀPx + cᵀx subject to Ax + s = b, s ∈ K. Changed data have |A′ − A| ≤ ε|A| entry by
entry, and so on: what is 0 stays 0, what is symmetric stays symmetric, and P′ ⪰ 0. Both questions are whether {y : Ey = e, h − Gy ∈ K} is
nonempty for all changed data. For a feasible point y is x. For a finite bound y = (w, z) with Pw + Aᵀz = −c and z ∈ K*, which is a linear
image of K.

Let y nearly solve both, ρ = |Ey − e| + ε(|E||y| + |e|), and X a right inverse of E in floats, M = |EX − I| + ε|E||X| with ‖M‖∞ < 1.
Changed equations E′(y + Xu) = e′ have a solution |u| ≤ ρ + M1 ‖ρ‖∞/(1 − ‖M‖∞), so y moves by at most d = |X|·that. The slack then moves
by at most r = ε(|G||y| + |h|) + (1 + ε)|G|d, and it is enough that all of the box around it lies in K. Equations that depend on each
other have no such X: a change of one number makes them contradict each other.

Rounding is a relative change of the data, too: sums of n numbers in floats have a relative error below n·1.2e-16, so that ε(1 + 1e-2)
covers it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from simopt.conic.form import EXPONENTIAL, NONNEGATIVE, POWER, SECOND_ORDER, SEMIDEFINITE, ZERO, ConicForm
from simopt.conic.proof import clarabel_cones, clarabel_settings, triangles
from simopt.core.arrays import Array

CHANGE = 1e-6
OWN = 1e-2  # of the change: for our own rounding
FREE = 1e-12  # relatively: rounding of what is no data, as the 1 in z ∈ K*
DENSE = 4_000_000  # numbers of a right inverse; more are not computed
INDEPENDENT = 1e-9  # least pivot of a row that does not depend on others, in parts of the largest
DEPTHS = (0.5, 0.1, 1e-2, 1e-3)  # of the deepest slack: how deep points are tried
SLIGHT = 1.0 + 1e-9  # factor of what norms and exponentials in floats are rounded by
EXP_CENTRE = (-1.051383945322714, 1.258967884768947, 0.556409619469370)  # a point inside of the exponential cone


@dataclass(frozen=True)
class Survival:
    """Whether it is proved for all data within `CHANGE`; `why` not, if not. `x` is the point of the conic form, if one was asked for."""

    holds: bool
    why: str = ""
    x: Array | None = None


@dataclass(frozen=True)
class _ConeSystem:
    """Ey = e, h − Gy ∈ K, the cones those of a form; `fixed` is whether G and h are no data."""

    E: Any
    e: Array
    G: Any
    h: Array
    cones: ConicForm
    fixed: bool


def stays_feasible(form: ConicForm) -> Survival:
    """Whether there is a feasible point for all data within `CHANGE`."""
    rows = _of_zero(form)
    return _survives(_ConeSystem(form.A[rows], form.b[rows], form.A[~rows], form.b[~rows], _without_zero(form), False), "infeasible")


def stays_bounded(form: ConicForm) -> Survival:
    """Whether the optimum has a finite lower bound for all data within `CHANGE`: some z ∈ K* and w with Pw + Aᵀz + c = 0."""
    rows, n = _of_zero(form), len(form.c)
    E = sp.hstack([form.P, form.A[rows].T, form.A[~rows].T], format="csr")
    inner = _without_zero(form)
    G = sp.hstack([sp.csr_array((int((~rows).sum()), n + int(rows.sum()))), -_to_cone(inner)], format="csr")
    return replace(_survives(_ConeSystem(E, -form.c, G, np.zeros(G.shape[0]), inner, True), "unbounded"), x=None)


def _survives(system: _ConeSystem, otherwise: str) -> Survival:
    """`stays_feasible` for any system; `otherwise` is what a change may make it."""
    E, nothing = system.E, np.diff(system.E.indptr) == 0
    if np.any(system.e[nothing]):
        return Survival(False, f"the problem is {otherwise}: a row without variables does not hold")
    system = replace(system, E=sp.csr_array(E[~nothing]), e=system.e[~nothing])
    if system.E.shape[0] * system.E.shape[1] > DENSE:
        return Survival(False, f"{system.E.shape[0]} equations in {system.E.shape[1]} variables are too many to be examined")
    why = f"no point inside of all rows was found: a change of the data by {CHANGE:g} may make the problem {otherwise}"
    for y in _inner_points(system):
        moved = _moves(system, y)
        if moved is None:
            return Survival(False, f"equations depend on each other: a change of the data by {CHANGE:g} makes the problem {otherwise}")
        if _box_inside(system, y, moved):
            return Survival(True, x=y)
    return Survival(False, why)


def _moves(system: _ConeSystem, y: Array) -> Array | None:
    """d: how far y has to move at most so that changed equations hold; ∞ where that is not known, None for dependent equations."""
    if not system.E.shape[0]:
        return np.zeros(len(y))
    change = CHANGE * (1.0 + OWN)
    size = abs(system.E) @ np.abs(y) + np.abs(system.e)
    unit = np.where(size > 0.0, size, abs(system.E).max(axis=1).toarray().ravel())
    E = system.E.toarray() / unit[:, None]
    reach = 1.0 + np.abs(y)
    q, triangle, order = scipy.linalg.qr((E * reach).T, mode="economic", pivoting=True)
    pivots = np.abs(np.diagonal(triangle))
    if E.shape[0] > E.shape[1] or pivots.min() <= INDEPENDENT * pivots.max():
        return None
    X = np.empty((E.shape[1], E.shape[0]))
    X[:, order] = reach[:, None] * scipy.linalg.solve_triangular(triangle, q.T).T  # (E reach)ᵀ = QR in another order
    M = (np.abs(E @ X - np.eye(E.shape[0])) + change * (np.abs(E) @ np.abs(X))).sum(axis=1)
    if not M.max() < 1.0:
        return np.full(len(y), np.inf)
    rho = np.abs(E @ y - system.e / unit) + change * size / unit
    moves: Array = np.abs(X) @ (rho + M * rho.max() / (1.0 - M.max())) * SLIGHT
    return moves


def _box_inside(system: _ConeSystem, y: Array, moved: Array) -> bool:
    """Whether all slacks that changed data and a point moved by d may have lie in the cones."""
    change = FREE if system.fixed else CHANGE * (1.0 + OWN)
    with np.errstate(all="ignore"):
        slack = system.h - system.G @ y
        radius = change * (abs(system.G) @ np.abs(y) + np.abs(system.h)) + (1.0 + change) * (abs(system.G) @ moved) * SLIGHT
        if not (np.isfinite(slack).all() and np.isfinite(radius).all()):
            return False
        powers = iter(system.cones.powers)
        alphas = [next(powers) if kind == POWER else 0.0 for kind, _, _ in system.cones.parts]
        parts = zip(system.cones.parts, alphas, strict=True)
        return all(_inside(kind, size, slack[rows], radius[rows], alpha) for (kind, size, rows), alpha in parts)


def _inside(kind: str, size: int, s: Array, r: Array, power: float) -> bool:
    """Whether the box s ± r lies in the cone."""
    if kind == NONNEGATIVE:
        return bool(np.all(s >= r))
    if kind == SECOND_ORDER:
        return bool(s[0] - r[0] >= SLIGHT * np.linalg.norm(np.abs(s[1:]) + r[1:]))
    if kind == SEMIDEFINITE:
        matrix = s.reshape(size, size)
        least = float(np.linalg.eigvalsh((matrix + matrix.T) / 2)[0])
        return least - FREE * size * float(np.linalg.norm(s)) >= SLIGHT * float(np.linalg.norm(r))
    if kind == EXPONENTIAL:  # ye^{x/y} grows with x and is convex in y: the worst corner has the largest x and an end of y
        return s[1] > r[1] and all(SLIGHT * y * np.exp((s[0] + r[0]) / y * (1.0 + FREE)) <= s[2] - r[2] for y in (s[1] - r[1], s[1] + r[1]))
    assert kind == POWER
    low = s[:2] - r[:2]
    return bool(np.all(low > 0.0)) and bool(abs(s[2]) + r[2] <= low[0] ** power * low[1] ** (1.0 - power) / SLIGHT)


def _inner_points(system: _ConeSystem) -> Iterator[Array]:
    """Points at which the slack is deep inside of its cones: the shortest ones at several parts of the greatest depth."""
    deepest = _shortest(system, None)
    if deepest is None:
        return
    y, depth = deepest
    yield y
    for part in DEPTHS:
        found = _shortest(system, part * depth)
        if found is not None:
            yield found[0]


def _shortest(system: _ConeSystem, depth: float | None) -> tuple[Array, float] | None:
    """The shortest y with h − Gy − τσe ∈ K for the depth τ, or, without one, y of the greatest τ ≤ 1; and τ. None where CLARABEL has none.

    e is inside of each cone, and σ the size of the cone's numbers.
    """
    import clarabel

    n, count = system.G.shape[1], system.E.shape[0]
    inwards = _centres(system)
    left = triangles(system.cones)
    A = sp.vstack([system.E, left @ system.G], format="csc")
    b, column = np.concatenate([system.e, left @ system.h]), np.concatenate([np.zeros(count), left @ inwards])
    cones = ([clarabel.ZeroConeT(count)] if count else []) + clarabel_cones(system.cones)
    if depth is None:
        last = sp.csc_array(([1.0, -1.0], ([0, 1], [n, n])), shape=(2, n + 1))
        A = sp.vstack([sp.hstack([A, column[:, None]]), last], format="csc")
        b, cones = np.concatenate([b, [1.0, 0.0]]), [*cones, clarabel.NonnegativeConeT(2)]
        P, q = sp.csc_matrix((n + 1, n + 1)), np.append(np.zeros(n), -1.0)
    else:
        P, q, b = sp.csc_matrix(sp.eye(n)), np.zeros(n), b - depth * column
    answer = clarabel.DefaultSolver(P, q, sp.csc_matrix(A), b, cones, clarabel_settings()).solve()
    y = np.array(answer.x, dtype=float)
    if str(answer.status) not in ("Solved", "AlmostSolved") or not np.isfinite(y).all():
        return None
    return (y[:n], float(y[n])) if depth is None else (y, depth)


def _centres(system: _ConeSystem) -> Array:
    """σe for each cone."""
    size = abs(system.G).sum(axis=1) + np.abs(system.h)
    found, powers = np.zeros(len(system.h)), iter(system.cones.powers)
    for kind, order, rows in system.cones.parts:
        sigma = float(size[rows].max(initial=0.0)) or 1.0
        if kind == NONNEGATIVE:
            found[rows] = np.where(size[rows] > 0.0, size[rows], 1.0)
        elif kind == SECOND_ORDER:
            found[rows.start] = sigma
        elif kind == SEMIDEFINITE:
            found[rows] = sigma * np.eye(order).ravel()
        elif kind == EXPONENTIAL:
            found[rows] = sigma * np.array(EXP_CENTRE)
        else:
            power = next(powers)
            found[rows] = sigma * np.array([np.sqrt(1.0 + power), np.sqrt(2.0 - power), 0.0])
    return found


def _to_cone(form: ConicForm) -> Any:
    """The linear map of K* onto K: the identity, but for exponential cones (u − v, −u, w), for power cones (u/α, v/(1 − α), w)."""
    powers, blocks = iter(form.powers), []
    for kind, _, rows in form.parts:
        if kind == EXPONENTIAL:
            blocks.append(sp.csr_array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
        elif kind == POWER:
            power = next(powers)
            blocks.append(sp.csr_array(np.diag([1.0 / power, 1.0 / (1.0 - power), 1.0])))
        else:
            blocks.append(sp.eye_array(rows.stop - rows.start, format="csr"))
    return sp.block_diag(blocks, format="csr") if blocks else sp.csr_array((0, 0))


def _of_zero(form: ConicForm) -> Any:
    mask = np.zeros(len(form.b), dtype=bool)
    for kind, _, rows in form.parts:
        mask[rows] = kind == ZERO
    return mask


def _without_zero(form: ConicForm) -> ConicForm:
    """A form of which only the cones count: those that are not zero cones."""
    return replace(form, cones=[cone for cone in form.cones if cone[0] != ZERO])
