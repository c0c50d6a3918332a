"""Does a claimed equivalence hold on a training set? Definition 3.3 measured, with the learners' error radii as error bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.equivalence.equivalence import Answer, Equivalence, Map
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet

ROUNDING = 64 * EPS
RESOLUTION = 1e-8
TINY = 1e-290  # functions of a smaller norm have lost digits to underflow


@dataclass(frozen=True)
class Finding:
    """One measured slack, enclosed in [low, high].

    Attributes
    ----------
    what : str
        "distance" (relative, H-norm), "monotone" (slope in the coordinates of the intervals), "one-to-one" (distance of two images in the
        coordinate, where no monotone map is claimed). Or "onto", "round trip" (error in the coordinate), "flat" (distance on a flat piece).
    low, high : float
        enclosure of the slack; distances and errors enter with a minus sign.
    at : tuple of float
        the parameters it was measured at.
    strict : bool
        whether a slack of 0 is a failure (a map that stands still is not strictly monotone).
    note : str
        why nothing could be measured, where that is so.
    """

    what: str
    low: float
    high: float
    at: tuple[float, ...]
    strict: bool = False
    note: str = ""

    def __str__(self) -> str:
        where = ", ".join(f"{x:.6g}" for x in self.at)
        return f"{self.what} at ({where}): {self.note or f'slack in [{self.low:.3g}, {self.high:.3g}]'}"

    @property
    def refuted(self) -> bool:
        """The claim fails here, whatever the errors."""
        return self.high <= 0.0 if self.strict else self.high < 0.0

    def satisfied(self, resolution: float) -> bool:
        """The claim holds here up to the resolution, whatever the errors."""
        return self.low > 0.0 if self.strict else self.low >= -resolution


@dataclass(frozen=True)
class WeakReport:
    """The result of `verify_weak` on one training set. `missing` says why nothing was measured where no equivalence exists (K Y = 0).

    `increasing` is the direction of Φ, where it is claimed to be monotone. A finding that the errors cannot explain is a failure however
    small it is; the resolution is only what "holds" is said up to.
    """

    equivalence: str
    samples: int
    fingerprint: str
    increasing: bool
    findings: tuple[Finding, ...]
    resolution: float
    missing: str | None = None

    @property
    def answer(self) -> Answer:
        """FAILS with a refuted finding; HOLDS where a distance was measured and all is satisfied to the resolution; else UNDECIDED."""
        if self.refuted:
            return Answer.FAILS
        measured = any(finding.what == "distance" for finding in self.findings)
        return Answer.HOLDS if measured and not self.undecided else Answer.UNDECIDED

    @property
    def reason(self) -> str | None:
        """The witness of a failure, or why it is undecided; None where it holds."""
        if self.missing is not None or self.answer is Answer.HOLDS:
            return self.missing
        if self.witness is not None:
            return f"{self.witness}, against the claim whatever the errors"
        if not self.undecided:
            return "no parameter was measured"
        return f"{min(self.undecided, key=lambda f: f.low)}; the errors hide what the resolution {self.resolution:g} asks for"

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Findings against the claim."""
        return tuple(finding for finding in self.findings if finding.refuted)

    @property
    def witness(self) -> Finding | None:
        """The clearest finding against the claim."""
        return min(self.refuted, key=lambda finding: finding.high, default=None)

    @property
    def holds(self) -> bool:
        """Whether the answer is HOLDS."""
        return self.answer is Answer.HOLDS

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """Neither refuted nor satisfied: the learners' errors are larger than the resolution."""
        return tuple(f for f in self.findings if not f.refuted and not f.satisfied(self.resolution))

    def worst(self, what: str) -> Finding:
        """The finding of this sort with the least slack."""
        return min((finding for finding in self.findings if finding.what == what), key=lambda finding: finding.low)


class NoImage(Exception):
    """A map gives no parameter at a point: it has none there (`decided`), or none that could be computed."""

    def __init__(self, note: str, decided: bool) -> None:
        super().__init__(note)
        self.decided = decided

    def finding(self, what: str, at: tuple[float, ...], strict: bool = False) -> Finding:
        """Against the claim if decided, else one that says nothing."""
        return Finding(what, -math.inf, -math.inf if self.decided else math.inf, at, strict, str(self))


