r"""Theorem 1 (Theorem 2 of Appendix C): M-RLSR through the root of one scalar equation; its proof, and the shape of that equation.

K = Q diag(d) Qᵀ, y' = QᵀY, α = Q α' and α'_i = 2 y'_i / (2 d_i + λ m n C). And F(C) = (Σ 4 d_i y'_i² / (2 d_i + λ m n C)²)^{m/2−1} − C. The
theorem is true where K Y ≠ 0 (AK-T1+); the proof needs that too, and an α up to the null space of K.

**What α must verify.** The gradient of ‖Y − Ka‖² + nλ (aᵀKa)^{m/2} at a with Ka ≠ 0 is −2K(Y − Ka − λ(mn/2)(aᵀKa)^{m/2−1} a), so that α
is determined up to the null space of K. The paper leaves the K out of the Gâteaux derivative of (12).
**K Y = 0.** Small problems with integer data, m = 4 and λ = 1, are decided exactly: with n = 2, α(C) = (K + 4C I)⁻¹ Y is a formula.
**The shape of F.** F(C) = g(C) − C, g = S^{m/2−1}, S = Σ 4 d_i y'_i² / (2 d_i + λ m n C)². S^{−1/2} is a concave, increasing function of C
(a power mean with exponent −2 of affine functions). So g = (S^{−1/2})^{2−m} is increasing and concave for 1 < m < 2, constant for m = 2,
decreasing and convex for m > 2. F has one root in each case, for which Newton's method is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import scipy.optimize

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solving.entry_points import certify
from simopt.theorems.ak.rational_power import duality_map, fractional, objective, secular, square_norm_vector, squared_path_norm
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, random_samples

POWERS = (1.1, 1.5, 1.9, 2.0, 2.1, 3.0, 5.0)


def gram_and_targets(rng: np.random.Generator, kind: str) -> tuple[Array, Array]:
    """A Gaussian kernel, a linear kernel on few dimensions (K of low rank), or the Gaussian kernel with repeated points."""
    n = int(rng.integers(2, 9))
    if kind == "linear":
        X = rng.normal(size=(n, int(rng.integers(1, 4))))
        X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
        return X @ X.T, rng.normal(size=n)
    X = rng.normal(size=(n, 2))
    if kind == "repeated":
        X[n // 2 :] = X[: n - n // 2]
    return np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)), rng.normal(size=n)


def problems_with_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Kernels of every kind with ‖K Y‖ ≥ ‖K‖‖Y‖/10, λ from 0.1 to 1e6; three of them also for CLARABEL.

    For m near 1 λ stops earlier, where ‖f‖ ~ λ^{−1/(m−1)} gets so small beside Y that no certificate in float64 sees it. Nor does one see
    f where Y is all but orthogonal to the range of a K of low rank.
    """
    kinds = ("gaussian", "linear", "repeated")
    for i in range(trial.count(42, 420)):
        K, y = gram_and_targets(trial.rng, kinds[i % 3])
        while np.linalg.norm(K @ y) < 0.1 * np.linalg.norm(K, 2) * np.linalg.norm(y):
            K, y = gram_and_targets(trial.rng, kinds[i % 3])
        power = POWERS[i % 7]
        strength = 10.0 ** trial.rng.uniform(-1, min(6.0, 10 * (power - 1)))
        yield {"gram": K, "targets": y, "regularization": strength, "power": power, "declared": False}
    for power, strength in ((1.5, 0.1), (3.0, 0.01), (1.1, 0.3)):
        K, y = gram_and_targets(trial.rng, "gaussian")
        yield {"gram": K, "targets": y, "regularization": strength, "power": power, "declared": True}


def problems_without_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K Y = 0 with Y ≠ 0."""
    for power in POWERS:
        yield {"gram": np.ones((2, 2)), "targets": np.array([1.0, -1.0]), "regularization": 1.0, "power": power, "declared": False}


def positive_root(F: Callable[[float], float]) -> float | None:
    """A sign change of F on (e^-700, e^700), by bisection in log C; None where there is none."""
    low, high = -1.0, 1.0
    while low > -600 and not F(math.exp(low)) > 0:
        low *= 2
    while high < 600 and not F(math.exp(high)) < 0:
        high *= 2
    if not (F(math.exp(low)) > 0 > F(math.exp(high))):
        return None
    s = scipy.optimize.brentq(lambda u: F(math.exp(u)) * math.exp(-max(u, 0.0)), low, high, xtol=1e-15, rtol=1e-15, maxiter=500)
    return math.exp(s)


def eigenvalues_without_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = [[1, 1], [1, 1]] and Y = (1, −1) in the eigenvectors of K, Y divided by √2: K Y = 0."""
    yield {"d": [2, 0], "y": [0, 1], "lam": 1, "power": 4, "C": 1}


