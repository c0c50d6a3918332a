r"""Recovers the map Φ between two families from nothing but how to fit them, with an error bar.

Norms along the path of a regularised family are monotone. For L + μ Ω the optimality of f_μ and f_ν, μ < ν, gives Ω(f_ν) ≤ Ω(f_μ); for a
ball of growing radius the norm grows. So Φ(λ) is sought where ‖B(μ)(Z)‖ passes ‖A(λ)(Z)‖, moved by Gauss-Newton steps to where
‖A(λ)(Z) − B(μ)(Z)‖ is least.

The ground of each answer:

* found: the distance at the value and both radii, together at most the resolution. No assumption.
* the enclosure of Φ, and that there is no map: that μ ↦ ‖B(μ)(Z)‖ is monotone. The true functions satisfy ‖A*‖ = ‖B*(Φ)‖, so no μ can be Φ
  at which the computed norms differ by more than both errors, nor any μ beyond it. Inside, between neighbouring fits, B is taken to move no
  farther than the two are apart. A fit that contradicts monotone norms is reported, and then nothing is excluded.
* paths need not be continuous: where the norm jumps over ‖A(λ)(Z)‖ between neighbouring floats, by more than `JUMP`, there is no map.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from simopt.core import validate
from simopt.core.errors import InvalidProblem, NotFinite
from simopt.equivalence.equivalence import Answer, Equivalence
from simopt.equivalence.family import Family
from simopt.equivalence.path_search import JUMP, REACH, PathSearch
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import RESOLUTION, check_resolution, relative_distance


class MapOutcome(Enum):
    """The result of `find_map`.

    FOUND: a parameter with an error bar. EVERY: both functions are 0, and every parameter gives them. OPEN_ENDED: the function is at an end
    of the target's interval, perhaps in the limit only. NO_MAP: no parameter gives it. UNDECIDED: the errors, the reach and the floats
    support none of these.
    """

    FOUND = "found"
    EVERY = "every parameter gives the same function"
    OPEN_ENDED = "the error bar reaches an end of the target's interval"
    NO_MAP = "no map"
    UNDECIDED = "undecided"

    @property
    def answer(self) -> Answer:
        """HOLDS for FOUND and EVERY, FAILS for NO_MAP, else UNDECIDED."""
        return {MapOutcome.FOUND: Answer.HOLDS, MapOutcome.EVERY: Answer.HOLDS, MapOutcome.NO_MAP: Answer.FAILS}.get(self, Answer.UNDECIDED)


class NotDecided(InvalidProblem, ArithmeticError):
    """A map was asked for where `find_map` could neither find nor exclude one."""


@dataclass(frozen=True)
class MapValue:
    """Φ(λ, Z) ∈ [low, high], or why there is none, or why that is not known.

    Attributes
    ----------
    outcome : Outcome
    parameter, value : float
        λ, and the estimate of Φ(λ, Z); without a map, where the functions come nearest at equal norms; nan where norms are never equal.
    low, high : float
        enclosure of every parameter that could be Φ(λ, Z), given the learners' radii and monotone norms.
    distance, errors, norm : float
        ‖A(λ)(Z) − B(value)(Z)‖_H, the sum of the two error radii, and ‖A(λ)(Z)‖_H; nan, ∞ and nan where a fit failed.
    fits : int
        number of times the target family was fitted.
    reason : str
        one sentence when the outcome is not FOUND, and when it is and fits contradict the assumption behind the enclosure.
    """

    outcome: MapOutcome
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
    def answer(self) -> Answer:
        """The outcome as one of the three answers."""
        return self.outcome.answer

    @property
    def bar(self) -> float:
        """Largest possible |value − Φ|."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def relative_bar(self) -> float:
        """bar / |value|."""
        return self.bar / abs(self.value)


