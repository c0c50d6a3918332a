r"""Recovers the map Φ between two families of which nothing is known but how to fit them, with an error bar.

Norms along the path of a regularised family are monotone: from the optimality of f_μ and f_ν, μ < ν, for L + μ Ω follows
Ω(f_ν) ≤ Ω(f_μ), and for a ball of growing radius the norm grows. So Φ(λ) is sought as the root of log ‖B(μ)(Z)‖ − log ‖A(λ)(Z)‖,
moved by Gauss-Newton steps to where ‖A(λ)(Z) − B(μ)(Z)‖ is least, and accepted only if that distance closes to what the learners'
errors allow.

The error bar rests on the norms alone, because they alone are monotone for every such family: the true functions satisfy ‖A*‖ = ‖B*(Φ)‖, so
no μ can be Φ at which the computed norms differ by more than both errors, nor any μ beyond it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import scipy.optimize

from simopt.equivalence import Equivalence
from simopt.errors import InvalidProblem
from simopt.family import Family, Interval
from simopt.gram_spectrum import EPS
from simopt.training import KernelFunction, TrainingSet

ROUNDING = 32 * EPS  # relative error of a computed norm
REACH = 300.0  # how far from 1 (in the logarithm) a parameter is sought


class Outcome(Enum):
    """What `find_map` found: a parameter with an error bar; that every parameter will do (both paths are 0); an error bar that reaches an
    end of the target's interval, so that the function is there, or only in the limit, or hidden by the learners' errors; that there is no
    such parameter; or nothing, because the source's error is as large as its function.
    """

    FOUND = "found"
    EVERY = "every parameter gives the same function"
    OPEN_ENDED = "the error bar reaches an end of the target's interval"
    NO_MAP = "no map"
    UNDECIDED = "the learners' errors are too large to tell"


@dataclass(frozen=True)
class FoundMap:
    """Φ(λ, Z) ∈ [low, high], or why there is none.

    Attributes
    ----------
    outcome : Outcome
    parameter, value : float
        λ and the estimate of Φ(λ, Z); nan where there is none.
    low, high : float
        enclosure of the true Φ(λ, Z), given the learners' error radii.
    distance, errors, norm : float
        ‖A(λ)(Z) − B(value)(Z)‖_H, the sum of the two error radii, and ‖A(λ)(Z)‖_H.
    fits : int
        number of times the target family was fitted.
    reason : str
        one sentence when the outcome is not FOUND.
    """

    outcome: Outcome
    parameter: float
    value: float
    low: float
    high: float
    distance: float
    errors: float
    norm: float
    fits: int
    reason: str = ""

    @property
    def bar(self) -> float:
        """Largest possible |value − Φ|."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def relative_bar(self) -> float:
        """bar / |value|."""
        return self.bar / abs(self.value)


def find_map(source: Family, target: Family, parameter: float, Z: TrainingSet, *, reach: float = REACH) -> FoundMap:
    """Φ(λ, Z) with A(λ)(Z) = B(Φ(λ, Z))(Z), from the two families alone.

    To about 1e-12 relative with exact learners; with others to the bar that it reports. Costs some 10 to 60 fits of the target.

    Parameters
    ----------
    parameter : float
        λ, in the domain of the source on Z.
    reach : float
        parameters are sought within ±reach in the coordinate of the target's domain (log μ for (0, ∞)).

    Raises
    ------
    InvalidProblem
        when λ is outside the source's domain.
    """
    f = source(parameter, Z)
    search = _Search(f, target, Z, reach, start=parameter)
    if math.exp(min(search.size, 700.0)) <= f.error or search.size == -math.inf:
        return search.for_zero(parameter)
    bracket = search.bracket()
    if bracket is None:
        return search.unreached(parameter)
    t = search.refined(search.root(*bracket))
    return search.judged(parameter, t)


def recovered(source: Family, target: Family) -> Equivalence:
    """The equivalence whose maps are found anew for each (λ, Z). Its maps raise InvalidProblem where there is no map."""

    def through(one: Family, other: Family, parameter: float, Z: TrainingSet) -> float:
        found = find_map(one, other, parameter, Z)
        if found.outcome is not Outcome.FOUND:
            raise InvalidProblem(f"no map from {one.name} to {other.name} at {parameter:g}: {found.reason}")
        return found.value

    return Equivalence(
        name=f"{source.name} to {target.name}, recovered",
        source=source,
        target=target,
        map=lambda lam, Z: through(source, target, lam, Z),
        inverse=lambda mu, Z: through(target, source, mu, Z),
        accuracy=1e-8,
    )


