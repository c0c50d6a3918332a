"""Affine rows that have to be exactly 0: linear equations in the leaves, and an interval vector that is proven to contain a solution.

Let h(x) = Jx + b be such rows and x̃ floats that nearly solve them. Let P be as many entries of x as there are rows, with J_P far from
singular. The solution x that agrees with x̃ outside of P has x_P = x̃_P + δ with J_P δ = −h(x̃). Intervals are computed that are proven to
contain δ. A proof about these intervals (rows that hold, an upper bound) is then a proof about a point with h = 0. The pivots P are entries
with a margin to their bounds. They are chosen by a QR factorisation with column pivoting of J, its columns times the margins. The other
entries may be intervals, too, as an end of a bound that is no float: then δ exists for every number in them.

Rows that are linear combinations of others, with the entries outside of P as they are, are left out of the system. Whether they follow from
it is decided in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from simopt.arithmetic import FLOAT, INTERVAL, RATIONAL, Arithmetic, Interval, NotRational
from simopt.arithmetic.independent import LARGE, forced, matched, pivoted, with_unit_rows
from simopt.arithmetic.interval import EPS, TINY
from simopt.arithmetic.interval_matrix import IntervalMatrix, below_each_other
from simopt.arithmetic.linear import blocks, bundled, solve
from simopt.arithmetic.rational import Exact
from simopt.arithmetic.sparse import scaled_columns, scaled_rows
from simopt.arithmetic.triangular import as_fraction, block_triangular, pattern_of, solved_exactly
from simopt.core.arrays import Array
from simopt.duality.evaluation.bounds import box, within
from simopt.duality.evaluation.gradients import gradients
from simopt.duality.evaluation.least_step import DEPENDENT, MOST, least_step
from simopt.duality.graph.affine import Key, Residual
from simopt.duality.graph.leaf_values import changing
from simopt.duality.graph.programme import Definition, Node, Programme, Row, evaluated
from simopt.duality.graph.vectors import Indices, Mask, Value, broadcast, is_zero, stack, vector

ROUNDS = 12  # of corrections in floats
WIDEST = 50_000  # equations
FEW = 300  # of which, where some follow from others, the independent ones are chosen by the pivots alone
AT_END = 4 * EPS  # of an entry's reach: one as near to a bound as this is moved there before P is chosen
WIDER = 4.0  # factor by which the intervals of pivots are widened, so that they are proven to contain the solution
CONSTANT = -1  # the column of h(0)

Fractions = dict[int, Any]  # the entries of a row that are not 0


class Equations:
    """h(x) = 0: entries of rows that are affine in the leaves, directly or by definitions. x has all their leaves, one after the other."""

    def __init__(self, programme: Programme, chosen: Sequence[tuple[Row, Indices]]) -> None:
        self.chosen = [(row, entries) for row, entries in chosen if len(entries)]
        self.size = sum(len(entries) for _, entries in self.chosen)
        self.nodes = _nodes(programme, [row for row, _ in self.chosen])
        maps = [*(row.map for row, _ in self.chosen), *(node.row.map for node in self.nodes if isinstance(node, Definition))]
        below = {key for each in maps for key in each.below}
        self.leaves = [leaf for key, leaf in programme.leaves.items() if key in below]
        self.programme = programme

    def flat(self, at: Mapping[Key, Any]) -> Any:
        """x as one vector of floats or intervals."""
        parts = [at[leaf.key] for leaf in self.leaves]
        if any(isinstance(part, Interval) for part in parts):
            return INTERVAL.concat(parts)
        return np.concatenate(parts) if parts else np.zeros(0)

    def by_leaf(self, x: Any) -> dict[Key, Any]:
        """The leaves of x."""
        ends = np.cumsum([0, *(leaf.size for leaf in self.leaves)])
        return {leaf.key: x[start:end] for leaf, start, end in zip(self.leaves, ends, ends[1:], strict=False)}

    def value(self, num: Arithmetic, x: Any) -> Value:
        """h(x)."""
        values = {key: vector(num, part) for key, part in self.by_leaf(x).items()}
        for node in self.nodes:
            values[node.key] = evaluated(num, node, values)[1]
        return stack(num, [row.map.value(num, values)[entries] for row, entries in self.chosen])

    def once(self, what: Any, compute: Callable[[], Any], *of: Indices) -> Any:
        """What depends on these equations and the present parameters alone, and on more indices, if any; the last results are kept."""
        kind = (what, *(row.key for row, _ in self.chosen), *changing(self.programme.problem))
        indices = dict(enumerate([*(entries for _, entries in self.chosen), *of]))
        return self.programme.cached.of(kind, indices, lambda _: compute())

    @property
    def _proof(self) -> tuple[Any, ...]:
        return ("proof", *(row.key for row, _ in self.chosen), *changing(self.programme.problem))

    def prove(self, x: Interval, pivots: tuple[Indices, Indices], step: Interval) -> None:
        """Remember for x by which rows and pivots it was solved, and the step that was left."""
        self.programme.cached.keep(self._proof, self._key_of(x), (pivots, step))

    def proven(self, x: Interval) -> tuple[tuple[Indices, Indices], Interval] | None:
        """What `prove` remembers for the same intervals."""
        return cast("tuple[tuple[Indices, Indices], Interval] | None", self.programme.cached.known(self._proof, self._key_of(x)))

    def _key_of(self, x: Interval) -> dict[int, Any]:
        return dict(enumerate([*(entries for _, entries in self.chosen), x]))

    def jacobian(self, num: Arithmetic) -> Any:
        """J, sparse, in floats or intervals; in fractions as an array of rows, pulled back to the leaves."""
        return self.once(num, lambda: self._by_rows() if num is RATIONAL else self._sparse(num))

    def _sparse(self, num: Arithmetic) -> Any:
        at = gradients(self.programme, {leaf.key: np.arange(leaf.size) for leaf in self.leaves}, num=num)
        found = below_each_other([at.rows(row.map)[entries] for row, entries in self.chosen])
        return IntervalMatrix.of(found) if num is INTERVAL else found

    def _by_rows(self) -> Any:
        return np.array([self._pulled(RATIONAL, row, int(i)) for row, entries in self.chosen for i in entries])

    def in_fractions(self, rows: Indices) -> list[Fractions]:
        """Rows of J and of h(0). An interval without a radius is the number itself; only other rows are computed anew."""
        jacobian, b = self.jacobian(INTERVAL), self.value(INTERVAL, np.zeros(sum(leaf.size for leaf in self.leaves)))
        places = [(row, int(i)) for row, entries in self.chosen for i in entries]
        constants = b.mid if not b.rad[rows].any() else self.value(RATIONAL, RATIONAL.zeros(jacobian.shape[1]))
        out, exact = [], jacobian.exact_rows
        for i in rows.tolist():
            part = slice(jacobian.mid.indptr[i], jacobian.mid.indptr[i + 1])
            at, numbers = jacobian.mid.indices[part], jacobian.mid.data[part]
            if not exact[i]:
                row = self._pulled(RATIONAL, *places[i])
                at = np.flatnonzero(row)
                numbers = row[at]
            pairs = zip(at.tolist(), RATIONAL.lift(numbers), strict=True)
            out.append({j: number for j, number in pairs if number} | {CONSTANT: RATIONAL.lift(constants[i])})
        return out

    def solved_by(self, x: Array) -> bool:
        """Whether floats solve the equations exactly: decided in fractions where floats see no difference."""
        if np.any(self.value(FLOAT, x) != 0.0):
            return False
        try:
            return bool(is_zero(RATIONAL, self.value(RATIONAL, RATIONAL.lift(x))).all())
        except (NotRational, ArithmeticError, ValueError):
            return False

    def _pulled(self, num: Arithmetic, row: Row, i: int) -> Value:
        unit, into = np.zeros(row.map.size), Residual()
        unit[i] = 1.0
        row.map.pull(num, num.lift(unit), into)
        for node in reversed(self.nodes):
            u = into.pop(node.key, None)
            if u is not None and isinstance(node, Definition):
                node.row.map.pull(num, -broadcast(num, u, len(node.columns))[node.columns] / num.lift(node.factors), into)
                into.pop(node.key, None)
        return num.concat([broadcast(num, into[leaf.key], leaf.size) if leaf.key in into else num.zeros(leaf.size) for leaf in self.leaves])

    def named(self, which: Indices) -> str:
        """The rows and entries of these equations, for a message."""
        names = [f"{row.name} (entry {i})" for row, entries in self.chosen for i in entries]
        return some_of([names[i] for i in which])


def some_of(names: Sequence[str]) -> str:
    """The first three, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def equalities(programme: Programme, tight: Sequence[tuple[Row, Indices]] = ()) -> Equations:
    """All rows h = 0 of a programme, and entries of other rows that have to be 0."""
    return Equations(programme, [*((row, np.arange(row.map.size)) for row in programme.rows if row.equality), *tight])


