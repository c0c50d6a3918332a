r"""Hinges by semismooth Newton on the augmented Lagrangian, on ever fewer samples: how the stages follow one another.

    min over w of  R(w) + Σ_i c_i (hinges of f_i),   f = Ψw,   R a penalty or a ball.

A stage has a width and centres (see `stage`). Let G be the part of the gap that Newton steps reduce (the bound's), and F the part that the
width causes (the hinges'). A stage takes at most 30 steps, while they descend, G is above F and G is above a fifth of the goal. Then the
multipliers become the centres. If G ≤ 10F, the stage is solved, and the width is multiplied by 0.15, or by 0.1 if no step was made. If not,
it is multiplied by 4.

* Start: for n ≥ 60 d every fourth row is solved first, for n ≥ 160 d every eighth, roughly; fewer if these do not fit into 0.8 of the
  memory limit. A subsample of at least 60 d rows starts from one of its own. On all rows the width then grows until G ≤ 3F, without which
  the steps would cross one another's kinks.
* Working set, after a solved stage of more than 400 samples: those farther than 16 widths from a kink, with multipliers that stand where
  they should, are frozen as a linear term. If the rest is at most 0.4 n and fits into the memory limit, it is copied and solved by itself,
  with a working set of its own. Back on all samples f, G and F are computed anew. If the gap is above the goal, as a frozen sample has
  crossed its kink, the width grows by 9 and the 16 doubles.
* If passes over all rows take the time (`far`) and blocks are `local`, there are fewer. The subsample of `hinge_stage` is copied as the gap
  at w = 0 is computed. Its point, centres of four times its width and the first gradient share a pass, and no width is tried until G ≤ 3F.
  If the samples within 16 widths do not fit into the memory limit, those within 8 or 4 are taken. A solved working set is reported at
  once. A certificate takes a pass of its own and does not trust this method's. It then finds out what another pass would have; only if it
  stays open is that one made.
* A working set of at most 6 d samples is left to the interior-point method. That needs about ten iterations from there, where Newton steps
  would add free samples one by one. It is also what a stage falls back on whose gap has fallen by less than 0.3 nine times. For n ≤ 5 d it
  is all there is.

Source: the augmented Lagrangian on the dual of Li, Sun & Toh 2018 (for the lasso), with the certificate F + G as stopping rule.
Cost: at d = 100, λ = 1e-3 about 4 steps on all rows, each one pass over Ψ; 6 passes in all at n = 10⁶.
Memory: 10 vectors of n numbers, `memory_limit` bytes for copies.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator

from simopt.data.row_blocks import RowBlocks
from simopt.solvers.hinges.stage import Stage, StageFit

MEMORY_LIMIT = 64 * 2**20  # bytes for copies of rows
RENAMED = {"room": "memory_limit"}  # old names of options
FAR = 64e6  # bytes of rows from which on passes are spared
WIDEST = 1e29  # a width beyond it has lost every kink
INNER = 30  # Newton steps a stage
NARROW, FAST = 0.15, 0.1  # what the width is multiplied by after a stage; after one that needed no step
WIDEN = 4.0
BACK = 9.0  # after a working set that frozen samples have left
BALANCE = 3.0  # G ≤ 3F where a stage starts
HOPELESS = 10.0  # G > 10F: the stage was not solved
EASY = 0.2  # of the goal: no need for a smaller G
REACH = 16.0  # widths
LEAST = 4.0  # the same where more samples would not fit into the memory limit, and each step is a pass
SHRINK = 0.4  # fraction of the samples that a working set may have
FEWEST = 400  # samples below which none are frozen
COMPACT = 6  # samples a dimension that the interior-point method takes over
FEW = 5  # samples a dimension up to which there is nothing to be gained over the interior-point method
FEW_STATUS = "interior point, for few samples"
SAMPLED = (60, 160)  # samples a dimension from which a quarter, an eighth is solved first
SAMPLE_GAP = 5e-3  # of the unit: how well
SURE = 0.7  # of the goal: what a working set is solved to
PROGRESS = 0.7
STALLS = 8
BRIEF = 1 << 18  # numbers of Ψ up to which all stages take less time than judging the points that they end at


def newton_fits(stage: Stage, goal: float, memory_limit: float) -> Iterator[StageFit]:
    """Fits of all samples from w = 0, where the stage stands, with the gap as the stage has it; of the last it is computed anew.

    A small problem has only the last.
    """
    start(stage, memory_limit)
    for adopted in climb(stage, goal, memory_limit, claims=stage.local and far(stage.rows)):
        if math.prod(stage.rows.shape) <= BRIEF:
            continue
        # with what rounding has piled up: nothing to be claimed
        yield stage.fit(stage.gap if adopted else max(stage.gap, math.nextafter(goal, math.inf)))
    if not stage.fresh:
        stage.update_gap()
    yield stage.fit(stage.gap)


def far(rows: RowBlocks) -> bool:
    """Whether a pass over the rows costs more than the arithmetic: then fewer passes are worth steps that are less sure."""
    return 8 * math.prod(rows.shape) > FAR


def sampled(rows: RowBlocks, vectors: int, memory_limit: float) -> slice | None:
    """The subsample that is solved first: every fourth or eighth row, or fewer that fit into 0.8 of the memory limit. None for n < 60 d."""
    n, d = rows.shape
    if n < SAMPLED[0] * d:
        return None
    stride = max(8 if n >= SAMPLED[1] * d else 4, math.ceil(n * _bytes(rows, vectors) / (0.8 * memory_limit)))
    return slice(stride // 2, None, stride)


def start(stage: Stage, memory_limit: float) -> None:
    """Move the stage to point and width of an evenly spread subsample, solved roughly; leave it at 0, its first width, if n < 60 d.

    It then has predictions and multipliers there, and the width has grown until G ≤ 3F, or beyond 1e29. But after a subsample of rows that
    are `far`, in a `local` stage, it is 0.4 times the subsample's width. Centres are then what four times that width gives.
    """
    chosen = sampled(stage.rows, stage.vectors, memory_limit)
    if chosen is None:
        stage.width = stage.first_width()
    else:
        sample = stage.some(RowBlocks(stage.rows.take(chosen)), chosen, stage.fixed, for_all=True)
        start(sample, memory_limit)
        for _ in climb(sample, SAMPLE_GAP * sample.unit(), memory_limit):
            pass
        stage.follow(sample.fit())
        stage.width = sample.width
        del sample
        if stage.local and far(stage.rows):
            stage.width *= WIDEN
            stage.land(FAST)
            return
    stage.enter()
    while stage.excess > BALANCE * stage.rest and stage.width < WIDEST:
        stage.width *= WIDEN
        stage.sweep()


def climb(stage: Stage, goal: float, memory_limit: float, claims: bool = False) -> Generator[bool, None, None]:
    """One width after another, until the gap is at most the goal; yields after each of them, whether the gap is that of a working set.

    If a gap has been above 0.7 times the least one nine times, the interior-point method has the last word. After the last width nothing
    is yielded. With `claims` the gap is reported before all samples are evaluated: a certificate will tell as well.
    """
    reach, smallest, stalls = REACH, math.inf, 0
    while stage.gap > goal:
        steps = 0
        while steps < INNER and stage.excess > max(stage.rest, EASY * goal) and stage.newton():
            steps += 1
        if stage.gap <= goal:
            return
        stalls += stage.gap > PROGRESS * smallest
        smallest = min(smallest, stage.gap)
        if stalls > STALLS:
            stage.status_text = "interior point, after Newton's steps had stalled"
            yield from compact(stage, goal)
            return
        solved = stage.excess <= HOPELESS * stage.rest
        stage.recentre((NARROW if steps else FAST) if solved else WIDEN)
        if solved:
            taken = yield from on_working_set(stage, goal, reach, memory_limit, claims)
            if taken and stage.gap <= goal:
                return
            if taken:
                reach *= 2.0
                stage.recentre(BACK)
        stage.sweep()
        yield False


def on_working_set(stage: Stage, goal: float, reach: float, memory_limit: float, claims: bool) -> Generator[bool, None, bool]:
    """Solve the samples near their kinks by themselves, and take over what comes of it; False if they are too many, or all at most 400."""
    n, d = stage.rows.shape
    each = _bytes(stage.rows, stage.vectors)
    if n <= FEWEST:
        return False
    rows = stage.near(reach)
    while claims and rows.size * each > memory_limit and reach > LEAST:
        reach *= 0.5
        rows = stage.near(reach)
    if rows.size > SHRINK * n or rows.size * each > memory_limit:
        return False
    part = stage.part(rows)
    if rows.size <= COMPACT * d:
        yield from compact(part, SURE * goal)
    else:
        part.sweep()
        yield from climb(part, SURE * goal, memory_limit - rows.size * each)
    stage.width = part.width
    stage.adopt(part, rows)
    if claims and stage.gap <= goal:
        yield True
    stage.update_gap()
    return True


def compact(stage: Stage, goal: float) -> Generator[bool, None, None]:
    """The interior-point method, from the stage's w and width."""
    for _ in stage.inward(goal):
        stage.newtons += 1
        yield False


def _bytes(rows: RowBlocks, vectors: int) -> int:
    """Memory that a stage takes for each of its rows, with so many numbers beside it."""
    return 8 * (rows.shape[1] + vectors)