class _Search:
    """Fits of the target family along the coordinate t of its domain, compared with f."""

    def __init__(self, f: KernelFunction, target: Family, Z: TrainingSet, reach: float, start: float) -> None:
        self.f, self.target, self.Z = f, target, Z
        self.domain: Interval = target.domain(Z)
        self.reach = min(reach, 34.0) if math.isfinite(self.domain.low) and math.isfinite(self.domain.high) else reach
        self.size = f.size()
        self.own = _relative(f, self.size) + ROUNDING
        self.known: dict[float, KernelFunction] = {}
        t = self.domain.coordinate(start) if start in self.domain else 0.0
        self.start = min(max(t, -self.reach), self.reach)
        self.end = self.start

    def at(self, t: float) -> KernelFunction:
        if t not in self.known:
            self.known[t] = self.target(self.domain.at(t), self.Z)
        return self.known[t]

    def excess(self, t: float) -> float:
        """log ‖B(t)‖ − log ‖f‖."""
        return max(self.at(t).size(), -1e300) - self.size

    def noise(self, t: float) -> float:
        """|excess| that the learners' errors can make."""
        g = self.at(t)
        return self.own + _relative(g, g.size()) + ROUNDING

    def bracket(self) -> tuple[float, float] | None:
        """Two coordinates between which the norm of the target passes that of f; None (and `end`) if it never does."""
        here = self.excess(self.start)
        if here == 0.0:
            return self.start, self.start
        step = 1.0
        while step <= 2 * self.reach:
            for other in (self.start + step, self.start - step):
                t = min(max(other, -self.reach), self.reach)
                change = self.excess(t) - here
                if abs(change) > max(1e-3, 2 * self.noise(t)) or abs(change) > max(abs(here), 4 * self.noise(t)):
                    return self._walk(t if change * here < 0 else 2 * self.start - t)
            step *= 2
        self.end = self.start
        return None

    def _walk(self, toward: float) -> tuple[float, float] | None:
        behind, step = self.start, toward - self.start
        while True:
            ahead = min(max(behind + step, -self.reach), self.reach)
            if ahead == behind or (abs(step) >= 16 and abs(self.excess(ahead) - self.excess(behind)) <= 4 * EPS):
                self.end = behind
                return None
            if self.excess(ahead) * self.excess(self.start) <= 0:
                return behind, ahead
            behind, step = ahead, 2 * step

    def root(self, one: float, two: float) -> float:
        if self.excess(one) == 0.0:
            return one
        low, high = min(one, two), max(one, two)
        return float(scipy.optimize.brentq(self.excess, low, high, xtol=1e-15, rtol=4 * EPS, maxiter=200))

    def refined(self, t: float) -> float:
        """Gauss-Newton steps for the distance, as long as it falls and the norms stay equal within the errors."""
        best, distance = t, self.f.distance(self.at(t))
        for _ in range(3):
            tangent = self.tangent(best)
            length = tangent.inner(tangent)
            if length <= 0:
                break
            trial = best + (self.f - self.at(best)).inner(tangent) / length
            if not abs(trial) <= self.reach or abs(self.excess(trial)) > self.noise(trial):
                break
            if self.f.distance(self.at(trial)) >= distance:
                break
            best, distance = trial, self.f.distance(self.at(trial))
        return best

    def tangent(self, t: float) -> KernelFunction:
        """dB/dt by a central difference whose step balances curvature and the learners' errors."""
        h = min(1e-1, max(1e-5, math.sqrt(self.noise(t))))
        return (self.at(t + h) - self.at(t - h)) * (0.5 / h)

    def edge(self, t: float, direction: float) -> float:
        """The first coordinate tried from t in this direction at which the true norms must differ; ±∞ if none does within reach."""
        h = min(1e-1, max(1e-5, math.sqrt(self.noise(t))))
        slope = abs(self.excess(t + direction * h) - self.excess(t)) / h
        step = 1.5 * (abs(self.excess(t)) + self.noise(t)) / max(slope, 1e-12)
        while True:
            beyond = t + direction * step
            if abs(beyond) > self.reach:
                return direction * math.inf
            if beyond != t and abs(self.excess(beyond)) > self.noise(beyond):
                return beyond
            step *= 2

    def judged(self, parameter: float, t: float) -> FoundMap:
        """The parameter at t, where the norms agree: the map if the two functions agree too, up to their errors; no map otherwise."""
        low, high = self.edge(t, -1.0), self.edge(t, 1.0)
        g = self.at(t)
        distance, errors, norm = self.f.distance(g), self.f.error + g.error, self.f.norm()
        value = self.domain.at(t)
        ends = self._outward(low, -1), self._outward(high, 1)
        if math.isinf(low) or math.isinf(high):
            end = self.domain.low if math.isinf(low) else self.domain.high
            reason = f"from {value:.3g} towards {end:g}, {self.target.name} cannot be told from the function"
            return self._result(Outcome.OPEN_ENDED, parameter, value, ends, distance, errors, norm, reason)
        # Between the ends of the enclosure the target moves at most this far; a distance that this cannot explain is one.
        play = 2 * self.tangent(t).norm() * (high - low) + 1e3 * EPS * norm
        if distance > errors + play:
            reason = f"at equal norms the functions are {distance:.3g} apart, their errors explain {errors + play:.1g}"
            return self._result(Outcome.NO_MAP, parameter, value, ends, distance, errors, norm, reason)
        return self._result(Outcome.FOUND, parameter, value, ends, distance, errors, norm)

    def for_zero(self, parameter: float) -> FoundMap:
        """f = 0, or not told from 0: every parameter does if the target is 0 all along; none if f is 0 and the target is not."""
        probes = [self.at(self.start + s) for s in (-10.0, 0.0, 10.0)]
        worst = max(probes, key=lambda g: g.norm() - g.error)
        ends = self.domain.low, self.domain.high
        errors, norm = self.f.error + worst.error, self.f.norm()
        if worst.norm() <= worst.error:
            reason = "both functions are 0 for every parameter"
            return self._result(Outcome.EVERY, parameter, self.domain.at(self.start), ends, 0.0, errors, norm, reason)
        if self.size == -math.inf and self.f.error == 0.0:
            return self._result(Outcome.NO_MAP, parameter, math.nan, ends, worst.norm(), errors, norm, "the source is 0, the target is not")
        reason = f"the source's error {self.f.error:.2g} is as large as its norm {norm:.2g}"
        return self._result(Outcome.UNDECIDED, parameter, math.nan, ends, worst.norm(), errors, norm, reason)

    def unreached(self, parameter: float) -> FoundMap:
        """The norm of f is not reached inside the interval: only towards its end, or not at all."""
        g = self.at(self.end)
        excess, noise, at = self.excess(self.end), self.noise(self.end), self.domain.at(self.end)
        distance, errors, norm = self.f.distance(g), self.f.error + g.error, self.f.norm()
        ends = self.domain.low, self.domain.high
        if abs(excess) <= noise:
            reason = f"the norm is reached to rounding only towards the end of the interval, near {at:.3g}"
            return self._result(Outcome.OPEN_ENDED, parameter, at, ends, distance, errors, norm, reason)
        reason = f"the norm of {self.target.name} stays {'above' if excess > 0 else 'below'} {norm:.6g}; at {at:.3g} it is {g.norm():.6g}"
        return self._result(Outcome.NO_MAP, parameter, math.nan, ends, distance, errors, norm, reason)

    def _outward(self, t: float, direction: int) -> float:
        if math.isinf(t):
            return self.domain.high if t > 0 else self.domain.low
        return math.nextafter(self.domain.at(t), direction * math.inf)

    def _result(
        self,
        outcome: Outcome,
        parameter: float,
        value: float,
        ends: tuple[float, float],
        distance: float,
        errors: float,
        norm: float,
        reason: str = "",
    ) -> FoundMap:
        return FoundMap(outcome, parameter, value, ends[0], ends[1], distance, errors, norm, len(self.known), reason)


def _relative(f: KernelFunction, size: float) -> float:
    """Bound on |log ‖f*‖ − log ‖f‖| for the true f* within f.error; ∞ when 0 is possible."""
    if f.error == 0.0:
        return 0.0
    share = math.inf if size == -math.inf else f.error / math.exp(max(size, -700.0))
    return -math.log1p(-share) if share < 1 else math.inf
