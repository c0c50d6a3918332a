r"""Φ(·, Z) as an object: measured at a grid of parameters, called between them, composed, inverted, saved, and verified again.

Φ is known as a chain of boxes through which its graph passes. `find_map` gives at λ an enclosure [low, high] of Φ(λ), the box
[λ, λ] × [low, high]. A bijection of intervals that is continuous is monotone; if Φ increases, then for every λ

    max {low of boxes not to the right of λ} ≤ Φ(λ) ≤ min {high of boxes not to the left of λ},

and with low and high exchanged if it decreases. Boxes read backwards are those of Φ⁻¹. The boxes of Ψ∘Φ are those of Φ with the enclosure
of Ψ over their images. So the enclosure between parameters that were measured, of an inverse and of a composition is that of a formula, and
needs no assumption but that Φ is monotone. The value between them is interpolated in the coordinates of both domains.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from simopt.core import archive, validate
from simopt.core.errors import Interrupted, InvalidFile, InvalidProblem
from simopt.core.monotone_function import MonotoneFunction
from simopt.equivalence.decide import Progress, listed, remembering
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import Family, Interval
from simopt.equivalence.map_search import MapOutcome, MapValue, find_map
from simopt.equivalence.training import TrainingSet
from simopt.equivalence.weak import RESOLUTION, ROUNDING, check_resolution, relative_distance

FORMAT = "simopt parameter map 1"
WHAT = "a parameter map"
FLAT = "the map stands still there, and has no inverse; `enclosure` has them"
SAME = 1e-12  # images that are no farther apart are one
LARGEST = float(np.finfo(np.float64).max)  # stands for an end of the domain that is infinite: files have finite numbers


@dataclass(frozen=True)
class Box:
    """The graph of Φ passes through [low, high] × [below, above], near (parameter, value).

    `distance` and `errors`, relative to the norm, are the distance of the two functions at (parameter, value) and what their radii explain
    of it. They are None of a composition, whose value is interpolated.
    """

    parameter: float
    low: float
    high: float
    value: float
    below: float
    above: float
    distance: float | None
    errors: float | None

    def turned(self) -> Box:
        """The box of Φ⁻¹."""
        return replace(self, parameter=self.value, low=self.below, high=self.above, value=self.parameter, below=self.low, above=self.high)


@dataclass(frozen=True)
class Missing:
    """A parameter without an image: it has none (`decided`), or none is known; and why."""

    parameter: float
    decided: bool
    reason: str


@dataclass(frozen=True)
class Side:
    """A family as a file knows it: its name, the name and options that it is registered under (if it is), and its domain on Z."""

    family: str
    registered: str | None
    options: Mapping[str, Any]
    low: float | None
    high: float | None

    @classmethod
    def of(cls, family: Family, Z: TrainingSet) -> Side:
        """The description of a family."""
        name, options = family.origin or (None, {})
        domain = family.domain(Z)
        ends = (x if math.isfinite(x) else None for x in (domain.low, domain.high))
        return cls(family.name, name, dict(options), *ends)

    @property
    def domain(self) -> Interval:
        """The interval of parameters."""
        return Interval(-math.inf if self.low is None else self.low, math.inf if self.high is None else self.high)

    def build(self) -> Family:
        """The family anew.

        Raises
        ------
        InvalidProblem
            for one that is not registered.
        UnknownName
            for a name that nothing is registered under here.
        """
        if self.registered is None:
            raise InvalidProblem(f"family: {self.family} is not registered; hand it over")
        from simopt.core import registry

        try:
            found: Family = registry.get("family", self.registered).build(**self.options)
        except TypeError as error:
            raise InvalidProblem(f"family: {self.registered} cannot be made of the options {dict(self.options)} ({error})") from error
        if found.name != self.family:
            raise InvalidProblem(f"family: {self.registered} with the options {dict(self.options)} is {found.name}, not {self.family}")
        return found


@dataclass(frozen=True, eq=False)
class ParameterMap:
    """Φ(·, Z) between two families on one training set, as far as it was measured.

    Attributes
    ----------
    source, target : Side
    samples, fingerprint : int, str
        size and hash of the training set.
    resolution : float
        relative distance up to which two functions counted as one.
    increasing : bool or None
        None where the boxes rise and fall, or are too few to tell; then nothing is said between them.
    boxes : tuple of Box
        by parameter.
    missing : tuple of Missing
    through : tuple of Side
        the families in the middle of a composition.
    """

    source: Side
    target: Side
    samples: int
    fingerprint: str
    resolution: float
    increasing: bool | None
    boxes: tuple[Box, ...]
    missing: tuple[Missing, ...] = ()
    through: tuple[Side, ...] = ()

    def __call__(self, parameter: float) -> float:
        """Φ(λ): as measured, and between measured parameters interpolated in the coordinates; `enclosure` holds the true one.

        Raises
        ------
        InvalidProblem
            beyond the measured parameters, where the map that was inverted stands still, and between two where Φ is not monotone or has
            no image.
        """
        lam = self._inside(parameter)
        at = [box.value for box in self.boxes if math.isclose(box.parameter, lam, rel_tol=SAME)]
        if len(at) > 1:
            raise InvalidProblem(f"parameter: {lam:g} is the image of all from {min(at):g} to {max(at):g}; {FLAT}")
        for box in self.boxes:
            if box.parameter == lam:
                return box.value
        ours, theirs = self.source.domain, self.target.domain
        sign = 1.0 if self.increasing else -1.0
        nodes: dict[float, float] = {}
        for box in self.boxes:  # of several images of one parameter any lies within the enclosure, whose ends the value is held to
            nodes.setdefault(ours.coordinate(box.parameter), sign * theirs.coordinate(box.value))
        path = MonotoneFunction(np.array(list(nodes)), np.maximum.accumulate(list(nodes.values())), "refuse")
        low, high = self.enclosure(lam)
        return min(max(theirs.at(sign * float(path(ours.coordinate(lam)))), low), high)

    def enclosure(self, parameter: float) -> tuple[float, float]:
        """(low, high) with low ≤ Φ(λ) ≤ high if Φ is monotone. Raises as a call does."""
        lam = self._inside(parameter)
        before, after = [box for box in self.boxes if box.high <= lam], [box for box in self.boxes if box.low >= lam]
        if self.increasing is None:
            before = after = [box for box in self.boxes if box.parameter == lam]
        domain = self.target.domain
        lower, upper = (after, before) if self.increasing is False else (before, after)
        return max((box.below for box in lower), default=domain.low), min((box.above for box in upper), default=domain.high)

    def inverted(self) -> ParameterMap:
        """Φ⁻¹."""
        boxes = tuple(sorted((box.turned() for box in self.boxes), key=lambda box: box.parameter))
        through = tuple(reversed(self.through))
        return replace(self, source=self.target, target=self.source, boxes=boxes, missing=(), through=through)

    def then(self, other: ParameterMap) -> ParameterMap:
        """Ψ∘Φ for Φ: A → B and Ψ: B → C on the same training set, at those λ whose images lie where Ψ was measured.

        Raises
        ------
        InvalidProblem
            when the families in the middle, or the training sets, are not the same, or no parameter survives.
        """
        if self.target != other.source:
            raise InvalidProblem(f"composition: {self.name} ends in {self.target.family}, {other.name} begins in {other.source.family}")
        if self.fingerprint != other.fingerprint:
            raise InvalidProblem(f"composition: the maps are of the training sets {self.fingerprint} and {other.fingerprint}")
        boxes, missing = [], list(self.missing)
        for box in self.boxes:
            first, last = other.boxes[0].parameter, other.boxes[-1].parameter
            if not first <= box.value <= last:
                missing.append(
                    Missing(box.parameter, False, f"its image {box.value:.6g} lies beyond those that {other.name} was measured at")
                )
                continue
            ends = [
                other.enclosure(x) if first <= x <= last else (other.target.domain.low, other.target.domain.high)
                for x in (box.below, box.above)
            ]
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            try:
                boxes.append(replace(box, value=other(box.value), below=low, above=high, distance=None, errors=None))
            except InvalidProblem as error:  # where the other stands still, or was not measured between its parameters
                missing.append(Missing(box.parameter, False, f"{other.name}: {error}"))
        if not boxes:
            raise InvalidProblem(f"composition: no image of {self.name} lies where {other.name} was measured")
        return ParameterMap(
            self.source,
            other.target,
            self.samples,
            self.fingerprint,
            max(self.resolution, other.resolution),
            None if None in (self.increasing, other.increasing) else self.increasing == other.increasing,
            tuple(boxes),
            tuple(missing),
            (*self.through, self.target, *other.through),
        )

    @property
    def name(self) -> str:
        """A → B."""
        return " → ".join(side.family for side in (self.source, *self.through, self.target))

    @property
    def images(self) -> tuple[float, ...]:
        """The grid on the side of the target, by the parameters of the source."""
        return tuple(box.value for box in self.boxes)

    def __str__(self) -> str:
        """A table, one line a parameter."""
        head = f"{self.name} on {self.samples} samples ({self.fingerprint}), to {self.resolution:g}"
        rows = []
        for box in self.boxes:
            apart = "" if box.distance is None else f"  {box.distance:.1e} ± {box.errors:.1e} apart"
            rows.append((box.parameter, f"{box.value:.6g} in [{box.below:.6g}, {box.above:.6g}]{apart}"))
        rows += [(gone.parameter, f"{'no image' if gone.decided else 'not known'}: {gone.reason}") for gone in self.missing]
        return "\n".join([head, *(f"{lam:12.6g} → {text}" for lam, text in sorted(rows))])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as .json or .npz.

        Raises
        ------
        InvalidProblem
            for another suffix.
        OSError
            when the file cannot be written.
        """
        archive.save(path, {"format": FORMAT, **vars(self)}, WHAT)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ParameterMap:
        """The map that `save` wrote. That its numbers are true, `verify` says.

        Raises
        ------
        InvalidFile
            for a file that is damaged or holds something else.
        InvalidProblem
            for another suffix.
        OSError
            when it cannot be read.
        """
        found = archive.load(path, FORMAT, WHAT)
        with archive.rebuilding(path, WHAT):
            made = {
                "source": _side(found["source"]),
                "target": _side(found["target"]),
                "boxes": tuple(Box(**archive.entries(Box, each)) for each in found["boxes"]),
                "missing": tuple(Missing(**archive.entries(Missing, each)) for each in found["missing"]),
                "through": tuple(_side(each) for each in found["through"]),
            }
            read = cls(**archive.entries(cls, found, **made))
            wrong = _disorder(read)
        if wrong:
            raise InvalidFile(f"{path}: not a whole parameter map ({wrong})")
        return read

    def verify(self, Z: TrainingSet, source: Family | None = None, target: Family | None = None) -> Verified:
        """Measure every box again, from the families and the training set alone.

        Two functions that were said to agree must do so within the resolution and their radii. The graph of Φ, as `find_map` encloses it
        anew, must be able to pass through every box. A box at one parameter must not be narrower than half of the new enclosure.

        Parameters
        ----------
        source, target : Family, optional
            needed where the map does not say under which name they are registered.

        Raises
        ------
        InvalidProblem, UnknownName
            for another training set, and for families that are neither given nor registered.
        """
        if Z.fingerprint() != self.fingerprint:
            raise InvalidProblem(f"Z: the map is of the training set {self.fingerprint}, this one is {Z.fingerprint()}")
        if all(box.below == box.above for box in self.boxes) and any(box.low < box.high for box in self.boxes):
            return self.inverted().verify(Z, target, source)
        A, B = (remembering(given or side.build()) for given, side in ((source, self.source), (target, self.target)))
        wrong = [wrong] if (wrong := _disorder(self)) else []
        wrong += [f"the training set has {Z.n} samples, not {self.samples}"] if Z.n != self.samples else []
        wrong += [
            f"the domain of {family.name} is {family.domain(Z)}, not {side.domain}"
            for side, family in ((self.source, A), (self.target, B))
            if not _close(family.domain(Z), side.domain)
        ]
        for box in self.boxes:
            try:
                wrong += [f"at {box.parameter:.6g}: {text}" for text in _against(box, A, B, Z, self.resolution, self.increasing)]
            except (ArithmeticError, InvalidProblem) as failure:
                wrong.append(f"at {box.parameter:.6g}: {failure}")
        for gone in () if self.through else self.missing:
            if gone.decided and find_map(A, B, gone.parameter, Z, resolution=self.resolution).answer is Answer.HOLDS:
                wrong.append(f"at {gone.parameter:.6g}: there is an image")
        return Verified(len(self.boxes), tuple(wrong))

    def _inside(self, parameter: float) -> float:
        lam = validate.finite("parameter", parameter)
        first, last = self.boxes[0].parameter, self.boxes[-1].parameter
        if not first <= lam <= last:
            raise InvalidProblem(f"parameter: {lam:g} is outside of [{first:g}, {last:g}], where {self.name} was measured")
        if any(box.parameter == lam for box in self.boxes):
            return lam
        if self.increasing is None:
            raise InvalidProblem(f"parameter: {self.name} was not measured at {lam:g}, and is not known to be monotone")
        low, high = (
            max(box.parameter for box in self.boxes if box.parameter < lam),
            min(box.parameter for box in self.boxes if box.parameter > lam),
        )
        for gone in self.missing:
            if gone.decided and low < gone.parameter < high:
                raise InvalidProblem(
                    f"parameter: between {low:g} and {high:g} {self.name} has no image at {gone.parameter:g}: {gone.reason}"
                )
        return lam