def verify_weak(
    equivalence: Equivalence, Z: TrainingSet, parameters: Iterable[float] | None = None, *, resolution: float = RESOLUTION
) -> WeakReport:
    """Check Definition 3.3 on one training set, at the parameters given: it holds to the resolution, fails with a witness, or is undecided.

    1. ‖A(λ)(Z) − B(Φ(λ, Z))(Z)‖ = 0, relative to the norms.
    2. Φ(·, Z) is strictly monotone, or one-to-one where no more is claimed.
    3. Onto: the inverse takes parameters far out at both ends of the target interval into the source interval, and Φ brings them back.
    4. map ∘ inverse and inverse ∘ map are the identity.
    5. On flat pieces all parameters of both sides give one function.

    Parameters
    ----------
    parameters : iterable of float, optional
        λ to measure at (on flat pieces they are left out of 2 and 4); default nine evenly spread over 1e-4 … 1e4 in the coordinate.
    resolution : float
        relative size below which a distance or error counts as 0, once the errors are added to it. A distance that is larger than the
        errors is a failure also below it.

    Raises
    ------
    InvalidProblem
        for parameters outside the source interval, where nothing is claimed, and a resolution that is not between 0 and 1.
    """
    resolution = check_resolution(resolution)
    mark = Z.fingerprint()
    missing = equivalence.exists(Z)
    if missing is not None:
        return WeakReport(equivalence.name, Z.n, mark, True, (), resolution, missing)
    source, target = equivalence.intervals(Z)
    given: Any = source.spaced(9, reach=math.log(1e4)) if parameters is None else parameters
    listed = list(given) if isinstance(given, Iterable) and not hasattr(given, "__array__") else given
    chosen = np.unique(validate.vector("parameters", listed, minimum=0))
    for lam in chosen:
        if lam not in source:
            raise InvalidProblem(f"parameters: {equivalence.name} claims nothing at {lam:g}, outside {source}")
    pieces = equivalence.flat(Z)
    curved = [float(lam) for lam in chosen if not any(p.source[0] <= lam <= p.source[1] for p in pieces)]
    findings = list(_distances(equivalence, Z, chosen))
    steps = list(_slopes(equivalence, Z, curved) if equivalence.monotone else _separations(equivalence, Z, curved))
    increasing = not equivalence.monotone or sum(step.at[2] for step in steps) >= 0
    findings += [_directed(step, increasing) for step in steps]
    findings += _round_trips(equivalence, Z, curved, "round trip")
    back = equivalence.inverted()
    findings += _round_trips(back, Z, list(_reached(equivalence, Z, curved)), "round trip")
    far = target.spaced(4, reach=10.0 if math.isfinite(target.high - target.low) else math.log(1e6))
    inverted = [float(mu) for mu in far if not any(p.target[0] <= mu <= p.target[1] for p in pieces)]
    findings += _round_trips(back, Z, inverted, "onto")
    findings += _flat(equivalence, Z)
    return WeakReport(equivalence.name, Z.n, mark, increasing, tuple(findings), resolution)


def check_resolution(resolution: float) -> float:
    """Refuse what every pair of functions would meet, or none.

    Raises
    ------
    InvalidProblem
        unless 0 < resolution < 1.
    """
    found = validate.finite("resolution", resolution, needed="a positive number below 1 needed")
    if not 0.0 < found < 1.0:
        raise InvalidProblem(
            f"resolution: must be a positive number below 1 (any two functions are within 2 of each other), got {resolution!r}"
        )
    return found


def mapped(call: Map, parameter: float, Z: TrainingSet, into: Interval, accuracy: float) -> float:
    """Φ(λ, Z) in the interval.

    Raises
    ------
    NoImage
        where there is none: decided by an InvalidProblem that is no ArithmeticError, and by a value outside the interval. Another
        ArithmeticError or ValueError does not decide it. Nor do nan and values that cannot be told from an end of the interval, as after
        overflow and underflow. Errors of other kinds are passed on as they are.
    """
    try:
        image = float(call(parameter, Z))
    except (ArithmeticError, ValueError) as error:
        raise NoImage(str(error), decided=isinstance(error, InvalidProblem) and not isinstance(error, ArithmeticError)) from error
    if image in into:
        return image
    blurred = any(image == end or abs(image - end) <= (accuracy + 8 * EPS) * abs(image) for end in (into.low, into.high))
    raise NoImage(f"Φ = {image:g} does not lie in {into}", decided=not (blurred or math.isnan(image)))


def _reached(equivalence: Equivalence, Z: TrainingSet, parameters: Sequence[float]) -> Iterator[float]:
    """The images in the target interval; those that are missing are findings of other sorts."""
    for lam in parameters:
        try:
            yield mapped(equivalence.map, lam, Z, equivalence.intervals(Z)[1], equivalence.accuracy)
        except NoImage:
            continue


def _distances(equivalence: Equivalence, Z: TrainingSet, parameters: Array) -> Iterator[Finding]:
    for lam in map(float, parameters):
        try:
            image = mapped(equivalence.map, lam, Z, equivalence.target.domain(Z), equivalence.accuracy)
            distance, error = apart(equivalence, lam, image, Z)
        except NoImage as none:
            yield none.finding("distance", (lam,))
        else:
            yield Finding("distance", *slack(distance, error), (lam, image))


def slack(distance: float, error: float) -> tuple[float, float]:
    """[−(distance + error), −max(0, distance − error)], an enclosure of minus the true distance."""
    return (-(distance + error), -max(0.0, distance - error)) if math.isfinite(error) else (-math.inf, 0.0)