def is_affine(programme: Programme, row: Row) -> bool:
    """Whether a row is affine in the leaves."""
    return all(isinstance(node, Definition) or not programme.below(node) for node in _nodes(programme, [row]))


def _nodes(programme: Programme, rows: Sequence[Row]) -> list[Node]:
    needed = {key for row in rows for key in row.map.below}
    used = []
    for node in reversed(programme.nodes):
        if node.key in needed:
            used.append(node)
            needed |= set(programme.below(node))
    return used[::-1]


def holding(num: Arithmetic, equations: Equations, at: Mapping[Key, Value]) -> tuple[Mask, str]:
    """The mask of the equations that hold, and why the others do not.

    FLOAT: those that are 0 for some numbers which round to x, to the width of intervals around these. RATIONAL: h(x) = 0. INTERVAL: those
    that one point of the intervals is proven to satisfy, all at once.
    """
    x = equations.flat(at)
    if num is FLOAT:
        return _zero_to_rounding(_of_rounded(equations, x)), ""
    if num is RATIONAL:
        return is_zero(num, equations.value(num, x)), ""
    x = INTERVAL.lift(x)
    done = is_zero(num, equations.value(num, x))
    if done.all():
        return done, ""
    if not x.rad.any():
        return done | equations.solved_by(x.mid), ""
    if equations.size > WIDEST:
        return done, f"{equations.size} equations, and more than {WIDEST} are not solved"
    if not all(is_affine(equations.programme, row) for row, _ in equations.chosen):
        return done, "they are not affine in the leaves"
    movable, known = (x.rad > 0.0) & ~_at_ends(equations, x), equations.proven(x)
    step: Interval | None
    if known is not None and movable[known[0][1]].all():
        system, step = EqualitySystem(num, equations, known[0]), known[1]
    else:
        system = EqualitySystem.among(num, equations, np.where(movable, reach(x.mid), 0.0))
        step = system.step(x)
    if step is None:
        return done, "no entries with a margin to their bounds are proven to solve them"
    inside = np.abs(step.mid) + step.rad <= x.rad[system.pivots] * (1.0 - 4 * EPS)
    if not inside.all():
        return done, "their solution is not proven to be in the intervals"
    hold = done | system.equations_hold(~done, x)
    return hold, "" if hold.all() else f"not proven to follow from the others: {equations.named(np.flatnonzero(~hold))}"


