r"""Umegaki's relative entropy D(X, Y) = tr X log X − tr X log Y of two matrices.

D is jointly convex (Lindblad) and homogeneous of degree 1, so it lies above its tangent at any X₀, Y₀ ≻ 0, which goes through 0:

    D(X, Y) ≥ ⟨G, X⟩ − ⟨K, Y⟩,    G = log X₀ + I − log Y₀,    K = D log(Y₀)[X₀].

So sD ≥ ⟨U, X⟩ + ⟨V, Y⟩ for all X, Y ⪰ 0 if sG ⪰ U and −V ⪰ sK. With Y₀ given, X₀ = exp(U/s − I + log Y₀) has sG = U, and e^η X₀ has
G + ηI and e^η K: what rounds in X₀ is paid for by a small η. Any Y₀ will do; it needs no proof.

Let W = −V/s. The sup of ⟨U/s, X⟩ − D(X, Y) over X is f(Y) = tr exp(U/s − I + log Y), which is concave (Lieb) and homogeneous, with
∇f(Y) = D log(Y)[exp(U/s − I + log Y)]. (U, V) is inside of the domain if f(Y) < ⟨W, Y⟩ for all Y. Then f(Y) − ⟨W, Y⟩ + log det Y has a
maximiser Y₀, with W − ∇f(Y₀) = Y₀⁻¹ ≻ 0. So the criterion proves each multiplier inside of the domain, up to rounding.

Source: G. Lindblad, Expectations and entropy inequalities for finite quantum systems, Comm. Math. Phys. 39 (1974); E. Lieb, Convex trace
functions and the Wigner–Yanase–Dyson conjecture, Adv. Math. 11 (1973); H. Fawzi and J. Saunderson, Optimal self-concordant barriers for
quantum relative entropies, SIAM J. Optim. 33 (2023).
"""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np

from simopt.arithmetic import FLOAT, Arithmetic, Interval
from simopt.arithmetic.eigenvalues import eigenvalues, is_semidefinite, least_bound
from simopt.arithmetic.matrix_logarithm import EnclosedSpectrum, divided_differences, matrix_logarithm
from simopt.core.arrays import Array
from simopt.core.errors import Unreadable
from simopt.duality.atoms.base import Atom, DeclaredConjugate
from simopt.duality.atoms.semidefinite_cone import SemidefiniteCone
from simopt.duality.atoms.spectral_newton import Model, ascended, decomposed, logarithm_curvature
from simopt.duality.atoms.symmetric_matrix import INSIDE, clipped
from simopt.duality.atoms.trace_logarithm import trace_of_product
from simopt.duality.graph.vectors import Mask, Value, above, full, inner, is_zero, nothing, vector
from simopt.duality.recent import Recent

NEAR = 0.25  # the Newton decrement at which W − ∇f(Y₀) is definite
LARGE = 1e13  # of Y₀, for ‖W‖ near 1: it is not sought beyond, where (U, V) is outside or on the boundary
TRIES, MORE = 8, 8.0  # how often a projected V is lowered, each time by so many times as much

Spectrum = tuple[Array, Array]  # eigenvalues and eigenvectors


