"""Does a claimed equivalence hold on a training set? Definition 3.3 measured, with the learners' error radii as error bars."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simopt.arrays import Array
from simopt.equivalence import Equivalence
from simopt.family import Family, Interval
from simopt.gram_spectrum import EPS
from simopt.training import TrainingSet

ROUNDING = 64 * EPS


@dataclass(frozen=True)
class Finding:
    """One measured slack: the room left before the claim fails, enclosed in [low, high].

    Attributes
    ----------
    what : str
        "distance" (relative, H-norm), "monotone" (slope in the coordinates of the intervals), "onto" and "round trip" (error in the
        coordinate), "flat" (relative distance on a flat piece).
    low, high : float
        enclosure of the slack; distances and errors enter with a minus sign.
    at : tuple of float
        the parameters it was measured at.
    strict : bool
        whether a slack of 0 is a failure (a map that stands still is not strictly monotone).
    """

    what: str
    low: float
    high: float
    at: tuple[float, ...]
    strict: bool = False

    @property
    def refuted(self) -> bool:
        """The claim fails here, whatever the errors."""
        return self.high <= 0.0 if self.strict else self.high < 0.0

    def satisfied(self, resolution: float) -> bool:
        """The claim holds here up to the resolution, whatever the errors."""
        return self.low > 0.0 if self.strict else self.low >= -resolution


@dataclass(frozen=True)
class WeakReport:
    """What `verify_weak` found on one training set. `reason` is set, and nothing measured, where no equivalence exists (K Y = 0)."""

    equivalence: str
    samples: int
    fingerprint: str
    increasing: bool
    findings: tuple[Finding, ...]
    resolution: float
    reason: str | None = None

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Findings against the claim."""
        return tuple(finding for finding in self.findings if finding.refuted)

    @property
    def holds(self) -> bool:
        """Something was measured, and all of it is satisfied to the resolution."""
        return bool(self.findings) and all(finding.satisfied(self.resolution) for finding in self.findings)

    @property
    def undecided(self) -> tuple[Finding, ...]:
        """Neither refuted nor satisfied: the learners' errors are larger than the resolution."""
        return tuple(f for f in self.findings if not f.refuted and not f.satisfied(self.resolution))

    def worst(self, what: str) -> Finding:
        """The finding of this sort with the least slack."""
        return min((finding for finding in self.findings if finding.what == what), key=lambda finding: finding.low)


def verify_weak(
    equivalence: Equivalence, Z: TrainingSet, parameters: Iterable[float] | None = None, *, resolution: float = 1e-8
) -> WeakReport:
    """Check Definition 3.3 on one training set.

    (1) ‖A(λ)(Z) − B(Φ(λ, Z))(Z)‖ = 0, relative to the norms; (2) Φ(·, Z) strictly monotone; (3) onto: the inverse takes parameters far out
    at both ends of the target interval into the source interval, and Φ brings them back; (4) map ∘ inverse and inverse ∘ map are the
    identity; (5) on flat pieces all parameters of both sides give one function.

    Parameters
    ----------
    parameters : iterable of float, optional
        λ to measure at (on flat pieces they are left out of 2 and 4); default nine evenly spread over 1e-4 … 1e4 in the coordinate.
    resolution : float
        relative size below which a distance or error counts as 0.
    """
    mark = Z.fingerprint()
    reason = equivalence.exists(Z)
    if reason is not None:
        return WeakReport(equivalence.name, Z.n, mark, True, (), resolution, reason)
    source, target = equivalence.intervals(Z)
    chosen = np.sort(np.asarray(list(parameters) if parameters is not None else source.spread(9, reach=math.log(1e4)), dtype=float))
    pieces = equivalence.flat(Z)
    curved = np.array([lam for lam in chosen if not any(p.source[0] <= lam <= p.source[1] for p in pieces)])
    images = [float(equivalence.map(float(lam), Z)) for lam in curved]
    findings = list(_distances(equivalence, Z, chosen))
    slopes = list(_slopes(equivalence, curved, images, source, target))
    increasing = sum(slope.at[2] for slope in slopes) >= 0
    findings += [_directed(slope, increasing) for slope in slopes]
    findings += _round_trips(equivalence, Z, curved, "round trip", source)
    far = target.spread(4, reach=10.0 if math.isfinite(target.high - target.low) else math.log(1e6))
    findings += _round_trips(equivalence.inverted(), Z, np.array(images), "round trip", target)
    findings += _round_trips(equivalence.inverted(), Z, far, "onto", target)
    findings += _flat(equivalence, Z)
    return WeakReport(equivalence.name, Z.n, mark, increasing, tuple(findings), resolution)


