"""Problems whose data break a promise, by less than CVXPY's tolerance or rewritten behind its back; and problems without an optimum.

Of the first kind no optimum is planted, but points that are feasible exactly, along the direction in which the promise is broken.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as Q
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from exact_values import Point, number
from flint import fmpq
from planted import Data, PlantedProblem, Rng, fractions, matrix, matvec, some


def _array(values: Any) -> Any:
    found = np.empty(np.shape(values), dtype=object)
    for at in np.ndindex(found.shape):
        found[at] = number(np.asarray(values)[at])
    return found


def _boxed(rng: Rng, n: int, t: float) -> tuple[Any, list[Any], Any]:
    """A vector variable within |x| ≤ t, the rows that say so, and its expression."""
    way = int(rng.integers(5))
    if way == 0:
        v = cp.Variable(n, bounds=[-t, t])
        return v, [], v
    if way == 1:
        v = cp.Variable(n)
        return v, [cp.norm_inf(v) <= t], v
    if way == 2:
        v = cp.Variable(n)
        return v, [v <= t, v >= -t], v
    if way == 3:
        v, size = cp.Variable(n), cp.Parameter(nonneg=True, value=t)
        return v, [cp.abs(v) <= size], v
    v = cp.Variable(n, bounds=[np.full(n, -t), np.full(n, t)])
    return v, [], v


def _nearly(rng: Rng, n: int, fraction: float) -> tuple[Any, Any]:
    """A symmetric matrix P of floats and a dyadic v with |v_i| ≤ 1, for which vᵀPv is about −fraction · max |P_ij|."""
    rank = int(rng.integers(1, n))
    while True:
        v = np.array([int(k) for k in rng.integers(-2, 3, size=n)])
        rows = [np.array([int(k) for k in rng.integers(-3, 4, size=n)]) for _ in range(rank)]
        j = int(np.argmax(np.abs(v)))
        if abs(v[j]) == 0:
            continue
        rows = [v[j] * row - (row @ v) * np.eye(n, dtype=int)[j] for row in rows]  # each at right angles to v
        gram = sum(np.outer(row, row) for row in rows).astype(float)
        if gram.any():
            break
    gram *= 2.0 ** int(rng.integers(-6, 3))
    top = np.abs(gram).max()
    at = gram[j, j] if gram[j, j] else top
    fraction = min(fraction, 4e-9 / top) if fraction < 1e-8 else fraction  # what CVXPY lets through
    gram[j, j] -= max(fraction * top, abs(np.spacing(at)) if gram[j, j] else 0.0)
    return gram, v / 2.0 ** np.ceil(np.log2(np.abs(v).max()))


def _definite(rng: Rng, n: int) -> Any:
    rows = matrix(rng, n, n)
    return np.array([[float(sum(a * b for a, b in zip(p, q, strict=True))) for q in rows] for p in rows]) + np.eye(n)


CHANGES = (
    "PSD",
    "NSD",
    "wrap",
    "wrap symmetric",
    "wrap number",
    "scaled",
    "part",
    "turned",
    "sum",
    "wrap scaled",
    "product",
    "wrap PSD",
    "wrap sum",
    "nested part",
)


def _matrix(way: str, bad: Any, rng: Rng) -> tuple[Any, int, Any]:
    """An expression that is said to be semidefinite, the sign of what it is, and the parameter that holds it."""
    n = len(bad)
    leaf: Any
    if way == "NSD":
        leaf = cp.Parameter((n, n), NSD=True, value=-bad)
        return leaf, -1, leaf
    if way in ("wrap", "wrap scaled", "wrap sum"):
        leaf = cp.Parameter((n, n), value=bad)
        return cp.psd_wrap({"wrap": leaf, "wrap scaled": 0.5 * leaf, "wrap sum": leaf + np.zeros((n, n))}[way]), 1, leaf
    if way == "wrap symmetric":
        leaf = cp.Parameter((n, n), symmetric=True, value=bad)
        return cp.psd_wrap(leaf), 1, leaf
    if way == "wrap number":
        return cp.psd_wrap(bad), 1, None
    if way == "part":
        larger = np.eye(n + 1)
        larger[:n, :n] = bad
        leaf = cp.Parameter((n + 1, n + 1), PSD=True, value=larger)
        return cp.psd_wrap(leaf[:n, :n]), 1, leaf
    leaf = cp.Parameter((n, n), PSD=True, value=bad)
    made: dict[str, Callable[[], Any]] = {
        "PSD": lambda: leaf,
        "scaled": lambda: cp.Parameter(nonneg=True, value=2.0) * leaf,
        "turned": lambda: leaf.T,
        "sum": lambda: leaf + cp.Parameter((n, n), PSD=True, value=np.zeros((n, n))),
        "product": lambda: cp.multiply(leaf, cp.Parameter((n, n), PSD=True, value=np.ones((n, n)))),
        "wrap PSD": lambda: cp.psd_wrap(leaf),
        "nested part": lambda: cp.psd_wrap(leaf[::-1, ::-1][::-1, ::-1]),
    }
    return made[way](), 1, leaf


def _over(rng: Rng, kind: str, form: Any, sign: int, n: int, v: Any, t: float, note: str, inner: int) -> PlantedProblem:
    """A problem with such a form inside, and feasible points along v."""
    x, rows, e = _boxed(rng, n, t)
    q = sign * cp.quad_form(e, form)
    linear = np.zeros(n)
    parts: list[Any]
    points = [{x.id: _array(s * t * v)} for s in (1.0, -1.0, 0.5, 0.0)]
    if inner == 0:
        parts = [q]
    elif inner == 1:
        linear[int(rng.integers(n))] = 2.0 ** int(rng.integers(-20, 5))
        parts = [q, linear @ e]
    elif inner == 2:
        parts = [2 * q, cp.norm1(e) * 2.0**-40, cp.Constant(3.0)]
    elif inner == 3:  # the form in a row
        rows.append(q <= 2.0 ** int(rng.integers(-3, 3)))
        parts = [(rng.integers(-2, 3, size=n) + 0.0) @ e]
    elif inner == 4:
        parts = [cp.maximum(q, -(2.0**60))]
    elif inner == 5:
        parts = [cp.square(q)]
    elif inner == 6:
        top = cp.Variable()
        rows.append(q <= top)
        parts = [top]
        from exact_values import value

        points = [{**p, top.id: value(q, p).reshape(())} for p in points]
    else:
        parts = [cp.exp(q * 2.0**-10)]
    total = sum(parts[1:], parts[0])
    problem = cp.Problem(cp.Maximize(-total) if rng.random() < 0.3 else cp.Minimize(total), rows)
    return PlantedProblem(kind, problem, points, [*parts, q], note=note)  # of which rounding is, also where q stands in a row


def indefinite_by_a_hair(rng: Rng) -> PlantedProblem:
    """A matrix whose least eigenvalue is negative, relatively by 1e-9 to 1e-16."""
    n, way, inner = int(rng.integers(2, 5)), CHANGES[int(rng.integers(len(CHANGES)))], int(rng.integers(8))
    fraction = 10.0 ** -int(rng.integers(9, 17))
    bad, v = _nearly(rng, n, fraction)
    form, sign, _ = _matrix(way, bad, rng)
    t = 2.0 ** int(rng.integers(3, 22))
    return _over(rng, "indefinite by a hair", form, sign, n, v, t, f"{way}, {fraction:g}, inner {inner}", inner)


def rewritten_indefinite(rng: Rng) -> PlantedProblem:
    """A definite matrix into whose array another is written, or another assigned through psd_wrap."""
    n, inner = int(rng.integers(2, 5)), int(rng.integers(8))
    way = [w for w in CHANGES if w != "wrap number"][int(rng.integers(len(CHANGES) - 1))]
    good = _definite(rng, n)
    form, sign, leaf = _matrix(way, good, rng)
    bad, v = _nearly(rng, n, float(rng.choice([1.0, 1e-3, 1e-6, 1e-9])))
    t = 2.0 ** int(rng.integers(0, 12))
    case = _over(rng, "rewritten indefinite", form, sign, n, v, t, f"{way}, inner {inner}", inner)
    held = leaf.value

    def change() -> None:
        held[:n, :n] = sign * bad

    if inner == 6:  # where a variable is as large as the form is then
        from exact_values import value

        top = next(w for w in case.problem.variables() if w.ndim == 0)
        kept = held.copy()
        change()
        for p in case.points:
            p[top.id] = value(sign * cp.quad_form(next(w for w in case.problem.variables() if w.ndim), form), p).reshape(())
        held[...] = kept
    case.change = change
    return case


def off_diagonal_entry(rng: Rng) -> PlantedProblem:
    """A part of a semidefinite matrix that CVXPY takes for semidefinite, though it is one entry off the diagonal."""
    n = int(rng.integers(2, 5))
    i, j = rng.choice(n, size=2, replace=False)
    u = np.array([float(k) for k in rng.integers(1, 4, size=n)])
    u[i] *= -1
    given: Any = np.outer(u, u) + np.diag(rng.integers(0, 2, size=n).astype(float))
    leaf = cp.Parameter((n, n), PSD=True, value=given)
    ways = [lambda: leaf[i : i + 1, j : j + 1], lambda: cp.bmat([[leaf[i, j]]]), lambda: cp.reshape(leaf[i, j], (1, 1), order="F")]
    ways += [lambda: leaf[i : i + 1, :][:, j : j + 1], lambda: cp.Constant(np.ones((1, 1))) * leaf[i, j]]
    if n == 2:
        ways.append(lambda: cp.reshape(cp.upper_tri(leaf), (1, 1), order="F"))
    way = int(rng.integers(len(ways)))
    form = ways[way]()
    return _over(
        rng, "entry off the diagonal", form, 1, 1, np.array([1.0]), 2.0 ** int(rng.integers(0, 8)), f"way {way}", int(rng.integers(7))
    )


def sign_broken(rng: Rng) -> PlantedProblem:
    """A parameter of a sign, rewritten to a number of the other."""
    n, t = int(rng.integers(1, 4)), 2.0 ** int(rng.integers(0, 20))
    below = float(rng.choice([-1.0, -1e-3, -1e-9, -1e-12, -5e-324]))
    x, rows, e = _boxed(rng, n, t)
    way = int(rng.integers(8))
    held = np.ones(n)
    attribute = ["nonneg", "pos", "nonpos", "neg"][int(rng.integers(4))]
    sign = 1.0 if attribute in ("nonneg", "pos") else -1.0
    held *= sign
    p = cp.Parameter(n, value=held, **{attribute: True})
    w = p if sign > 0 else -p
    parts = [
        cp.sum(cp.multiply(w, cp.abs(e))),
        w @ cp.square(e),
        cp.quad_form(e, cp.diag(w)),
        cp.sum(cp.multiply(cp.sqrt(w) if below == -5e-324 else w + w, cp.abs(e))),
        cp.sum(cp.huber(e, 1.0)) * w[0],
        cp.sum(cp.exp(e / t)) * cp.sum(w),
        cp.maximum(w, cp.abs(e))[0] + cp.sum(cp.multiply(w, cp.square(e))),
        cp.quad_over_lin(e, w[0]),
    ]
    part = parts[way]
    at = int(rng.integers(n)) if way in (0, 1, 2, 3, 6) else 0

    def change() -> None:
        held[at] = sign * below

    if way == 5 and n > 1:

        def change() -> None:
            held[:] = sign * below

    problem = cp.Problem(cp.Minimize(part) if rng.random() < 0.7 else cp.Maximize(-part), rows)
    corner = np.zeros(n)
    corner[at] = t
    points: list[Point] = [{x.id: _array(corner)}, {x.id: _array(np.zeros(n))}, {x.id: _array(np.full(n, t))}]
    return PlantedProblem("sign broken", problem, points, [part], change=change, note=f"{attribute}, way {way}, {below:g}")


def boolean_below_0(rng: Rng) -> PlantedProblem:
    """A boolean parameter of −1e-11, which CVXPY takes for one that is ≥ 0."""
    t = 2.0 ** int(rng.integers(20, 40))
    x, rows, e = _boxed(rng, 1, t)
    p = cp.Parameter(boolean=True)
    p.value = np.float64(-rng.choice([9e-11, 1e-11, 1e-14]))  # CVXPY 1.9.0 cannot take a float of Python for a boolean
    part = p * cp.sum([cp.abs(e), cp.square(e), cp.huber(e)][int(rng.integers(3))])
    return PlantedProblem("boolean below 0", cp.Problem(cp.Minimize(part), rows), [{x.id: _array([t])}, {x.id: _array([0.0])}], [part])


def derived_sign(rng: Rng) -> PlantedProblem:
    """A factor whose sign CVXPY derives from what is not so: an odd power, a form that was promised to be semidefinite."""
    t, way = 2.0 ** int(rng.integers(0, 8)), int(rng.integers(6))
    x, rows, e = _boxed(rng, 1, t)
    bad = cp.psd_wrap(cp.Parameter((2, 2), symmetric=True, value=np.array([[1.0, 2.0], [2.0, 1.0]])))
    c = np.array([1.0, -1.0])
    w = [
        lambda: cp.power(cp.Parameter(value=-1.0), 3),
        lambda: cp.QuadForm(cp.Constant(c), bad),
        lambda: cp.power(cp.Parameter(value=-2.0), 3) + cp.Parameter(nonneg=True, value=1.0),
        lambda: cp.QuadForm(cp.Parameter(2, value=c), cp.psd_wrap(cp.Parameter((2, 2), value=-np.eye(2)))),
        lambda: cp.power(cp.Constant(-1.0), 3),
        lambda: cp.QuadForm(cp.Constant(c), cp.Parameter((2, 2), PSD=True, value=np.array([[1.0, 1.0], [1.0, 1.0 - 2.0**-28]]))),
    ][way]()
    body = [lambda: cp.sum(cp.abs(e)), lambda: cp.sum(cp.square(e)), lambda: cp.sum(cp.huber(e))][int(rng.integers(3))]()
    part = w * body if rng.random() < 0.7 else cp.quad_over_lin(e, w)
    return PlantedProblem(
        "derived sign",
        cp.Problem(cp.Minimize(part), rows),
        [{x.id: _array([t])}, {x.id: _array([t / 2])}, {x.id: _array([0.0])}],
        [part],
        note=f"way {way}",
    )


def structure_broken(rng: Rng) -> PlantedProblem:
    """A symmetric, diagonal, sparse, bounded or integer parameter that is so to a tolerance, or is rewritten: its numbers count."""
    n, t, way = int(rng.integers(2, 4)), 2.0 ** int(rng.integers(25, 40)), int(rng.integers(6))
    x, rows, e = _boxed(rng, n, t)
    rest = float(rng.choice([9e-11, 1e-11, 1e-13])) * int(rng.choice([-1, 1]))
    good = np.diag(rng.integers(1, 4, size=n).astype(float))
    bad = good.copy()
    change: Callable[[], None] | None = None
    if way == 0:  # diagonal, but for a hair
        bad[0, 1] = rest
        p = cp.Parameter((n, n), diag=True)
        p.value = bad
    elif way == 1:
        good = good + 1
        bad = good.copy()
        bad[0, 1] += rest
        p = cp.Parameter((n, n), symmetric=True)
        p.value = bad
    elif way == 2:  # sparse, its numbers rewritten
        p = cp.Parameter((n, n), sparsity=(np.arange(n), np.arange(n)))
        p.value_sparse = sp.coo_array((np.diag(good), (np.arange(n), np.arange(n))), shape=(n, n))

        def change() -> None:
            p.value_sparse.data[:] = -p.value_sparse.data

    elif way == 3:
        p = cp.Parameter((n, n), bounds=[0.0, 3.0])
        p.value = good + rest * np.eye(n)[::-1] * (1 if rest < 0 else -1) * np.array(1 - np.eye(n))
    elif way == 4:
        p = cp.Parameter((n, n), integer=True)
        p.value = good + rest
    else:
        kind = [{"diag": True}, {"symmetric": True}, {"integer": True}, {"bounds": [0.0, 3.0]}][int(rng.integers(4))]
        held = good.copy()
        p = cp.Parameter((n, n), value=held, **kind)

        def change() -> None:
            held[0, n - 1] = -5.25

    inner = int(rng.integers(4))
    shift = p @ e - 1.0
    part = [cp.norm1(shift), cp.sum_squares(shift), cp.sum(p @ e), cp.trace(p @ cp.diag(e)) + cp.norm_inf(p @ e)][inner]
    problem = cp.Problem(cp.Minimize(part) if rng.random() < 0.7 else cp.Maximize(-part), rows)
    points = [{x.id: _array(point)} for point in (np.zeros(n), np.eye(n)[1] * t, -np.full(n, t), np.full(n, t), np.eye(n)[0] * t)]
    return PlantedProblem("structure broken", problem, points, [part, cp.norm1(e)], change=change, note=f"way {way}, inner {inner}")


def bounds_rewritten(rng: Rng) -> PlantedProblem:
    """Bounds of a variable whose array, or whose parameter, is another when the certificate is made."""
    n = int(rng.integers(1, 4))
    low, high = np.zeros(n), np.ones(n) * 4.0
    way = int(rng.integers(2))
    if way:
        x = cp.Variable(n, bounds=[low, high])
    else:
        x = cp.Variable(n, bounds=[cp.Parameter(n, value=low), cp.Parameter(n, value=high)])
    new_low, new_high = -np.array([float(k) for k in rng.integers(1, 9, size=n)]), 4.0 + rng.integers(0, 3, size=n)

    def change() -> None:
        low[:], high[:] = new_low, new_high

    a = rng.integers(-2, 3, size=n).astype(float)
    part = [lambda: a @ x, lambda: cp.sum_squares(x - a * 3), lambda: a @ x + cp.norm1(x)][int(rng.integers(3))]()
    points = [{x.id: _array(point)} for point in (np.where(a > 0, new_low, new_high), new_low, new_high, np.clip(3 * a, new_low, new_high))]
    return PlantedProblem("bounds rewritten", cp.Problem(cp.Minimize(part)), points, [part], change=change, note=f"way {way}")


def infeasible_by_a_hair(rng: Rng) -> PlantedProblem:
    """No point is feasible: two rows are apart by 2^-30 or less."""
    n, data = int(rng.integers(1, 4)), Data(rng, 0.5)
    hair = Q(2) ** -int(rng.integers(20, 45))
    row = matrix(rng, 1, n)[0]
    x = cp.Variable(n, **[{}, {"bounds": [-8.0, 8.0]}][int(rng.integers(2))])
    at = some(rng, 1)[0]
    e = data.of(np.array(row, dtype=object)) @ x
    low, high = data.of(np.array(at + hair)), data.of(np.array(at))
    rows = [[e <= high, e >= low], [e == high, e == low], [e == high, cp.abs(e - low) <= 0], [e <= high, cp.norm(e - low - 1, 2) <= 1]][
        int(rng.integers(4))
    ]
    part = [lambda: cp.sum_squares(x), lambda: cp.norm1(x), lambda: cp.sum(x), lambda: cp.sum(cp.exp(x))][int(rng.integers(4))]()
    sense = cp.Minimize(part) if rng.random() < 0.7 else cp.Maximize(-part)
    return PlantedProblem("infeasible by a hair", cp.Problem(sense, rows), [], [part], empty=True)


def unbounded_by_a_hair(rng: Rng) -> PlantedProblem:
    """The objective falls without end, slowly."""
    n, data = int(rng.integers(1, 4)), Data(rng, 0.5)
    hair = Q(2) ** -int(rng.integers(20, 60))
    x = cp.Variable(n, nonneg=True)
    pick = int(rng.integers(3))
    row = [Q(0)] * n
    row[0] = -hair
    linear = data.of(np.array(row, dtype=object)) @ x
    parts = [linear, *[[cp.norm1(x[1:])] * (n > 1), [cp.sum(cp.pos(-x))], [-cp.sum(cp.sqrt(x))]][pick]]
    total = sum(parts[1:], parts[0])
    sense = cp.Minimize(total) if rng.random() < 0.7 else cp.Maximize(-total)
    points = [{x.id: fractions([Q(2) ** 60] + [Q(0)] * (n - 1))}]
    return PlantedProblem("unbounded by a hair", cp.Problem(sense), points, parts, endless=True)


def without_interior(rng: Rng) -> PlantedProblem:
    """Feasible is one point, or a face: no Slater point."""
    n, way = int(rng.integers(1, 4)), int(rng.integers(6))
    data, x, c = Data(rng, 0.5), cp.Variable(n), some(rng, n)
    at = some(rng, n)
    given = data.of(np.array(at, dtype=object))
    rows = [
        lambda: [x <= given, x >= given],
        lambda: [cp.sum_squares(x - given) <= 0],
        lambda: [cp.norm(x - given, 2) <= data.of(np.array(Q(0)))],
        lambda: [cp.norm1(x - given) <= 0, x == given],
        lambda: [cp.norm(x - given, 2) <= 1, x[0] >= given[0] + 1],
        lambda: [cp.max(cp.abs(x - given)) <= 0],
    ][way]()
    if way == 4:
        at = [at[0] + 1, *at[1:]]
    total = data.of(np.array(c, dtype=object)) @ x + cp.sum_squares(x)
    problem = cp.Problem(cp.Minimize(total) if rng.random() < 0.6 else cp.Maximize(-total), rows)
    return PlantedProblem("without room", problem, [{x.id: fractions(at)}], [total], optimal=True, note=f"way {way}")


def far_scales(rng: Rng) -> PlantedProblem:
    """A least-squares problem, or a sum of sizes, with an optimum that is a fraction, in units of 2^±k."""
    k = int(rng.choice([-500, -300, -160, -60, 60, 160, 300, 480]))
    n = int(rng.integers(1, 4))
    at, unit = some(rng, n, 1, 4), 2.0**k
    rows = matrix(rng, n + 1, n)
    b = matvec(rows, at)
    in_unit = bool(rng.random() < 0.5)
    a = np.array([[float(q) for q in row] for row in rows]) * (unit if in_unit else 1.0)
    right = np.array([float(q) for q in b]) * unit
    x = cp.Variable(n)
    matrix_of = cp.Parameter(a.shape, value=a) if rng.random() < 0.5 else a
    shift = matrix_of @ x - right
    part = [lambda: cp.sum_squares(shift), lambda: cp.norm1(shift), lambda: cp.norm(shift, 2), lambda: cp.sum(cp.huber(shift, 1.0))]
    total = part[int(rng.integers(4))]() + cp.Constant(unit)
    points = [{x.id: fractions(at) * (fmpq(1) if in_unit else number(unit))}]
    return PlantedProblem("far scales", cp.Problem(cp.Minimize(total)), points, [total], optimal=True, note=f"2^{k}")


BROKEN: list[tuple[Callable[[Rng], PlantedProblem], int]] = [  # and how often of 100
    (indefinite_by_a_hair, 10),
    (rewritten_indefinite, 5),
    (off_diagonal_entry, 2),
    (sign_broken, 5),
    (boolean_below_0, 1),
    (derived_sign, 2),
    (structure_broken, 5),
    (bounds_rewritten, 2),
    (infeasible_by_a_hair, 3),
    (unbounded_by_a_hair, 2),
    (without_interior, 3),
    (far_scales, 3),
]
