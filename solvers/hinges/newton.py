r"""Two-hinge problems by semismooth Newton on the augmented Lagrangian, on ever fewer samples: the engine of landmarked SVR.

    min over w of  R(w) + Σ_i c_i (s(lo_i − f_i) + s(f_i − hi_i)),   f = Ψw,   R a penalty or a ball.

A stage has a width and centres (see `two_hinges`) and is solved by Newton steps until G, the part of the gap that they reduce (the
bound's), is below F, the part that the width causes (the hinges'). Then the multipliers become the centres and the width falls by three;
where Newton's steps did not get there it grows instead.

* Start: a subsample of at least 15 d rows is solved first, roughly, from a subsample of its own; on all rows the width then grows until
  G ≤ 3F, without which the steps would cross one another's kinks.
* Working set: samples farther than 16 widths from a kink, with multipliers that stand where they should, are frozen as a linear term; the
  rest, once it is less than 0.4 n, is copied and solved by itself, with a working set of its own. Back on all samples f, G and F are
  computed anew; where a frozen sample has crossed its kink the width grows, and so does what counts as far.
* A working set of at most 6 d samples is left to the interior-point method, which needs about ten iterations from there, where Newton
  steps would add bent samples one by one. It is also what a stage that makes no progress falls back on, and all there is for n ≤ 5 d.

Source: the augmented Lagrangian on the dual of Li, Sun & Toh 2018 (for the lasso), with the certificate F + G as stopping rule.
Cost: at d = 100, λ = 1e-3 about 4 steps on all rows, each one pass over Ψ. Memory: 10 vectors of n numbers, `room` bytes for copies.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from simopt.data.row_blocks import RowBlocks
from simopt.ground.arrays import Array
from simopt.solvers.hinges.hinge_interior import interior
from simopt.solvers.hinges.level import Level
from simopt.solvers.hinges.stage import Stage
from simopt.solvers.hinges.two_hinges import Hinges
from simopt.solvers.hinges.weight_bounds import Bound, Penalty

Kind = TypeVar("Kind", bound=Stage)

ROOM = 64 * 2**20  # bytes for copies of rows
VECTORS = 12  # of numbers that a level keeps a row, beside the row itself
FIRST = 0.3  # width of the first stage, in standard deviations of the ends
FAR = 1e29  # an end beyond this is missing
INNER = 30  # Newton steps a stage
NARROW, FAST = 1.0 / 3.0, 0.1  # what the width is multiplied by after a stage; after one that needed no step
WIDEN = 4.0
BALANCE = 3.0  # G ≤ 3F where a level starts
HOPELESS = 10.0  # G > 10F: the stage was not solved
EASY = 0.2  # of the goal: no need for a smaller G
REACH = 16.0  # widths
SHRINK = 0.4  # share of the samples that a working set may have
FEWEST = 400  # samples below which none are frozen
COMPACT = 6  # samples a dimension that the interior-point method takes over
FEW = 5  # samples a dimension up to which there is nothing to be gained over the interior-point method
SAMPLED = (60, 160)  # samples a dimension from which a quarter, an eighth is solved first
SAMPLE_GAP = 5e-3  # of the scale: how well
SURE = 0.7  # of the goal: what a working set is solved to
PROGRESS = 0.7
STALLS = 8


@dataclass(frozen=True, eq=False)
class HingeFit:
    """A point, multipliers in [0, 1] (in units of their shares), their gap (∞ if not computed on all samples), and how it was found."""

    w: Array
    below: Array
    above: Array
    gap: float
    word: str


def first_width(hinges: Hinges) -> float:
    """0.3 standard deviations of the ends, or times the loss at f = 0 where that is more (the ends then lie on one side of 0)."""
    there = [end[np.abs(end) < FAR] for end in (hinges.low, hinges.high)]
    count = sum(end.size for end in there)
    if count == 0:
        return 1.0
    mean = sum(float(np.sum(end)) for end in there) / count
    spread = math.sqrt(sum(float(np.sum((end - mean) ** 2)) for end in there) / count)
    return FIRST * max(spread, loss_at_zero(hinges) / float(np.sum(hinges.share))) or 1.0


def loss_at_zero(hinges: Hinges) -> float:
    """Σ c ([lo]_+ + [−hi]_+), the loss of f = 0 for β = ∞."""
    return float(hinges.share @ (np.maximum(hinges.low, 0.0) + np.maximum(-hinges.high, 0.0)))


def hinge_fits(rows: RowBlocks, hinges: Hinges, bound: Bound, *, goal: float, room: float = ROOM) -> Iterator[HingeFit]:
    """Fits of which the last has a gap of at most `goal`, unless rounding forbids. Their arrays are written on when it goes on."""
    d = rows.shape[1]
    level = Level(rows, hinges, bound, np.zeros(d), np.zeros(d), 0.0)
    level.suggest()
    yield HingeFit(level.w, level.below, level.above, level.gap, "")
    if level.gap <= goal:
        return
    del level
    if rows.shape[0] <= FEW * d:
        for state in interior(rows, hinges, bound, np.zeros(d), np.zeros(d), first_width(hinges), goal):
            yield HingeFit(state.w, state.below, state.above, state.gap, "interior point, for few samples")
        return
    w, width = from_subsample(rows, hinges, bound, np.zeros(d), room)
    level = settled(Level(rows, hinges, bound, np.zeros(d), w, width))
    for _ in climb(level, goal, room):
        yield HingeFit(level.w, level.below, level.above, math.inf, level.word)
    level.judge()
    yield HingeFit(level.w, level.below, level.above, level.gap, level.word)


def from_subsample(rows: RowBlocks, hinges: Hinges, bound: Bound, fixed: Array, room: float) -> tuple[Array, float]:
    """w and a width to start with: those at which a subsample, evenly spread, is solved roughly; w = 0 if there are few samples."""
    n, d = rows.shape
    if n < SAMPLED[0] * d:
        return np.zeros(d), first_width(hinges)
    stride = 8 if n >= SAMPLED[1] * d else 4
    stride = max(stride, math.ceil(n * _bytes(d) / (0.8 * room)))
    part = slice(stride // 2, None, stride)
    few = hinges.take(part)
    few = Hinges(few.low, few.high, few.share * (float(np.sum(hinges.share)) / float(np.sum(few.share))), few.shift)
    chosen = RowBlocks(rows.take(part))
    w, width = from_subsample(chosen, few, bound, fixed, room)
    sample = settled(Level(chosen, few, bound, fixed, w, width))
    for _ in climb(sample, SAMPLE_GAP * loss_at_zero(few), room):
        pass
    return sample.w, sample.width


def settled(level: Kind) -> Kind:
    """The level with predictions and multipliers, its width grown until G ≤ 3F."""
    level.place()
    level.sweep()
    while level.excess > BALANCE * level.rest and level.width < FAR:
        level.width *= WIDEN
        level.sweep()
    return level


def climb(level: Stage, goal: float, room: float) -> Generator[None, None, None]:
    """Stages until the gap of the level is at most the goal; yields after each of them."""
    reach, smallest, stalls = REACH, math.inf, 0
    while level.gap > goal:
        steps = 0
        while steps < INNER and level.excess > max(level.rest, EASY * goal) and level.newton():
            steps += 1
        if level.gap <= goal:
            return
        stalls += level.gap > PROGRESS * smallest
        smallest = min(smallest, level.gap)
        if stalls > STALLS:
            level.word = "interior point, after Newton's steps had stalled"
            yield from compact(level, goal)
            return
        solved = level.excess <= HOPELESS * level.rest
        level.recentre((NARROW if steps else FAST) if solved else WIDEN)
        if solved:
            taken = yield from on_working_set(level, goal, reach, room)
            if taken and level.gap <= goal:
                return
            if taken:
                reach *= 2.0
                level.recentre(NARROW**-2)
        level.sweep()
        yield


def on_working_set(level: Stage, goal: float, reach: float, room: float) -> Generator[None, None, bool]:
    """Solve the samples near their kinks by themselves, and take over what comes of it; False if they are too many."""
    n, d = level.rows.shape
    rows = level.near(reach)
    if n <= FEWEST or rows.size > SHRINK * n or rows.size * _bytes(d) > room:
        return False
    part = level.part(rows)
    if rows.size <= COMPACT * d:
        yield from compact(part, SURE * goal)
    else:
        part.sweep()
        yield from climb(part, SURE * goal, room - rows.size * _bytes(d))
    level.width = part.width
    level.adopt(part, rows)
    return True


def compact(level: Stage, goal: float) -> Generator[None, None, None]:
    """The interior-point method, from the level's w and width."""
    for _ in level.inward(goal):
        level.newtons += 1
        yield


def _bytes(d: int) -> int:
    """Memory that a level takes for each of its rows."""
    return 8 * (d + VECTORS)


def compile_kernels() -> None:
    """Call every kernel of the method once, on one sample: a small problem needs only some of them."""
    one = np.ones(1)
    hinges = Hinges(-one, one, one.copy(), 1.0)
    level = Level(RowBlocks(np.ones((1, 1))), hinges, Penalty(1.0), np.zeros(1), one, 1.0)
    level.suggest()
    level.sweep(one)
    level.along(0.0, 1.0, -1.0, 1.0)
    level.near(1.0)
    for _ in interior(level.rows, hinges, level.bound, level.fixed, one, 1.0, -1.0, max_iter=1):  # no gap is small enough
        pass