def _distances(equivalence: Equivalence, Z: TrainingSet, parameters: Array) -> Iterator[Finding]:
    for lam in map(float, parameters):
        image = float(equivalence.map(lam, Z))
        if image not in equivalence.target.domain(Z):
            yield Finding("distance", -math.inf, -math.inf, (lam, image))
            continue
        distance, error = apart(equivalence, lam, image, Z)
        yield Finding("distance", -(distance + error), -max(0.0, distance - error), (lam, image))


def apart(equivalence: Equivalence, parameter: float, image: float, Z: TrainingSet) -> tuple[float, float]:
    """‖A(λ)(Z) − B(image)(Z)‖ relative to the larger norm, and its error: the learners' radii and the accuracy of the image."""
    f, g = equivalence.source(parameter, Z), equivalence.target(image, Z)
    unit = max(f.norm(), g.norm())
    if unit == 0.0:
        return 0.0, 0.0 if f.error + g.error == 0.0 else math.inf
    error = f.error + g.error + ROUNDING * unit
    if equivalence.accuracy > 0:
        error += sensitivity(equivalence.target, image, Z) * blur_of(equivalence, equivalence.target.domain(Z), image)
    return f.distance(g) / unit, error / unit


def sensitivity(family: Family, parameter: float, Z: TrainingSet) -> float:
    """‖dB/dt‖ at a parameter, t the coordinate of the domain: how far the function moves per unit, by one difference."""
    domain, h = family.domain(Z), 1e-3
    moved = family.fit(domain.at(domain.coordinate(parameter) + h), Z)
    here = family.fit(parameter, Z)
    return (moved.distance(here) + moved.error + here.error) / h


def blur_of(equivalence: Equivalence, interval: Interval, parameter: float) -> float:
    """Error of a parameter's coordinate: the map's accuracy and rounding."""
    return (equivalence.accuracy + 8 * EPS) * interval.rounding(parameter) / EPS


def _slopes(equivalence: Equivalence, parameters: Array, images: Sequence[float], source: Interval, target: Interval) -> Iterator[Finding]:
    for one, two, first, second in zip(parameters[:-1], parameters[1:], images[:-1], images[1:], strict=True):
        if first not in target or second not in target:
            yield Finding("monotone", -math.inf, -math.inf, (float(one), float(two), 0.0), strict=True)
            continue
        run = source.coordinate(float(two)) - source.coordinate(float(one))
        blur = blur_of(equivalence, target, first) + blur_of(equivalence, target, second)
        slope = (target.coordinate(second) - target.coordinate(first)) / run
        yield Finding("monotone", slope - blur / run, slope + blur / run, (float(one), float(two), slope), strict=True)


def _directed(slope: Finding, increasing: bool) -> Finding:
    if increasing or math.isinf(slope.low):
        return slope
    return Finding(slope.what, -slope.high, -slope.low, slope.at, strict=True)


def _round_trips(equivalence: Equivalence, Z: TrainingSet, parameters: Array, what: str, interval: Interval) -> list[Finding]:
    """There and back: |t(Φ⁻¹(Φ(λ))) − t(λ)| against what the accuracy of both maps makes of it."""
    source, target = equivalence.intervals(Z)
    findings = []
    for lam in map(float, parameters):
        image = float(equivalence.map(lam, Z)) if lam in source else math.nan
        back = float(equivalence.inverse(image, Z)) if image in target else math.nan
        if back not in source:
            findings.append(Finding(what, -math.inf, -math.inf, (lam, image, back)))
            continue
        error = abs(interval.coordinate(back) - interval.coordinate(lam))
        step = blur_of(equivalence, target, image)
        nudged = target.at(target.coordinate(image) + max(step, 1e-6))
        slope = abs(interval.coordinate(float(equivalence.inverse(nudged, Z))) - interval.coordinate(back)) / max(step, 1e-6)
        blur = 2 * blur_of(equivalence, source, lam) + 4 * step * slope
        findings.append(Finding(what, -(error + blur), -max(0.0, error - blur), (lam, image, back)))
    return findings


def _flat(equivalence: Equivalence, Z: TrainingSet) -> Iterator[Finding]:
    for piece in equivalence.flat(Z):
        first = equivalence.source(piece.source[0], Z)
        sides = ((equivalence.source, piece.source), (equivalence.target, piece.target))
        for family, (low, high) in sides:
            for share in (0.0, 0.5, 1.0):
                at = low + share * (high - low)
                other = family(at, Z)
                unit = max(first.norm(), other.norm(), np.finfo(float).tiny)
                distance, error = first.distance(other) / unit, (first.error + other.error) / unit + ROUNDING
                yield Finding("flat", -(distance + error), -max(0.0, distance - error), (piece.source[0], at))
