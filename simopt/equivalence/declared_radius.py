r"""How far the function of a declared learner is from every optimal one, in the norm of the hypothesis space: what a certificate proves.

The variable says which function it is: coefficients α with ‖f‖² = αᵀKα, or coordinates w with ‖f‖ = ‖w‖₂. Let P be the objective, g the
gap, that is P(f) − D ≤ g for the lower bound D that the multipliers prove. Each rule gives an R with ‖f − f*‖ ≤ R; the least counts.

(1) P − m‖·‖² is convex: m‖f − f*‖² ≤ P(f) − P(f*) ≤ g.
(2) The Lagrangian L ≤ P of the multipliers has a term m‖·‖², from the objective, from a row ‖f‖² ≤ r or from inside of another term. Then
    L ≥ D + m‖· − f_L‖² at its minimiser f_L, and f and f* both have L − D ≤ g: ‖f − f*‖ ≤ 2√(g/m).
(3) A row says c‖f‖ ≤ ρ, and its multiplier y makes the bound give away y(ρ − c‖f‖) + (cy‖f‖ − ⟨u, f⟩) ≤ g. With R = ρ/c and s = cy,
    ‖f − (R/s)u‖² ≤ 2R² − (2R/s)⟨u, f⟩ ≤ 2Rg/s for f and for f*: ‖f − f*‖ ≤ 2√(2Rg/s). In any case ‖f − f*‖ ≤ 2R.
(4) P − λ‖·‖^p is convex, p > 1: see `simopt.model.uniform_convexity`.

m, y, c, ρ and λ are read from the programme and enclosed in intervals. Without such a term the radius is ∞: nothing is known of f*.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import FLOAT, INTERVAL, Interval
from simopt.arithmetic.interval import as_interval
from simopt.core.arrays import Array, Multipliers, Point
from simopt.duality.atoms.euclidean import EuclideanNorm
from simopt.duality.atoms.power import Power
from simopt.duality.atoms.quadratic_form import SemidefiniteForm
from simopt.duality.atoms.square import Square
from simopt.duality.declared import Declared
from simopt.duality.evaluation.distance import convex, moduli, radius, slopes_of_objective
from simopt.duality.evaluation.forward import coefficients
from simopt.duality.graph.affine import Key, Map, Picks, Residual
from simopt.duality.graph.programme import Leaf, Term
from simopt.duality.graph.vectors import Value, full, is_zero
from simopt.duality.reading.kernel_element import SquaredNorm
from simopt.model import uniform_convexity

OUTWARD = 1.0 + 1e-12  # formulas of a few roundings, evaluated in floats


@dataclass(frozen=True)
class Radius:
    """R with ‖f − f*‖_H ≤ R, and by which rule; of ∞ why nothing is known."""

    value: float
    why: str


@dataclass(frozen=True, eq=False)
class Element:
    """A variable that is a function of H: coefficients on a Gram matrix, or orthonormal coordinates (no matrix)."""

    leaf: Leaf
    gram: Array | None

    def norm(self, x: Array) -> float:
        """A bound on ‖f‖ for the rounding of x: √λ_max ‖x‖₂."""
        size = 1.0 if self.gram is None else math.sqrt(max(float(np.max(np.sum(np.abs(self.gram), axis=1))), 0.0))
        return size * float(np.linalg.norm(x))


def declared_radius(
    declared: Declared, element: Element, point: Point, sizes: tuple[float, float], multipliers: Multipliers | None
) -> Radius:
    """The least R of the rules, for a feasible point with ‖f‖ between the two `sizes`, and multipliers that bound the optimum.

    Gap and scales are those of one and the same sweep.
    """
    if not convex(declared.programme):
        return Radius(math.inf, "a quadratic form is not proven to be convex")
    upper = INTERVAL.upper(declared.objective(point, INTERVAL))
    if multipliers is None or not math.isfinite(upper):
        return Radius(math.inf, "the point is not feasible, or there are no multipliers")
    try:
        swept = declared.backward(multipliers, INTERVAL, upper=upper)
        gap = math.inf if swept.open else INTERVAL.upper(declared.gap(point, multipliers, INTERVAL))
    except (ZeroDivisionError, OverflowError):  # as the judge has it: no bound
        return Radius(math.inf, "numbers of the dual leave the floats")
    if not math.isfinite(gap):
        return Radius(math.inf, "the certificate leaves the gap open")
    found = [Radius(radius(gap, np.array([m])), "strong convexity of the objective") for m in _modulus(declared, element, None)]
    for m in _modulus(declared, element, swept.scales):
        found.append(Radius(2.0 * radius(gap, np.array([m])), "strong convexity of the Lagrangian"))
    found += [*_powers(declared, element, gap, sizes), *_balls(declared, element, gap, swept.used)]
    nothing = Radius(math.inf, f"no term of the declaration is proven to be a multiple of ‖f‖² or a power of ‖f‖; {_remedy(element)}")
    best = min(found, key=lambda each: each.value, default=nothing)
    return Radius(best.value * OUTWARD, best.why) if math.isfinite(best.value) else nothing


def _remedy(element: Element) -> str:
    name = element.leaf.name
    term = f"cp.sum_squares({name})" if element.gram is None else f"cp.quad_form({name}, cp.psd_wrap(Z.gram))"
    return f"write lam * {term}, or {term} <= bound"


def _modulus(declared: Declared, element: Element, scales: Mapping[Key, Value] | None) -> Iterator[float]:
    """m > 0 of the sum of terms with these scales (by default the objective), where there is one."""
    if element.gram is None:
        m = float(np.min(moduli(declared.programme, scales)[element.leaf.key], initial=math.inf))
    else:
        slopes = slopes_of_objective(declared.programme) if scales is None else scales
        m = sum(_quadratic_part(term, element, slopes[term.key]) for term in declared.programme.terms if term.key in slopes)
    if 0.0 < m < math.inf:
        yield m


def _quadratic_part(term: Term, element: Element, scale: Value) -> float:
    """m with sφ(cα) = m αᵀKα: s c² of a quadratic form of K itself, or of K times a power of two, which rounds nothing; else 0."""
    if not isinstance(term.atom, (SquaredNorm, SemidefiniteForm)) or term.sign < 0 or element.gram is None:
        return 0.0
    c, times = _factors(term, element), _multiple(np.asarray(term.atom.matrix(FLOAT), dtype=float), element.gram)
    if c is None or times == 0.0 or c.rad.any() or np.ptp(c.mid) != 0.0:
        return 0.0
    return max(0.0, INTERVAL.lower(INTERVAL.sum(scale * c[:1] * c[:1] * INTERVAL.lift(times))))


def _multiple(matrix: Array, gram: Array) -> float:
    """The power of two k with P = kK; 0 where there is none."""
    at = np.unravel_index(int(np.argmax(np.abs(gram))), gram.shape)
    if matrix.shape != gram.shape or gram[at] == 0.0 or not matrix[at] / gram[at] > 0.0:
        return 0.0
    k = float(matrix[at] / gram[at])
    return k if math.frexp(k)[0] == 0.5 and np.array_equal(matrix, k * gram) else 0.0


def _factors(term: Term, element: Element) -> Interval | None:
    """c of an argument that is c_i times the entry i of the variable, plus constants; None of another."""
    leaf, below = element.leaf, term.argument
    pattern = below.pattern(leaf.key) if below.below == (leaf.key,) else None
    if not isinstance(pattern, Picks) or not np.array_equal(pattern.columns, np.arange(leaf.size)):
        return None
    return as_interval(coefficients(INTERVAL, below, leaf.key, leaf.size))


def _norms(declared: Declared, element: Element) -> Iterator[tuple[Term, float]]:
    """Terms ‖cw‖₂ with one c, and |c|."""
    for term in declared.programme.terms:
        if element.gram is not None or not isinstance(term.atom, EuclideanNorm) or term.atom.count != 1 or term.sign < 0:
            continue
        c = _factors(term, element)
        if c is None or c.rad.any() or np.ptp(np.abs(c.mid)) != 0.0 or c.mid[0] == 0.0:
            continue
        if is_zero(INTERVAL, term.argument.value(INTERVAL, {element.leaf.key: INTERVAL.zeros(element.leaf.size)})).all():
            yield term, abs(float(c.mid[0]))


def _slope(below: Map, key: Key) -> tuple[Interval, Interval] | None:
    """σ and b of a map σt + b of one number t alone."""
    if below.below != (key,) or below.size != 1:
        return None
    slopes: Residual = {}
    below.pull(INTERVAL, full(INTERVAL, 1.0, 1), slopes)
    return as_interval(slopes[key]), as_interval(below.value(INTERVAL, {key: INTERVAL.zeros(1)}))


def _balls(declared: Declared, element: Element, gap: float, used: Mapping[Key, Value]) -> Iterator[Radius]:
    """Rule (3), and 2R."""
    for norm, c in _norms(declared, element):
        for row in declared.programme.rows:
            line = _slope(row.map, norm.key)
            if row.equality or line is None or not INTERVAL.lower(INTERVAL.sum(line[0])) > 0.0:
                continue
            slope, bound = (INTERVAL.sum(x) for x in line)
            limit = INTERVAL.upper(-bound / (slope * INTERVAL.lift(c)))  # of ‖w‖
            s = INTERVAL.lower(INTERVAL.sum(as_interval(used[row.key]) * slope)) * c if row.key in used else 0.0
            yield Radius(2.0 * max(limit, 0.0), "the diameter of the ball")
            if s > 0.0 and limit > 0.0 and _stands_once(declared, norm):
                yield Radius(2.0 * math.sqrt(2.0 * limit / s * gap), "the ball")


def _stands_once(declared: Declared, norm: Term) -> bool:
    """Whether one row, term or objective alone refers to it, so that all of its scale comes from there."""
    programme = declared.programme
    maps = [programme.objective, *(row.map for row in programme.every_row), *(term.argument for term in programme.terms)]
    return sum(norm.key in below.below for below in maps) == 1


def _powers(declared: Declared, element: Element, gap: float, sizes: tuple[float, float]) -> Iterator[Radius]:
    """Rule (4)."""
    slopes = slopes_of_objective(declared.programme)
    for norm, c in _norms(declared, element):
        for term in declared.programme.terms:
            outermost = isinstance(term.atom, (Power, Square)) and term.sign > 0 and term.key in slopes
            line = _slope(term.argument, norm.key) if outermost else None
            if line is None or not is_zero(INTERVAL, line[1]).all():
                continue
            p = float(term.atom.degree or 0.0)
            outer, inner = (INTERVAL.lower(INTERVAL.sum(x)) for x in (as_interval(slopes[term.key]), line[0]))
            if outer > 0.0 and inner > 0.0:
                t = sizes[p < 2.0]
                yield Radius(uniform_convexity.distance(gap, t, outer * (inner * c) ** p, p), "uniform convexity of a power of the norm")