def transfer(
    grid: Iterable[float],
    from_: Family,
    to: Family,
    sample: TrainingSet,
    *,
    resolution: float = RESOLUTION,
    progress: Progress | None = None,
) -> ParameterMap:
    """Carry a grid of parameters of one learner over to another: for each λ the μ with the same function, and how sure that is.

    `images` is the grid on the other side. Each box has an enclosure of Φ(λ) and the distance of the two functions with their radii.
    `missing` says why a λ has no image. Costs as many calls of `find_map`.

    Parameters
    ----------
    grid : iterable of float
        parameters of `from_` on the sample.
    resolution : float
        relative distance up to which two functions count as one.
    progress : callable, optional
        (done, wanted, text), called after each parameter.

    Raises
    ------
    InvalidProblem
        for a parameter outside the domain, a grid without any that has an image, and a resolution that is not between 0 and 1.
    Interrupted
        at Ctrl-C; `done` is the list of boxes so far.

    >>> import numpy as np
    >>> from simopt.data.similarities import Linear
    >>> from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_over_n
    >>> Z = TrainingSet(np.eye(3), np.array([3.0, 1.0, 2.0]), Linear())
    >>> carried = transfer([0.1, 1.0], kernel_ridge(), kernel_ridge_over_n(), Z)
    >>> [round(mu, 6) for mu in carried.images], round(carried(0.5), 6), carried.missing
    ([0.3, 3.0], 1.5, ())
    """
    resolution = check_resolution(resolution)
    A, B = remembering(from_), remembering(to)
    wanted = listed(grid, A.domain(sample), A.name)
    boxes: list[Box] = []
    missing: list[Missing] = []
    try:
        for done, lam in enumerate(wanted, 1):
            found = find_map(A, B, lam, sample, resolution=resolution)
            if found.outcome is MapOutcome.FOUND:
                boxes.append(_box(found))
            else:
                missing.append(Missing(lam, found.answer is Answer.FAILS, found.reason or found.outcome.value))
            if progress is not None:
                progress(done, len(wanted), f"λ = {lam:.4g} of {A.name}: {found.outcome.value}")
    except KeyboardInterrupt:
        raise Interrupted(boxes) from None
    if not boxes:
        reasons = "; ".join(f"{gone.parameter:g}: {gone.reason}" for gone in missing[:3])
        raise InvalidProblem(f"grid: no parameter of {A.name} has a known image among those of {B.name} ({reasons})")
    sides = Side.of(from_, sample), Side.of(to, sample)
    return ParameterMap(*sides, sample.n, sample.fingerprint(), resolution, _direction(boxes), tuple(boxes), tuple(missing))