def find_map(
    source: Family, target: Family, parameter: float, Z: TrainingSet, *, reach: float = REACH, resolution: float = RESOLUTION
) -> MapValue:
    """Φ(λ, Z) with A(λ)(Z) = B(Φ(λ, Z))(Z), from the two families alone.

    To about 1e-12 relative with exact learners; with others to the bar that it reports. Costs some 10 to 60 fits of the target, and some
    hundreds at most before it says that there is none. The head of this module says which assumption each answer rests on.

    Parameters
    ----------
    parameter : float
        λ, in the domain of the source on Z.
    reach : float
        parameters are sought within ±reach in the coordinate of the target's domain (log μ for (0, ∞)).
    resolution : float
        FOUND needs distance and radii together within this share of the norm; a distance that the radii cannot explain is none also below.

    Raises
    ------
    InvalidProblem
        when λ is outside the source's domain, `reach` not positive, or `resolution` not between 0 and 1.
    """
    resolution = check_resolution(resolution)
    reach, parameter = validate.positive("reach", reach), validate.finite("parameter", parameter)
    try:
        return _Outcomes(PathSearch(source(parameter, Z), target, Z, reach, start=parameter), parameter, resolution).decided()
    except (ArithmeticError, NotFinite) as error:
        domain = target.domain(Z)
        reason = f"a function could not be computed: {error}"
        return MapValue(MapOutcome.UNDECIDED, parameter, math.nan, domain.low, domain.high, math.nan, math.inf, math.nan, 0, reason)


def recovered(source: Family, target: Family, *, resolution: float = RESOLUTION) -> Equivalence:
    """The equivalence whose maps are found anew for each (λ, Z).

    Its maps raise InvalidProblem where there is no map, and NotDecided (an InvalidProblem and ArithmeticError) where that is not known.
    """

    def through(one: Family, other: Family, parameter: float, Z: TrainingSet) -> float:
        """The parameter of `other` that belongs to one of `one` on Z."""
        decided = find_map(one, other, parameter, Z, resolution=resolution)
        if decided.outcome is MapOutcome.FOUND:
            return decided.value
        between = f"from {one.name} to {other.name} at {parameter:g}: {decided.reason}"
        if decided.answer is Answer.FAILS:
            raise InvalidProblem(f"no map {between}")
        raise NotDecided(f"no map is known {between}")

    return Equivalence(
        name=f"{source.name} to {target.name}, recovered",
        source=source,
        target=target,
        map=lambda lam, Z: through(source, target, lam, Z),
        inverse=lambda mu, Z: through(target, source, mu, Z),
        accuracy=1e-8,
    )