def _at_ends(equations: Equations, x: Interval) -> Mask:
    """Entries that are ends of bounds: an interval stands for the end itself, whatever it is, and must not be moved."""
    out = []
    for leaf in equations.leaves:
        own, ends = equations.by_leaf(x)[leaf.key], box(INTERVAL, equations.programme, leaf)
        alike = [has & (own.mid == end.mid) & (own.rad == end.rad) for has, end in ((ends.below, ends.low), (ends.above, ends.high))]
        out.append(alike[0] | alike[1])
    return np.concatenate(out)


def _of_rounded(equations: Equations, x: Array) -> Interval:
    """h of all numbers that round to x. No floats may solve h = 0: x₁ − x₂ + x₃, x₁ and x₂ near 1 and a small x₃ that another row fixes."""
    h: Interval = equations.value(INTERVAL, Interval(x, np.abs(x) * (EPS / 2)))
    return h


def _zero_to_rounding(h: Interval) -> Mask:
    return np.asarray(np.isfinite(h.rad) & (np.abs(h.mid) <= h.rad))


class EqualitySystem:
    """Rows I and pivots P of the equations."""

    def __init__(self, num: Arithmetic, equations: Equations, pivots: tuple[Indices, Indices]) -> None:
        self.num, self.equations, self.jacobian = num, equations, equations.jacobian(num)
        self.rows, self.pivots = pivots

    @classmethod
    def among(cls, num: Arithmetic, equations: Equations, margin: Array) -> EqualitySystem:
        """Rows and pivots that are far from dependent, among entries with a margin."""
        jacobian = equations.jacobian(num)
        floats = sp.csr_array(np.asarray(num.mid(jacobian), dtype=float)) if num is RATIONAL else jacobian.mid
        return cls(num, equations, independent(floats, margin))

    def step(self, x: Value) -> Value | None:
        """δ with J_IP δ = −h_I(x), pivots at their midpoints, the other entries anywhere in their intervals; None if unknown."""
        if self.num is INTERVAL:
            rad = x.rad.copy()
            rad[self.pivots] = 0.0
            x = Interval(x.mid, rad)
        h = self.equations.value(self.num, x)[self.rows]
        if not len(self.rows):
            return None
        matrix = self.jacobian[self.rows]
        return solve(self.num, matrix[:, self.pivots] if self.num is RATIONAL else matrix.columns(self.pivots), -h)

    def equations_hold(self, queried: Mask, x: Interval) -> Mask:
        """The rows of the system, and those of the queried rows that follow from them at every solution near x."""
        out = np.zeros(self.equations.size, dtype=bool)
        out[self.rows] = True
        rest = np.flatnonzero(queried & ~out)
        if len(rest):
            left = self.equations.once("left", lambda: self._left(rest), self.rows, rest)
            out[rest] = False if left is None else [_vanish(row, x) for row in left]
        return out

    def _left(self, rest: Indices) -> list[Fractions] | None:
        """What is left of other rows, and of their constants, without their share in the pivots; None where they are no fractions."""
        try:
            rows, others = (self.equations.in_fractions(chosen) for chosen in (self.rows, rest))
        except (NotRational, ArithmeticError, ValueError):
            return None
        if not len(self.rows):
            return others
        by_pivot: dict[int, Fractions] = {j: {} for j in self.pivots.tolist()}
        for i, row in enumerate(rows):
            for j in row.keys() & by_pivot.keys():
                by_pivot[j][i] = as_fraction(row[j])
        system = list(by_pivot.values())
        parts = block_triangular(pattern_of(system))
        if parts is None:
            return None
        for row in others:
            try:
                shares = solved_exactly(system, parts, {k: as_fraction(row[j]) for k, j in enumerate(by_pivot) if j in row})
            except ArithmeticError:  # the pivots are dependent, or too many hang together
                return None
            for i, c in shares.items():
                for j, value in rows[i].items():
                    row[j] = row.get(j, 0) - Exact(int(c.p), int(c.q)) * value
        return [{j: value for j, value in row.items() if value != 0} for row in others]


