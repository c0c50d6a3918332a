r"""Lipschitz isotonic regression of a short chain in rational arithmetic, as an oracle for statements about LPAV.

min Σ w_i (x_i − y_i)²   subject to   0 ≤ x_{i+1} − x_i ≤ u_i   and, where asked for, low ≤ x_i ≤ high.

Let F_i(x) be the least cost of the first i terms with x_i = x. F_{i+1}(x) = w(x − y)² + min {F_i(t) : x − u ≤ t ≤ x}; half its derivative
g is increasing and piecewise linear, kept as its corners. To pass a step: what lies left of the zero p of g stays, what lies right of it
moves by u, and g = 0 between. Backwards, x_i is p_i clipped to [x_{i+1} − u_i, x_{i+1}]. O(m²) operations on fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Numbers = Sequence[Fraction]


def rational_lpav(
    targets: Numbers,
    steps: Sequence[Fraction | None],
    weights: Numbers | None = None,
    low: Fraction | None = None,
    high: Fraction | None = None,
) -> list[Fraction]:
    """The minimiser, exactly.

    Parameters
    ----------
    targets : m numbers
        y.
    steps : m − 1 numbers
        u_i ≥ 0; None for no upper bound.
    weights : m numbers
        w_i > 0; None for all 1.
    low, high :
        Range; None for none.

    Source: Kakade, Kalai, Kanade & Shamir 2011, section 5.1, (1) to (3).
    """
    masses = [Fraction(1)] * len(targets) if weights is None else weights
    slope = _Slope([(targets[0], Fraction(0))], masses[0], masses[0])
    zeros = [slope.zero(low)]
    for y, w, step in zip(targets[1:], masses[1:], steps, strict=True):
        slope = slope.past(step, zeros[-1]).plus(w, y)
        zeros.append(slope.zero(low))
    x = [zeros[-1] if high is None else min(zeros[-1], high)]
    for zero, step in zip(reversed(zeros[:-1]), reversed(steps), strict=True):
        x.append(min(x[-1], zero if step is None else max(zero, x[-1] - step)))
    return x[::-1]


def corners_touched(targets: Numbers, steps: Sequence[Fraction]) -> list[tuple[int, int]]:
    """For each sample, how many corners g has once it is added, and how many of them its addition has taken to the other side of zero."""
    one = Fraction(1)
    slope = _Slope([(targets[0], Fraction(0))], one, one)
    found = [(1, 0)]
    for y, step in zip(targets[1:], steps, strict=True):
        moved = slope.past(step, slope.zero(None))
        slope = moved.plus(one, y)
        crossed = sum(before * after < 0 for (_, before), (_, after) in zip(moved.corners, slope.corners, strict=True))
        found.append((len(slope.corners), crossed))
    return found


@dataclass(frozen=True)
class _Slope:
    """g as its corners (a place and the value there; two at one place are a jump), with its slopes left and right of them."""

    corners: list[tuple[Fraction, Fraction]]
    left: Fraction
    right: Fraction

    def plus(self, w: Fraction, y: Fraction) -> _Slope:
        """g + w (x − y)."""
        return _Slope([(b, v + w * (b - y)) for b, v in self.corners], self.left + w, self.right + w)

    def past(self, step: Fraction | None, zero: Fraction) -> _Slope:
        """Half the derivative of min {F(t) : x − u ≤ t ≤ x}; for u = ∞ (None) nothing is left of what lay right of the zero.

        If the range has moved the zero up, g jumps there. Its values left of the range do not matter: a zero there is moved too.
        """
        if step is not None and not step:
            return self
        kept = [(b, v) for b, v in self.corners if v < 0] + [(zero, Fraction(0))]
        if step is None:
            return _Slope(kept, self.left, Fraction(0))
        beyond = [(b + step, v) for b, v in self.corners if v > 0 and b > zero]
        return _Slope([*kept, (zero + step, Fraction(0)), (zero + step, self.value(zero)), *beyond], self.left, self.right)

    def value(self, x: Fraction) -> Fraction:
        """g(x), at a jump the larger value."""
        before, after = [c for c in self.corners if c[0] <= x], [c for c in self.corners if c[0] > x]
        if not before:
            return after[0][1] - self.left * (after[0][0] - x)
        (a, va) = before[-1]
        return va + (self.right if not after else (after[0][1] - va) / (after[0][0] - a)) * (x - a)

    def zero(self, low: Fraction | None) -> Fraction:
        """The point where g passes 0, or the lower end of the range if that comes later."""
        before, after = [c for c in self.corners if c[1] < 0], [c for c in self.corners if c[1] >= 0]
        if not before:
            found = after[0][0] - after[0][1] / self.left
        elif not after:
            found = before[-1][0] - before[-1][1] / self.right
        else:
            (a, va), (b, vb) = before[-1], after[0]
            found = b if a == b else a - va * (b - a) / (vb - va)
        return found if low is None else max(found, low)


def cumulative_residuals(x: Numbers, targets: Numbers, weights: Numbers | None = None) -> list[Fraction]:
    """τ_i = Σ_{j ≤ i} w_j (x_j − y_j), i ≤ m: multipliers τ_i > 0 of the bound u_i, −τ_i > 0 of monotony; τ_m = 0 without a range."""
    masses = [Fraction(1)] * len(targets) if weights is None else weights
    found, total = [], Fraction(0)
    for value, y, w in zip(x, targets, masses, strict=True):
        total += w * (value - y)
        found.append(total)
    return found


def lpav(positions: Numbers, targets: Numbers, weights: Numbers | None = None, lipschitz: Fraction | None = Fraction(1)) -> list[Fraction]:
    """LPAV of unsorted points (z_i, y_i), in their order: u_i = L (z_{i+1} − z_i), equal z get equal values; L = None is PAV."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    gaps = [positions[b] - positions[a] for a, b in pairwise(order)]
    # Without a Lipschitz bound a step between different z is free, one between equal z still 0.
    steps = [(None if gap else Fraction(0)) if lipschitz is None else lipschitz * gap for gap in gaps]
    masses = None if weights is None else [weights[i] for i in order]
    fitted = rational_lpav([targets[i] for i in order], steps, masses)
    found = [Fraction(0)] * len(order)
    for i, value in zip(order, fitted, strict=True):
        found[i] = value
    return found
