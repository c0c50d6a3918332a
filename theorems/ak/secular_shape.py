r"""The shape of F in Theorem 1, and Newton's method on it.

F(C) = g(C) − C, g = S^{m/2−1}, S = Σ 4 d_i y'_i² / (2 d_i + λ m n C)². S^{−1/2} is a concave, increasing function of C (a power mean with
exponent −2 of affine functions). So g = (S^{−1/2})^{2−m} is increasing and concave for 1 < m < 2, constant for m = 2, decreasing and convex
for m > 2; and F has one root in each case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from simopt.claims import *
from simopt.theorems.ak.rational_power import fractional, secular, squared_path_norm
from simopt.theorems.ak.secular_equation import positive_root

PROOF = "Appendix C, end of the proof"


def unit_problem(trial: Trial) -> Iterator[Instance]:
    """n = d = y = λ = 1 at C = 0, 1, 2."""
    for m in (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(6)):
        yield {"power": m}


def unit_problem_below_two(trial: Trial) -> Iterator[Instance]:
    """The same for 1 < m < 2."""
    for m in (Fraction(9, 8), Fraction(5, 4), Fraction(3, 2), Fraction(7, 4)):
        yield {"power": m}


@claim(
    "AK-T1conc",
    paper=AUDIFFREN_KADRI,
    place=PROOF,
    kind=INEQUALITY,
    expected=REFUTED,
    defect=SUBSTANTIVE,
    says=r"For every m > 1 F is strictly concave on [0, ∞). (Tried at n = d = y = λ = 1: F(0) − 2F(1) + F(2) < 0.)",
    instances=unit_problem,
    resolution=0.0,
    mutants={"1 < m < 2": {"instances": unit_problem_below_two}},
    note="The second differences are 0 at m = 2, 184/225 at m = 4, 305055/307328 at m = 6 (AK-T1conc-values): F is linear at m = 2 and "
    "strictly convex for m > 2. Uniqueness of the root survives (AK-T1conc+).",
)
def secular_function_is_concave(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The second difference."""
    F = [secular([1], [1], 1, instance["power"], C) for C in (0, 1, 2)]
    yield at_most(F[0] - 2 * F[1] + F[2], 0, f"second difference, m = {instance['power']}", strict=True)


def one_point(trial: Trial) -> Iterator[Instance]:
    """The data of the exact values."""
    yield {"d": 1, "y": 1, "lam": 1}