def eigenvalues_with_signal(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same K with Y = (1, 1)."""
    yield {"d": [2, 0], "y": [1, 0], "lam": 1, "power": 4, "C": 1}


@sc.claim(
    "AK-T1",
    place="Theorem 1 (Theorem 2 in Appendix C)",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"Let m > 1, λ > 0 and K positive semidefinite. For every Y the vector α(C) = Q α', α'_i = 2y'_i/(2d_i + λmnC), is the solution "
    r"of (8) if and only if C = C₀, the one root of F(C) = (Σ 4d_i y'_i²/(2d_i + λmnC)²)^{m/2−1} − C; so for C > 0 and m > 2 the sum that "
    r"gives F is not 0, because otherwise F(C) = −C has no root but 0, while every α(C) solves (8).",
    instances=eigenvalues_without_signal,
    resolution=0.0,
    mutants={"K Y ≠ 0": {"instances": eigenvalues_with_signal}},
    note="K Y = 0, Y ≠ 0: f_Z = 0, and Kα(C) = 0 for every C > 0, so that all of them solve (8) and 'only if' fails; α' is 0/0 at the root "
    "C₀ = 0. K invertible with Y ≠ 0 would do; the paper asks for neither. See AK-T1deg for the step of the proof.",
)
def only_one_constant_solves(d: list[int], y: list[int], lam: int, power: int, C: int) -> Iterator[sc.Check]:
    """Σ 4d_i y'_i²/(2d_i + λmnC)² = α(C)ᵀKα(C) at one C > 0."""
    d, y, lam, m, C = sc.inputs(d=d, y=y, lam=lam, m=power, C=C)
    parts = [4 * a * b**2 / (2 * a + lam * m * len(d) * C) ** 2 for a, b in zip(d, y, strict=True)]
    yield sc.at_least(sc.total(parts), 0, "α(C)ᵀKα(C)", strict=True)


@sc.claim(
    "AK-T1+",
    place="Theorem 1 (Theorem 2 in Appendix C), corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let m > 1, λ > 0, K positive semidefinite and **K Y ≠ 0**. For C > 0, α(C) = Q α', α'_i = 2y'_i/(2d_i + λmnC), gives the "
    r"minimiser of (1/n)‖Y − Kα‖² + λ(αᵀKα)^{m/2} if and only if C = C₀, the one root of F(C) = (Σ 4d_i y'_i²/(2d_i + λmnC)²)^{m/2−1} − C.",
    instances=problems_with_signal,
    resolution=1e-6,
    knobs={"exponent": -1.0, "samples": 1},
    mutants={
        "exponent m/2 − 1/2": {"exponent": -0.5},
        "λmC without n": {"samples": 0},
        "K Y = 0": {"instances": problems_without_signal},
    },
    corrects="AK-T1",
    note="K Y ≠ 0 is missing in the paper (AK-T1, AK-T1deg). The root is found by bisection of F as printed; the judge of α(C₀) is the "
    "duality gap, which knows nothing of F, and for three problems the bracket of CLARABEL on the declared power-cone problem.",
)
def root_of_secular_function_solves(
    gram: Array, targets: Array, regularization: float, power: float, declared: bool, trial: sc.Trial
) -> Iterator[sc.Check]:
    """α(C₀) is the solution within its certified radius; α at C₀/2, …, 2 C₀ lies farther from it than that."""
    problem = MPowerRLS(gram, targets, PowerPenalty(regularization, power))
    n, m = len(problem.targets), problem.power
    d, Q = np.linalg.eigh(problem.gram)
    d = np.where(d > n * np.finfo(float).eps * d[-1], d, 0.0)
    y = Q.T @ problem.targets
    factor = problem.regularization * m * n ** trial["samples"]

    def F(C: float) -> float:
        seen = d > 0
        S = float(np.sum(d[seen] * (2 * y[seen] / (2 * d[seen] + factor * C)) ** 2))
        return S ** (m / 2 + trial["exponent"]) - C if S > 1e-290 else math.nan

    C0 = positive_root(F)
    if C0 is None:
        yield sc.true(False, "F has a root C₀ > 0")
        return

    def coordinates(C: float) -> Array:
        # What K does not see (d_i = 0) changes neither Kα nor αᵀKα; divided by a small μ it would only drown the certificate.
        alpha: Array = np.where(d > 0, 2 * y / (2 * d + factor * C), 0.0)
        return alpha

    point = {"alpha": Q @ coordinates(C0)}
    certificate = certify(problem, point)
    norm = float(np.linalg.norm(np.sqrt(d) * coordinates(C0)))
    radius = problem.distance(certificate.gap, point)
    yield sc.at_most(0.0, 0, "α(C₀) is the solution, to the radius of its certificate relative to ‖f‖", error=radius / norm)
    for share in (0.5, 0.9, 1.1, 2.0):
        C = share * C0
        yield sc.at_least((1 - share) * F(C) / C, 0, f"F changes sign at C₀ only, C = {share} C₀", strict=True)
        apart = float(np.linalg.norm(np.sqrt(d) * (coordinates(C) - coordinates(C0))))
        yield sc.distinct(apart / norm, 0, f"α({share} C₀) is not the solution", error=radius / norm)
    if declared:
        import simopt

        solution = simopt.solve(problem, "clarabel", tol=1e-7)
        other = solution.certificate
        yield sc.true(other is not None, "CLARABEL returned a point")
        if other is not None:
            yield sc.at_most(other.relative_gap, 0, "width of CLARABEL's bracket")
            common = min(certificate.upper, other.upper) - max(certificate.lower, other.lower)
            yield sc.at_least(common, 0, "the brackets overlap", scale=certificate.scale)


def singular(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One input seen twice, KRR at λ = 1: a solution that is not the one of (5)."""
    yield {"gram": [[1, 1], [1, 1]], "targets": [2, 2], "alpha": [1, 0]}


def invertible(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = I."""
    yield {"gram": [[1, 0], [0, 1]], "targets": [3, 3], "alpha": [1, 1]}


@sc.claim(
    "AK-T1sys",
    place="Appendix C, proof, after (12)",
    kind=sc.EQUIVALENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"Let m > 1, λ > 0 and K positive semidefinite. A solution α of (12), min ‖Y − Ka‖² + nλ (aᵀKa)^{m/2}, must verify "
    r"Y = Kα + λ(mn/2)(αᵀKα)^{m/2−1} α.",
    instances=singular,
    mutants={"K invertible": {"instances": invertible}},
    note="m = 2, λ = 1, K = [[1, 1], [1, 1]], Y = (2, 2): α = (1, 0) solves (12), since the objective at a exceeds that at α by a sum of "
    "squares, and Kα + 2α = (3, 1). The derivative is K times the equation, which K invertible would allow to cancel. The theorem is "
    "not touched: the α of (5) does verify it.",
)
def solution_verifies_the_system(gram: list[list[int]], targets: list[int], alpha: list[int]) -> Iterator[sc.Check]:
    """At m = 2, λ = 1: how much the objective at a = (p, q) exceeds that at α, in symbols, and the equation."""
    a = sc.symbols("p q")
    apart = minus(a, alpha)
    moved = matvec(gram, apart)
    rise = dot(moved, moved) + 2 * dot(apart, moved)
    check = sc.equal(ridge_objective(gram, targets, a) - ridge_objective(gram, targets, alpha), rise, "α solves (12)")
    K, Y, alpha = sc.inputs(K=gram, Y=targets, alpha=alpha)
    for y, fitted, own in zip(Y, matvec(K, alpha), alpha, strict=True):
        yield sc.equal(y, fitted + 2 * own, "Y = Kα + nλα").assuming(check)


def matvec(K: Any, a: Sequence[Any]) -> list[Any]:
    """K a."""
    return [sc.total(k * b for k, b in zip(row, a, strict=True)) for row in K]


def ridge_objective(K: Any, Y: Sequence[Any], a: Sequence[Any]) -> Any:
    """‖Y − Ka‖² + 2 aᵀKa: (12) at m = 2, λ = 1, n = 2."""
    fitted = matvec(K, a)
    return sc.total((y - f) ** 2 for y, f in zip(Y, fitted, strict=True)) + 2 * dot(a, fitted)


def solutions(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Three or four samples of the plane, so that K is singular, with targets for which a chosen α is a solution; 2m a whole number."""
    made = 0
    while made < trial.count(24, 240):
        samples = random_samples(trial.rng, int(trial.rng.integers(3, 5)))
        x = [point for _, point, _ in samples]
        if x[0][0] * x[1][1] == x[0][1] * x[1][0]:
            continue
        made += 1
        w, r = square_norm_vector(trial.rng)
        other, root_of_other = square_norm_vector(trial.rng)
        weights = [[Fraction(int(k), 4) for k in trial.rng.integers(-4, 5, size=len(x) - 2)] for _ in range(4)]
        weights[2][0] = weights[2][0] or Fraction(1)
        yield {
            "inputs": x,
            "power": Fraction(int(trial.rng.integers(3, 9)), 2),
            "lam": Fraction(2) ** int(trial.rng.integers(-4, 5)),
            "w": w,
            "root": r,
            "alpha": combination(x, w, weights[0]),
            "rest": combination(x, [0, 0], weights[1]),  # the part of Y that K does not see
            "null": combination(x, [0, 0], weights[2]),
            "other": other,
            "root of other": root_of_other,
            "alpha of other": combination(x, other, weights[3]),
        }


def combination(x: Sequence[Any], goal: Sequence[Any], weights: Sequence[Fraction]) -> list[Fraction]:
    """Coefficients a with Σ a_i x_i = goal, of which all but the first two are given."""
    left = [goal[j] - sum((a * point[j] for a, point in zip(weights, x[2:], strict=True)), Fraction(0)) for j in range(2)]
    (a, c), (b, d) = x[:2]
    determinant = a * d - b * c
    return [(left[0] * d - left[1] * b) / determinant, (left[1] * a - left[0] * c) / determinant, *weights]


def function(x: Sequence[Any], a: Sequence[Any]) -> list[Any]:
    """w = Σ a_i x_i."""
    return [dot(a, [point[j] for point in x]) for j in range(2)]


@sc.claim(
    "AK-T1sys+",
    place="Appendix C, proof, after (12), corrected",
    kind=sc.EQUIVALENCE,
    says=r"Let m > 1, λ > 0, K positive semidefinite and Kα ≠ 0. α solves (12) if and only if **K(Y − Kα − λ(mn/2)(αᵀKα)^{m/2−1} α) = 0**. "
    r"With α every α + v with Kv = 0 is a solution, of the same function f, and exactly one of these, the α of (5), verifies the "
    r"equation without K in front.",
    instances=solutions,
    resolution=0.0,
    knobs={"projected": True, "factor": Fraction(1)},
    mutants={"without K in front": {"projected": False}, "λmn for λmn/2": {"factor": Fraction(2)}},
    corrects="AK-T1sys",
    note="With s = λ(mn/2)‖f‖^{m−2} > 0, which f alone decides, Y = Kα + sα has the one solution α = (Y − (f(x_i))_i)/s; from another α "
    "the vector (Y − Kα − sα)/s, which K makes 0, leads there. Y is made from α, which has (αᵀKα)^{1/2} the square of a rational. "
    "Solutions are recognised by comparing the objective with that at other functions.",
)
def solution_up_to_the_null_space(
    instance: sc.Instance,
    inputs: list[list[Fraction]],
    power: Fraction,
    lam: Fraction,
    w: list[Fraction],
    root: Fraction,
    alpha: list[Fraction],
    null: list[Fraction],
    rest: list[Fraction],
    other: list[Fraction],
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """A family of solutions, another function that is none, and the objective at both and between them."""
    x, m = inputs, power
    n = len(x)
    K = [[dot(one, two) for two in x] for one in x]

    def strength(norm_root: Fraction) -> Any:
        """λ(mn/2)‖f‖^{m−2}, ‖f‖ = norm_root²."""
        return lam * m * n / 2 * duality_map([Fraction(1)], norm_root**2, m, norm_root)[0]

    def apply(a: Sequence[Fraction]) -> list[Fraction]:
        """K a."""
        return [dot(row, a) for row in K]

    def residual(a: Sequence[Fraction], norm_root: Fraction, factor: Fraction) -> list[Fraction]:
        """Y − Ka − factor · λ(mn/2)(aᵀKa)^{m/2−1} a."""
        return [y - f - factor * strength(norm_root) * c for y, f, c in zip(targets, apply(a), a, strict=True)]

    own = strength(root)
    targets = [f + own * c + z for f, c, z in zip(apply(alpha), alpha, rest, strict=True)]
    for t in (0, 1, -3):
        moved = [c + t * v for c, v in zip(alpha, null, strict=True)]
        found = residual(moved, root, trial["factor"])
        yield sc.equal(apply(found) if trial["projected"] else found, [0] * n, f"α + {t}v")
        yield sc.equal(function(x, moved), w, f"the function of α + {t}v")
    unique = [c + z / own for c, z in zip(alpha, rest, strict=True)]
    yield sc.equal(residual(unique, root, Fraction(1)), [0] * n, "one solution verifies the equation without K")
    yield sc.distinct(residual([c + v for c, v in zip(unique, null, strict=True)], root, Fraction(1)), [0] * n, "no other does")
    samples: list[Sample] = [(1, point, y) for point, y in zip(x, targets, strict=True)]
    least = objective(samples, w, lam, m)
    if other != w:
        for part in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(-1, 10)):
            another = [a + part * (b - a) for a, b in zip(w, other, strict=True)]
            yield sc.at_least(objective(samples, another, lam, m), least, "objective of another function", strict=True)
        missed = residual(instance["alpha of other"], instance["root of other"], Fraction(1))
        yield sc.distinct(apply(missed), [0] * n, "a function that is no solution")


SHIFTS = (Fraction(1, 1000), Fraction(1), Fraction(10))


def small_problems(trial: sc.Trial) -> Iterator[sc.Instance]:
    """K = F Fᵀ ≠ 0 with F in {−1, 0, 1}^{2×2} and Y in {−1, 0, 1}², Y ≠ 0, each once."""
    grams = {(a * a + b * b, a * c + b * e, c * c + e * e) for a, b, c, e in product((-1, 0, 1), repeat=4)}
    for a, b, c in sorted(grams - {(0, 0, 0)}):
        for Y in product((-1, 0, 1), repeat=2):
            if any(Y):
                yield {"gram": [[a, b], [b, c]], "targets": list(Y)}


def invertible_problems(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Those with det K ≠ 0."""
    for instance in small_problems(trial):
        (a, b), (_, c) = instance["gram"]
        if a * c != b * b:
            yield instance


def path_norm(K: Any, Y: Any, C: Fraction) -> Any:
    """(αᵀKα)^{m/2−1} at α = (K + (λmn/2) C I)⁻¹ Y, for λ = 1, m = 4, n = 2: the first term of F(C)."""
    (a, b), (_, c) = K
    shift = 4 * sc.rational(C)
    p, q = a + shift, c + shift
    alpha = [(q * Y[0] - b * Y[1]) / (p * q - b * b), (p * Y[1] - b * Y[0]) / (p * q - b * b)]
    return quadratic(K, alpha)


def quadratic(K: Any, u: Any) -> Any:
    """uᵀKu."""
    return sc.total(u[i] * K[i][j] * u[j] for i in range(2) for j in range(2))


def value(K: Any, Y: Any, a: Any) -> Any:
    """(1/2)‖Y − Ka‖² + (aᵀKa)²."""
    misfit = sc.total((Y[i] - K[i][0] * a[0] - K[i][1] * a[1]) ** 2 for i in range(2))
    return misfit / 2 + quadratic(K, a) ** 2


@sc.claim(
    "AK-T1deg",
    place="Appendix C, proof, after (13)",
    kind=sc.EXISTENCE,
    expected=sc.REFUTED,
    defect=sc.MISSING_HYPOTHESIS,
    says=r"In (13), C = (Σ d_j α'_j²)^{m/2−1} = 0 only if Y = 0: for every K ⪰ 0, Y ≠ 0 and every C > 0 the sum at α(C) is positive, so "
    r"that F is defined and has a root C₀ > 0. (Tried at m = 4, λ = 1, n = 2.)",
    instances=small_problems,
    exhaustive=True,
    mutants={"K invertible": {"instances": invertible_problems}},
    note="K = [[1, 1], [1, 1]], Y = (1, −1): the sum is 0 for every C, so f = 0 and α' = 0/0 at C₀ = 0 (m > 2), 0 to a negative power "
    "(m < 2).",
)
def only_zero_targets_are_degenerate(gram: list[list[int]], targets: list[int]) -> Iterator[sc.Check]:
    """The first term of F at three values of C."""
    K, Y = sc.inputs(K=gram, Y=targets)
    for C in SHIFTS:
        yield sc.at_least(path_norm(K, Y, C), 0, f"(Σ d α'²)^(m/2−1) at C = {C}", strict=True)


def product_with_gram(K: Any, Y: Any) -> list[Any]:
    """K Y."""
    return [K[i][0] * Y[0] + K[i][1] * Y[1] for i in range(2)]


def targets_alone(K: Any, Y: Any) -> list[Any]:
    """Y."""
    return list(Y)


@sc.claim(
    "AK-T1deg+",
    place="Appendix C, proof, after (13), corrected",
    kind=sc.EXISTENCE,
    says=r"For m > 1 and λ > 0 the sum Σ d_j α'_j² at α(C) vanishes (for one C > 0, and then for all) if and only if K Y = 0, and this "
    r"is exactly when f = 0 solves (8). (Tried at m = 4, λ = 1, n = 2: if K Y = 0 no a gives less than a = 0; if K Y ≠ 0 some a = εKY, "
    r"even ε = 1/64, does.)",
    remains="problems other than those listed: other n, K, Y, m and λ",
    instances=small_problems,
    exhaustive=True,
    knobs={"criterion": product_with_gram},
    mutants={"Y = 0 instead of K Y = 0": {"criterion": targets_alone}},
    corrects="AK-T1deg",
    note="For all problems: the terms are 4d_j y'_j²/(2d_j + λmnC)², which are all 0 iff all d_j y'_j are, that is K Y = 0. As m > 1, (8) "
    "has at 0 the gradient −(2/n) Σ y_i k(x_i, ·), of square 4YᵀKY/n². The proof file covers the problems listed: all K = F Fᵀ and Y with "
    "entries of F and Y in {−1, 0, 1}, Y ≠ 0.",
)
def degenerate_iff_no_signal(gram: list[list[int]], targets: list[int], trial: sc.Trial) -> Iterator[sc.Check]:
    """Sum and objective on both sides of the criterion."""
    degenerate = not any(trial["criterion"](gram, targets))
    K, Y = sc.inputs(K=gram, Y=targets)
    for C in SHIFTS:
        term = path_norm(K, Y, C)
        yield sc.equal(term, 0, "the sum is 0") if degenerate else sc.at_least(term, 0, "the sum is positive", strict=True)
    at_zero = value(K, Y, [0, 0])
    if degenerate:
        a = sc.symbols("a b")
        rise = sc.total(entry**2 for entry in product_with_gram(gram, a)) / 2 + quadratic(gram, a) ** 2
        yield sc.equal(value(gram, targets, a) - value(gram, targets, [0, 0]), rise, "objective at a and at 0: squares")
    else:
        step = [entry / 64 for entry in product_with_gram(K, Y)]
        yield sc.at_most(value(K, Y, step), at_zero, "objective at KY/64 and at 0", strict=True)


PROOF = "Appendix C, end of the proof"


def unit_problem(trial: sc.Trial) -> Iterator[sc.Instance]:
    """n = d = y = λ = 1 at C = 0, 1, 2."""
    for m in (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(6)):
        yield {"power": m}


def unit_problem_below_two(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same for 1 < m < 2."""
    for m in (Fraction(9, 8), Fraction(5, 4), Fraction(3, 2), Fraction(7, 4)):
        yield {"power": m}


@sc.claim(
    "AK-T1conc",
    place=PROOF,
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"For every m > 1 F is strictly concave on [0, ∞). (Tried at n = d = y = λ = 1: F(0) − 2F(1) + F(2) < 0.)",
    instances=unit_problem,
    resolution=0.0,
    mutants={"1 < m < 2": {"instances": unit_problem_below_two}},
    note="The second differences are 0 at m = 2, 184/225 at m = 4, 305055/307328 at m = 6 (AK-T1conc-values): F is linear at m = 2 and "
    "strictly convex for m > 2. Uniqueness of the root survives (AK-T1conc+).",
)
def secular_function_is_concave(power: Fraction) -> Iterator[sc.Check]:
    """The second difference."""
    F = [secular([1], [1], 1, power, C) for C in (0, 1, 2)]
    yield sc.at_most(F[0] - 2 * F[1] + F[2], 0, f"second difference, m = {power}", strict=True)


def one_point(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The data of the exact values."""
    yield {"d": 1, "y": 1, "lam": 1}


@sc.claim(
    "AK-T1conc-values",
    place=PROOF + ", our values",
    kind=sc.COUNTEREXAMPLE,
    says=r"At n = d = y = λ = 1 the second difference F(0) − 2F(1) + F(2) is 0 for m = 2, 184/225 for m = 4 and 305055/307328 for m = 6; "
    r"concavity, with F(0) = 1 > 0, would need it to be negative.",
    instances=one_point,
    exhaustive=True,
    knobs={"step": 1},
    mutants={"C = 0, 2, 4": {"step": 2}},
)
def second_differences_by_hand(d: int, y: int, lam: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """Rational, because m/2 − 1 is a whole number."""
    d, y, lam = sc.inputs(d=d, y=y, lam=lam)
    for m, expected in ((2, Fraction(0)), (4, Fraction(184, 225)), (6, Fraction(305055, 307328))):
        F = [secular([d], [y], lam, Fraction(m), k * trial["step"]) for k in range(3)]
        yield sc.equal(F[0] - 2 * F[1] + F[2], expected, f"m = {m}")


def rational_spectra(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Up to four eigenvalues (one of them 0 at times), three values of C, and every kind of power."""
    powers = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(2), Fraction(9, 4), Fraction(3), Fraction(4), Fraction(6))
    for i in range(trial.count(48, 480)):
        n = int(trial.rng.integers(1, 5))
        d = [Fraction(int(k), 4) for k in trial.rng.integers(0, 17, size=n)]
        d[0] = max(d[0], Fraction(1, 4))
        y = [Fraction(int(k), 4) for k in trial.rng.integers(1, 9, size=n)]
        at = sorted(Fraction(int(k), 16) for k in trial.rng.choice(np.arange(1, 160), size=3, replace=False))
        yield {"d": d, "y": y, "lam": Fraction(2) ** int(trial.rng.integers(-4, 5)), "power": powers[i % 8], "C": at}


@sc.claim(
    "AK-T1conc+",
    place=PROOF + ", corrected",
    kind=sc.INEQUALITY,
    says=r"Let λ > 0 and K Y ≠ 0. F is strictly concave on (0, ∞) for 1 < m < 2, affine for m = 2 and strictly convex for m > 2; it is "
    r"strictly decreasing for m ≥ 2. In each case F > 0 near 0 and F → −∞, so that F has exactly one root.",
    instances=rational_spectra,
    resolution=0.0,
    knobs={"concave below": Fraction(2), "decreasing from": Fraction(2)},
    mutants={
        "concave for every m": {"concave below": Fraction(100)},
        "decreasing for every m > 1": {"decreasing from": Fraction(1)},
    },
    corrects="AK-T1conc",
    note="Divided differences over three rational points, powers as enclosures. The argument is in the head of theorem_1.py.",
)
def secular_function_has_this_shape(
    d: list[Fraction], y: list[Fraction], lam: Fraction, power: Fraction, C: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """Divided differences of g = F + C, monotonicity, and the signs at both ends."""
    m = power

    def F(at: Any) -> Any:
        return secular(d, y, lam, m, at)

    values = [F(at) for at in C]
    slopes = [(values[i + 1] - values[i]) / (C[i + 1] - C[i]) for i in range(2)]
    second = slopes[1] - slopes[0]
    if m < trial["concave below"]:
        yield sc.at_most(second, 0, f"change of slope, m = {m}", strict=True)
    elif m == 2:
        yield sc.equal(second, 0, "change of slope, m = 2")
    else:
        yield sc.at_least(second, 0, f"change of slope, m = {m}", strict=True)
    if m >= trial["decreasing from"]:
        yield sc.at_most(slopes, 0, f"slope, m = {m}", strict=True)
    yield sc.at_least(F(Fraction(1, 10**30)), 0, "F near 0", strict=True)
    yield sc.at_most(F(Fraction(10) ** 30), 0, "F far out", strict=True)


def newton_problems(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Random spectra, λ from 1e-3 to 1e6, starts at 0 (m ≥ 2) or up to 10⁴ times the root (1 < m < 2); and the paper-sized example."""
    yield {"d": np.ones(1), "y": np.ones(1), "lam": 10.0, "power": 1.5, "start": 100.0}
    for i in range(trial.count(56, 560)):
        n = int(trial.rng.integers(1, 7))
        d, y = trial.rng.exponential(size=n), trial.rng.normal(size=n)
        lam = float(10.0 ** trial.rng.uniform(-3, 6))
        power = (1.1, 1.5, 1.9, 2.0, 2.1, 3.0, 5.0)[i % 7]
        yield {"d": d, "y": y, "lam": lam, "power": power, "start": 0.0 if power >= 2 else float(10.0 ** trial.rng.uniform(0.2, 4))}


def newton_from_zero(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same, all from C = 0."""
    for instance in newton_problems(trial):
        yield instance | {"start": 0.0}


def newton_iterates(F: Callable[[float], tuple[float, float]], start: float, limit: int) -> list[float]:
    """C ← C − F/F' until it stands still, leaves [0, ∞) or has taken `limit` steps."""
    path = [start]
    while len(path) <= limit:
        value, slope = F(path[-1])
        path.append(path[-1] - value / slope)
        if path[-1] < 0 or abs(path[-1] - path[-2]) <= 4e-16 * abs(path[-1]):
            break
    return path


@sc.claim(
    "AK-T1newt",
    place="after Theorem 1",
    kind=sc.ALGORITHM,
    says=r"Let λ > 0 and K Y ≠ 0. Newton's method on F converges monotonically to C₀, **from any start right of C₀ if 1 < m < 2**, and "
    r"from C = 0 (any start in [0, C₀]) if m ≥ 2. (On the data tried, with 1.1 ≤ m ≤ 5 and 1e-3 ≤ λ ≤ 1e6, it is there to relative "
    r"accuracy 1e-9 within 100 steps.)",
    instances=newton_problems,
    resolution=1e-12,
    knobs={"steps": 100},
    mutants={"from C = 0 for every m": {"instances": newton_from_zero}, "5 steps": {"steps": 5}},
    note="The paper names no start. From C = 0 it fails for 1 < m < 2 exactly when F'(0) ≥ 0, that is for λ large enough "
    "(AK-T1newt-zero); for smaller λ the first step lands right of C₀ and the rest is monotone. From 0 at m = 5 it takes some 40 steps "
    "when λ is large: bracketing in log C is what the solver does. No number of steps is enough for all data: far left of C₀ a step at m "
    "= 5 multiplies C by about 4/3, so that the number grows with log y.",
)
def newton_converges_from_the_right_side(d: Array, y: Array, power: float, lam: float, start: float, trial: sc.Trial) -> Iterator[sc.Check]:
    """Direction of every step, and a sign change of F around the last iterate."""
    m = power
    factor = lam * m * len(d)

    def F(C: float) -> float:
        S = float(np.sum(d * (2 * y / (2 * d + factor * C)) ** 2))
        return float(S ** (m / 2 - 1) - C)

    def with_slope(C: float) -> tuple[float, float]:  # its powers of S leave the floats long before those of F
        terms = d * (2 * y / (2 * d + factor * C)) ** 2
        S = float(np.sum(terms))
        slope = -2 * factor * float(np.sum(terms / (2 * d + factor * C)))
        return F(C), (m / 2 - 1) * S ** (m / 2 - 2) * slope - 1

    root = positive_root(F)
    if root is None:
        yield sc.true(False, "F has a root")
        return
    start = start * (root if m < 2 else 1.0)
    path = np.array(newton_iterates(with_slope, start, trial["steps"]))
    steps = np.diff(path) if m >= 2 else -np.diff(path)
    yield sc.at_least(steps / root, 0, "every step goes towards the root")
    yield sc.at_least(path / root, 0, "no iterate is negative")
    last = abs(float(path[-1]))
    yield sc.at_least(F(last * (1 - 1e-9)) / root, 0, "F left of the last iterate", strict=True)
    yield sc.at_most(F(last * (1 + 1e-9)) / root, 0, "F right of the last iterate", strict=True)


def newton_at_zero(trial: sc.Trial) -> Iterator[sc.Instance]:
    """n = d = y = 1, λ = 10."""
    yield {"d": 1, "y": 1, "lam": 10}


@sc.claim(
    "AK-T1newt-zero",
    place="after Theorem 1, our example",
    kind=sc.COUNTEREXAMPLE,
    says=r"At n = d = y = 1, m = 3/2, λ = 10: F(0) = 1 and F'(0) = 11/4, so Newton's first step from C = 0 goes to −4/11, outside ℝ₊, "
    r"where F is not defined.",
    instances=newton_at_zero,
    exhaustive=True,
    knobs={"weaker": 1},
    mutants={"λ = 1": {"weaker": Fraction(1, 10)}},
)
def newton_fails_from_zero(d: int, y: int, lam: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """F(0) and F'(0) by the chain rule, in rationals: S(0) = 1."""
    d, y, lam = sc.inputs(d=d, y=y, lam=lam)
    m = Fraction(3, 2)
    factor = lam * trial["weaker"] * m
    S = squared_path_norm([d], [y], 0)
    slope_of_S = -8 * factor * d * y**2 / (2 * d) ** 3
    slope = (m / 2 - 1) * fractional(S, m / 2 - 2) * slope_of_S - 1
    value = secular([d], [y], lam, m, 0)
    yield sc.equal(value, 1, "F(0)")
    yield sc.equal(slope, Fraction(11, 4), "F'(0)")
    yield sc.at_most(0 - value / slope, Fraction(-4, 11), "first step")
