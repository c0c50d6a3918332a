r"""Every root of G(s) = s + (2 − m) log t(e^s) − κ for 0 < m < 1, none missed.

With w = −d log t / ds = E_q[u], u = μ/(d + μ):   G′ = 1 − (2 − m) w ∈ [m − 1, 1],   w′ = E_q[u(1 − u)] − 2 Var_q(u) ∈ [−1/2, 1/4], hence
|G″| ≤ (2 − m)/2. In natural units (largest eigenvalue 1, smallest δ)

    G < 0 below  κ − (2 − m) log t(0)  and above  ((2 − m) log √(Σ c) − κ) / (1 − m).
    G′ > 0 below  log(δ / (1 − m))  and  G′ < 0 above  −log(1 − m).

The interval between is bisected. A cell without a root (|G| at its middle exceeds what G can change by) is dropped. One on which G′ cannot
change sign is monotone. Others are split, down to a width that marks a double root. All comparisons allow for the rounding of G and G′.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.squares.secular import path_point
from simopt.solvers.squares.spectrum import EPSILON

UNIT = 0.5 * EPSILON
NARROWEST = 1e-7  # half-width of a cell of log μ that is not split further
CELLS = 20_000
EMPTY, MONOTONE, OPEN = 0.0, 1.0, 2.0


@dataclass(frozen=True)
class Isolated:
    """A root of G within `radius` of s, where |G| ≤ slack holds in all of that interval; `simple` unless it may be two or none.

    `rising` says whether G′ > 0 at a simple root.
    """

    s: float
    radius: float
    slack: float
    simple: bool
    rising: bool


@kernel
def evaluate(values: Array, energies: Array, kappa: float, m: float, s: float) -> tuple[float, float, float, float]:
    """(G, bound on its rounding error, G′, bound on the rounding error of G′)."""
    log_t, w, _, _, _ = path_point(values, energies, s)
    value = s + (2.0 - m) * log_t - kappa
    sums = (values.size + 20.0) * UNIT
    error = (2.0 - m) * sums + 4.0 * UNIT * (1.0 + abs(s) + (2.0 - m) * abs(log_t) + abs(kappa))
    return value, error, 1.0 - (2.0 - m) * w, (2.0 - m) * (2.0 * sums + 4.0 * UNIT)


@kernel
def _cells(values: Array, energies: Array, kappa: float, m: float, low: float, high: float, out: Array) -> tuple[int, int]:
    """Cover [low, high] by cells, rows (left, right, kind, sign of G or of G′) of out; returns their number and the evaluations."""
    stack = np.empty((200, 2))
    stack[0, 0], stack[0, 1] = low, high
    depth, used, count = 1, 0, 0
    bend = 0.5 * (2.0 - m)
    while depth > 0:
        depth -= 1
        left, right = stack[depth, 0], stack[depth, 1]
        middle, half = 0.5 * (left + right), 0.5 * (right - left)
        value, error, slope, slope_error = evaluate(values, energies, kappa, m, middle)
        count += 1
        reach = half * min(1.0, abs(slope) + slope_error + 0.5 * bend * half)
        if abs(value) > reach + error:
            kind, sign = EMPTY, np.sign(value)
        elif abs(slope) > bend * half + slope_error:
            kind, sign = MONOTONE, np.sign(slope)
        elif half > NARROWEST:
            stack[depth, 0], stack[depth, 1] = middle, right
            stack[depth + 1, 0], stack[depth + 1, 1] = left, middle
            depth += 2
            continue
        else:
            kind, sign = OPEN, 0.0
        if used > 0 and kind == out[used - 1, 2] and sign == out[used - 1, 3]:
            out[used - 1, 1] = right
            continue
        if used >= out.shape[0]:
            return -1, count
        out[used, 0], out[used, 1], out[used, 2], out[used, 3] = left, right, kind, sign
        used += 1
    return used, count


def isolate(values: Array, energies: Array, kappa: float, m: float) -> tuple[list[Isolated], int]:
    """All roots, and the number of evaluations of t, O(n) each.

    Raises
    ------
    ArithmeticError
        if the cells do not fit (a function that is zero to rounding over a long interval; none is known).
    """
    weights = energies * values
    flat = 0.5 * math.log(float(np.sum(energies / values)))
    steep = 0.5 * math.log(float(np.sum(weights)))
    margin = 1e-9 * (1.0 + abs(kappa))
    low = kappa - (2.0 - m) * flat - margin
    high = ((2.0 - m) * steep - kappa) / (1.0 - m)
    high += 1e-9 * (1.0 + abs(high)) + margin
    if low >= high:
        return [], 0
    left = min(max(low, math.log(float(values[0])) - math.log1p(-m) - 1e-9), high)
    right = max(min(high, -math.log1p(-m) + 1e-9), left)
    out = np.empty((CELLS, 4))
    used, count = _cells(values, energies, kappa, m, left, right, out) if right > left else (0, 0)
    if used < 0:
        raise ArithmeticError(f"more than {CELLS} cells are needed to isolate the stationary points (m = {m})")
    cells = [(low, left, MONOTONE, 1.0)] if left > low else []
    cells += [(float(a), float(b), float(k), float(g)) for a, b, k, g in out[:used]]
    cells += [(right, high, MONOTONE, -1.0)] if high > right else []
    search = _RootSearch(values, energies, kappa, m)
    return search.roots(cells), count + search.count


class _RootSearch:
    """From a cover by cells to roots: signs at the ends of cells, then Newton's method."""

    def __init__(self, values: Array, energies: Array, kappa: float, m: float) -> None:
        self.data = (values, energies, kappa, m)
        self.count = 0

    def at(self, s: float) -> tuple[float, float, float, float]:
        """G(s) and G′(s), each with a bound on its rounding error; counted."""
        self.count += 1
        return evaluate(*self.data, s)

    def sign(self, s: float) -> float:
        """sgn G(s) ∈ {−1, 1}, or 0 where rounding leaves it open."""
        value, error, _, _ = self.at(s)
        return math.copysign(1.0, value) if abs(value) > error else 0.0

    def roots(self, cells: list[tuple[float, float, float, float]]) -> list[Isolated]:
        """Group cells between points at which the sign of G is certain; decide group by group."""
        found: list[Isolated] = []
        group: list[tuple[float, float, float, float]] = []
        before = -1.0  # G < 0 at the outer ends, by the bounds there
        for k, cell in enumerate(cells):
            if cell[2] == EMPTY:
                if group:
                    found += self.decide(group, before, cell[3])
                group, before = [], cell[3]
                continue
            group.append(cell)
            end = -1.0 if k == len(cells) - 1 else self.sign(cell[1])
            if end != 0.0:
                found += self.decide(group, before, end)
                group, before = [], end
        return found

    def decide(self, group: list[tuple[float, float, float, float]], before: float, after: float) -> list[Isolated]:
        """Roots in a run of cells with G of known signs at both ends."""
        left, right = group[0][0], group[-1][1]
        kinds = {(kind, sign) for _, _, kind, sign in group}
        if len(kinds) == 1 and group[0][2] == MONOTONE:
            return [self.newton(left, right, after > 0.0)] if before * after < 0.0 else []
        if group[0][2] == MONOTONE:
            left = self.edge(left, group[0][1], before)
        if group[-1][2] == MONOTONE:
            right = self.edge(right, group[-1][0], after)
        middle, radius = 0.5 * (left + right), 0.5 * (right - left)
        value, error, _, _ = self.at(middle)
        return [Isolated(middle, radius, abs(value) + error + radius, False, False)]

    def edge(self, outside: float, inside: float, sign: float) -> float:
        """How far into a monotone cell the sign of G stays certain, by bisection."""
        while abs(inside - outside) > NARROWEST:
            middle = 0.5 * (outside + inside)
            if middle in (outside, inside):
                break
            outside, inside = (middle, inside) if self.sign(middle) == sign else (outside, middle)
        return outside

    def newton(self, left: float, right: float, rising: bool) -> Isolated:
        """The one root of a monotone G in [left, right]: safeguarded Newton, then an enclosure from G, G′ and the bound on G″."""
        s = 0.5 * (left + right)
        for _ in range(2000):
            value, error, slope, _ = self.at(s)
            if abs(value) <= error:
                break
            if (value > 0.0) == rising:
                right = s
            else:
                left = s
            proposal = s - value / slope if slope != 0.0 else math.inf
            proposal = proposal if left < proposal < right else 0.5 * (left + right)
            if proposal == s or right - left <= 2.0 * EPSILON * abs(s):
                break
            s = proposal
        value, error, slope, slope_error = self.at(s)
        steepness = abs(slope) - slope_error
        radius = 2.0 * (abs(value) + error) / steepness if steepness > 0.0 else math.inf
        if not 0.5 * (2.0 - self.data[3]) * radius <= 0.5 * steepness:
            radius = right - left  # too flat for the enclosure: what the signs say
        radius = min(radius, max(right - s, s - left)) + 2.0 * EPSILON * abs(s)
        return Isolated(s, radius, abs(value) + error + radius, True, rising)
