"""Certificates derived from a declaration against those by hand, of the same point and multipliers: landmarked SVR and EXC.

Each pair has a point and multipliers of its own, a few units of rounding from the solution, so that no sweep can be remembered from the
pair before. Of EXC, whose thresholds nothing absorbs, the seconds of a certificate with its repair count; reading is timed by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from benchmarks.pairs import Table, arguments, interleave, met, one_thread, seconds, size
from simopt.arithmetic import FLOAT, INTERVAL, Arithmetic
from simopt.certificates.certificate import Certificate
from simopt.duality import Declared
from simopt.model.problem import Problem
from simopt.problems.bounds import Penalty
from simopt.problems.exc_ordinal import EXCOrdinal
from simopt.problems.landmarked_svr import LandmarkedSVR
from simopt.solving.entry_points import certify, solve

SIZES = ((10_000, 50), (100_000, 20), (1_000_000, 20))
RATIOS = {(10_000, 50): (3.0, 1.5), (100_000, 20): (4.0, 3.0), (1_000_000, 20): (4.0, 3.0)}  # targets in floats and in intervals
EXC = (10_000, 50)
SECONDS = (0.5, 1.5)  # targets of EXC, with its repair
READING = 0.1  # seconds, target at 10⁵ rows
CLASSES = 5
Values = dict[str, Any]


def data(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian features of norm about 1, scores linear in them with Laplace noise."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, d)) / np.sqrt(d)
    return features, features @ rng.normal(size=d) + 0.3 * rng.laplace(size=n)


def fresh(values: Values) -> Callable[[], Values]:
    """The values, each time a few units of rounding away from where they were before."""
    number = count()
    return lambda: {name: np.asarray(value) * (1.0 + next(number) * 2.0**-50) for name, value in values.items()}


class Both:
    """A problem and its declaration, read; the point and the multipliers of a solver that knows the problem."""

    def __init__(self, problem: Problem) -> None:
        solution = solve(problem, tol=1e-9)
        assert solution.point is not None and solution.multipliers is not None
        declaration = problem.declare()
        with one_thread():
            self.reading = seconds(lambda: Declared.of(declaration))
        self.problem, self.declared = problem, Declared.of(declaration)
        leaves = [leaf.name for leaf in self.declared.programme.leaves.values()]
        self.point, self.multipliers = dict(solution.point), dict(solution.multipliers)
        self.leaves = {name: self.point[name] for name in leaves}
        self.labelled = {name: value for name, value in self.multipliers.items() if name in self.declared.names}

    def derived(self, num: Arithmetic) -> Callable[[], Certificate]:
        """Certifies by derived formulas."""
        point, multipliers = fresh(self.leaves), fresh(self.labelled)
        return lambda: certify(self.declared, point(), multipliers(), num)

    def by_hand(self, num: Arithmetic) -> Callable[[], Certificate]:
        """Certifies by those of the problem."""
        point, multipliers = fresh(self.point), fresh(self.multipliers)
        return lambda: certify(self.problem, point(), multipliers(), num)


def main() -> None:
    """SVR at three sizes in floats and intervals, EXC at one; λ = 1e-3."""
    options = arguments(__doc__ or "", sizes=(size, "of SVR, n×d such as 10000x50 (default: 10000x50, 100000x20 and 1000000x20)"))
    sizes = options.sizes or (((1000, 20),) if options.quick else SIZES)
    table, words = Table("derived certificates (ours) against those by hand (peer)", "problem"), []
    for n, d in sizes:
        both = Both(LandmarkedSVR(*data(n, d), Penalty(1e-3), 0.1))
        for num, target in zip((FLOAT, INTERVAL), RATIOS.get((n, d), (4.0, 3.0)), strict=True):
            gap, known = both.derived(num)().relative_gap, both.by_hand(num)().relative_gap
            pairs = interleave(both.derived(num), both.by_hand(num), pairs=2 if options.quick else 25 if n < 10**5 else 9)
            table.add(f"SVR {n}x{d}, {num.name}", pairs, f"gap/scale {gap:.0e}, by hand {known:.0e}", gap=gap, gap_by_hand=known)
            words.append(f"SVR {n}x{d} {num.name} {met(pairs.ratio, target)}")
        words.append(f"reading {n}x{d} {both.reading:.3f} s" if n != 10**5 else f"reading {n}x{d} {met(both.reading, READING)} s")
    words += exc(table, *((500, 5) if options.quick else EXC), pairs=2 if options.quick else 9)
    table.close(options, "\n".join(words))


def ordinal(n: int, d: int) -> Both:
    """EXC of classes of equal frequency."""
    features, scores = data(n, d)
    labels = 1.0 + np.floor(np.argsort(np.argsort(scores)) * CLASSES / n)
    return Both(EXCOrdinal(features, labels, CLASSES, bound=Penalty(1e-3)))


def exc(table: Table, n: int, d: int, pairs: int) -> list[str]:
    """A problem whose multipliers have to be repaired."""
    both, words = ordinal(n, d), list[str]()
    for num, target in zip((FLOAT, INTERVAL), SECONDS, strict=True):
        found = both.derived(num)()
        table.add(
            f"EXC {n}x{d}, {num.name}", spread := interleave(both.derived(num), both.by_hand(num), pairs=pairs), f"{found.relative_gap:.0e}"
        )
        reasons = both.declared.open(both.labelled, both.declared.restore(both.leaves), INTERVAL)
        closed = f"{met(spread.ours.median, target)} s" if found.closes(1e-6) else f"open: {'; '.join(reasons)}"
        words.append(f"EXC {n}x{d} {num.name} {closed}")
    return words


if __name__ == "__main__":
    main()
