r"""Transfer functions u of generalised linear models with their integrals U, U' = u, and conjugates U*, in any arithmetic.

                u(t)                    U(t)                          U*(s)                         domain    Lipschitz
    identity    t                       t²/2                          s²/2                          ℝ         1
    logistic    1/(1 + e^{−t})          log(1 + e^t)                  s log s + (1 − s) log(1 − s)  [0, 1]    1/4
    probit      Φ(t)                    tΦ(t) + φ(t)                  −φ(Φ^{−1}(s))                 [0, 1]    1/√(2π)
    clipped     (1 + t)/2 in [0, 1]     ((1 + t)_+/2)², t beyond 1    s² − s                        [0, 1]    1/2

Fenchel and Young: U(t) + U*(s) − st ≥ 0, with equality at s = u(t). A multiplier is given by a float θ that stands for the exact number
s(θ) at which the dual is evaluated. Here s = θ, but Φ(θ) for the probit, so that U* needs no inverse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Value
from simopt.core.arrays import Array
from simopt.problems.losses import gaussian
from simopt.problems.losses.margin_losses import POTENTIALS

LOGISTIC = POTENTIALS["logistic"]  # log(1 + e^{−z}): U at t = −z


class Integrated(ABC):
    """u, U and U*; all elementwise."""

    lipschitz: float
    bounded = True
    exponential_cone = False

    @abstractmethod
    def transfer(self, t: Array) -> Array:
        """u(t) in floats."""

    @abstractmethod
    def slope(self, t: Array) -> Array:
        """u'(t) in floats; at a kink, the larger one-sided slope."""

    @abstractmethod
    def value(self, num: Arithmetic, t: Value) -> Value:
        """U(t)."""

    @abstractmethod
    def conjugate(self, num: Arithmetic, theta: Array) -> Value:
        """U*(s(θ))."""

    @abstractmethod
    def slack(self, num: Arithmetic, theta: Array, t: Value) -> Value:
        """U(t) + U*(s) − st ≥ 0 at s = s(θ)."""

    def parameter(self, s: Array) -> Array:
        """θ of the number in the domain nearest to s."""
        return np.clip(s, 0.0, 1.0) if self.bounded else s

    def at(self, num: Arithmetic, theta: Array) -> Value:
        """s(θ)."""
        return num.lift(theta)


class Identity(Integrated):
    """u(t) = t."""

    lipschitz = 1.0
    bounded = False

    def transfer(self, t: Array) -> Array:
        """t."""
        return t

    def slope(self, t: Array) -> Array:
        """1."""
        return np.ones_like(t)

    def value(self, num: Arithmetic, t: Value) -> Value:
        """t²/2."""
        return t * t / 2

    def conjugate(self, num: Arithmetic, theta: Array) -> Value:
        """s²/2."""
        s = num.lift(theta)
        return s * s / 2

    def slack(self, num: Arithmetic, theta: Array, t: Value) -> Value:
        """(t − s)²/2."""
        off = t - num.lift(theta)
        return off * off / 2


class Logistic(Integrated):
    """u(t) = 1/(1 + e^{−t}). With the potential φ(z) = log(1 + e^{−z}) of margins, U(t) = φ(−t) and u(t) = −φ'(−t)."""

    lipschitz = 0.25
    exponential_cone = True

    def transfer(self, t: Array) -> Array:
        """1/(1 + e^{−t})."""
        return LOGISTIC.slope(-t)

    def slope(self, t: Array) -> Array:
        """u(1 − u)."""
        return LOGISTIC.slope(t) * LOGISTIC.slope(-t)

    def value(self, num: Arithmetic, t: Value) -> Value:
        """[t]_+ + log(1 + e^{−|t|})."""
        return LOGISTIC.value(num, t * -1)

    def conjugate(self, num: Arithmetic, theta: Array) -> Value:
        """s log s + (1 − s) log(1 − s)."""
        return LOGISTIC.conjugate(num, np.ones_like(theta), theta)

    def slack(self, num: Arithmetic, theta: Array, t: Value) -> Value:
        """The relative entropy of (s, 1 − s) to (u(t), 1 − u(t))."""
        return LOGISTIC.slack(num, np.ones_like(theta), theta, t * -1)


class Probit(Integrated):
    """u = Φ."""

    lipschitz = 0.3989422804014327
    exponential_cone = True

    def transfer(self, t: Array) -> Array:
        """Φ(t)."""
        out: Array = gaussian.cdf(FLOAT, t)
        return out

    def slope(self, t: Array) -> Array:
        """φ(t)."""
        out: Array = gaussian.density(FLOAT, t)
        return out

    def value(self, num: Arithmetic, t: Value) -> Value:
        """tΦ(t) + φ(t)."""
        return t * gaussian.cdf(num, t) + gaussian.density(num, t)

    def parameter(self, s: Array) -> Array:
        """Φ^{−1}(s)."""
        return gaussian.quantile(np.clip(s, 0.0, 1.0))

    def at(self, num: Arithmetic, theta: Array) -> Value:
        """Φ(θ)."""
        return gaussian.cdf(num, num.lift(theta))

    def conjugate(self, num: Arithmetic, theta: Array) -> Value:
        """−φ(θ)."""
        return gaussian.density(num, num.lift(theta)) * -1

    def slack(self, num: Arithmetic, theta: Array, t: Value) -> Value:
        """t(Φ(t) − Φ(θ)) + φ(t) − φ(θ)."""
        at = num.lift(theta)
        return num.pos(t * (gaussian.cdf(num, t) - gaussian.cdf(num, at)) + gaussian.density(num, t) - gaussian.density(num, at))


class Clipped(Integrated):
    """u(t) = (1 + t)/2, clipped to [0, 1]."""

    lipschitz = 0.5

    def transfer(self, t: Array) -> Array:
        """(1 + t)/2 in [0, 1]."""
        return np.clip(0.5 * (1.0 + t), 0.0, 1.0)

    def slope(self, t: Array) -> Array:
        """½ for |t| ≤ 1."""
        return np.where(np.abs(t) <= 1.0, 0.5, 0.0)

    def value(self, num: Arithmetic, t: Value) -> Value:
        """((1 + t)_+/2)² up to t = 1, then t."""
        half = num.clip((t + 1) / 2, 0.0, 1.0)
        return half * half + num.pos(t - 1)

    def conjugate(self, num: Arithmetic, theta: Array) -> Value:
        """s(s − 1)."""
        s = num.lift(theta)
        return s * (s - 1)

    def slack(self, num: Arithmetic, theta: Array, t: Value) -> Value:
        """(u(t) − s)² + (1 − s)(t − 1)_+ + s(−1 − t)_+."""
        s = num.lift(theta)
        off = num.clip((t + 1) / 2, 0.0, 1.0) - s
        return off * off + (s * -1 + 1) * num.pos(t - 1) + s * num.pos(t * -1 - 1)


TRANSFERS: dict[str, Integrated] = {"identity": Identity(), "logistic": Logistic(), "probit": Probit(), "clipped": Clipped()}