def _vanish(row: Fractions, x: Interval) -> bool:
    """Whether ⟨a, x⟩ + b = 0 for all numbers in the intervals: a is 0 but at entries that are known exactly."""
    at = [j for j in row if j != CONSTANT]
    if x.rad[at].any():
        return False
    there = RATIONAL.lift(x.mid[at])
    return bool(sum(row[j] * number for j, number in zip(at, there, strict=True)) + row.get(CONSTANT, 0) == 0)


def reach(x: Array) -> Array:
    """How far entries may be moved if nothing else is known of them: a multiple of their size and of the largest."""
    out: Array = np.abs(x) + (float(np.max(np.abs(x), initial=0.0)) or 1.0)
    return out


def independent(jacobian: Any, margin: Array) -> tuple[Indices, Indices]:
    """As many rows as are independent in floats, and as many columns with a margin in which they are far from dependent.

    Rows that have one column to choose take it. What is left falls into blocks, each with a choice of its own.
    """
    scaled = scaled_columns(jacobian, margin)
    known = np.ones(scaled.shape[0], dtype=bool)
    known[np.repeat(np.arange(len(known)), np.diff(scaled.indptr))[~np.isfinite(scaled.data)]] = False
    scaled = _with_unit_rows(scaled[known])
    first, taken = forced(scaled)
    rows, columns = [first], [taken]
    others, free = (np.setdiff1d(np.arange(size), some) for size, some in zip(scaled.shape, (first, taken), strict=True))
    live = np.flatnonzero(known)
    for own_rows, own_columns in bundled([part for part in blocks(scaled[others][:, free]) if all(map(len, part))]):
        some, among = others[own_rows], free[own_columns]
        part = scaled[some][:, among]
        best = matched(part) if len(some) >= LARGE else None
        if best is None and len(some) > MOST:
            continue
        if best is not None:
            rows.append(some)
            columns.append(among[best])
            continue
        diagonal, order = pivoted(part.toarray())
        rank = int(np.sum(diagonal > DEPENDENT))
        chosen = among[order[:rank]]
        square = jacobian[live[some]][:, chosen].toarray()  # without the margins, which `holding` knows less of
        rows.append(some if rank == len(some) else some[pivoted(with_unit_rows(square).T)[1][:rank]])
        columns.append(chosen)
    # in one order, and with the same rows, so that solving for the same pivots again gives the same intervals
    chosen = np.sort(np.concatenate(columns))
    if len(chosen) < len(live) <= FEW:
        among_all = with_unit_rows(jacobian[live][:, chosen].toarray())
        return live[np.sort(pivoted(among_all.T)[1][: len(chosen)])], chosen
    return live[np.sort(np.concatenate(rows))], chosen