def _box(row: MapValue) -> Box:
    unit = row.norm if row.norm > 0.0 else 1.0
    lam = row.parameter
    below, above = max(row.low, -LARGEST), min(row.high, LARGEST)
    return Box(lam, lam, lam, row.value, below, above, row.distance / unit, row.errors / unit)


def _direction(boxes: list[Box]) -> bool | None:
    """Which way the values go, unless they go both ways by more than the enclosures."""
    rises = any(one.above < two.below for i, one in enumerate(boxes) for two in boxes[i + 1 :])
    falls = any(one.below > two.above for i, one in enumerate(boxes) for two in boxes[i + 1 :])
    return None if rises == falls else rises


def _against(box: Box, A: Family, B: Family, Z: TrainingSet, resolution: float, increasing: bool | None) -> Iterator[str]:
    """The faults of a box."""
    if box.distance is not None and box.errors is not None:
        distance, error = relative_distance(A(box.parameter, Z), B(box.value, Z))
        if not distance + error <= 2.0 * resolution:
            yield f"the functions are {distance:.3g} apart, the radii explain {error:.2g}, {resolution:g} was asked for"
        if not abs(box.distance - distance) <= box.errors + error + ROUNDING:
            yield f"the functions are {distance:.3g} apart, {box.distance:.3g} was said"
        if not error <= 2.0 * box.errors + ROUNDING:
            yield f"the radii explain {error:.3g}, {box.errors:.3g} was said"
    left = right = find_map(A, B, box.low, Z, resolution=resolution)
    if box.low < box.high:
        right = find_map(A, B, box.high, Z, resolution=resolution)
    if increasing is False:
        left, right = right, left
    for found in (left, right):
        if found.answer is Answer.FAILS:
            yield f"there is no image of {found.parameter:.6g}: {found.reason}"
            return
    if left.low > box.above or right.high < box.below:
        yield f"Φ lies in [{min(left.low, right.low):.17g}, {max(left.high, right.high):.17g}], not in [{box.below:.17g}, {box.above:.17g}]"
    elif (
        left is right
        and left.outcome is MapOutcome.FOUND
        and (box.below > left.value - 0.5 * (left.value - left.low) or box.above < left.value + 0.5 * (left.high - left.value))
    ):
        yield f"the enclosure [{box.below:.17g}, {box.above:.17g}] is narrower than what is proven, [{left.low:.17g}, {left.high:.17g}]"


