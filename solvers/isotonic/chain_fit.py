r"""Least squares along a chain with bounded steps: 0 ≤ x_{i+1} − x_i ≤ u_i and lo ≤ x ≤ hi, exactly.

The dynamic programme (where every step is free or a tie, pooling) finds which steps are at a bound. Long chains try it within a band
around a coarser fit first (chain_band.py), which takes O(m) and is exact where the band holds nothing. The values themselves are then
computed afresh. Samples linked by steps at a bound form blocks. On each of them x is an offset plus a constant: the weighted mean of
(y − offset), or the end of the range where the block touches it. That takes out the rounding that the programme's running sums collect.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.core.validate import frozen
from simopt.solvers.isotonic.chain_band import band_zeros, climbs_of, nodes_of
from simopt.solvers.isotonic.chain_programme import chain_zeros
from simopt.solvers.isotonic.pooling import is_free, pooled

TOUCH = 16 * 2.0**-52  # of the size of x: what the end of a block may be off the end of the range that holds it
PASSES = 10  # over the blocks: one, and one more for each time that steps turn out to be held
FEW = 4096  # samples, below which no band is worth its nodes
MARGIN = 0.12  # of m^{1/4} groups' fraction of u: twice what the fits of random data are from those of their nodes
NARROW = 0.1  # of the range of y: a band that is not narrower spares little
NEAR = 1e-3  # of the margin: nearer to an edge the fit counts as held; rounding moves neither as far
WIDER = 8.0  # times as wide is the second band, where the first one held the fit
MANY = 16384  # samples, below which the whole chain takes no longer than a second band
LOOSE, LEVEL, STEEP = 0, 1, 2  # a step strictly between its bounds, at its lower one, at its upper one


@kernel
def _descend(x: Any, u: Any, hi: Any, edges: Any, near: Any, state: Any) -> Any:
    """x_m = min(p_m, hi), x_i = p_i clipped to [x_{i+1} − u_i, x_{i+1}], in place of the zeros p; whether an edge is `near` x or nearer."""
    m = x.size
    held = edges[m - 1] and x[m - 1] <= hi + near
    x[m - 1] = min(x[m - 1], hi)
    for i in range(m - 2, -1, -1):
        if edges[i]:
            held |= x[i + 1] - u[i] - near <= x[i] <= x[i + 1] + near
        if x[i] >= x[i + 1]:
            x[i] = x[i + 1]
            state[i] = LEVEL
        elif x[i] <= x[i + 1] - u[i]:
            x[i] = x[i + 1] - u[i]
            state[i] = LEVEL if u[i] == 0.0 else STEEP
        else:
            state[i] = LOOSE
    return held


@kernel
def _level_blocks(x: Any, y: Any, w: Any, u: Any, lo: Any, hi: Any, state: Any) -> Any:
    """Recompute x block by block; the number of loose steps that turned out to be held, and are now marked so.

    If the first sample lies at lo, g jumps at lo, at lo + u_1, and so on. The next zeros lie in the jumps, and the programme finds steps
    that are strictly inside their bounds by nothing but rounding. The block behind such a step wants to be beyond the bound.
    """
    m = x.size
    start, held = 0, 0
    while start < m:
        end = start
        offset, weight, moment = 0.0, w[start], 0.0
        first = y[start]
        while end < m - 1 and state[end] != LOOSE:
            if state[end] == STEEP:
                offset += u[end]
            end += 1
            weight += w[end]
            moment += w[end] * (y[end] - first - offset)
        base = first + moment / weight
        # A block held at an end of the range may have come off its neighbour by rounding; as a whole it still lies in the range.
        base = max(min(base, hi - offset), lo)
        if start > 0:
            bottom, top = x[start - 1], x[start - 1] + u[start - 1]
            if base < bottom or base > top:
                state[start - 1] = LEVEL if base < bottom or u[start - 1] == 0.0 else STEEP
                held += 1
            base = min(max(base, bottom), top)
        offset = 0.0
        x[start] = base
        for i in range(start, end):
            if state[i] == STEEP:
                offset += u[i]
            x[i + 1] = base + offset
        start = end + 1
    return held


@kernel
def _mend(x: Any, u: Any) -> None:
    """Steps back into [0, u] where rounding took them out."""
    for i in range(x.size - 1):
        if x[i + 1] < x[i]:
            x[i + 1] = x[i]
        elif x[i + 1] > x[i] + u[i]:
            x[i + 1] = x[i] + u[i]


@kernel
def _finalize(x: Any, y: Any, w: Any, u: Any, lo: Any, hi: Any, edges: Any, near: Any, state: Any) -> Any:
    """The fit in place of the zeros, and the states of its steps; whether an edge is `near` the fit, which then is not finished."""
    held = _descend(x, u, hi, edges, near, state)
    if not held:
        for _ in range(PASSES):
            if _level_blocks(x, y, w, u, lo, hi, state) == 0:
                break
        _mend(x, u)
    return held


@kernel
def _climbs_all(y: Any, w: Any, u: Any, lo: Any, hi: Any, x: Any, state: Any) -> Any:
    """Whether the fit takes every step at its upper bound; then x is the fit and `state` has its steps.

    That is one block: the fit if it lies in the range and Σ_{j≤i} w_j (x_j − y_j), the multiplier of step i, is not negative where u_i > 0.
    """
    offset, weight, moment = 0.0, w[0], 0.0
    for i in range(1, y.size):
        offset += u[i - 1]
        weight += w[i]
        moment += w[i] * (y[i] - y[0] - offset)
    x[0] = y[0] + moment / weight
    if not (x[0] >= lo and x[0] + offset <= hi and offset < np.inf):
        return False
    multiplier, offset = w[0] * (x[0] - y[0]), 0.0
    for i in range(1, y.size):
        if multiplier < 0.0 < u[i - 1]:
            return False
        state[i - 1] = STEEP if u[i - 1] > 0.0 else LEVEL
        offset += u[i - 1]
        x[i] = x[0] + offset
        multiplier += w[i] * (x[i] - y[i])
    _mend(x, u)
    return True


@kernel
def _cumulate(x: Any, y: Any, w: Any, u: Any, lo: Any, hi: Any, state: Any, tau: Any) -> None:
    """τ block by block: sums of w(x − y), less what the lower end of the range carries; 0 where they have the sign of the other bound."""
    m = x.size
    touch = TOUCH * max(abs(x[0]), abs(x[m - 1]), abs(lo) if lo > -np.inf else 0.0, abs(hi) if hi < np.inf else 0.0)
    start = 0
    while start < m:
        end = start
        total = 0.0
        low = start == 0 and x[0] - lo <= touch
        held = 0.0  # the least multiplier of the lower end at which no step at its lower bound is pulled up
        while end < m - 1 and state[end] != LOOSE:
            total += w[end] * (x[end] - y[end])
            tau[end + 1] = total
            if state[end] == LEVEL and u[end] > 0.0:
                held = max(held, total)
            end += 1
        total += w[end] * (x[end] - y[end])
        high = end == m - 1 and hi - x[m - 1] <= touch
        alpha = 0.0
        if low:
            alpha = max(total, 0.0)
            if high:
                alpha = max(alpha, held)
        if start == 0:
            tau[0] = -alpha
        for i in range(start + 1, end + 1):
            force = tau[i] - alpha
            if state[i - 1] == STEEP:
                tau[i] = max(force, 0.0)
            elif u[i - 1] == 0.0:
                tau[i] = force
            else:
                tau[i] = min(force, 0.0)
        tau[end + 1] = min(total - alpha, 0.0) if high else 0.0
        start = end + 1


def chain_multipliers(x: Array, y: Array, w: Array, u: Array, state: NDArray[np.int8], lo: float = -np.inf, hi: float = np.inf) -> Array:
    """Multipliers τ_0, …, τ_m of a fit: −τ_0 ≥ 0 of x_1 ≥ lo, −τ_m ≥ 0 of x_m ≤ hi; of a step, τ_i > 0 of d_i ≤ u_i, −τ_i > 0 of d_i ≥ 0.

    A bound that the fit does not use has multiplier 0 exactly: rounding in τ would cost τu in the gap, and u may be large. O(m).
    """
    tau = np.empty(y.size + 1)
    _cumulate(frozen(x), frozen(y), frozen(w), frozen(u), float(lo), float(hi), state, tau)
    return tau


def _fit_in_band(
    y: Array, w: Array, u: Array, lo: float, hi: float, state: NDArray[np.int8], guess: tuple[Array, float] | None = None
) -> Array | None:
    """The fit by way of a band, and the states of its steps; None where no band is narrow enough or holds nothing."""
    least, most = max(float(y.min()), lo), max(float(y.max()), lo)
    climbs = climbs_of(u, most - least)
    usual, floor = MARGIN * y.size**0.25 * float(climbs.mean()), TOUCH * max(abs(least), abs(most)) / NEAR
    if guess is not None and floor < guess[1] < min(usual, NARROW * (most - least)):
        x = _within(y, w, u, lo, hi, state, (least, most), climbs, *guess)
        if x is not None:
            return x
    if not floor < usual < NARROW * (most - least):
        return None
    nodes = nodes_of(y, w, u, most - least)
    X, steps = fit_chain(*nodes, lo, hi)
    x = np.empty(y.size)
    if steps.min() == STEEP and _climbs_all(y, w, u, lo, hi, x, state):
        return x
    for times in (1.0, WIDER) if y.size >= MANY else (1.0,):
        found = _within(y, w, u, lo, hi, state, (least, most), climbs, X, times * usual)
        if found is not None:
            return found
    return None


def _within(
    y: Array,
    w: Array,
    u: Array,
    lo: float,
    hi: float,
    state: NDArray[np.int8],
    ends: tuple[float, float],
    climbs: Array,
    X: Array,
    margin: float,
) -> Array | None:
    """The fit, and the states of its steps, if it lies within `margin` of X at the nodes."""
    band = band_zeros(y, w, u, *ends, X, climbs, margin)
    return None if band is None or _finalize(band[0], y, w, u, lo, hi, band[1], NEAR * margin, state) else band[0]


def fit_chain(
    y: Array,
    w: Array,
    u: Array,
    lo: float = -np.inf,
    hi: float = np.inf,
    *,
    guess: tuple[Array, float] | None = None,
    capacity: int | None = None,
) -> tuple[Array, NDArray[np.int8]]:
    """The fit x, and the state of each step (LOOSE, LEVEL, STEEP).

    Parameters
    ----------
    y, w, u : (m,), (m,) and (m − 1,) arrays
        as for `chain_programme.chain_zeros`.
    lo, hi : float
        range of x.
    guess : array and float, optional
        what the fit may be at `node_indices`, and how far from there a chain of at least FEW samples is looked for first. The fit is the
        same wherever it is found.
    capacity : int, optional
        of the chunks of chain_programme.py, which then is run at once.
    """
    y, w, u = frozen(y), frozen(w), frozen(u)  # kernels are compiled for each mixture of arrays that may be written on
    m = y.size
    state = np.empty(max(m - 1, 0), dtype=np.int8)
    if is_free(u):
        x = pooled(y, w, u, lo)
        _finalize(x, y, w, u, lo, hi, np.zeros(m, dtype=np.bool_), 0.0, state)
        return x, state
    if capacity is None:
        if m >= FEW:
            found = _fit_in_band(y, w, u, lo, hi, state, guess)
            if found is not None:
                return found, state
        else:
            x = np.empty(m)
            if _climbs_all(y, w, u, lo, hi, x, state):
                return x, state
    x = chain_zeros(y, w, u, lo, capacity)
    _finalize(x, y, w, u, lo, hi, np.zeros(m, dtype=np.bool_), 0.0, state)
    return x, state