def _with_unit_rows(matrix: Any) -> Any:
    """Each row over its largest entry, without what is negligible then."""
    sizes = np.zeros(matrix.shape[0])
    np.maximum.at(sizes, np.repeat(np.arange(len(sizes)), np.diff(matrix.indptr)), np.abs(matrix.data))
    scaled = scaled_rows(matrix, 1.0 / np.where(sizes > 0.0, sizes, 1.0))
    scaled.data[np.abs(scaled.data) <= DEPENDENT] = 0.0
    scaled.eliminate_zeros()
    return scaled


def drawn(num: Arithmetic, programme: Programme, point: Mapping[Key, Array], tight: Sequence[tuple[Row, Indices]] = ()) -> dict[Key, Value]:
    """Floats moved into their bounds and onto the equalities: to rounding, or exactly in the pivots for intervals and fractions."""
    equations = equalities(programme, tight)
    if not equations.size or not equations.leaves:  # an equality of parameters alone cannot be corrected
        return dict(point)
    low, high = _ends(equations)
    x = _corrected(equations, np.clip(equations.flat(point), low, high), low, high)
    if num is FLOAT or equations.size > WIDEST or (num is INTERVAL and equations.solved_by(x)):
        return {**point, **equations.by_leaf(x)}
    x = np.where(x - low <= AT_END * reach(x), low, np.where(high - x <= AT_END * reach(x), high, x))
    system = EqualitySystem.among(num, equations, np.minimum(np.minimum(x - low, high - x), reach(x)))
    values = within(num, programme, {**point, **equations.by_leaf(x)})
    exact = equations.flat(values)
    step = system.step(exact)
    if step is None:
        return values
    if num is RATIONAL:
        exact[system.pivots] = exact[system.pivots] + step
        return {**values, **equations.by_leaf(exact)}
    mid, rad = exact.mid.copy(), exact.rad.copy()
    mid[system.pivots] += step.mid
    rest = system.step(Interval(mid, rad))
    if rest is not None:
        rad[system.pivots] = WIDER * (np.abs(rest.mid) + rest.rad) + TINY
        equations.prove(Interval(mid, rad), (system.rows, system.pivots), rest)
    return {**values, **equations.by_leaf(Interval(mid, rad))}


def _ends(equations: Equations) -> tuple[Array, Array]:
    """The bounds of x, in floats."""
    ends = [box(FLOAT, equations.programme, leaf) for leaf in equations.leaves]
    low = np.concatenate([np.where(each.below, each.low, -np.inf) for each in ends])
    return low, np.concatenate([np.where(each.above, each.high, np.inf) for each in ends])


def _corrected(equations: Equations, x: Array, low: Array, high: Array) -> Array:
    """x moved onto the equations as little as possible, relative to its entries; an entry that leaves its bounds stays at the end."""
    jacobian: Any = None
    largest = np.max(np.abs(x), initial=0.0)
    free = np.ones(len(x), dtype=bool)
    for turn in range(ROUNDS):
        h = _of_rounded(equations, x)
        if _zero_to_rounding(h).all():
            break
        if jacobian is None:
            jacobian = equations.jacobian(FLOAT)
        weights = np.abs(x) + (0.0 if turn < ROUNDS // 2 else largest or 1.0)
        free = free if turn != ROUNDS // 2 else np.ones(len(x), dtype=bool)
        step = least_step(jacobian, np.where(free, weights, 0.0), -h.mid, h.rad)
        moved = x + step
        free &= (moved > low) & (moved < high)
        x = np.clip(moved, low, high)
    return x
