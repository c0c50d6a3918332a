r"""Convex potentials φ of the margin z = y⟨w, x⟩: value, slope, conjugate, and the Fenchel–Young remainder, in any arithmetic.

For s = a/p in the domain of s ↦ φ*(−s), φ*(−s) = sup_z −sz − φ(z), Fenchel and Young say φ(z) ≥ −sz − φ*(−s):
    hinge          [1 − z]_+           φ*(−s) = −s                               0 ≤ s ≤ 1
    squared-hinge  [1 − z]_+²          φ*(−s) = −s + s²/4                        0 ≤ s
    logistic       log(1 + e^{−z})     φ*(−s) = s log s + (1 − s) log(1 − s)     0 ≤ s ≤ 1
    exponential    e^{−z}              φ*(−s) = s log s − s                      0 ≤ s
(0 log 0 = 0.) What is left, times p, is with h = 1 − z, σ = 1/(1 + e^z) and T(s, e) = s log(s/e) − s + e ≥ 0
    hinge          (p − a)[h]_+ + a[−h]_+
    squared-hinge  p([h]_+ − s/2)² + a[−h]_+
    logistic       p T(s, σ) + p T(1 − s, 1 − σ)
    exponential    p T(s, e^{−z})
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array

LEAST = 1e-200  # shares a/p below this count as 0, where their logarithms need no care


class MarginPotential(ABC):
    """φ with multipliers a ≥ 0 of the margins, a ≤ p if `capped`; p > 0 and a are floats, exactly."""

    capped = True
    exponential_cone = False

    @abstractmethod
    def value(self, num: Arithmetic, z: Value) -> Value:
        """φ(z), elementwise."""

    @abstractmethod
    def slope(self, z: Array) -> Array:
        """−φ'(z) ≥ 0 in floats; at a kink, one subgradient."""

    @abstractmethod
    def conjugate(self, num: Arithmetic, p: Array, a: Array) -> Value:
        """p φ*(−a/p), elementwise."""

    @abstractmethod
    def slack(self, num: Arithmetic, p: Array, a: Array, z: Value) -> Value:
        """p (φ(z) + φ*(−a/p)) + az ≥ 0, elementwise."""

    def admitted_multipliers(self, p: Array, a0: Array) -> Array:
        """a in the domain of the conjugate: clipped to [0, p] or [0, ∞)."""
        a = np.maximum(a0, 0.0)
        a = np.where(a < LEAST * p, 0.0, a)
        return np.minimum(a, p) if self.capped else a


def _log_ratio(num: Arithmetic, a: Value, positive: NDArray[np.bool_], p: Array) -> Value:
    """log(a/p) where `positive`, else the logarithm of a number near 1 (it is multiplied by a = 0)."""
    return num.log((a + num.lift(np.where(positive, 0.0, 1.0))) / num.lift(np.where(positive, p, 1.0)))


class HingePotential(MarginPotential):
    """[1 − z]_+."""

    def value(self, num: Arithmetic, z: Value) -> Value:
        """[1 − z]_+."""
        return num.pos(num.lift(1.0) - z)

    def slope(self, z: Array) -> Array:
        """1 where z < 1."""
        return np.where(z < 1.0, 1.0, 0.0)

    def conjugate(self, num: Arithmetic, p: Array, a: Array) -> Value:
        """−a."""
        return num.lift(-a)

    def slack(self, num: Arithmetic, p: Array, a: Array, z: Value) -> Value:
        """(p − a)[h]_+ + a[−h]_+."""
        h = num.lift(1.0) - z
        return (num.lift(p) - num.lift(a)) * num.pos(h) + num.lift(a) * num.pos(-h)


class SquaredHinge(MarginPotential):
    """[1 − z]_+²."""

    capped = False

    def value(self, num: Arithmetic, z: Value) -> Value:
        """[1 − z]_+²."""
        h = num.pos(num.lift(1.0) - z)
        return h * h

    def slope(self, z: Array) -> Array:
        """2[1 − z]_+."""
        return 2.0 * np.maximum(1.0 - z, 0.0)

    def conjugate(self, num: Arithmetic, p: Array, a: Array) -> Value:
        """−a + a²/(4p)."""
        ratio = num.lift(a) / num.lift(p)
        return num.lift(a) * (ratio / 4 - num.lift(1.0))

    def slack(self, num: Arithmetic, p: Array, a: Array, z: Value) -> Value:
        """p([h]_+ − a/(2p))² + a[−h]_+."""
        h = num.lift(1.0) - z
        off = num.pos(h) - num.lift(a) / num.lift(p) / 2
        return num.lift(p) * (off * off) + num.lift(a) * num.pos(-h)


class ExponentialPotential(MarginPotential):
    """e^{−z}."""

    capped = False
    exponential_cone = True

    def value(self, num: Arithmetic, z: Value) -> Value:
        """e^{−z}."""
        return num.exp(-z)

    def slope(self, z: Array) -> Array:
        """e^{−z}."""
        out: Array = np.exp(-z)
        return out

    def conjugate(self, num: Arithmetic, p: Array, a: Array) -> Value:
        """a log(a/p) − a."""
        lifted = num.lift(a)
        return lifted * (_log_ratio(num, lifted, a > 0, p) - num.lift(1.0))

    def slack(self, num: Arithmetic, p: Array, a: Array, z: Value) -> Value:
        """p T(a/p, e^{−z}), with log(s/e) = log s + z so that e^{−z} may underflow."""
        lifted = num.lift(a)
        return num.pos(lifted * (_log_ratio(num, lifted, a > 0, p) + z - num.lift(1.0)) + num.lift(p) * num.exp(-z))


class LogisticPotential(MarginPotential):
    """log(1 + e^{−z})."""

    exponential_cone = True

    def value(self, num: Arithmetic, z: Value) -> Value:
        """[−z]_+ + log(1 + e^{−|z|})."""
        return num.pos(-z) + num.log(num.exp(-num.abs(z)) + num.lift(1.0))

    def slope(self, z: Array) -> Array:
        """σ = 1/(1 + e^z)."""
        tail = np.exp(-np.abs(z))
        return np.where(z > 0, tail, 1.0) / (1.0 + tail)

    def conjugate(self, num: Arithmetic, p: Array, a: Array) -> Value:
        """a log(a/p) + (p − a) log((p − a)/p)."""
        lifted = num.lift(a)
        rest = num.lift(p) - lifted
        return lifted * _log_ratio(num, lifted, a > 0, p) + rest * _log_ratio(num, rest, a < p, p)

    def slack(self, num: Arithmetic, p: Array, a: Array, z: Value) -> Value:
        """p T(s, σ) + p T(1 − s, 1 − σ), with −log σ = φ(−z) and −log(1 − σ) = φ(z)."""
        lifted = num.lift(a)
        rest = num.lift(p) - lifted
        total = num.zeros(len(p))
        for mass, positive, side in ((lifted, a > 0, self.value(num, -z)), (rest, a < p, self.value(num, z))):
            chance = num.exp(-side)
            total = total + num.pos(mass * (_log_ratio(num, mass, positive, p) + side - num.lift(1.0)) + num.lift(p) * chance)
        return total


POTENTIALS: dict[str, MarginPotential] = {
    "hinge": HingePotential(),
    "logistic": LogisticPotential(),
    "exponential": ExponentialPotential(),
    "squared-hinge": SquaredHinge(),
}
