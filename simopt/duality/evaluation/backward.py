"""The backward sweep: multipliers, made feasible one after the other, give the dual bound and the gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic
from simopt.core.arrays import Array
from simopt.duality.atoms.base import ConjugateDomain
from simopt.duality.evaluation.bounds import VariableBox, box
from simopt.duality.evaluation.closing_terms import ClosingTerm
from simopt.duality.evaluation.fixed_multipliers import DualRepair
from simopt.duality.evaluation.forward import Forward, coefficients
from simopt.duality.graph.affine import Key, Map, Picks, Residual
from simopt.duality.graph.epigraphs import grows
from simopt.duality.graph.programme import Definition, Epigraph, Leaf, Programme, Row, Term
from simopt.duality.graph.vectors import (
    Mask,
    Value,
    above,
    at_least_zero,
    broadcast,
    floats,
    full,
    inner,
    is_zero,
    known,
    positive_part,
    upper_ends,
    vector,
    where,
)

Perturb = Callable[[Mapping[Key, Array]], Mapping[Key, Array]]


@dataclass
class Backward:
    """value ≤ optimum, and the sum of the losses at a feasible point is objective − value, provided that `open` is empty.

    `open` lists the reasons why there is no bound, each with its index. `used` has the multipliers of rows, terms and epigraphs, `scales`
    the s of terms and epigraphs. `losses` are the parts of the gap of each step, to be evaluated at a point: the bound does not depend on
    points. `residuals` is the residual of stationarity in each leaf, `missing` the entries where it would have to be 0 and is not proven to
    be. `perturbed` is the same sweep of multipliers next to these, where more than one sweep was needed.
    """

    value: Value
    open: list[str] = field(default_factory=list)
    used: dict[Key, Value] = field(default_factory=dict)
    scales: dict[Key, Value] = field(default_factory=dict)
    residuals: dict[Key, Value] = field(default_factory=dict)
    missing: dict[Key, Mask] = field(default_factory=dict)
    losses: list[Callable[[Forward], Value]] = field(default_factory=list)
    perturbed: Callable[[Perturb], Backward] | None = None

    def gap(self, num: Arithmetic, at: Forward) -> Value:
        """Σ of the losses, each ≥ 0."""
        total = num.lift(0.0)
        for loss in self.losses:
            total = total + loss(at)
        return total


def backward(
    num: Arithmetic,
    programme: Programme,
    plan: Sequence[ClosingTerm],
    candidates: Mapping[Key, Array],
    slopes: Forward | None = None,
    dual_repair: DualRepair | None = None,
    implied: Mapping[Key, tuple[Array, Array]] | None = None,
) -> Backward:
    """Pull the objective and the rows back to the leaves; see `simopt.duality` for the mathematics.

    `candidates` are multipliers by key: of rows, terms, epigraphs and the equalities that have become definitions. A missing one counts as
    0. That of a term is the slope at the point of `slopes`, if given, else it follows from the equality that defines the argument. A
    `dual_repair` fixes some of them (`simopt.duality.stationarity.pivots`). `implied` bounds take residuals where no leaf's own bound does.
    """
    return _BackwardSweep(num, programme, plan, candidates, slopes, dual_repair or DualRepair(), implied or {}).run()


class _BackwardSweep:
    """The multipliers that have been pulled back to each node so far (`into`), and the result (`out`)."""

    def __init__(
        self,
        num: Arithmetic,
        programme: Programme,
        plan: Sequence[ClosingTerm],
        candidates: Mapping[Key, Array],
        slopes: Forward | None,
        dual_repair: DualRepair,
        implied: Mapping[Key, tuple[Array, Array]],
    ) -> None:
        self.num, self.programme, self.plan, self.candidates, self.slopes = num, programme, plan, candidates, slopes
        self.fixed, self.implied = dual_repair.fixed, implied
        self.into: Residual = {}
        self.out = Backward(num.lift(0.0))
        self.parents = {each.epigraph_parent.key: each.epigraph_parent for each in plan if each.epigraph_parent is not None}
        self.waiting = {each.term.key for each in plan} | set(self.parents)  # these come last, when all else is known
        self.scales = self.out.scales
        self.stationary: dict[Key, Mask] = {key: np.zeros(leaf.size, dtype=bool) for key, leaf in programme.leaves.items()}
        self.stationary |= {key: entries.copy() for key, entries in dual_repair.entries.items()}
        self.definitions = {node.key: node for node in programme.nodes if isinstance(node, Definition)}
        self.boxes: dict[Key, VariableBox] = {key: box(num, programme, leaf) for key, leaf in programme.leaves.items()}

    def run(self) -> Backward:
        """The rows and the objective, the nodes from last to first, then closing terms, their parents, and the bounds of the leaves."""
        for row in self.programme.rows:
            if row.key not in self.parents:
                self._row(row, self._candidate(row.key, row.map.size))
        self._pull(self.programme.objective, full(self.num, 1.0, 1))
        for node in reversed(self.programme.nodes):
            u = self.into.pop(node.key, None)
            if isinstance(node, Definition):
                if u is not None:
                    self._pull(node.row.map, -u[node.columns] / self.num.lift(node.factors))
                    self.into.pop(node.key, None)
            elif u is not None and (scale := self._scale(node, u)) is not None:
                self.scales[node.key] = scale
                if node.key not in self.waiting:
                    self._term(node, self._multiplier(node, scale), scale)
        for each in self.plan:
            if each.epigraph_parent is None:
                self._close(each)
        for parent in self.parents.values():
            self._close_in_parent(parent, [each for each in self.plan if each.epigraph_parent is parent])
        for leaf in self.programme.leaves.values():
            self._box(leaf)
        return self.out

    def _candidate(self, key: Key, n: int) -> Value:
        return self.num.zeros(n) if key not in self.candidates else vector(self.num, self.candidates[key])

    def _multiplier(self, node: Term | Epigraph, s: Value) -> Value:
        """The candidate for a term: the given one, the slope, or the one that follows from an equality."""
        if node.key not in self.candidates and self.slopes is not None:
            slope = node.atom.slope(floats(self.num, self.slopes.arguments[node.key]), floats(self.num, s))
            return vector(self.num, np.where(np.isfinite(slope), slope, 0.0))
        if node.key not in self.candidates and (implied := self._from_equality(node)) is not None:
            return implied
        return self._candidate(node.key, node.argument.size)

    def _from_equality(self, node: Term | Epigraph) -> Value | None:
        """u from the multiplier v of the row Fx + … = 0 that defines x, for the argument Cx + b: Fᵀv + Cᵀu + the others' residual = 0."""
        below = node.argument.below
        definition = self.definitions.get(below[0]) if len(below) == 1 else None
        if definition is None or definition.row.key not in self.candidates:
            return None
        pattern = node.argument.pattern(definition.key)
        if not (isinstance(pattern, Picks) and pattern.injective()):
            return None
        num, n = self.num, len(definition.columns)
        v = vector(num, self.candidates[definition.row.key]) * num.lift(definition.factors)
        rest = num.group_sum(v, definition.columns, n)
        rest = rest + broadcast(num, self.into[definition.key], n) if definition.key in self.into else rest
        taken = pattern.columns >= 0
        c = coefficients(num, node.argument, definition.key, n)
        taken = taken & (above(num, c) | above(num, -c))
        c = where(num, taken, c, full(num, 1.0, len(taken)))
        return where(num, taken, -rest[pattern.columns] / c, num.zeros(len(taken)))

    def _pull(self, below: Map, u: Value) -> None:
        self.out.value = self.out.value + below.pull(self.num, u, self.into)

    def _scale(self, node: Term | Epigraph, u: Value) -> Value | None:
        s = u if isinstance(node, Epigraph) or node.sign > 0 else -u
        if at_least_zero(self.num, s).all():
            return s
        if above(self.num, -s).any():
            self.out.open.append(f"{node.name}: its scale is negative at entry {int(np.argmax(above(self.num, -s)))}")
            return None
        if self.programme.promises or (isinstance(node, Epigraph) and not self._raises_all(node)):
            self.out.open.append(f"{node.name}: its scale is not proven to be ≥ 0")
            return None
        return positive_part(self.num, s)

    def _raises_all(self, node: Epigraph) -> bool:
        """Whether a variable's scale is ≥ 0 for all y ≥ 0. DCP's rules guarantee it for terms, nothing does for variables."""
        maps = [self.programme.objective, *(row.map for row in self.programme.rows)]
        return all(grows(self.num, below, node.key) for below in maps if node.key in below.below)

    def _row(self, row: Row, y: Value) -> None:
        if row.key in self.fixed:
            fixed = self.fixed[row.key]
            y = self.num.lift(fixed.own)
            below = fixed.proven & ~at_least_zero(self.num, y)
            if below.any():
                self.out.open.append(f"{row.name}: the multiplier that stationarity asks for is not proven to be ≥ 0 ({_where(below)})")
        y = y if row.equality else positive_part(self.num, y)
        self.out.used[row.key] = y
        self._pull(row.map, y)
        if not row.equality:
            self._loses(row, y)

    def _term(self, node: Term | Epigraph, u: Value, s: Value) -> None:
        """sφ(z) ≥ ⟨u, z⟩ − (sφ)*(u), with u in the domain and of the sign that keeps the scales below it ≥ 0."""
        if node.key in self.fixed:
            u = self._fixed_value(node, s)
        else:
            u = node.atom.project(self.num, u, s)
            u = self._of_required_sign(node, u) if isinstance(node, Term) else u
        self._subtract_conjugate(node, u, s)
        self._pull(node.argument, u)
        if isinstance(node, Epigraph):
            self.into.pop(node.key, None)

    def _of_required_sign(self, node: Term, u: Value) -> Value:
        """u without the entries of the wrong sign; every domain but the range of a matrix holds the rest, too."""
        num, sides = self.num, node.monotonicity
        if num is not FLOAT and sides.any() and (matrix := node.atom.image(num)) is not None:
            return self._signed_in_range(node, matrix, u, num.lift(sides.astype(float)))
        for side in (1, -1):
            if np.any(sides == side):
                u = where(num, sides == side, positive_part(num, u * float(side)) * float(side), u)
        return u

    def _signed_in_range(self, node: Term, matrix: Value, u: Value, sides: Value) -> Value:
        """u + τAσ for the required signs σ and the least τ ≥ 0 with which the entries have them, up to a factor of 2."""
        num = self.num
        if at_least_zero(num, u * sides).all():
            return u
        toward = num.matvec(matrix, sides)
        lacks, gains = upper_ends(num, -u * sides), -upper_ends(num, -toward * sides)
        rises = (lacks > 0.0) & (gains > 0.0) & np.isfinite(lacks)
        u = u + toward * num.lift(2.0 * float(np.max(lacks[rises] / gains[rises], initial=0.0)))
        if (wrong := ~at_least_zero(num, u * sides)).any():
            self.out.open.append(f"{node.name}: its multiplier, in a matrix's range, is not proven to have its sign ({_where(wrong)})")
        return u

    def _fixed_value(self, node: Term | Epigraph, s: Value) -> Value:
        """The fixed multiplier; the reason why it may be invalid goes to `open`."""
        fixed = self.fixed[node.key]
        u = fixed.value(self.num, node.atom, s)
        monotonicity = node.monotonicity if isinstance(node, Term) else np.zeros(len(u), dtype=np.intp)
        outside = fixed.outside(self.num, node.atom, monotonicity, u, s)
        if outside.any():
            self.out.open.append(f"{node.name}: the multiplier that stationarity asks for is not proven to be one ({_where(outside)})")
        return u

    def _subtract_conjugate(self, node: Term | Epigraph, u: Value, s: Value) -> None:
        """Subtract the conjugate; add the remainder to the gap."""
        self.out.used[node.key] = u
        conjugate = node.atom.conjugate(self.num, u, s)
        if not known(self.num, conjugate):
            zero = "; its scale is 0" if not above(self.num, s).any() else ""
            if doubt := node.atom.doubt(self.num):
                self.out.open.append(f"{node.name}: not proven to be convex, {doubt}")
                return
            self.out.open.append(f"{node.name}: a multiplier is outside of the domain of the conjugate, or a number overflowed{zero}")
            return
        self.out.value = self.out.value - conjugate
        self._remains(node, u, s)

    def _remains(self, node: Term | Epigraph, u: Value, s: Value) -> None:
        self.out.losses.append(lambda at: node.atom.remainder(self.num, at.arguments[node.key], u, s))

    def _loses(self, row: Row, y: Value) -> None:
        self.out.losses.append(lambda at: inner(self.num, y, positive_part(self.num, -at.rows[row.key])))

    def _residual(self, leaf: Leaf) -> Value:
        return broadcast(self.num, self.into[leaf.key], leaf.size) if leaf.key in self.into else self.num.zeros(leaf.size)

    def _wanted(self, each: ClosingTerm) -> tuple[Value, Value, Value]:
        """The multiplier that a closing term should take, the factors c, and the part of the residual that a bound takes instead.

        Where the leaf has bounds, the candidate is used as far as bounds can take the rest: r + cu > 0 needs a lower bound.
        """
        num, r = self.num, self._residual(each.leaf)[each.columns]
        c = coefficients(num, each.term.argument, each.leaf.key, each.leaf.size)
        if not (sided := above(num, c) | above(num, -c)).all():
            self.out.open.append(f"{each.term.name}: the factor of {each.leaf.name} may be 0")
            c = where(num, sided, c, full(num, 1.0, len(c)))
        ends = self.boxes[each.leaf.key]
        has_candidate = each.term.key in self.candidates or (self.slopes is not None and each.term.key in self.scales)
        if not (ends.below | ends.above)[each.columns].any() or not has_candidate:
            return -r / c, c, num.zeros(len(each.columns))
        u = self._multiplier(each.term, self.scales.get(each.term.key, num.zeros(each.term.size)))
        rest = r + c * u
        up, down = positive_part(num, rest), positive_part(num, -rest)
        no_low, no_high = ~ends.below[each.columns], ~ends.above[each.columns]
        none = num.zeros(len(each.columns))
        off = where(num, no_low & no_high, rest, where(num, no_low, up, where(num, no_high, -down, none)))
        left = where(
            num, no_low & no_high, none, where(num, no_low, -down, where(num, no_high, up, rest))
        )  # with its sign, where that counts
        return u - off / c, c, left

    def _write_residual(self, each: ClosingTerm, left: Value, exact: Mask) -> None:
        """Write the residual of stationarity at the closing term's entries, and mark the entries at which it is exactly 0."""
        r = self._residual(each.leaf)
        place = np.full(each.leaf.size, -1)
        place[each.columns] = np.arange(len(each.columns))
        self.into[each.leaf.key] = where(self.num, place >= 0, left[np.maximum(place, 0)], r)
        self.stationary[each.leaf.key][each.columns[exact]] = True

    def _offset(self, each: ClosingTerm, u: Value) -> None:
        """⟨u, b⟩ of the argument Cx + b."""
        b = each.term.argument.value(self.num, {each.leaf.key: self.num.zeros(each.leaf.size)})
        self.out.value = self.out.value + inner(self.num, u, b)

    def _close(self, each: ClosingTerm, scale: Value | None = None) -> None:
        """Take up the residual with the closing term's multiplier, as far as its scale allows."""
        num, term = self.num, each.term
        s = self.scales.get(term.key, num.zeros(term.size)) if scale is None else scale
        u, c, left = self._wanted(each)
        nothing_left = is_zero(num, left)
        if term.atom.conjugate_domain is not ConjugateDomain.FULL:
            wanted, u = u, term.atom.project(num, u, s)
            exact = np.ones(len(u), dtype=bool) if u is wanted else above(num, term.atom.margin(num, wanted, s))
            if term.key in self.fixed:
                mask = self.fixed[term.key].mask
                u, exact = where(num, mask, self._fixed_value(term, s), u), exact & ~mask
            r = self._residual(each.leaf)[each.columns]
            left = where(num, exact, left, r + c * u)
            nothing_left = exact & nothing_left
        self._subtract_conjugate(term, u, s)
        self._offset(each, u)
        self._write_residual(each, left, nothing_left)

    def _close_in_parent(self, parent: Row | Term, children: list[ClosingTerm]) -> None:
        """Give norms the scale that they need, by the multiplier of the row or term in which they stand."""
        num = self.num
        below = parent.map if isinstance(parent, Row) else parent.argument
        slopes: Residual = {}
        below.pull(num, full(num, 1.0, below.size), slopes)
        multiplier = num.zeros(below.size)
        wanted = []
        for each in children:
            u, c, left = self._wanted(each)
            slope = slopes[each.term.key]
            if not above(num, slope).all():
                self.out.open.append(f"{each.term.name}: its factor in {parent.name} is not positive")
                return
            need = each.term.atom.need(num, u) / broadcast(num, slope, each.term.size)
            multiplier = num.maximum(multiplier, self._parent_multiplier(below, each, need))
            wanted.append((each, u, c, left))
        constant = below.value(num, {each.term.key: num.zeros(each.term.size) for each in children})
        if isinstance(parent, Row):
            self.out.used[parent.key] = multiplier
            self._loses(parent, multiplier)
        else:
            s = self.scales.get(parent.key, num.zeros(parent.size))
            needed, multiplier = multiplier, parent.atom.project(num, multiplier, s)
            unchanged = above(num, parent.atom.margin(num, needed, s))
            self._subtract_conjugate(parent, multiplier, s)
            if not unchanged.all():
                multiplier = positive_part(num, multiplier)
                self.out.value = self.out.value + inner(num, multiplier, constant)
                reached: Residual = {}
                below.pull(num, multiplier, reached)
                for each in children:
                    self._close(each, reached[each.term.key])
                return
        self.out.value = self.out.value + inner(num, multiplier, constant)
        scales: Residual = {}
        below.pull(num, multiplier, scales)
        for each, u, _, left in wanted:
            self.out.used[each.term.key] = u
            self._offset(each, u)
            self._write_residual(each, left, is_zero(num, left))
            self._remains(each.term, u, broadcast(num, scales[each.term.key], each.term.size))

    def _parent_multiplier(self, below: Map, each: ClosingTerm, need: Value) -> Value:
        """The multiplier of a parent that gives every entry of a norm the scale it needs: entry by entry, or the largest of all."""
        if below.size == 1:
            return vector(self.num, self.num.max(need))
        pattern = below.pattern(each.term.key)
        return need[pattern.columns]  # type: ignore[union-attr]

    def _box(self, leaf: Leaf) -> None:
        """min over low ≤ x ≤ high of ⟨r, x⟩; where there is no bound r must be exactly 0."""
        num, ends = self.num, self.boxes[leaf.key]
        none = num.zeros(leaf.size)
        self.out.residuals[leaf.key] = self._residual(leaf)
        r = where(num, self.stationary[leaf.key], none, self.out.residuals[leaf.key])
        up, down = positive_part(num, r), positive_part(num, -r)
        low, high = where(num, ends.below, ends.low, none), where(num, ends.above, ends.high, none)
        least, most = self.implied.get(leaf.key, (np.full(leaf.size, -np.inf), np.full(leaf.size, np.inf)))
        below, beyond = ~ends.below & np.isfinite(least), ~ends.above & np.isfinite(most)
        low = where(num, below, num.lift(np.where(below, least, 0.0)), low)
        high = where(num, beyond, num.lift(np.where(beyond, most, 0.0)), high)
        left = (~(ends.below | below) & ~is_zero(num, up)) | (~(ends.above | beyond) & ~is_zero(num, down))
        if left.any():
            self.out.missing[leaf.key] = left
            self.out.open.append(
                f"{leaf.name}: no closing term cancels the residual of stationarity, and no bound takes it ({_where(left)})"
            )
            return
        self.out.value = self.out.value + inner(num, up, low) - inner(num, down, high)

        def loss(at: Forward) -> Value:
            x = at.values[leaf.key]
            return inner(num, up, positive_part(num, x - low)) + inner(num, down, positive_part(num, high - x))

        self.out.losses.append(loss)


def _where(mask: Mask) -> str:
    return f"{int(mask.sum())} of {len(mask)} entries, the first at {int(np.argmax(mask))}"
