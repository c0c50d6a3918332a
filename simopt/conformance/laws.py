"""Checks of the problem's laws and of what certificates make of a change of units."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from simopt.certificates.certificate import Certificate
from simopt.conformance.setting import ROUNDING, SEED, TOL, examples_of, multipliers_of, points_of, reference, require, unit_of
from simopt.model.problem import Example, Image, Law, Problem
from simopt.solving.entry_points import certify

BINARY = (-30, -7, 13, 30)  # exponents of 2
DECIMAL = (-9, -4, 9)  # exponents of 10


def images(cls: type[Problem]) -> Iterator[tuple[int, Example, Law, Image]]:
    """Every law applied to every example."""
    for index, example in enumerate(examples_of(cls)):
        for number, law in enumerate(cls.laws()):
            yield index, example, law, law.apply(example.problem, np.random.default_rng(SEED + number))


def check_laws(cls: type[Problem]) -> None:
    """The objective and the dual bound of the image are `factor` times those of the original, at mapped points and multipliers."""
    laws = cls.laws()
    require(laws, "laws: at least one transformation with a known effect is needed (scaling, permutation, duplication)")
    require(len({law.name for law in laws}) == len(laws), "laws: names repeat")
    for index, example, law, image in images(cls):
        where = f"law {law.name!r} on {example.name!r}"
        require(type(image.problem) is cls, f"{where}: the image must be a {cls.__name__}")
        require(image.factor > 0, f"{where}: the factor must be positive")
        for point in points_of(cls, index):
            value = float(example.problem.objective(point))
            mapped = float(image.problem.objective(image.problem.restore(image.point(point))))
            require(
                abs(mapped / image.factor - value) <= ROUNDING * unit_of(example.problem, value),
                f"{where}: the objective of the image, divided by the factor, is {mapped / image.factor:.12g}; it should be {value:.12g}",
            )
        _check_multipliers(cls, index, image, where)


def _check_multipliers(cls: type[Problem], index: int, image: Image, where: str) -> None:
    """Mapped multipliers bound the image's optimum; those of the solution do so as well as before (repairs may differ in other cases)."""
    problem, (_, known, lower, upper) = examples_of(cls)[index].problem, reference(cls, index)
    for multipliers in multipliers_of(cls, index):
        bound = float(image.problem.dual_bound(image.multipliers(multipliers))) / image.factor
        room = ROUNDING * unit_of(problem, upper)
        require(bound <= upper + room, f"{where}: the image has a lower bound {bound:.12g} above a value that is attained, {upper:.12g}")
        if multipliers is known:
            least = lower - TOL * unit_of(problem, upper)
            require(bound >= least, f"{where}: the solution's multipliers, mapped, bound only {bound:.12g}, before {lower:.12g}")


def check_units(cls: type[Problem]) -> None:
    """Certificates do not depend on units: 2^k leaves the relative gap as it is, and the trivial point is optimal only where it was."""
    changes = [law for law in cls.laws() if law.by is not None]
    require(
        changes or "targets" not in {item.name for item in dataclasses.fields(cls)},
        "laws: real targets can be measured in any unit; offer `change_of_units(name, by)`, so that certificates can be tested against it",
    )
    for index, example in enumerate(examples_of(cls)):
        point, multipliers, _, _ = reference(cls, index)
        trivial = example.problem.trivial_point()
        points = [
            ("the solution", point, multipliers),
            ("the trivial point", trivial, None),
            ("a point halfway", _between(point, trivial), multipliers),
        ]
        gaps = [_relative(certify(example.problem, candidate, known)) for _, candidate, known in points]
        for law in changes:
            for factor in (*(2.0**k for k in BINARY), *(10.0**k for k in DECIMAL)):
                image = law.by(example.problem, factor) if law.by is not None else Image(example.problem)
                ours, theirs = image.factor * example.problem.scale(), image.problem.scale()
                exact = np.frexp(factor)[0] == 0.5  # a decimal unit rounds the data, and an inner point that is not unique may move
                require(
                    not exact or example.degenerate or abs(theirs - ours) <= 1e-6 * ours,
                    f"law {law.name!r} by {factor:g} on {example.name!r}: scale() is {theirs:.6g}, not {ours:.6g}; it must be scale-free",
                )
                for (name, candidate, known), before in zip(points, gaps, strict=True):
                    mapped = None if known is None else image.multipliers(known)
                    after = _relative(certify(image.problem, image.point(candidate), mapped))
                    where = f"law {law.name!r} by {factor:g} on {example.name!r}: {name}"
                    rounded = not exact  # and a point at a kink may then suggest other multipliers
                    same = rounded or before == after or abs(after - before) <= 1e-6 * before + 1e-13
                    require(
                        same, f"{where} has relative gap {before:.3e} before and {after:.3e} after; bounds and scale must be scale-free"
                    )
                    require((before <= TOL) == (after <= TOL), f"{where} is certified optimal in one unit and not in the other")


def _relative(certificate: Certificate) -> float:
    """The number that decides whether the certificate closes."""
    return min(certificate.relative_gap, certificate.gap_over_terms)


def _between(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: 0.5 * (np.asarray(one[name]) + np.asarray(two[name])) for name in one if name in two}
