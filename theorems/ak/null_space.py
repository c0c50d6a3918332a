r"""What α must verify: the Gâteaux derivative of (12) is 2K(…), so that α is determined up to the null space of K (Appendix C).

The gradient of ‖Y − Ka‖² + nλ (aᵀKa)^{m/2} at a with Ka ≠ 0 is −2K(Y − Ka − λ(mn/2)(aᵀKa)^{m/2−1} a). The paper leaves the K out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from simopt.claims import *
from simopt.theorems.ak.rational_power import duality_map, objective, square_norm_vector
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, random_samples


def singular(trial: Trial) -> Iterator[Instance]:
    """One input seen twice, KRR at λ = 1: a solution that is not the one of (5)."""
    yield {"gram": [[1, 1], [1, 1]], "targets": [2, 2], "alpha": [1, 0]}


def invertible(trial: Trial) -> Iterator[Instance]:
    """K = I."""
    yield {"gram": [[1, 0], [0, 1]], "targets": [3, 3], "alpha": [1, 1]}


@claim(
    "AK-T1sys",
    paper=AUDIFFREN_KADRI,
    place="Appendix C, proof, after (12)",
    kind=EQUIVALENCE,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"Let m > 1, λ > 0 and K positive semidefinite. A solution α of (12), min ‖Y − Ka‖² + nλ (aᵀKa)^{m/2}, must verify "
    r"Y = Kα + λ(mn/2)(αᵀKα)^{m/2−1} α.",
    instances=singular,
    mutants={"K invertible": {"instances": invertible}},
    note="m = 2, λ = 1, K = [[1, 1], [1, 1]], Y = (2, 2): α = (1, 0) solves (12), since the objective at a exceeds that at α by a sum of "
    "squares, and Kα + 2α = (3, 1). The derivative is K times the equation, which K invertible would allow to cancel. The theorem is "
    "not touched: the α of (5) does verify it.",
)
def solution_verifies_the_system(instance: Instance, trial: Trial) -> Iterator[Check]:
    """At m = 2, λ = 1: how much the objective at a = (p, q) exceeds that at α, in symbols, and the equation."""
    gram, targets, a = instance["gram"], instance["targets"], symbols("p q")
    apart = minus(a, instance["alpha"])
    moved = times(gram, apart)
    rise = dot(moved, moved) + 2 * dot(apart, moved)
    check = equal(ridge_objective(gram, targets, a) - ridge_objective(gram, targets, instance["alpha"]), rise, "α solves (12)")
    K, Y, alpha = inputs(K=gram, Y=targets, alpha=instance["alpha"])
    for y, fitted, own in zip(Y, times(K, alpha), alpha, strict=True):
        yield equal(y, fitted + 2 * own, "Y = Kα + nλα").given(check)


def times(K: Any, a: Sequence[Any]) -> list[Any]:
    """K a."""
    return [total(k * b for k, b in zip(row, a, strict=True)) for row in K]


def ridge_objective(K: Any, Y: Sequence[Any], a: Sequence[Any]) -> Any:
    """‖Y − Ka‖² + 2 aᵀKa: (12) at m = 2, λ = 1, n = 2."""
    fitted = times(K, a)
    return total((y - f) ** 2 for y, f in zip(Y, fitted, strict=True)) + 2 * dot(a, fitted)


def solutions(trial: Trial) -> Iterator[Instance]:
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


@claim(
    "AK-T1sys+",
    paper=AUDIFFREN_KADRI,
    place="Appendix C, proof, after (12), corrected",
    kind=EQUIVALENCE,
    expected=HOLDS,
    says=r"Let m > 1, λ > 0, K positive semidefinite and Kα ≠ 0. α solves (12) if and only if **K(Y − Kα − λ(mn/2)(αᵀKα)^{m/2−1} α) = 0**. "
    r"With α every α + v with Kv = 0 is a solution, of the same function f, and exactly one of these, the α of (5), verifies the "
    r"equation without K in front.",
    instances=solutions,
    resolution=0.0,
    knobs={"projected": True, "factor": Fraction(1)},
    mutants={"without K in front": {"projected": False}, "λmn for λmn/2": {"factor": Fraction(2)}},
    corrects="AK-T1sys",
    note="Y is made from α, which has (αᵀKα)^{1/2} the square of a rational. Solutions are recognised by comparing the objective with that "
    "at other functions.",
)
def solution_up_to_the_null_space(instance: Instance, trial: Trial) -> Iterator[Check]:
    """A family of solutions, another function that is none, and the objective at both and between them."""
    x, m, lam, w = instance["inputs"], instance["power"], instance["lam"], instance["w"]
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

    own, alpha, null = strength(instance["root"]), instance["alpha"], instance["null"]
    targets = [f + own * c + z for f, c, z in zip(apply(alpha), alpha, instance["rest"], strict=True)]
    for t in (0, 1, -3):
        moved = [c + t * v for c, v in zip(alpha, null, strict=True)]
        found = residual(moved, instance["root"], trial["factor"])
        yield equal(apply(found) if trial["projected"] else found, [0] * n, f"α + {t}v")
        yield equal(function(x, moved), w, f"the function of α + {t}v")
    unique = [c + z / own for c, z in zip(alpha, instance["rest"], strict=True)]
    yield equal(residual(unique, instance["root"], Fraction(1)), [0] * n, "one solution verifies the equation without K")
    yield distinct(residual([c + v for c, v in zip(unique, null, strict=True)], instance["root"], Fraction(1)), [0] * n, "no other does")
    samples: list[Sample] = [(1, point, y) for point, y in zip(x, targets, strict=True)]
    least = objective(samples, w, lam, m)
    if instance["other"] != w:
        for part in (Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(-1, 10)):
            another = [a + part * (b - a) for a, b in zip(w, instance["other"], strict=True)]
            yield at_least(objective(samples, another, lam, m), least, "objective of another function", strict=True)
        missed = residual(instance["alpha of other"], instance["root of other"], Fraction(1))
        yield distinct(apply(missed), [0] * n, "a function that is no solution")
