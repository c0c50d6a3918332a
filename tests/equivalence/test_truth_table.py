"""Pairs whose answer is known beforehand: true, nearly true, false, true in part, jumps, zeros, plateaus, radii that hide something or all.

Most are curves in the plane of two functions, f_λ = a(λ)u + b(λ)v, known exactly: what is asked of `decide` is asked of nothing else.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from simopt.data.similarities import Gaussian
from simopt.equivalence.decide import decide
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.family import POSITIVE, Family, Interval
from simopt.equivalence.training import TrainingSet
from simopt.theorems.ak.families import kernel_ridge, kernel_ridge_ball, kernel_ridge_over_n, m_power_rls, m_power_rls_ball
from simopt.theorems.rmw.families import herding, hinge_svm, mean_ball, mean_penalised, mmd_witness, threshold

Scalar = Callable[[float], float]
HOLDS, FAILS, UNDECIDED = Answer.HOLDS, Answer.FAILS, Answer.UNDECIDED
USUAL = (0.01, 0.3, 2.0, 40.0)


def plane() -> TrainingSet:
    return TrainingSet(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([1.0, 2.0, -1.0]), Gaussian(1.0))


def sample(n: int = 8) -> TrainingSet:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return TrainingSet(X, np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=n), Gaussian(3.0))


def signs(balanced: bool = True) -> TrainingSet:
    Z = sample()
    order = np.argsort(Z.targets)
    y = np.where(np.isin(np.arange(Z.n), order[: 4 if balanced else 3]), -1.0, 1.0)
    return Z.with_targets(y)


def curve(a: Scalar, b: Scalar = lambda lam: 0.0, radius: float = 0.0, domain: Interval = POSITIVE) -> Family:
    """a(λ)u + b(λ)v, u and v the kernels at two points; the radius is relative to the norm."""

    def fit(lam: float, Z: TrainingSet):
        f = Z.function(np.array([a(lam), b(lam), 0.0]))
        return replace(f, error=radius * f.norm())

    return Family("curve", fit, lambda Z: domain)


def curved(scale: float = 1.0, radius: float = 0.0, of: Scalar = lambda lam: lam, twist: float = 0.0) -> Family:
    """A curve that is no ray: (1/(1 + λ), 1/(1 + λ)²), scaled, run through by another parameter, or turned a little."""
    return curve(lambda lam: scale / (1.0 + of(lam)), lambda lam: scale / (1.0 + of(lam)) ** 2 + twist / (1.0 + of(lam)), radius)


def same(lam: float) -> float:
    return lam


def failing(lam: float, Z: TrainingSet):
    raise ArithmeticError("no point")


def reversed_ridge() -> Family:
    return Family("reversed", lambda lam, Z: kernel_ridge()(lam, Z.with_targets(Z.targets[::-1])))


def doubled_ridge() -> Family:
    return Family("doubled", lambda lam, Z: kernel_ridge()(lam, Z.with_targets(2.0 * Z.targets)))


def step(at: float, factor: float) -> Scalar:
    return lambda lam: lam if lam < at else factor * lam


def rest(low: float, high: float) -> Scalar:
    """Stands still from `low` to `high`."""
    return lambda lam: min(lam, low) if lam < high else low * lam / high


def there_and_back(lam: float) -> float:
    """Rises to 10, falls back to 1, and rises again."""
    return lam if lam <= 10.0 else 100.0 / lam if lam <= 100.0 else lam / 100.0


def exchanged(lam: float) -> float:
    """(2, 3] and (3, 4] have changed places."""
    return lam + 1.0 if 2.0 < lam <= 3.0 else lam - 1.0 if 3.0 < lam <= 4.0 else lam


def sigmoid(t: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(t, -700.0), 700.0)))


def odds(of: Scalar) -> Family:
    """The curve by t/(1 − t), 0 < t < 1."""
    return replace(curved(of=lambda t: of(t / (1.0 - t))), domain=lambda Z: UNIT)


REAL, UNIT = Interval(-math.inf, math.inf), Interval(0.0, 1.0)
TURNS = curved(of=there_and_back)
JUMPY = replace(curved(of=exchanged), continuous=False, monotone=False)
DEVIATING = curve(lambda lam: 1.0 / (1.0 + lam), lambda lam: 1.0 / (1.0 + lam) ** 2 + 1e-6 * (lam > 1.0))
VAGUE = Family("0 ± 1", lambda lam, Z: Z.function(np.zeros(3), error=1.0))
RAY, HYPERBOLA = curve(lambda lam: 1.0 / lam), curve(lambda lam: lam**-2.0)
NOTHING = TrainingSet(np.ones((2, 1)), np.array([1.0, -1.0]), Gaussian(1.0))  # K = ones and y = (1, −1): K y = 0
ROWS = {
    # true
    "ridge, power 3/2": (m_power_rls(1.5), kernel_ridge(), sample, USUAL, 1e-8, HOLDS),
    "two powers": (m_power_rls(1.5), m_power_rls(4.0), sample, USUAL, 1e-8, HOLDS),
    "ridge, λ/n": (kernel_ridge(), kernel_ridge_over_n(), sample, USUAL, 1e-8, HOLDS),
    "ridge, in a ball": (kernel_ridge(), kernel_ridge_ball(), sample, USUAL, 1e-8, HOLDS),
    "balls that bind": (kernel_ridge_ball(), m_power_rls_ball(3.0), sample, (0.01, 0.1, 0.5), 1e-8, HOLDS),
    "itself": (kernel_ridge(), kernel_ridge(), sample, None, 1e-8, HOLDS),
    "mean, two scales": (mean_ball(), mean_penalised(), signs, None, 1e-8, HOLDS),
    "witness of the MMD, equal classes": (mmd_witness(), mean_ball(), signs, USUAL, 1e-8, HOLDS),
    "a ray by its square": (RAY, HYPERBOLA, plane, None, 1e-8, HOLDS),
    "a ray scaled": (RAY, curve(lambda lam: (1 + 1e-6) / lam), plane, None, 1e-8, HOLDS),
    "a ray, downwards": (RAY, curve(same), plane, None, 1e-8, HOLDS),
    "a bounded interval": (RAY, curve(lambda x: (1 - x) / x, domain=Interval(0.0, 1.0)), plane, USUAL, 1e-8, HOLDS),
    "a bent curve, λ³": (curved(), curved(of=lambda lam: lam**3), plane, USUAL, 1e-8, HOLDS),
    # nearly true
    "turned by 1e-3": (curved(), curved(twist=1e-3), plane, USUAL, 1e-8, FAILS),
    "turned by 1e-6": (curved(), curved(twist=1e-6), plane, USUAL, 1e-8, FAILS),
    "turned by 1e-6, within radii of 1e-8": (curved(radius=1e-8), curved(twist=1e-6, radius=1e-8), plane, USUAL, 1e-8, FAILS),
    "turned by 1e-6, asked to 1e-2": (curved(), curved(twist=1e-6), plane, USUAL, 1e-2, FAILS),
    "turned by 1e-9": (curved(), curved(twist=1e-9), plane, USUAL, 1e-8, FAILS),
    "turned by 1e-12, within radii of 1e-11": (curved(radius=1e-11), curved(twist=1e-12, radius=1e-11), plane, USUAL, 1e-12, UNDECIDED),
    "turned by 1e-12, within radii of 1e-7": (curved(radius=1e-7), curved(twist=1e-12, radius=1e-7), plane, USUAL, 1e-8, UNDECIDED),
    "a bent curve scaled by 1 + 1e-6": (curved(), curved(scale=1 + 1e-6), plane, USUAL, 1e-8, FAILS),
    # false
    "targets reversed": (kernel_ridge(), reversed_ridge(), sample, USUAL, 1e-8, FAILS),
    "targets doubled": (kernel_ridge(), doubled_ridge(), sample, USUAL, 1e-8, FAILS),
    "witness of the MMD, unequal classes": (mmd_witness(), mean_ball(), lambda: signs(False), USUAL, 1e-8, FAILS),
    "SVM below its threshold": (hinge_svm(), mean_penalised(), signs, (0.01, 0.05), 1e-5, FAILS),
    "herding and the mean": (herding(), mean_penalised(), signs, (1.5, 2.5), 1e-8, FAILS),
    "two rays": (RAY, curve(lambda lam: 0.0, lambda lam: 1.0 / lam), plane, None, 1e-8, FAILS),
    "a ray and its mirror": (RAY, curve(lambda lam: -1.0 / lam), plane, None, 1e-8, FAILS),
    # true in part
    "SVM above its threshold": (hinge_svm(), mean_penalised(), signs, (lambda Z: [x * threshold(Z) for x in (1.1, 2.0, 9.0)]), 1e-4, HOLDS),
    "a curve and a part of it": (curved(), curved(of=lambda lam: 1.0 + lam), plane, None, 1e-8, FAILS),
    "a part of a curve and the curve": (curved(of=lambda lam: 1.0 + lam), curved(), plane, None, 1e-8, FAILS),
    "that part alone": (curved(of=lambda lam: 1.0 + lam), curved(), plane, (0.5, 3.0, 20.0), 1e-8, HOLDS),
    "off the path on a part": (curved(), DEVIATING, plane, USUAL, 1e-8, FAILS),
    # jumps
    "a jump in B": (curved(), curved(of=step(1.0, 2.0)), plane, (0.1, 1.5, 10.0), 1e-8, FAILS),
    "a jump in A": (curved(of=step(1.0, 2.0)), curved(), plane, (0.8, 0.9, 1.0), 1e-8, FAILS),
    "a jump that no usual parameter meets": (curved(), curved(of=step(2.0, 1.5)), plane, None, 1e-8, FAILS),
    "a jump of both": (curved(of=step(1.0, 2.0)), curved(of=step(1.0, 2.0)), plane, USUAL, 1e-8, HOLDS),
    # zeros
    "0 and 0": (m_power_rls(3.0), kernel_ridge(), lambda: NOTHING, None, 1e-8, HOLDS),
    "0 and a ray": (curve(lambda lam: 0.0), RAY, plane, USUAL, 1e-8, {FAILS, UNDECIDED}),
    "a ray and 0": (RAY, curve(lambda lam: 0.0), plane, USUAL, 1e-8, FAILS),
    "0 within a radius": (curve(lambda lam: 0.0), VAGUE, plane, USUAL, 1e-8, UNDECIDED),
    "0 and 0 within a radius, other way": (VAGUE, curve(lambda lam: 0.0), plane, USUAL, 1e-8, UNDECIDED),
    # plateaus
    "a constant and a ray": (curve(lambda lam: 1.0), RAY, plane, USUAL, 1e-8, FAILS),
    "a ray and a constant": (RAY, curve(lambda lam: 1.0), plane, USUAL, 1e-8, FAILS),
    "A rests, B does not": (curved(of=rest(1.0, 10.0)), curved(), plane, (0.1, 2.0, 5.0, 50.0), 1e-8, FAILS),
    "A rests within its radii": (curved(of=rest(1.0, 10.0), radius=1e-10), curved(), plane, (0.1, 2.0, 5.0, 50.0), 1e-8, UNDECIDED),
    "B rests where no usual parameter is": (curved(), curved(of=rest(2.0, 5.0)), plane, None, 1e-8, FAILS),
    "B rests, in a domain that is not A's": (odds(same), curved(of=rest(2.0, 5.0)), plane, None, 1e-8, FAILS),
    "A rests, in a domain that is not B's": (odds(rest(2.0, 5.0)), curved(), plane, None, 1e-8, FAILS),
    "A rests where no usual parameter is": (curved(of=rest(2.0, 5.0)), curved(), plane, None, 1e-8, FAILS),
    "balls beyond the fit": (kernel_ridge(), kernel_ridge_ball(), sample, None, 1e-8, UNDECIDED),
    # paths that come back, or move far away only
    "B comes back": (curved(), TURNS, plane, None, 1e-8, UNDECIDED),
    "A comes back": (TURNS, curved(), plane, None, 1e-8, UNDECIDED),
    "A comes back, and does not say otherwise": (replace(TURNS, monotone=False), curved(), plane, None, 1e-8, UNDECIDED),
    "both come back": (TURNS, TURNS, plane, None, 1e-8, HOLDS),
    "A comes back, and says that it may jump": (replace(TURNS, continuous=False), curved(), plane, None, 1e-8, UNDECIDED),
    "pieces that change places": (JUMPY, curved(), plane, (0.5, 2.5, 3.5, 9.0), 1e-8, UNDECIDED),
    "a step far out on the line": (curve(same, domain=UNIT), curve(lambda t: sigmoid(t - 1000), domain=REAL), plane, None, 1e-8, UNDECIDED),
    "a step near the largest floats": (curved(), curved(of=lambda lam: 1e-160 * lam), plane, USUAL, 1e-8, UNDECIDED),
    # radii
    "radii over the resolution": (curved(radius=1e-6), curved(radius=1e-6), plane, USUAL, 1e-8, UNDECIDED),
    "the same, asked to 1e-5": (curved(radius=1e-6), curved(radius=1e-6), plane, USUAL, 1e-5, HOLDS),
    "radii that hide all, true": (curved(radius=2.0), curved(radius=2.0), plane, USUAL, 1e-8, UNDECIDED),
    "radii that hide all, false": (RAY, curve(lambda lam: 0.0, lambda lam: 1.0 / lam, radius=3.0), plane, USUAL, 1e-8, UNDECIDED),
    "infinite radii": (curved(), curved(radius=math.inf), plane, USUAL, 1e-8, UNDECIDED),
    "a fit that fails": (curved(), Family("fails", failing), plane, USUAL, 1e-8, UNDECIDED),
}  # fmt: skip


def test_there_are_forty() -> None:
    assert len(ROWS) >= 40
    assert all(sum(row[-1] is answer for row in ROWS.values()) >= 8 for answer in Answer)


@pytest.mark.parametrize("name", ROWS)
def test_the_answer_is_the_one_that_is_true(name: str) -> None:
    A, B, drawn, parameters, resolution, expected = ROWS[name]
    Z = drawn()
    found = decide(A, B, Z, parameters(Z) if callable(parameters) else parameters, resolution=resolution)
    allowed = expected if isinstance(expected, set) else {expected}
    assert found.answer in allowed, found.sentence
    assert (found.reason is None) == (found.answer is HOLDS)
    if found.answer is FAILS and found.witness is not None and math.isfinite(found.witness.distance):
        assert found.witness.distance > found.witness.errors