def _close(one: Interval, two: Interval) -> bool:
    """Whether two domains agree to rounding."""
    return all(a == b or math.isclose(a, b, rel_tol=1e-9) for a, b in ((one.low, two.low), (one.high, two.high)))


def _disorder(read: ParameterMap) -> str:
    """The faults of the boxes of a map; nothing where all is in order."""
    if not read.boxes:
        return "it has no parameters"
    for box in read.boxes:
        if not (box.low <= box.parameter <= box.high and box.below <= box.value <= box.above):
            return f"at {box.parameter:g} the value {box.value:g} lies outside of its enclosure"
        if box.parameter not in read.source.domain or box.value not in read.target.domain:
            return f"at {box.parameter:g} the parameters are outside of the domains"
    if not read.through and any(box.distance is None or box.errors is None for box in read.boxes):
        return "without a composition each parameter has a distance and what the radii explain of it"
    flat = any(box.below == box.above for box in read.boxes)  # of an inverse the parameters are enclosed, and may agree
    for one, two in pairwise(read.boxes):
        if not (one.parameter < two.parameter or (flat and one.parameter == two.parameter)):
            return f"the parameters {one.parameter:g} and {two.parameter:g} are not in order"
        if read.increasing is not None and one.high < two.low and (two.above < one.below if read.increasing else two.below > one.above):
            return f"from {one.parameter:g} to {two.parameter:g} the values go the other way"
    return ""


def _side(value: Any) -> Side:
    """A side from a file."""
    return Side(**archive.entries(Side, value))


@dataclass(frozen=True)
class Verified:
    """The result of a second measurement: at how many parameters, and all that is wrong."""

    parameters: int
    wrong: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong
