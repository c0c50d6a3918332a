"""Families of learning algorithms: λ ↦ (Z ↦ f), with the interval of parameters on which they are defined (Audiffren & Kadri, §3)."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simopt.core import registry, validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.equivalence.gram_spectrum import EPS
from simopt.equivalence.training import KernelFunction, TrainingSet


@dataclass(frozen=True)
class Interval:
    """An open interval (low, high) of parameters, with a coordinate that maps it monotonically onto ℝ.

    The coordinate is log(x − low) for (low, ∞), log(x − low) − log(high − x) for a bounded interval, −log(high − x) for (−∞, high) and
    x for ℝ. "evenly spread" and "the slope of a map" are meant in it.
    """

    low: float = 0.0
    high: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", validate.bound("low", self.low))
        object.__setattr__(self, "high", validate.bound("high", self.high))
        if not self.low < self.high:
            raise InvalidProblem(f"interval: ({self.low}, {self.high}) is empty, low < high needed")

    def __contains__(self, x: float) -> bool:
        return self.low < x < self.high

    def __str__(self) -> str:
        return f"({self.low:.6g}, {self.high:.6g})"

    def coordinate(self, x: float) -> float:
        """Map x in the interval to ℝ; ±∞ at and beyond the ends."""
        if x <= self.low:
            return -math.inf
        if x >= self.high:
            return math.inf
        if math.isinf(self.low) and math.isinf(self.high):
            return x
        below = math.log(x - self.low) if math.isfinite(self.low) else 0.0
        return below - (math.log(self.high - x) if math.isfinite(self.high) else 0.0)

    def at(self, coordinate: float) -> float:
        """The parameter with this coordinate."""
        if math.isinf(self.low) and math.isinf(self.high):
            return coordinate
        if math.isinf(self.high):
            return self.low + math.exp(coordinate)
        if math.isinf(self.low):
            return self.high - math.exp(-coordinate)
        share = 1.0 / (1.0 + math.exp(-abs(coordinate)))
        width = self.high - self.low
        return self.high - width * (1.0 - share) if coordinate >= 0 else self.low + width * (1.0 - share)

    def rounding(self, x: float) -> float:
        """Change of the coordinate when x changes by one unit in the last place: 1 near an end that x cannot tell from itself."""
        if x not in self:
            return math.inf
        if math.isinf(self.low) and math.isinf(self.high):
            return EPS * max(abs(x), 1.0)
        below = 1.0 / (x - self.low) if math.isfinite(self.low) else 0.0
        above = 1.0 / (self.high - x) if math.isfinite(self.high) else 0.0
        return EPS * abs(x) * (below + above)

    def spaced(self, count: int, centre: float = 0.0, reach: float = math.log(1e6)) -> Array:
        """`count` parameters evenly spaced in the coordinate, within `reach` on either side of `centre`."""
        t, width = validate.finite("centre", centre), validate.nonnegative("reach", reach)
        if math.isinf(2.0 * width):
            raise InvalidProblem(f"reach: {width:g} given, a number below 1e308 needed")
        return np.array([self.at(t) for t in np.linspace(t - width, t + width, validate.whole("count", count, minimum=1))])


POSITIVE = Interval(0.0, math.inf)


def positive(Z: TrainingSet) -> Interval:
    """(0, ∞) whatever the training set."""
    return POSITIVE


@dataclass(frozen=True)
class Family:
    """A regularised learning algorithm A(λ)(Z).

    Attributes
    ----------
    name : str
    fit : callable
        (λ, Z) → KernelFunction, whose `error` is an H-norm radius that holds the true A(λ)(Z).
    domain : callable
        Z → Interval of the parameters λ.
    monotone, continuous : bool
        what is claimed of the path λ ↦ A(λ)(Z). First, that its norm rises or falls and not both, as those of regularised learners do,
        without which `find_map` excludes no parameter. Second, that it does not jump. `simopt.conformance.families` holds families against
        both.
    origin : (str, dict), optional
        the name that it is registered under, and the options that built it.
    """

    name: str
    fit: Callable[[float, TrainingSet], KernelFunction]
    domain: Callable[[TrainingSet], Interval] = positive
    monotone: bool = True
    continuous: bool = True
    origin: tuple[str, Mapping[str, Any]] | None = field(default=None, compare=False)

    def __call__(self, parameter: float, Z: TrainingSet) -> KernelFunction:
        """A(λ)(Z).

        Raises
        ------
        InvalidProblem
            for a parameter outside the domain, and a fit that is no function.
        """
        found: Any = self.fit(self.inside(parameter, Z), Z)
        if not isinstance(found, KernelFunction):
            needed = "a KernelFunction needed, as Z.function(coefficients, error=radius) makes it"
            raise InvalidProblem(f"{self.name}: its fit at {parameter:g} gives {type(found).__name__}; {needed}")
        return found

    def inside(self, parameter: float, Z: TrainingSet) -> float:
        """The parameter, which lies in the domain on Z.

        Raises
        ------
        InvalidProblem
            for one that does not.
        """
        domain, parameter = self.domain(Z), validate.finite("parameter", parameter)
        if parameter not in domain:
            raise InvalidProblem(f"parameter: {parameter:g} is outside {domain}, where {self.name} is defined on this set")
        return parameter


@dataclass(frozen=True)
class RegistryEntry:
    """The registered entry of a family or an equivalence: a name, one line, and the function that builds it from options."""

    name: str
    summary: str
    build: Callable[..., Any]


def family(name: str, *, summary: str = "") -> Callable[[Callable[..., Family]], Callable[..., Family]]:
    """Register a function (options → Family) under `name`; its families know by which options they were built (`origin`)."""

    def add(build: Callable[..., Family]) -> Callable[..., Family]:
        """Register `build` under the name, as a function whose families know their options."""

        @functools.wraps(build)
        def made(*arguments: Any, **options: Any) -> Family:
            bound = inspect.signature(build).bind(*arguments, **options)
            bound.apply_defaults()
            return replace(build(*arguments, **options), origin=(name, dict(bound.arguments)))

        registry.register("family", name, RegistryEntry(name, summary or first_line(build), made), build.__module__)
        return made

    return add


def first_line(build: Callable[..., Any]) -> str:
    """First line of the docstring."""
    return (build.__doc__ or "").strip().split("\n")[0]
