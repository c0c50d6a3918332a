r"""One M-power RLS fit without an eigendecomposition.

The secular equation needs the spectrum of K only as y sees it. So:

(A) Lanczos on K from y. Its Ritz values are a Gauss quadrature of t(μ). The secular root on them gives μ_k and the coefficients a_k = ‖y‖ V
    (T + μ_k)⁻¹ e₁. Their residual is known for nothing: ‖y − (K + μ_k) a_k‖ = β_k |last entry of (T + μ_k)⁻¹ e₁| ‖y‖.
(B) If that converges too slowly: one Cholesky factorisation of K + μ₀I, and Lanczos on (K + μ₀I)⁻¹ from y. (A) has found μ₀, right within a
    small factor. Every shift K + μI has the same Krylov space, so μ can move without another factorisation; the steps are few, since the
    inverse has few large distinct eigenvalues.
(C) If the certificate still does not close: one eigendecomposition. Small problems go there at once.

Cost: (A) k products with K, n²/2 numbers read each; (B) n³/3 flops and n² numbers of workspace; (C) about 9 n³ flops, 3 n² numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simopt.core import validate
from simopt.core.arrays import Array
from simopt.core.errors import InvalidProblem
from simopt.problems.norms import norm_power
from simopt.solvers.squares.lanczos import Lanczos
from simopt.solvers.squares.power_gap import GapBracket, column_major, power_bracket, symmetric_product, touching
from simopt.solvers.squares.secular import SecularRoot, secular_root
from simopt.solvers.squares.shifted import ShiftedInverse, factor_near
from simopt.solvers.squares.spectrum import EPSILON, decompose, drowning, resolvent, spectrum

Combination = Callable[[Array], Array]

SMALL = 100  # up to this n an eigendecomposition is as quick as anything
PROBE = 16  # Lanczos steps before a decision
STEPS_PER_SAMPLE = 1 / 25  # a Cholesky costs as much as about n/25 products with K
MOST_STEPS = 200
REFINEMENTS = 2
ACCEPTABLE = 1e-9  # gap / upper that is not worth an eigendecomposition, whose rounding is no smaller
NOISE = 0.03  # times ε max d: what rounding makes at least of an eigenvalue 0 of K
FAR = 600.0  # log μ beyond which a = y/μ to all digits, and may underflow while μa does not


@dataclass(frozen=True, eq=False)
class PowerFit:
    r"""f = Σ a_j k(·, x_j), the minimiser of (1/n) ‖y − Ka‖² + λ ‖f‖ᵐ, with its certificate.

    Attributes
    ----------
    coefficients : Array (n,)
        a = (K + μI)⁻¹ y, if need be without its part in the null space of K; 0 for f = 0.
    dual : Array (n,)
        v = (2μ/n) (K + μI)⁻¹ y, the multipliers of the rows f = Ka; its limit (2/n) y for f = 0.
    log_mu : float
        log μ; the fit is that of kernel ridge regression with n λ₂ = μ.
    bracket : Bracket
        upper bound, cancellation-free gap, ‖f‖, scale.
    method : str
        "lanczos", "cholesky" or "eigen".
    steps : int
        Lanczos steps on K and, for "cholesky", on its shifted inverse.
    """

    coefficients: Array
    dual: Array
    log_mu: float
    bracket: GapBracket
    method: str
    steps: int


def power_fit(
    gram: npt.ArrayLike, targets: npt.ArrayLike, regularization: float, power: float, *, tol: float = 1e-12, method: str = "auto"
) -> PowerFit:
    """Fit one (λ, m), m ≥ 1, to gap ≤ tol · upper where float64 allows it; the best of what was tried is returned with its gap.

    `method` forces "lanczos", "cholesky" or "eigen". K and y are not changed.

    Raises
    ------
    InvalidProblem
        data that are not finite or disagree in size, λ ≤ 0, m < 1, or an unknown method.
    """
    K, y = validate.kernel_data(gram, targets)
    regularization, power = (
        validate.finite("regularization", regularization),
        norm_power.representable("power", validate.finite("power", power)),
    )
    tol = validate.nonnegative("tol", tol)
    if method not in ("auto", "lanczos", "cholesky", "eigen"):
        raise InvalidProblem(f"method: {method!r} given, one of auto, lanczos, cholesky, eigen needed")
    run = _SingleFit(column_major(K), y, regularization, power, tol)
    if not np.any(y):
        return run.finish(np.zeros_like(y), secular_root(spectrum(np.zeros(1), np.zeros(1)), regularization, power), "lanczos", 0)
    if method == "eigen" or (method == "auto" and y.size <= SMALL):
        return run.by_eigenvectors(0)
    fit, probe = run.by_lanczos(forced=method == "lanczos", probe_only=method == "cholesky")
    if fit is not None and (method == "lanczos" or run.good(fit)):
        return fit
    shifted = run.by_cholesky(probe)
    found = [f for f in (fit, shifted) if f is not None]
    if method == "auto" and not any(f.bracket.gap <= max(tol, ACCEPTABLE) * f.bracket.upper for f in found):
        found.append(run.by_eigenvectors(sum(f.steps for f in found)))
    return min(found, key=lambda f: f.bracket.gap) if found else run.by_eigenvectors(0)


class _SingleFit:
    """One problem, and the three ways to solve it."""

    def __init__(self, gram: Array, targets: Array, regularization: float, power: float, tol: float) -> None:
        self.gram = gram
        self.targets = targets
        self.regularization = regularization
        self.power = power
        self.tol = tol

    def good(self, fit: PowerFit) -> bool:
        """Whether the gap is as small as was asked for."""
        return fit.bracket.gap <= self.tol * fit.bracket.upper

    def finish(self, a: Array, root: SecularRoot, method: str, steps: int, dual: Array | None = None) -> PowerFit:
        """Judge a with v = (2μ/n) a, or with another dual point."""
        point = np.zeros_like(a) if root.zero else a
        far = root.zero or root.log_mu > FAR
        log_mu = touching(self.gram, point, self.regularization) if self.power == 1.0 and dual is None and not far else root.log_mu
        bracket = power_bracket(self.gram, point, self.targets, log_mu, self.regularization, self.power, dual)
        if dual is None:
            dual = (2.0 / a.size) * (self.targets if far else math.exp(log_mu) * point)
        return PowerFit(point, dual, root.log_mu, bracket, method, steps)

    def point(self, combine: Combination, values: Array, coordinates: Array, root: SecularRoot) -> tuple[SecularRoot, Array, Array | None]:
        """μ, a = (K + μI)⁻¹ y and, where rounding drowns the norm of a part a₀ of a outside the range of K, also a − a₀.

        `combine` takes coordinates in the given eigenpairs of K to vectors. a − a₀ has the same f to rounding, but v = (2μ/n) a cannot do
        without a₀, and the noise √(a₀ᵀKa₀) is more than the tiny tᵐ⁻¹ of large m. Such noise belongs into the secular equation, as one
        eigenvalue δ: what K measures along a₀, but not less than rounding makes of 0. For m > 2 it raises t and so lifts μ far above δ.
        For m ≤ 2 it would press μ down, and is left out.
        """
        weights = _shifted(values, coordinates, root.log_mu)
        lost = drowning(np.maximum(values, 0.0), weights)
        if not np.any(lost):
            return root, combine(weights), None
        if self.power > 2.0:
            part = combine(np.where(lost, coordinates, 0.0) / float(np.max(np.abs(coordinates[lost]))))
            measured = float(part @ symmetric_product(self.gram, part)) / float(part @ part)
            values = np.where(lost, max(measured, NOISE * EPSILON * float(np.max(values))), values)
            root = self.root(values, coordinates, floor=0.0)
            weights = _shifted(values, coordinates, root.log_mu)
        return root, combine(weights), combine(np.where(lost, 0.0, weights))

    def certified(self, root: SecularRoot, a: Array, bare: Array | None, method: str, steps: int) -> PowerFit:
        """Judge a = (K + μI)⁻¹ y and, if there is one, `bare` with the dual point of a; the better of them."""
        fit = self.finish(a, root, method, steps)
        if bare is None:
            return fit
        return min(fit, self.finish(bare, root, method, steps, fit.dual), key=lambda f: f.bracket.gap)

    def root(self, values: Array, coordinates: Array, floor: float | None = None) -> SecularRoot:
        """The root μ of the secular equation, from the eigenvalues of K and the coordinates of y."""
        seen = spectrum(values, coordinates, samples=self.targets.size, floor=floor)
        return secular_root(seen, self.regularization, self.power)

    def by_eigenvectors(self, steps: int) -> PowerFit:
        """The fit from a full eigendecomposition."""
        system = decompose(self.gram, self.targets)
        root = secular_root(system.spectrum, self.regularization, self.power)
        if root.zero:
            return self.finish(self.targets, root, "eigen", steps)
        found = self.point(lambda weights: system.vectors @ weights, system.eigenvalues, system.coordinates, root)
        return self.certified(*found, "eigen", steps)

    def by_lanczos(self, *, forced: bool, probe_only: bool) -> tuple[PowerFit | None, SecularRoot]:
        """The fit from a Krylov space of K and y, with the root found there; None as the fit where that space would grow too large.

        After k steps (K + μI)a = y has the residual β_k |z_k|; its square over n is to be at most a tenth of tol times the objective.
        """
        n = self.targets.size
        limit = n if forced else max(PROBE, min(MOST_STEPS, int(n * STEPS_PER_SAMPLE)))
        process = Lanczos(lambda v: symmetric_product(self.gram, v), self.targets, min(limit, MOST_STEPS if not forced else n))
        history: list[tuple[int, float]] = []
        check = PROBE // 2
        while True:
            process.step()
            if not (process.steps >= check or process.full or process.exhausted):
                continue
            check = process.steps + max(4, process.steps // 8)
            theta, vectors = process.ritz()
            coordinates = process.length * vectors[0]
            root = self.root(theta, coordinates)
            if root.zero:
                return self.finish(self.targets, root, "lanczos", process.steps), root  # yᵀKy is exact from the first step on
            z = vectors @ _shifted(theta, coordinates, root.log_mu)
            residual = process.beta[-1] * abs(float(z[-1]))
            history.append((process.steps, residual))
            close = process.exhausted or residual * residual / n <= 0.1 * self.tol * self.value(root, theta, coordinates)
            enough = process.full or (process.steps >= PROBE and (probe_only or (not forced and self.predicted(history, root) > limit)))
            if close or enough:
                found = self.point(process.combination(vectors), theta, coordinates, root)
                return self.certified(*found, "lanczos", process.steps) if close else None, found[0]

    def value(self, root: SecularRoot, theta: Array, coordinates: Array) -> float:
        """The objective, as the quadrature sees it."""
        shrunk = math.exp(min(root.log_mu, 700.0)) * _shifted(theta, coordinates, root.log_mu)
        norm = math.exp(self.power * root.log_norm + math.log(self.regularization))
        return float(shrunk @ shrunk) / self.targets.size + norm

    def predicted(self, history: list[tuple[int, float]], root: SecularRoot) -> float:
        """Steps at which the residual will be small enough, if it goes on falling geometrically."""
        (k, residual), (earlier, before) = history[-1], history[-2]
        goal = math.sqrt(0.1 * self.tol) * 1e-2 * float(np.linalg.norm(self.targets))
        if residual <= goal or residual == 0.0:
            return float(k)
        rate = (math.log(before) - math.log(residual)) / (k - earlier)
        return k + (math.log(residual) - math.log(goal)) / rate if rate > 0.0 else math.inf

    def by_cholesky(self, probe: SecularRoot) -> PowerFit | None:
        """The fit from one Cholesky factor of K + μ₀I, with μ₀ near the root of `probe`, and Lanczos on its inverse; n³/3 flops.

        The inverse's Krylov space resolves the spectrum of K near −μ₀, where the root is. None if there is no factor or the fit is 0.
        """
        if probe.zero:
            return None
        inverse = factor_near(self.gram, probe.log_mu)
        if inverse is None:
            return None
        shift = inverse.shift
        process = Lanczos(inverse, self.targets, min(60, self.targets.size))
        goal = math.sqrt(0.1 * self.tol)
        while True:
            process.step()
            if process.steps < 2 and not (process.full or process.exhausted):
                continue
            ritz, vectors = process.ritz()
            coordinates = process.length * vectors[0]
            positive = ritz > 0.0
            theta = np.where(positive, 1.0 / np.where(positive, ritz, 1.0) - shift, 0.0)
            root = self.root(theta, coordinates)
            if root.zero:
                return None
            mu = math.exp(root.log_mu)
            weights = ritz / (1.0 + (mu - shift) * ritz) * coordinates
            z = vectors @ weights
            mismatch = abs(mu - shift) * process.beta[-1] * abs(float(z[-1]))
            # The estimate is of the residual multiplied by (K + μ₀I)⁻¹; what it misses, refinement repairs.
            if process.full or process.exhausted or mismatch <= goal * 1e-2 * float(np.linalg.norm(z)):
                break
        return self.refined(*self.point(process.combination(vectors), theta, coordinates, root), inverse, PROBE + process.steps)

    def refined(self, root: SecularRoot, a: Array, bare: Array | None, inverse: ShiftedInverse, steps: int) -> PowerFit:
        """Iterative refinement with the factor at hand: it contracts by |μ − μ₀| / (d + μ₀) along an eigenvector."""
        best = self.certified(root, a, bare, "cholesky", steps)
        mu = math.exp(root.log_mu)
        for _ in range(REFINEMENTS):
            if self.good(best):
                break
            change = inverse(self.targets - symmetric_product(self.gram, a) - mu * a)
            a, bare = a + change, None if bare is None else bare + change
            best = min(best, self.certified(root, a, bare, "cholesky", steps), key=lambda f: f.bracket.gap)
        return best


def _shifted(theta: Array, coordinates: Array, log_mu: float) -> Array:
    return resolvent(np.maximum(theta, 0.0), coordinates, log_mu)
