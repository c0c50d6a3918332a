r"""Losses ℓ(f, y) of a prediction, as maxima of affine functions of it: value, dual term and what the two leave, in any arithmetic.

With a mass p ≥ 0 and the multiplier q of the prediction, pℓ(f, y) = max_q c(q) − qf over the q that the loss admits, c(q) = −(pℓ)*(−q):
    insensitive   [|f − y| − ε]_+      c(q) = qy − ε|q|            |q| ≤ p
    hinge         [m − yf]_+           c(q) = m yq,                0 ≤ yq ≤ p,    y = ±1, m the margin
    squared       (f − y)²             c(q) = qy − q²/(4p)         any q (0 where p = 0)
so that any q, clipped, bounds the loss below by Σ c(q_i) − q_i f_i. The remainder pℓ − c(q) + qf is, with r = y − f, h = m − yf, a = yq
    insensitive   (p − |q|)[|r| − ε]_+ + |q|[ε − |r|]_+ + (|q||r| − qr)
    hinge         (p − a)[h]_+ + a[−h]_+
    squared       p(r − q/(2p))²
and every term of it is ≥ 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from simopt.arithmetic import Arithmetic, Value
from simopt.core.arrays import Array

LOSSES = ("insensitive", "hinge", "squared")


class Loss(ABC):
    """ℓ with masses p > 0; every formula is elementwise. f, y, p, q are values of one arithmetic, shape (n,)."""

    @abstractmethod
    def value(self, num: Arithmetic, f: Value, y: Value) -> Value:
        """ℓ(f, y)."""

    @abstractmethod
    def admitted(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """The admitted multiplier nearest to q."""

    @abstractmethod
    def dual_term(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """c(q)."""

    @abstractmethod
    def slack(self, num: Arithmetic, q: Value, p: Value, y: Value, f: Value) -> Value:
        """pℓ(f, y) − c(q) + qf ≥ 0."""

    @abstractmethod
    def slope(self, f: Array, y: Array) -> Array:
        """−∂ℓ/∂f in floats, the q/p that a prediction suggests: exact away from kinks, 0 at them."""


@dataclass(frozen=True)
class Insensitive(Loss):
    """[|f − y| − ε]_+."""

    epsilon: float

    def value(self, num: Arithmetic, f: Value, y: Value) -> Value:
        """[|f − y| − ε]_+."""
        return num.pos(num.abs(f - y) - num.lift(self.epsilon))

    def admitted(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """q clipped to [−p, p]."""
        return num.minimum(num.maximum(q, p * -1), p)

    def dual_term(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """qy − ε|q|."""
        return q * y - num.abs(q) * num.lift(self.epsilon)

    def slack(self, num: Arithmetic, q: Value, p: Value, y: Value, f: Value) -> Value:
        """(p − |q|)[|r| − ε]_+ + |q|[ε − |r|]_+ + (|q||r| − qr)."""
        r = y - f
        size, multiplier = num.abs(r), num.abs(q)
        h = size - num.lift(self.epsilon)
        return num.pos(p - multiplier) * num.pos(h) + multiplier * num.pos(h * -1) + num.pos(multiplier * size - q * r)

    def slope(self, f: Array, y: Array) -> Array:
        """sign(y − f) where |y − f| > ε."""
        out: Array = np.where(np.abs(y - f) > self.epsilon, np.sign(y - f), 0.0)
        return out


@dataclass(frozen=True)
class Hinge(Loss):
    """[m − yf]_+ with labels y = ±1."""

    margin: float

    def value(self, num: Arithmetic, f: Value, y: Value) -> Value:
        """[m − yf]_+."""
        return num.pos(num.lift(self.margin) - y * f)

    def admitted(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """yq clipped to [0, p]."""
        return num.minimum(num.pos(q * y), p) * y

    def dual_term(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """m yq."""
        return q * y * num.lift(self.margin)

    def slack(self, num: Arithmetic, q: Value, p: Value, y: Value, f: Value) -> Value:
        """(p − a)[h]_+ + a[−h]_+."""
        a, h = q * y, num.lift(self.margin) - y * f
        return num.pos(p - a) * num.pos(h) + a * num.pos(h * -1)

    def slope(self, f: Array, y: Array) -> Array:
        """y where yf < m."""
        out: Array = np.where(y * f < self.margin, y, 0.0)
        return out


@dataclass(frozen=True)
class Squared(Loss):
    """(f − y)²."""

    def value(self, num: Arithmetic, f: Value, y: Value) -> Value:
        """(f − y)²."""
        r = y - f
        return r * r

    def admitted(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """q itself."""
        return q

    def dual_term(self, num: Arithmetic, q: Value, p: Value, y: Value) -> Value:
        """qy − q²/(4p)."""
        return q * y - q * q / (p * 4)

    def slack(self, num: Arithmetic, q: Value, p: Value, y: Value, f: Value) -> Value:
        """p(r − q/(2p))²."""
        off = y - f - q / (p * 2)
        return p * (off * off)

    def slope(self, f: Array, y: Array) -> Array:
        """2(y − f)."""
        out: Array = 2.0 * (y - f)
        return out


def loss_named(name: str, epsilon: float, margin: float) -> Loss:
    """The loss called "insensitive" (of width ε), "hinge" (of margin m) or "squared"."""
    return {"insensitive": Insensitive(epsilon), "hinge": Hinge(margin), "squared": Squared()}[name]