def apart(equivalence: Equivalence, parameter: float, image: float, Z: TrainingSet) -> tuple[float, float]:
    """‖A(λ)(Z) − B(image)(Z)‖ relative to the larger norm, and its error: the learners' radii and the accuracy of the image.

    Raises
    ------
    NoImage
        (not decided) when computing a function raises an ArithmeticError or InvalidProblem. Other errors are passed on as they are.
    """
    try:
        f, g = equivalence.source(parameter, Z), equivalence.target(image, Z)
        blur = 0.0
        if equivalence.accuracy > 0:
            blur = sensitivity(equivalence.target, image, Z) * blur_of(equivalence, equivalence.target.domain(Z), image)
    except (ArithmeticError, InvalidProblem) as error:  # as for a function whose coefficients overflow
        raise NoImage(str(error), decided=False) from error
    return relative_distance(f, g, blur)


def relative_distance(f: KernelFunction, g: KernelFunction, blur: float = 0.0) -> tuple[float, float]:
    """‖f − g‖ over the larger norm, and its error from both radii, rounding and `blur`, a further radius; ∞ where floats underflow."""
    unit = max(f.norm(), g.norm())
    error = f.error + g.error + blur
    if unit == 0.0 and f.size() == g.size() == -math.inf:
        return 0.0, 0.0 if error == 0.0 else math.inf
    if unit < TINY or not math.isfinite(unit):
        return 0.0, math.inf
    return f.distance(g) / unit, error / unit + ROUNDING


def sensitivity(family: Family, parameter: float, Z: TrainingSet) -> float:
    """‖dB/dt‖ at a parameter, t the coordinate of the domain: how far the function moves per unit, by one difference."""
    domain, h = family.domain(Z), 1e-3
    moved = family.fit(domain.at(domain.coordinate(parameter) + h), Z)
    here = family.fit(parameter, Z)
    return (moved.distance(here) + moved.error + here.error) / h


def blur_of(equivalence: Equivalence, interval: Interval, parameter: float) -> float:
    """Error of a parameter's coordinate: the map's accuracy and rounding."""
    return (equivalence.accuracy + 8 * EPS) * interval.rounding(parameter) / EPS


def _slopes(equivalence: Equivalence, Z: TrainingSet, parameters: Sequence[float]) -> Iterator[Finding]:
    source, target = equivalence.intervals(Z)
    for one, two in pairwise(parameters):
        try:
            first, second = (mapped(equivalence.map, lam, Z, target, equivalence.accuracy) for lam in (one, two))
        except NoImage as none:
            yield none.finding("monotone", (one, two, 0.0), strict=True)
            continue
        run = source.coordinate(two) - source.coordinate(one)
        blur = blur_of(equivalence, target, first) + blur_of(equivalence, target, second)
        slope = (target.coordinate(second) - target.coordinate(first)) / run
        yield Finding("monotone", slope - blur / run, slope + blur / run, (one, two, slope), strict=True)


def _separations(equivalence: Equivalence, Z: TrainingSet, parameters: Sequence[float]) -> Iterator[Finding]:
    """Neighbouring images of a map that need not be monotone: one-to-one asks that no two agree."""
    target = equivalence.intervals(Z)[1]
    images = sorted(_reached(equivalence, Z, parameters))
    for first, second in pairwise(images):
        blur = blur_of(equivalence, target, first) + blur_of(equivalence, target, second)
        between = target.coordinate(second) - target.coordinate(first)
        yield Finding("one-to-one", between - blur, between + blur, (first, second, between), strict=True)


def _directed(slope: Finding, increasing: bool) -> Finding:
    if increasing or math.isinf(slope.low):
        return slope
    return Finding(slope.what, -slope.high, -slope.low, slope.at, strict=True)


def _round_trips(equivalence: Equivalence, Z: TrainingSet, parameters: Sequence[float], what: str) -> Iterator[Finding]:
    """There and back: |t(Φ⁻¹(Φ(λ))) − t(λ)| against what the accuracy of both maps makes of it."""
    source, target = equivalence.intervals(Z)
    for lam in parameters:
        try:
            image = mapped(equivalence.map, lam, Z, target, equivalence.accuracy)
            back = mapped(equivalence.inverse, image, Z, source, equivalence.accuracy)
            step = blur_of(equivalence, target, image)
            nudged = mapped(equivalence.inverse, target.at(target.coordinate(image) + max(step, 1e-6)), Z, source, equivalence.accuracy)
        except NoImage as none:
            yield none.finding(what, (lam,))
            continue
        error = abs(source.coordinate(back) - source.coordinate(lam))
        slope = abs(source.coordinate(nudged) - source.coordinate(back)) / max(step, 1e-6)
        blur = 2 * blur_of(equivalence, source, lam) + 4 * step * slope
        yield Finding(what, *slack(error, blur), (lam, image, back))


def _flat(equivalence: Equivalence, Z: TrainingSet) -> Iterator[Finding]:
    for piece in equivalence.flat(Z):
        first = equivalence.source(piece.source[0], Z)
        sides = ((equivalence.source, piece.source), (equivalence.target, piece.target))
        for family, (low, high) in sides:
            for share in (0.0, 0.5, 1.0):
                at = low + share * (high - low)
                yield Finding("flat", *slack(*relative_distance(first, family(at, Z))), (piece.source[0], at))