@claim(
    "AK-T1conc-values",
    paper=AUDIFFREN_KADRI,
    place=PROOF + ", our values",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"At n = d = y = λ = 1 the second difference F(0) − 2F(1) + F(2) is 0 for m = 2, 184/225 for m = 4 and 305055/307328 for m = 6; "
    r"concavity, with F(0) = 1 > 0, would need it to be negative.",
    instances=one_point,
    exhaustive=True,
    knobs={"step": 1},
    mutants={"C = 0, 2, 4": {"step": 2}},
)
def second_differences_by_hand(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Rational, because m/2 − 1 is a whole number."""
    d, y, lam = inputs(d=instance["d"], y=instance["y"], lam=instance["lam"])
    for m, expected in ((2, Fraction(0)), (4, Fraction(184, 225)), (6, Fraction(305055, 307328))):
        F = [secular([d], [y], lam, Fraction(m), k * trial["step"]) for k in range(3)]
        yield equal(F[0] - 2 * F[1] + F[2], expected, f"m = {m}")


def rational_spectra(trial: Trial) -> Iterator[Instance]:
    """Up to four eigenvalues (one of them 0 at times), three values of C, and every kind of power."""
    powers = (Fraction(5, 4), Fraction(3, 2), Fraction(7, 4), Fraction(2), Fraction(9, 4), Fraction(3), Fraction(4), Fraction(6))
    for i in range(trial.count(48, 480)):
        n = int(trial.rng.integers(1, 5))
        d = [Fraction(int(k), 4) for k in trial.rng.integers(0, 17, size=n)]
        d[0] = max(d[0], Fraction(1, 4))
        y = [Fraction(int(k), 4) for k in trial.rng.integers(1, 9, size=n)]
        at = sorted(Fraction(int(k), 16) for k in trial.rng.choice(np.arange(1, 160), size=3, replace=False))
        yield {"d": d, "y": y, "lam": Fraction(2) ** int(trial.rng.integers(-4, 5)), "power": powers[i % 8], "C": at}


@claim(
    "AK-T1conc+",
    paper=AUDIFFREN_KADRI,
    place=PROOF + ", corrected",
    kind=INEQUALITY,
    expected=HOLDS,
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
    note="Divided differences over three rational points, powers as enclosures. The argument is in the head of secular_shape.py.",
)
def secular_function_has_this_shape(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Divided differences of g = F + C, monotonicity, and the signs at both ends."""
    m, at = instance["power"], instance["C"]

    def F(C: Any) -> Any:
        return secular(instance["d"], instance["y"], instance["lam"], m, C)

    values = [F(C) for C in at]
    slopes = [(values[i + 1] - values[i]) / (at[i + 1] - at[i]) for i in range(2)]
    second = slopes[1] - slopes[0]
    if m < trial["concave below"]:
        yield at_most(second, 0, f"change of slope, m = {m}", strict=True)
    elif m == 2:
        yield equal(second, 0, "change of slope, m = 2")
    else:
        yield at_least(second, 0, f"change of slope, m = {m}", strict=True)
    if m >= trial["decreasing from"]:
        yield at_most(slopes, 0, f"slope, m = {m}", strict=True)
    yield at_least(F(Fraction(1, 10**30)), 0, "F near 0", strict=True)
    yield at_most(F(Fraction(10) ** 30), 0, "F far out", strict=True)


def newton_problems(trial: Trial) -> Iterator[Instance]:
    """Random spectra, λ from 1e-3 to 1e6, starts at 0 (m ≥ 2) or up to 10⁴ times the root (1 < m < 2); and the paper-sized example."""
    yield {"d": np.ones(1), "y": np.ones(1), "lam": 10.0, "power": 1.5, "start": 100.0}
    for i in range(trial.count(56, 560)):
        n = int(trial.rng.integers(1, 7))
        d, y = trial.rng.exponential(size=n), trial.rng.normal(size=n)
        lam = float(10.0 ** trial.rng.uniform(-3, 6))
        power = (1.1, 1.5, 1.9, 2.0, 2.1, 3.0, 5.0)[i % 7]
        yield {"d": d, "y": y, "lam": lam, "power": power, "start": 0.0 if power >= 2 else float(10.0 ** trial.rng.uniform(0.2, 4))}


def newton_from_zero(trial: Trial) -> Iterator[Instance]:
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


@claim(
    "AK-T1newt",
    paper=AUDIFFREN_KADRI,
    place="after Theorem 1",
    kind=ALGORITHM,
    expected=HOLDS,
    says=r"Let λ > 0 and K Y ≠ 0. Newton's method on F converges monotonically to C₀, **from any start right of C₀ if 1 < m < 2**, and "
    r"from C = 0 (any start in [0, C₀]) if m ≥ 2; for 1.1 ≤ m ≤ 5 and 1e-3 ≤ λ ≤ 1e6 it is there to relative accuracy 1e-9 within 100 "
    r"steps.",
    instances=newton_problems,
    resolution=1e-12,
    knobs={"steps": 100},
    mutants={"from C = 0 for every m": {"instances": newton_from_zero}, "5 steps": {"steps": 5}},
    note="The paper names no start. From C = 0 it fails for 1 < m < 2 exactly when F'(0) ≥ 0, that is for λ large enough "
    "(AK-T1newt-zero); for smaller λ the first step lands right of C₀ and the rest is monotone. From 0 at m = 5 it takes some 40 steps "
    "when λ is large: bracketing in log C is what the solver does.",
)
def newton_converges_from_the_right_side(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Direction of every step, and a sign change of F around the last iterate."""
    d, y, m = instance["d"], instance["y"], instance["power"]
    factor = instance["lam"] * m * len(d)

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
        yield true(False, "F has a root")
        return
    start = instance["start"] * (root if m < 2 else 1.0)
    path = np.array(newton_iterates(with_slope, start, trial["steps"]))
    steps = np.diff(path) if m >= 2 else -np.diff(path)
    yield at_least(steps / root, 0, "every step goes towards the root")
    yield at_least(path / root, 0, "no iterate is negative")
    last = abs(float(path[-1]))
    yield at_least(F(last * (1 - 1e-9)) / root, 0, "F left of the last iterate", strict=True)
    yield at_most(F(last * (1 + 1e-9)) / root, 0, "F right of the last iterate", strict=True)


def newton_at_zero(trial: Trial) -> Iterator[Instance]:
    """n = d = y = 1, λ = 10."""
    yield {"d": 1, "y": 1, "lam": 10}


@claim(
    "AK-T1newt-zero",
    paper=AUDIFFREN_KADRI,
    place="after Theorem 1, our example",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"At n = d = y = 1, m = 3/2, λ = 10: F(0) = 1 and F'(0) = 11/4, so Newton's first step from C = 0 goes to −4/11, outside ℝ₊, "
    r"where F is not defined.",
    instances=newton_at_zero,
    exhaustive=True,
    knobs={"weaker": 1},
    mutants={"λ = 1": {"weaker": Fraction(1, 10)}},
)
def newton_fails_from_zero(instance: Instance, trial: Trial) -> Iterator[Check]:
    """F(0) and F'(0) by the chain rule, in rationals: S(0) = 1."""
    d, y, lam = inputs(d=instance["d"], y=instance["y"], lam=instance["lam"])
    m = Fraction(3, 2)
    factor = lam * trial["weaker"] * m
    S = squared_path_norm([d], [y], 0)
    slope_of_S = -8 * factor * d * y**2 / (2 * d) ** 3
    slope = (m / 2 - 1) * fractional(S, m / 2 - 2) * slope_of_S - 1
    value = secular([d], [y], lam, m, 0)
    yield equal(value, 1, "F(0)")
    yield equal(slope, Fraction(11, 4), "F'(0)")
    yield at_most(0 - value / slope, Fraction(-4, 11), "first step")