@dataclass
class _Outcomes:
    """Turns what a search sees into one of the outcomes."""

    search: PathSearch
    parameter: float
    resolution: float

    def decided(self) -> MapValue:
        """The first g with ‖g‖ = ‖f‖ that is f; without one, what is undecided, else why there is none."""
        search, f = self.search, self.search.f
        if f.error > 0 and f.norm() <= f.error:
            reason = f"the source's error {f.error:.2g} is as large as its norm {f.norm():.2g}"
            return self.result(MapOutcome.UNDECIDED, math.nan, -math.inf, math.inf, reason)
        undecided, excluded = None, None
        for bracket in search.brackets():
            here = self.at(search.refined(search.root(*bracket)))
            if here.answer is Answer.HOLDS and search.vanishes():
                return self.result(MapOutcome.EVERY, search.start, -math.inf, math.inf, "both functions are 0 for every parameter")
            if here.outcome in (MapOutcome.FOUND, MapOutcome.OPEN_ENDED):
                return here
            undecided, excluded = (undecided, here) if here.answer is Answer.FAILS else (here, excluded)
        return undecided or self.none(excluded)

    def at(self, t: float) -> MapValue:
        """The coordinate t, where the norms agree or the norm of the target jumps past that of f."""
        search, low, high = self.search, *self.search.enclosure(t)
        g, name = search.at(t), search.target.name
        distance, error = relative_distance(search.f, g)
        if self.excluded(low, high):
            return self.result(MapOutcome.NO_MAP, t, low, high, self.apart(t, low, high))
        if not distance + error <= self.resolution:
            reason = (
                f"near {search.parameter(t):.6g} the functions are {distance:.3g} of their norm apart, their errors explain {error:.2g}, "
            )
            return self.result(MapOutcome.UNDECIDED, t, low, high, f"{reason}the resolution is {self.resolution:g}")
        if not search.monotone():
            reason = f"the norm of {name} {search.course}, so that no other parameter is excluded"
            return self.result(MapOutcome.FOUND, t, -math.inf, math.inf, reason)
        if math.isinf(low) or math.isinf(high):
            end = search.domain.low if math.isinf(low) else search.domain.high
            reason = f"from {search.parameter(t):.3g} towards {end:g}, {name} cannot be told from the function"
            # The function may be there in the limit only, which floats do not tell from being there; unless it is 0 at both parameters.
            zero = search.f.error + g.error == 0.0 and search.f.size() == g.size() == -math.inf
            return self.result(MapOutcome.FOUND if zero else MapOutcome.OPEN_ENDED, t, low, high, reason)
        return self.result(MapOutcome.FOUND, t, low, high)

    def excluded(self, low: float, high: float) -> bool:
        """Whether no parameter with coordinate in [low, high] has the function f; not, where that cannot be computed."""
        try:
            return self.search.excluded(max(low, self.search.low), min(high, self.search.high))
        except ArithmeticError:
            return False

    def apart(self, t: float, low: float, high: float) -> str:
        """Why there is no map at t: a jump of the norm past ‖f‖, or ‖f − g‖ > 0 at ‖f‖ = ‖g‖."""
        search = self.search
        jump = [search.at(s).norm() for s in (low, high) if math.isfinite(s)]
        distance, errors = search.f.distance(search.at(t)), search.f.error + search.at(t).error
        if search.differs(t) and len(jump) == 2 and abs(jump[0] - jump[1]) > JUMP * max(jump):
            way = f"the norm of {search.target.name} jumps from {jump[0]:.6g} to {jump[1]:.6g}, past {search.f.norm():.6g}"
            return f"at {search.parameter(t):.6g} {way}, and the functions are {distance:.3g} apart"
        return f"at equal norms the functions are {distance:.3g} apart, their errors explain {errors:.1g}"

    def none(self, nearest: MapValue | None) -> MapValue:
        """No parameter within reach: no map, unless the norms are not monotone or what lies beyond is not known."""
        search, name = self.search, self.search.target.name
        end = search.towards()
        stays = f"the norm of {name} stays {'above' if search.excess(end) > 0 else 'below'} {search.f.norm():.6g}"
        reason = nearest.reason if nearest else f"{stays}; at the end of the reach it is {search.at(end).norm():.6g}"
        outcome = MapOutcome.UNDECIDED
        if not search.monotone():
            reason += f"; but the norm of {name} {search.course}, and may pass it where nothing was fitted"
        elif not search.closed():
            reason += "; but the path has not come to rest there, and the parameter may lie beyond"
        else:
            outcome = MapOutcome.NO_MAP
        if nearest is not None and outcome is MapOutcome.NO_MAP:
            return nearest
        t = search.domain.coordinate(nearest.value) if nearest is not None else math.nan
        return self.result(outcome, t, -math.inf, math.inf, reason)

    def result(self, outcome: MapOutcome, t: float, low: float, high: float, reason: str = "") -> MapValue:
        """The outcome with ‖f − g‖ for g at t, or at the end of the reach nearer to ‖f‖ where t is nan; low and high rounded outward."""
        search, norm = self.search, self.search.f.norm()
        ends = search.outward(low, -1), search.outward(high, 1)
        g = search.at(t) if not math.isnan(t) else search.at(search.towards())
        value = search.parameter(t) if not math.isnan(t) else math.nan
        distance, errors = search.f.distance(g), search.f.error + g.error
        return MapValue(outcome, self.parameter, value, *ends, distance, errors, norm, len(search.known), reason)
