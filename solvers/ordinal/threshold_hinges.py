r"""Hinges against thresholds: the loops over samples of ordinal regression.

    c Σ_i ( Σ_{j < k_i} [b_j + γ − f_i]_+  +  Σ_{j ≥ k_i} [f_i − b_j + γ]_+ ),     thresholds b_0 … b_{m−1},  k_i of them below sample i,

over every j (implicit constraints), or over the two that are next to the sample, j = k_i − 1 and j = k_i, as far as they exist (explicit
constraints). Multipliers are a ∈ [0, 1], in units of the weight c, in a table with a row for each sample and a column for each of its
hinges. A hinge that does not exist has the multiplier 0. In a stage of the augmented Lagrangian with centres a⁰ and width h > 0, a hinge
with argument x has the multiplier clip(x/h + a⁰, 0, 1). If that lies inside, the hinge is *free*.

The part of a hinge in the gap is (1 − a)[x]_+ + a[−x]_+. Time: one operation for each hinge. No memory but the arrays given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simopt.core.arrays import Array
from simopt.core.compiled import kernel
from simopt.solvers.hinges.stage import Indices, Notes

NOTHING = 1e-6  # a multiplier below it is rounding, where all multipliers sum to about 1


class ThresholdHinges(NamedTuple):
    """The hinges of some samples.

    Attributes
    ----------
    rank : (n,) array of indices
        k_i, how many thresholds belong below the sample: 0, …, m.
    steps : (m,) array
        b_j − steps_j must not fall as j grows (sums of the least distances of neighbours).
    gamma : float
        the margin γ > 0.
    sample_weight : float
        c > 0.
    every : bool
        implicit constraints (every threshold) rather than explicit ones (the two next to the sample).
    """

    rank: Indices
    steps: Array
    gamma: float
    sample_weight: float
    every: bool = False

    @property
    def count(self) -> int:  # type: ignore[override]  # tuples count their items, which nobody asks of these
        """m."""
        return int(self.steps.size)

    @property
    def ordered(self) -> bool:
        """Whether the order of the thresholds is a constraint: with a hinge against each for every sample they keep it by themselves."""
        return not self.every

    @property
    def columns(self) -> int:
        """Hinges that a sample may have."""
        return self.count if self.every else 2

    @property
    def table(self) -> tuple[int, int]:
        """Shape of the multipliers."""
        return self.rank.size, self.columns

    def first(self) -> Indices:
        """Threshold of the first column of each sample; −1 if there is none."""
        out: Indices = np.zeros_like(self.rank) if self.every else self.rank - 1
        return out

    def on(self, part: slice) -> ThresholdHinges:
        """The same for a block of samples, as views."""
        return self._replace(rank=self.rank[part])

    def take(self, rows: Indices | slice, for_all: bool = False) -> ThresholdHinges:
        """The same for some of the samples, as copies; the weight is their own, or so that their sum is that of all."""
        rank = np.ascontiguousarray(self.rank[rows])
        return self._replace(rank=rank, sample_weight=self.sample_weight * self.rank.size / rank.size if for_all else self.sample_weight)


@kernel
def update_multipliers(
    f: Array, b: Array, hinges: ThresholdHinges, centre: Array, width: float, a: Array, pull: Array, g_b: Array, notes: Notes
) -> tuple[int, int, float]:
    """Multipliers at f and b for the given centres, pull_i = c Σ ±a, and −c Σ ±a of each threshold added to g_b (+ above, − below).

    Also notes, the number of a free hinge being its threshold. Returns how many samples have changed, how many hinges are free, and the
    hinges' part of the gap.
    """
    rank, _, gamma, sample_weight, every = hinges
    changed, change, free, ends = notes
    inverse = 1.0 / width
    moved, count = 0, 0
    rest = 0.0
    for i in range(f.size):
        first = 0 if every else rank[i] - 1
        now = 0.0
        for k in range(a.shape[1]):
            j = first + k
            if j < 0 or j >= b.size:
                continue
            sign = -1.0 if j < rank[i] else 1.0
            x = sign * (f[i] - b[j]) + gamma
            z = x * inverse + centre[i, k]
            v = min(max(z, 0.0), 1.0)
            a[i, k] = v
            rest += sample_weight * ((1.0 - v) * x if x > 0.0 else -v * x)
            now += sign * v
            g_b[j] -= sample_weight * sign * v
            free[count], ends[count] = i, j
            count += 0.0 < z < 1.0
        now *= sample_weight
        changed[moved] = i
        change[moved] = now - pull[i]
        moved += now != pull[i]
        pull[i] = now
    return moved, count, rest


@kernel
def balance(hinges: ThresholdHinges, fixed_b: Array, a: Array) -> None:
    """Move the multipliers of free hinges a little, so that g_b is 0 but for the multipliers of the order rows.

    A threshold is a number with 16 digits, of which few are left for a narrow width: the multipliers say the rest, all free ones of a pool
    moving alike. Pools end where the running sum of g_b, the multiplier of the order row, is next to nothing; without order rows each
    threshold is one.
    """
    rank, _, _, sample_weight, every = hinges
    m = fixed_b.size
    pool, free_count, left = np.empty(m, dtype=np.intp), np.empty(m), np.empty(m)
    for _ in range(2):
        g_b = fixed_b.copy()
        free_count[:], left[:] = 0.0, 0.0
        for i in range(rank.size):
            first = 0 if every else rank[i] - 1
            for j in range(max(first, 0), min(first + a.shape[1], m)):
                g_b[j] -= sample_weight * (a[i, j - first] if j >= rank[i] else -a[i, j - first])
        running, current = 0.0, 0
        for j in range(m):
            pool[j] = current
            left[current] += g_b[j]
            running -= g_b[j]
            current += every or abs(running) <= NOTHING
        for i in range(rank.size):
            first = 0 if every else rank[i] - 1
            for j in range(max(first, 0), min(first + a.shape[1], m)):
                free_count[pool[j]] += 0.0 < a[i, j - first] < 1.0
        for k in range(m):
            left[k] = left[k] / (sample_weight * free_count[k]) if free_count[k] > 0.0 and abs(left[k]) <= NOTHING else 0.0
        for i in range(rank.size):
            first = 0 if every else rank[i] - 1
            for j in range(max(first, 0), min(first + a.shape[1], m)):
                v = a[i, j - first]
                if 0.0 < v < 1.0:
                    a[i, j - first] = min(max(v + (left[pool[j]] if j >= rank[i] else -left[pool[j]]), 0.0), 1.0)


@kernel
def audit(f: Array, b: Array, hinges: ThresholdHinges, a: Array, pull: Array, g_b: Array) -> float:
    """pull and what is added to g_b for the multipliers as they are, and the hinges' part of the gap."""
    rank, _, gamma, sample_weight, every = hinges
    rest = 0.0
    for i in range(f.size):
        first = 0 if every else rank[i] - 1
        pull[i] = 0.0
        for k in range(a.shape[1]):
            j = first + k
            if j < 0 or j >= b.size:
                continue
            sign = -1.0 if j < rank[i] else 1.0
            x = sign * (f[i] - b[j]) + gamma
            rest += sample_weight * ((1.0 - a[i, k]) * x if x > 0.0 else -a[i, k] * x)
            pull[i] += sample_weight * sign * a[i, k]
            g_b[j] -= sample_weight * sign * a[i, k]
    return rest


