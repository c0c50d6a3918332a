"""Sequential decisions for random draws: Clopper–Pearson for probabilities, empirical Bernstein for means of bounded variables.

The error probability 0.1 % is divided: the k-th group of draws of a run gets the part 1/(k(k+1)), its two sides a half each. The looks of a
side get geometrically decreasing parts. Looks happen at sizes fixed beforehand, so that looking does not bias the decision.

Without a bound on the support no test of a mean controls its error. Whatever n draws show, a value that occurs with probability 1/n² and
was not seen moves the mean at will (Bahadur and Savage 1956). Such draws are averaged and decide nothing.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from simopt.claims import figure
from simopt.claims.check import Check, DrawnCheck
from simopt.claims.kinds import Evidence
from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.core.fields import Count, InUnit, arguments

ALPHA = 1e-3
GROWTH = 1.5
MAX_DRAWS = 1_000_000
UNDECIDED = 64  # draws that are averaged where there is no bound on the support, and so no decision


@arguments
def error_part(k: Count, alpha: InUnit = ALPHA) -> float:
    """Part of the error probability that the k-th group (k = 1, 2, …) may use; the parts add up to alpha."""
    return alpha / (k * (k + 1))


@arguments
def clopper_pearson(bad: Annotated[int, validate.whole], n: Count, alpha: InUnit) -> tuple[float, float]:
    """Exact one-sided bounds for a probability of which `bad` of n draws were seen, each wrong with probability at most `alpha`."""
    from scipy import special

    if bad > n:
        raise InvalidProblem(f"bad: {bad} of n = {n} draws given, a whole number from 0 to n needed")
    low = 0.0 if bad == 0 else float(special.betaincinv(bad, n - bad + 1, alpha))
    high = 1.0 if bad == n else float(special.betaincinv(bad + 1, n - bad, 1.0 - alpha))
    if math.isnan(low) or math.isnan(high):
        raise InvalidProblem(f"alpha: {alpha:g} is too small for float64, an error probability of at least 1e-290 needed")
    return low, high


class Probability:
    """Is P(bad) ≤ delta? Draws are added one by one; `decided` becomes true as soon as an interval leaves delta."""

    hopeless = False  # a share of draws lies in [0, 1]: enough of them decide

    def __init__(self, first: DrawnCheck, alpha: float) -> None:
        self.first = first
        self.delta = first.target
        self.alpha = alpha / 2
        self.n = 0
        self.bad = 0
        self.low, self.high = 0.0, 1.0
        # The first test upward is where no bad draw at all would decide; downward tests begin early.
        self._next_high = max(1, math.ceil(math.log(self.alpha / 2) / math.log1p(-self.delta)))
        self._next_low = 16
        self._highs = self._lows = 0

    @property
    def decided(self) -> bool:
        """Whether delta lies outside the interval."""
        return self.high <= self.delta or self.low > self.delta

    def add(self, sample: DrawnCheck) -> None:
        """Take one more draw, and look if it is time."""
        self.n += 1
        self.bad += int(sample.value)
        if self.n >= self._next_high:
            self._test_high()
            self._next_high = math.ceil(self._next_high * GROWTH)
        if self.n >= self._next_low:
            self._test_low()
            self._next_low = math.ceil(self._next_low * GROWTH)

    def _test_high(self) -> None:
        self._highs += 1
        self.high = min(self.high, clopper_pearson(self.bad, self.n, self.alpha * 2.0**-self._highs)[1])

    def _test_low(self) -> None:
        self._lows += 1
        self.low = max(self.low, clopper_pearson(self.bad, self.n, error_part(self._lows, self.alpha))[0])

    def check(self) -> Check:
        """Last look at what was drawn, as a check: slack between delta − upper and delta − lower."""
        if not self.decided:
            self._test_high()
            self._test_low()
        first = self.first
        name = first.name or f"{self.bad} of {self.n} bad{f' ({first.group})' if first.group else ''}"
        slack = (self.delta - self.high, self.delta - min(self.low, self.high))
        drawing = figure.frequency(first.group or first.name, self.low, self.high, self.delta, self.bad, self.n)
        return Check(*slack, Evidence.STATISTICAL, name, first.row, bound=self.delta, measured=self.bad / self.n, drawing=drawing)


class Mean:
    """Is E[value] ≤ bound? Empirical Bernstein (Audibert, Munos and Szepesvári 2009) with a support; without one, no decision.

    A value of which only an interval is known counts by its lower end where the mean is bounded from below, by its upper end above.
    """

    def __init__(self, first: DrawnCheck, alpha: float) -> None:
        self.first = first
        self.bound = first.target
        self.support = first.support
        self.alpha = alpha / 2
        self.lows: list[float] = []
        self.highs: list[float] = []
        self.low, self.high = -math.inf, math.inf
        self._next = 64
        self._stages = 0

    @property
    def n(self) -> int:
        """Number of draws so far."""
        return len(self.highs)

    @property
    def decided(self) -> bool:
        """Whether the bound lies outside the interval for the mean."""
        return self.high <= self.bound or self.low > self.bound

    @property
    def hopeless(self) -> bool:
        """Whether no number of draws can decide."""
        return self.support is None and self.n >= UNDECIDED

    def add(self, sample: DrawnCheck) -> None:
        """Take one more draw, and look if it is time.

        Raises
        ------
        ValueError
            if the draw lies outside the support that the claim declares.
        """
        least, value = sample.least, sample.value
        if self.support is not None and not (self.support[0] <= least and value <= self.support[1]):
            raise ValueError(
                f"expectation: the value {value if least == value else (least, value)} lies outside the declared support {self.support}"
            )
        self.lows.append(least)
        self.highs.append(value)
        if self.n >= self._next:
            self._test()
            self._next = math.ceil(self._next * GROWTH)

    def _test(self) -> None:
        self._stages += 1
        if self.support is None:
            return
        log, width = math.log(3 * 2.0**self._stages / self.alpha), self.support[1] - self.support[0]
        (below, down), (above, up) = (_bernstein(np.asarray(values), width, log) for values in (self.lows, self.highs))
        self.low, self.high = max(self.low, below - down), min(self.high, above + up)

    def check(self) -> Check:
        """Last look at what was drawn, as a check: slack between bound − upper and bound − lower."""
        if not self.decided:
            self._test()
        first = self.first
        mean = float(np.mean(self.highs))
        name = first.name or f"mean {mean:.4g} of {self.n}{f' ({first.group})' if first.group else ''}"
        name += "" if self.support is not None else ", no support= declared: draws alone decide nothing"
        low, high = self.bound - self.high, self.bound - min(self.low, self.high)
        drawing = figure.mean(first.group or first.name, mean, self.low, self.high, self.bound, self.n)
        return Check(low, high, Evidence.STATISTICAL, name, first.row, bound=self.bound, measured=mean, drawing=drawing)


def _bernstein(values: Array, width: float, log: float) -> tuple[float, float]:
    """Mean of values in an interval of this width, and the radius √(2 V log/n) + 3 width log/n with their variance V."""
    n = len(values)
    return float(values.mean()), math.sqrt(2 * float(values.var()) * log / n) + 3 * width * log / n


class Pool:
    """The groups of draws of one instance; `spent` groups of the run came before them.

    A loop of draws ends once every group that was drawn in it is decided. Nothing else is cut short: what stands behind a loop is read.
    """

    def __init__(self, spent: int = 0) -> None:
        self.spent = spent
        self.groups: dict[tuple[str, str, str], Probability | Mean] = {}
        self.loops = 0  # loops of draws that are open
        self._added = 0
        self._last: dict[tuple[str, str, str], int] = {}  # number of the last draw of a group

    def begin(self) -> int:
        """Open a loop of draws; returns its mark."""
        self.loops += 1
        return self._added

    def enough(self, mark: int) -> bool:
        """Whether every group that was drawn since the mark is decided, or never will be."""
        drawn = [self.groups[key] for key, last in self._last.items() if last > mark]
        return bool(drawn) and all(group.decided or group.hopeless or group.n >= MAX_DRAWS for group in drawn)

    def end(self) -> None:
        """Close a loop of draws."""
        self.loops -= 1

    def add(self, sample: DrawnCheck) -> None:
        """Take one draw."""
        key = (sample.row, sample.group, sample.name)
        self._added += 1
        self._last[key] = self._added
        if key not in self.groups:
            alpha = error_part(self.spent + len(self.groups) + 1)
            self.groups[key] = (Probability if sample.bernoulli else Mean)(sample, alpha)
        group = self.groups[key]
        if sample.target != group.first.target:
            raise ValueError(f"group {sample.group!r} has draws with two targets, {group.first.target} and {sample.target}")
        if not group.decided:
            group.add(sample)

    def checks(self) -> list[Check]:
        """One check for each group."""
        return [group.check() for group in self.groups.values()]

    @property
    def draws(self) -> int:
        """Number of draws taken."""
        return sum(group.n for group in self.groups.values())
