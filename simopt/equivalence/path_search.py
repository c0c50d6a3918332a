"""Search along the path of a family for the parameters at which it can be a given function, by norms and then by distance."""

from __future__ import annotations

import math
from collections.abc import Iterator

import scipy.optimize

from simopt.core.errors import InvalidProblem
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet
from simopt.equivalence.weak import TINY

ROUNDING = 32 * EPS  # relative error of a computed norm
PLAY = 1e3 * EPS  # relative rounding of a distance between fits at parameters that are themselves rounded
REACH = 300.0  # how far from 1 (in the logarithm) a parameter is sought
FLOATS = 700.0  # and how far it can be
FINITE = 34.0  # the same in a bounded interval, whose ends the floats reach there
JUMP = 1e-3  # a relative change of the function between neighbouring floats that is called a jump,
FINE = 1e-9  # where these floats are no farther apart in the coordinate: near an end of the domain they can be
REST = 1e-12  # a relative change of the function over half of the reach at which it is said to stand still,
LONG = 30.0  # if the reach is no less than this
FAR = 1e9  # how far beyond the reach it is asked whether a path on ℝ stays where it rests
FITS = 200  # spent at most on excluding a range
ZERO = -1e6  # stands for the logarithm of a norm of 0


class PathSearch:
    """Fits of the target family along the coordinate t of its domain, compared with f.

    Attributes
    ----------
    low, high : float
        the ends of the reach, drawn in where the target cannot be fitted.
    known : dict
        every fit that was made, by its coordinate.
    """

    def __init__(self, f: KernelFunction, target: Family, Z: TrainingSet, reach: float, start: float) -> None:
        self.f, self.target, self.Z = f, target, Z
        self.domain: Interval = target.domain(Z)
        bounded = math.isfinite(self.domain.low) and math.isfinite(self.domain.high)
        self.reach = min(reach, FINITE if bounded else FLOATS)
        self.low, self.high = -self.reach, self.reach
        self.size = max(f.size(), ZERO)
        self.norm = f.norm()
        self.own = _relative(f) + ROUNDING
        self.known: dict[float, KernelFunction] = {}
        t = self.domain.coordinate(start) if start in self.domain else 0.0
        self.start = min(max(t, self.low), self.high)
        self.rungs: list[float] = []

    def parameter(self, t: float) -> float:
        """μ at the coordinate t."""
        return self.domain.at(t)

    def at(self, t: float) -> KernelFunction:
        """B(μ)(Z) at the coordinate t, fitted once.

        Raises
        ------
        ArithmeticError
            where it cannot be fitted, although it can at another parameter.
        """
        if t not in self.known:
            try:
                self.known[t] = self.target(self.domain.at(t), self.Z)
            except InvalidProblem as error:  # as for coefficients that overflow far out
                if not self.known:
                    raise
                raise ArithmeticError(str(error)) from error
        return self.known[t]

    def excess(self, t: float) -> float:
        """log ‖B(t)‖ − log ‖f‖."""
        return max(self.at(t).size(), ZERO) - self.size

    def noise(self, t: float) -> float:
        """|excess| that the learners' errors can make."""
        return self.own + _relative(self.at(t)) + ROUNDING

    def differs(self, t: float) -> bool:
        """Whether the true norms must differ at t."""
        return abs(self.excess(t)) > self.noise(t)

    def brackets(self) -> Iterator[tuple[float, float]]:
        """Pairs of coordinates between which the norm of the target passes that of f, or (t, t) where it may equal it.

        The ladder start, start ± 1, ± 2, ± 4, … is climbed as far as the caller asks for more. Every passing between neighbouring rungs is
        given once, and last the rung at which the norms differ least, if they need not differ there.
        """
        for t in self._ladder():
            self.rungs = sorted([*self.rungs, t])
            i = self.rungs.index(t)
            if self.excess(t) == 0.0:
                yield t, t
            for other in self.rungs[max(i - 1, 0) : i] + self.rungs[i + 1 : i + 2]:
                if self.excess(t) * self.excess(other) < 0:
                    yield min(t, other), max(t, other)
        nearest = min(self.rungs, key=lambda t: abs(self.excess(t)))
        if self.excess(nearest) != 0.0 and not self.differs(nearest):
            yield nearest, nearest

    def _ladder(self) -> Iterator[float]:
        """The rungs; an end of the reach is drawn in to the last of them that can be fitted."""
        if not self.rungs:
            yield self.start
        step = 1.0
        while self.start - step / 2 > self.low or self.start + step / 2 < self.high:
            for t in (self.start + step, self.start - step):
                inside = min(max(t, self.low), self.high)
                if inside in self.rungs:
                    continue
                try:
                    self.at(inside)
                except ArithmeticError:
                    self.low, self.high = (self.low, max(self.rungs)) if t > self.start else (min(self.rungs), self.high)
                else:
                    yield inside
            step *= 2

    def root(self, one: float, two: float) -> float:
        """A coordinate between the two at which the norms agree; where the norm jumps, one beside the jump."""
        if one == two:
            return one
        t = float(scipy.optimize.brentq(self.excess, one, two, xtol=1e-15, rtol=4 * EPS, maxiter=200, disp=False))
        if not self.differs(t):
            return t
        low, high = self._jump(t)
        while low < (middle := low + (high - low) / 2) < high:
            if not self.differs(middle):
                return middle
            low, high = (middle, high) if self.excess(middle) * self.excess(low) > 0 else (low, middle)
        return low

    def _jump(self, t: float) -> tuple[float, float]:
        """t, at which the norms differ, and the nearest fit at which they differ the other way, in order."""
        other = min((s for s in self.known if self.excess(s) * self.excess(t) < 0), key=lambda s: abs(s - t))
        return min(t, other), max(t, other)

    def refined(self, t: float) -> float:
        """Gauss-Newton steps for the distance, as long as it falls and the norms stay equal within the errors."""
        best, distance = t, self.f.distance(self.at(t))
        for _ in range(3):
            tangent = self._tangent(best)
            length = tangent.inner(tangent)
            if not length > 0:
                break
            trial = best + (self.f - self.at(best)).inner(tangent) / length
            if not self.low <= trial <= self.high or self.differs(trial) or self.f.distance(self.at(trial)) >= distance:
                break
            best, distance = trial, self.f.distance(self.at(trial))
        return best

    def _tangent(self, t: float) -> KernelFunction:
        """dB/dt by a difference whose step balances curvature and the learners' errors."""
        h = self._step(t)
        low, high = max(t - h, self.low), min(t + h, self.high)
        return (self.at(high) - self.at(low)) * (1.0 / (high - low))

    def _step(self, t: float) -> float:
        return min(1e-1, max(1e-5, math.sqrt(self.noise(t))))

    def enclosure(self, t: float) -> tuple[float, float]:
        """Coordinates around t at which, and beyond which, the true norms differ if they are monotone; ±∞ where none do within reach."""
        if not self.differs(t):
            return self._edge(t, -1.0), self._edge(t, 1.0)
        return self._jump(t)

    def _edge(self, t: float, direction: float) -> float:
        """The first coordinate tried from t in this direction at which the true norms must differ; ±∞ if none does within reach."""
        h = self._step(t)
        end = self.high if direction > 0 else self.low
        aside = min(max(t + direction * h, self.low), self.high)
        slope = abs(self.excess(aside) - self.excess(t)) / h
        step = min(1.5 * (abs(self.excess(t)) + self.noise(t)) / max(slope, 1e-12), 1.0)
        try:
            while (end - (beyond := t + direction * step)) * direction > 0:
                if beyond != t and self.differs(beyond):
                    return beyond
                step *= 2
            return end if end != t and self.differs(end) else direction * math.inf
        except ArithmeticError:
            return direction * math.inf

    def excluded(self, low: float, high: float) -> bool:
        """Whether no function of the target between two coordinates is f.

        Between neighbouring fits the target is taken to move no farther than they are apart. This is assumed on pieces no longer than 1 or
        than a quarter of their distance from the start. A path can leave and come back on longer ones. Neighbouring floats at which it
        jumps leave nothing between; where it moves less from float to float, or floats are sparse, the path may have passed f.
        """
        spent = len(self.known) + FITS
        open_pieces = [(low, high)]
        while open_pieces:
            one, two = open_pieces.pop()
            f, g, h = self.f, self.at(one), self.at(two)
            rounding = max(PLAY * max(self.norm, g.norm(), h.norm()), TINY)
            apart = [f.distance(each) - f.error - each.error - rounding for each in (g, h)]
            if not min(apart) > 0:
                return False
            moved = g.distance(h) + g.error + h.error
            short = two - one <= max(1.0, 0.25 * min(abs(one - self.start), abs(two - self.start)))
            if short and max(apart) > moved:
                continue
            middle = one + (two - one) / 2
            if one < middle < two and self.parameter(one) < self.parameter(middle) < self.parameter(two):
                if len(self.known) >= spent:
                    return False
                open_pieces += [(one, middle), (middle, two)]
            elif self.domain.rounding(self.parameter(one)) > FINE or not moved > JUMP * max(self.norm, g.norm(), h.norm()):
                return False
        return True

    def monotone(self) -> bool:
        """Whether the target claims a monotone norm, and one fits all that was fitted."""
        if not self.target.monotone:
            return False
        rises = falls = False
        least = most = None
        for t in sorted(self.known):
            size, noise = max(self.at(t).size(), ZERO), _relative(self.at(t)) + ROUNDING
            if math.isinf(noise):
                continue
            least = size + noise if least is None else least
            most = size - noise if most is None else most
            rises, falls = rises or size - noise > least, falls or size + noise < most
            least, most = min(least, size + noise), max(most, size - noise)
        return not (rises and falls)

    @property
    def course(self) -> str:
        """The text about a norm that is not monotone."""
        return "both rises and falls" if self.target.monotone else "may both rise and fall"

    def vanishes(self) -> bool:
        """Whether f and every function on the whole ladder are 0, without error."""
        if self.f.error > 0.0 or self.f.size() > -math.inf:
            return False
        for t in self._ladder():
            self.rungs.append(t)
        return all(g.error == 0.0 and g.size() == -math.inf for g in self.known.values())

    def towards(self) -> float:
        """The end of the reach at which the norm comes nearer to that of f."""
        return min(self.low, self.high, key=lambda t: abs(self.excess(t)))

    def closed(self) -> bool:
        """Whether nothing beyond the reach can be f, if norms are monotone: they pass that of f within, or the path has come to rest.

        They pass it between two fits of which one must be above and one below, whatever the errors are farther out. It needs no rest at an
        end towards which the norm moves away from that of f.
        """
        if len({self.excess(t) > 0.0 for t in self.known if self.differs(t)}) == 2:
            return True
        low, high = self.excess(self.low), self.excess(self.high)
        if self.differs(self.low) and self.differs(self.high):
            if abs(low - high) > self.noise(self.low) + self.noise(self.high):
                return self._rests(self.towards())
        return self._rests(self.low) and self._rests(self.high)

    def _rests(self, end: float) -> bool:
        """Whether the target was fitted up to the reach on this side and stands still over the outer half of it."""
        if abs(end) < max(self.reach, LONG):
            return False
        inner, outer = self.at(end / 2), self.at(end)
        still = inner.distance(outer) + inner.error + outer.error <= REST * max(inner.norm(), outer.norm())
        return still and not any(self._moved(outer, t) for t in self._beyond(end))

    def _beyond(self, end: float) -> Iterator[float]:
        """Coordinates beyond an end of the reach: as far as floats go, on ℝ each twice as far as the one before."""
        if math.isinf(self.domain.low) and math.isinf(self.domain.high):
            t = 2.0 * end
            while abs(t) <= FAR:
                yield t
                t *= 2.0
        elif math.isinf(self.domain.low) or math.isinf(self.domain.high):
            yield math.copysign(FLOATS, end)

    def _moved(self, outer: KernelFunction, t: float) -> bool:
        """Whether the path, where it can be fitted, must have left a function again."""
        try:
            far = self.target(self.domain.at(t), self.Z)
        except (ArithmeticError, InvalidProblem):
            return False
        return far.distance(outer) - far.error - outer.error > REST * max(far.norm(), outer.norm())

    def outward(self, t: float, direction: int) -> float:
        """The parameter at t, rounded outward; the end of the domain for ±∞."""
        if math.isinf(t):
            return self.domain.high if t > 0 else self.domain.low
        return math.nextafter(self.domain.at(t), direction * math.inf)


def _relative(f: KernelFunction) -> float:
    """Bound on |log ‖f*‖ − log ‖f‖| for the true f* within f.error; ∞ when 0 is possible."""
    if f.error == 0.0:
        return 0.0
    size = f.size()
    share = math.inf if size == -math.inf else f.error / math.exp(max(size, -700.0))
    return -math.log1p(-share) if share < 1 else math.inf