@kernel
def tilt(f: Array, move: Array, t: float, b: Array, hinges: ThresholdHinges, centre: Array, width: float) -> float:
    """Σ ±a move at f + t move and b: the derivative of the stage's loss along the move, in units of the weight."""
    rank, _, gamma, _, every = hinges
    inverse = 1.0 / width
    total = 0.0
    for i in range(f.size):
        first = 0 if every else rank[i] - 1
        x = f[i] + t * move[i]
        pull = 0.0
        for k in range(centre.shape[1]):
            j = first + k
            if j < 0 or j >= b.size:
                continue
            sign = -1.0 if j < rank[i] else 1.0
            pull += sign * min(max((sign * (x - b[j]) + gamma) * inverse + centre[i, k], 0.0), 1.0)
        total += pull * move[i]
    return total


@kernel
def near(f: Array, b: Array, hinges: ThresholdHinges, a: Array, reach: float, nearest: Indices, rows: Indices) -> int:
    """The samples that could become free: those with a hinge within `reach` of its kink, or with a multiplier that does not stand where f
    and b say. Also, of each threshold the nearest hinge on either side, without which nothing would hold it. How many there are.

    `nearest` (2, m) is filled with their samples.
    """
    rank, _, gamma, _, every = hinges
    distance = np.full((2, b.size), np.inf)
    nearest[:, :] = -1
    for i in range(f.size):
        first = 0 if every else rank[i] - 1
        rows[i] = 0
        for k in range(a.shape[1]):
            j = first + k
            if j < 0 or j >= b.size:
                continue
            sign = -1.0 if j < rank[i] else 1.0
            x = sign * (f[i] - b[j]) + gamma
            if not ((x > reach and a[i, k] == 1.0) or (x < -reach and a[i, k] == 0.0)):
                rows[i] = 1
            side = 1 if sign * x > 0.0 else 0
            if abs(x) < distance[side, j]:
                distance[side, j] = abs(x)
                nearest[side, j] = i
    for side in range(2):
        for j in range(b.size):
            if nearest[side, j] >= 0:
                rows[nearest[side, j]] = 1
    count = 0
    for i in range(f.size):
        if rows[i] == 1:
            rows[count] = i
            count += 1
    return count
