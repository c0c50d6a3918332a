r"""Algorithm 1 (herding) step by step in rational arithmetic, and for long runs in rigorous enclosures.

min ‖ω_P − ω‖² over the hull of ψ_1, …, ψ_n. From the atom most similar to ω_P on, one step goes to the atom with the largest
⟨ω_P − ω, ψ_i⟩ (the first of equals): ω ← (1 − λ) ω + λ ψ_i. Line search takes λ = clip(⟨ω_P − ω, ψ_i − ω⟩ / ‖ψ_i − ω‖², 0, 1), uniform
herding λ = 1/(m + 1) after m atoms. Kept apart from `simopt.solvers`, which is tested against it.

Each exact step triples the digits of ω, so that some eight are affordable; an enclosed step of `bits` bits loses about one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import simopt.claims as sc
from simopt.arithmetic.precision import workprec
from simopt.theorems.small_worlds.worlds import Vector, dot, minus, plus, scaled, squared

Rule = Callable[[int, Fraction], Fraction]
EXACT_STEPS = 3  # symmetric sets tie at the start, and enclosures cannot see that two numbers are equal


@dataclass(frozen=True)
class FrankWolfeIterate:
    """ω = Σ weights_i ψ_i after the step λ = `step` towards the atom `pick`, and ‖ω_P − ω‖²."""

    pick: int
    step: Fraction
    weights: tuple[Fraction, ...]
    point: list[Any]
    squared_error: Fraction


def line_search(count: int, best: Fraction) -> Fraction:
    """λ* = argmin over [0, 1] of ‖ω_P − (1 − λ) ω − λ ψ‖², from the minimiser over ℝ."""
    return min(Fraction(1), max(Fraction(0), best))


def uniform(count: int, best: Fraction) -> Fraction:
    """λ = 1/(m + 1) after m atoms, equal ones counted as often as they were added."""
    return Fraction(1, count + 1)


def herding(atoms: Sequence[Vector], target: Vector, rule: Rule = line_search, first: int | None = None) -> Iterator[FrankWolfeIterate]:
    """The iterates ω_1, ω_2, … of Algorithm 1, without end for `uniform`; `line_search` ends where no atom promises progress.

    Parameters
    ----------
    atoms, target : rational vectors ψ_i and ω_P.
    rule : (number of atoms added so far, unclipped λ*) ↦ λ.
    first : index of the first atom; by default the one with the largest ⟨ω_P, ψ_i⟩.
    """
    pick = largest([dot(target, atom) for atom in atoms]) if first is None else first
    weights = [Fraction(int(i == pick)) for i in range(len(atoms))]
    point, step, count = list(atoms[pick]), Fraction(1), 1
    while True:
        gradient = minus(target, point)
        yield FrankWolfeIterate(pick, step, tuple(weights), point, squared(gradient))
        pick = largest([dot(gradient, atom) for atom in atoms])
        way = minus(atoms[pick], point)
        if rule is line_search and dot(gradient, way) <= 0:
            return
        # ω = ψ leaves every λ equal
        best = dot(gradient, way) / squared(way) if any(way) else Fraction(0)
        step = rule(count, best)
        weights = [(1 - step) * w + step * int(i == pick) for i, w in enumerate(weights)]
        point, count = plus(point, scaled(way, step)), count + 1


def largest(values: Sequence[Fraction]) -> int:
    """Index of the largest value, the first of equals."""
    return max(range(len(values)), key=lambda i: (values[i], -i))


def mean_of(atoms: Sequence[Vector], weights: Sequence[Any] | None = None) -> list[Any]:
    """Σ p_i ψ_i, p_i = 1/n by default."""
    shares = [Fraction(1, len(atoms))] * len(atoms) if weights is None else weights
    total: list[Any] = [Fraction(0)] * len(atoms[0])
    for share, atom in zip(shares, atoms, strict=True):
        total = plus(total, scaled(atom, share))
    return total


def squared_errors(
    atoms: Sequence[Vector], target: Vector, steps: int, *, exact: int = EXACT_STEPS, bits: int | None = None
) -> list[sc.Enclosure]:
    """Rational enclosures of ‖ω_P − ω_m‖², m = 1, …, `steps`, for line search.

    Fewer, if no atom promises progress, or ω_P is reached up to 2^(−bits) ‖ω_P − ω_1‖². The first `exact` are exact, the others come
    from ball arithmetic with `bits` bits (default: 400 more than two a step).

    Raises
    ------
    ArithmeticError
        where the enclosures do not tell which atom is best: two of them tie, or the bits are used up.
    """

    start = list(islice(herding(atoms, target), min(exact, steps)))
    errors = [sc.between(one.squared_error, one.squared_error) for one in start]
    if len(start) < exact:
        return errors
    precision = bits or 400 + 2 * steps
    with workprec(precision):
        points = [[_ball(x) for x in atom] for atom in atoms]
        goal, point = [_ball(x) for x in target], [_ball(x) for x in start[-1].point]
        for _ in range(steps - len(start)):
            point = _next(points, goal, point)
            left = minus(goal, point)
            errors.append(sc.between(*_ends(_sum(left, left))))
            if errors[-1].high * 2**precision <= errors[0].low:
                break
    return errors


def _next(points: Sequence[Vector], goal: Vector, point: Vector) -> list[Any]:
    """One step in balls, whose comparisons are true only when certain."""
    gradient = minus(goal, point)
    scores = [_sum(gradient, atom) for atom in points]
    best = [i for i, score in enumerate(scores) if all(score > other for j, other in enumerate(scores) if j != i)]
    if not best:
        raise ArithmeticError("which atom is best is not decided by the enclosures; take more exact steps or bits")
    way = minus(points[best[0]], point)
    promise, length = _sum(gradient, way), _sum(way, way)
    if promise >= length > 0:
        return list(points[best[0]])
    if not 0 < promise < length:
        raise ArithmeticError("whether the best atom promises progress is not decided by the enclosures; take more exact steps or bits")
    return plus(point, scaled(way, promise / length))


def _ball(x: Any) -> Any:
    import flint

    value = Fraction(x)
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _sum(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0 * a[0])


def _ends(ball: Any) -> tuple[Fraction, Fraction]:
    low, high = (Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (ball.lower().man_exp(), ball.upper().man_exp()))
    return low, high