class QuantumRelativeEntropy(Atom):
    """φ(X, Y) = tr X log X − tr X log Y for X ⪰ 0, Y ≻ 0; (sφ)* = 0 at u = (U, V) for −V ⪰ s D log(Y₀)[exp(U/s − I + log Y₀)], some Y₀ ≻ 0.

    z is the triangle of X above that of Y (`symmetric_matrix`).

    Parameters
    ----------
    n : int
        both are n × n.
    """

    formula, conjugate_formula, domain_formula = "tr X log X − tr X log Y", "0", "−V ⪰ D log(Y)[exp(U − I + log Y)] for some Y ≻ 0"
    degree_formula = "1"

    def __init__(self, n: int) -> None:
        self.n, self.cone = n, SemidefiniteCone(n)
        self.length = 2 * self.cone.length
        self._slacks: Recent[str, tuple[float, float]] = Recent(4)
        self._centres: Recent[str, Spectrum | None] = Recent(4)

    @property
    def degree(self) -> float | None:
        return 1.0

    def parts(self, z: Value) -> tuple[Value, Value]:
        """The triangles of X and Y."""
        return z[: self.cone.length], z[self.cone.length :]

    def inside(self, num: Arithmetic, z: Value, nonnegative: Mask) -> Mask:
        x, y = (self.cone.matrix(num, part) for part in self.parts(z))
        return np.full(self.length, is_semidefinite(num, x) and least_bound(num, y) > 0.0)

    def value(self, num: Arithmetic, z: Value) -> Value:
        x, y = (self.cone.matrix(num, part) for part in self.parts(z))
        logarithm = matrix_logarithm(num, y)
        if logarithm is None:
            return vector(num, nothing(num))
        return vector(num, num.sum(num.xlogx(num.pos(eigenvalues(num, x)))) - trace_of_product(num, x, logarithm))

    def _duals(self, num: Arithmetic, u: Value) -> tuple[Value, Value]:
        first, second = self.parts(u)
        return self.cone.dual_matrix(num, first), self.cone.dual_matrix(num, second)

    def _floats(self, num: Arithmetic, u: Value, s: Value) -> tuple[Array, Array]:
        """U/s and W = −V/s in floats."""
        scale = float(num.mid(s)[0])
        upper, lower = (np.asarray(num.mid(part), dtype=float) for part in self._duals(num, u))
        return upper / scale, -lower / scale

    def centre(self, tilt: Array, falls: Array) -> Spectrum | None:
        """Eigenvalues and eigenvectors of a Y₀ in floats, for floats U/s and W: of the last Newton step where (U, V) is not inside."""
        return self._centres.of("centre", {"tilt": tilt.copy(), "falls": falls.copy()}, lambda _: self._centre(tilt, falls))

    def _centre(self, tilt: Array, falls: Array) -> Spectrum | None:
        if not (np.isfinite(tilt).all() and np.isfinite(falls).all()):
            return None
        size = float(np.max(np.abs(falls))) or 1.0
        shifted = tilt - math.log(size) * np.eye(self.n)  # f/‖W‖ is the f of this

        def model(values: Array, vectors: Array) -> Model:
            return _barrier(shifted, falls / size, values, vectors)

        def enough(values: Array, here: Model) -> bool:
            return float(np.linalg.norm(np.sqrt(np.outer(values, values)) * here.gradient)) <= NEAR

        return ascended(np.eye(self.n), model, enough, LARGE)

    def distance(self, num: Arithmetic, u: Value, s: Value) -> float:
        """The least eigenvalue of −V − sK, for the best known Y₀; −∞ where nothing is proven."""
        return self._slack(num, u, s)[0]

    def _slack(self, num: Arithmetic, u: Value, s: Value) -> tuple[float, float]:
        """The least eigenvalue of −V − sK, and s‖K‖ in floats; a sweep asks several times for the same multiplier."""
        return self._slacks.of(num.name, {"u": _copied(u), "s": _copied(s)}, lambda _: self._computed_slack(num, u, s))

    def _computed_slack(self, num: Arithmetic, u: Value, s: Value) -> tuple[float, float]:
        if not above(num, s).all():
            return (-math.inf, 0.0)
        tilt, falls = self._floats(num, u, s)
        near = self.centre(tilt, falls)
        proof = None if near is None else self._proof(num, u, s, tilt, near)
        return (-math.inf, 0.0) if proof is None else proof

    def _proof(self, num: Arithmetic, u: Value, s: Value, tilt: Array, near: Spectrum) -> tuple[float, float] | None:
        upper, lower = self._duals(num, u)
        second = EnclosedSpectrum.of(num, *near)
        values, vectors = _exponent(tilt, *near)
        first = None if values is None else EnclosedSpectrum.of(num, np.exp(values), vectors)
        if second is None or first is None or not np.all((first.values > 0.0) & np.isfinite(first.values)):
            return None
        slope = (first.logarithm() - second.logarithm() + num.lift(np.eye(self.n))) * s[0]
        lacks = least_bound(num, slope - upper)
        if not math.isfinite(lacks):
            return None
        rise = num.exp(num.maximum(num.lift(-lacks) / s[0], num.lift(0.0)))
        tangent = second.derivative(first.of_values(num.lift(first.values))) * (s[0] * rise)
        slack = least_bound(num, -second.turned(lower) - tangent)
        return slack, float(np.linalg.norm(np.asarray(num.mid(tangent)), 2))

    def margin(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """An entry of V may move by the slack; one of U by a t with e^{t/s} K still below."""
        slack, size = self._slack(num, u, s)
        if not slack > 0.0:
            return full(num, -1.0, self.length)
        scale = float(num.mid(s)[0])
        return full(num, min(slack, scale * math.log1p(slack / size)) if size > 0.0 else slack, self.length)

    def project(self, num: Arithmetic, u: Value, s: Value) -> Value:
        """V lowered by what it lacks; (0, −sI), which is in the domain, where nothing near is proven to be."""
        if not above(num, s).all():
            return num.zeros(self.length)
        if self.distance(num, u, s) >= 0.0:
            return u
        (upper, _), scale, eye = self.parts(u), float(num.mid(s)[0]), np.eye(self.n)
        least = self._lowered(*self._floats(num, u, s))
        if least is not None:
            edge = self.n * INSIDE * float(np.max(np.abs(least), initial=0.0))
            for number in range(TRIES):
                lowered = self.cone.coordinates(-scale * (least + edge * MORE**number * eye))
                candidate = num.concat([upper, num.lift(lowered)])
                if self.distance(num, candidate, s) >= 0.0:
                    return candidate
        return num.concat([num.zeros(self.cone.length), num.lift(self.cone.coordinates(-scale * eye))])

    def _lowered(self, tilt: Array, falls: Array) -> Array | None:
        """A W' in floats with W' ⪰ ∇f(Y₀), near W."""
        near = self.centre(tilt, falls)
        slope = None if near is None else _slope_at(tilt, near)
        return None if slope is None else slope + clipped(falls - slope)

    def conjugate(self, num: Arithmetic, u: Value, s: Value) -> Value:
        if is_zero(num, s).all():
            upper, lower = self._duals(num, u)
            return num.lift(0.0) if is_semidefinite(num, -upper) and is_semidefinite(num, -lower) else nothing(num)
        return num.lift(0.0) if self.distance(num, u, s) >= 0.0 else nothing(num)

    def remainder(self, num: Arithmetic, z: Value, u: Value, s: Value) -> Value:
        return num.pos(inner(num, s, self.value(num, z)) - inner(num, u, z))

    def declared_conjugate(self, u: cp.Expression, s: cp.Expression) -> DeclaredConjugate:
        raise Unreadable("the domain of the conjugate of a quantum relative entropy", str(u))

    def slope(self, z: Array, s: Array) -> Array:
        (p, vectors), (q, others) = (decomposed(self.cone.matrix(FLOAT, part)) for part in self.parts(z))
        tiny = np.finfo(float).tiny
        first, second = EnclosedSpectrum(FLOAT, np.maximum(p, tiny), vectors), EnclosedSpectrum(FLOAT, np.maximum(q, tiny), others)
        rises = np.asarray(first.logarithm()) - np.asarray(second.logarithm()) + np.eye(self.n)
        falls = np.asarray(second.turned_back(second.derivative(first.of_values(first.values))))
        return float(s[0]) * np.concatenate([self.cone.coordinates(rises), self.cone.coordinates(-falls)])


def _copied(x: Value) -> Value:
    """The same numbers in memory of their own."""
    return Interval(x.mid.copy(), x.rad.copy()) if isinstance(x, Interval) else np.array(x)


def _exponent(tilt: Array, values: Array, vectors: Array) -> tuple[Array | None, Array]:
    """Eigenvalues and eigenvectors of U/s − I + log Y₀; None where there are none."""
    exponent = tilt - np.eye(len(values)) + (vectors * np.log(values)) @ vectors.T
    try:
        found, turned = np.linalg.eigh((exponent + exponent.T) / 2)
    except np.linalg.LinAlgError:
        return None, vectors
    return (found, turned) if np.isfinite(found).all() and found[-1] < 700.0 else (None, vectors)


def _slope_at(tilt: Array, near: Spectrum) -> Array | None:
    """∇f(Y₀) in floats; None where it is no number."""
    exponents, vectors = _exponent(tilt, *near)
    if exponents is None:
        return None
    second = EnclosedSpectrum(FLOAT, *near)
    x = EnclosedSpectrum(FLOAT, np.exp(exponents), vectors)
    return np.asarray(second.turned_back(second.derivative(x.of_values(x.values))))


def _barrier(tilt: Array, falls: Array, values: Array, vectors: Array) -> Model:
    """tr exp(T − I + log Y) − ⟨W, Y⟩ + log det Y."""
    n = len(values)
    exponents, turned = _exponent(tilt, values, vectors)
    if exponents is None:
        return Model(-math.inf, np.zeros((n, n)), np.zeros((n * n, n * n)))
    turned, powers = vectors.T @ turned, np.exp(exponents)
    x, w = (turned * powers) @ turned.T, vectors.T @ falls @ vectors
    first = np.asarray(divided_differences(FLOAT, values))
    gaps = np.abs(exponents[:, None] - exponents)
    low = np.minimum(exponents[:, None], exponents)
    rises = np.exp(low) * np.where(gaps > 0.0, np.expm1(gaps) / np.where(gaps > 0.0, gaps, 1.0), 1.0)
    rotation = np.kron(turned, turned)  # row by row: (A ⊗ A) vec(E) = vec(A E Aᵀ)
    along = first.reshape(-1)
    curvature = logarithm_curvature(values, x) + along[:, None] * (rotation * rises.reshape(-1) @ rotation.T) * along
    curvature -= np.diag(np.outer(1.0 / values, 1.0 / values).reshape(-1))
    gradient = first * x - w + np.diag(1.0 / values)
    value = float(np.sum(powers) - np.diag(w) @ values + np.sum(np.log(values)))
    return Model(value, gradient, curvature)
