r"""Appendix D, the chain (14) to (18) of the proof of Theorem 3: rows AK-14-17 and AK-18, with minimisers that are exact.

f minimises (1/n) Σ_j (y_j − f(x_j))² + λ ‖f‖^m, g the same without sample i. If its sum is still divided by n (Bousquet and Elisseeff,
Theorem 22, which the proof extends) the terms j ≠ i of both objectives cancel in (17). If it is divided by n − 1 they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from simopt.claims import *
from simopt.theorems.ak.rational_power import fractional, leave_one_out_pair
from simopt.theorems.ak.rational_ridge import Sample, dot, risk, size

POWERS = (Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(4))
STEPS = (Fraction(1, 1024), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1))


def one_sample(trial: Trial) -> Iterator[Instance]:
    """n = 1, x = 1, y = Y: g = 0 and no other terms, where (17) is sharp for small t."""
    for m in POWERS:
        f, lam = Fraction(1, 4), Fraction(3, 2)
        y = f + lam * m / 2 * Fraction(1, 2) ** int(2 * m - 2)  # (λm/2) f^{m−1} = y − f
        yield {"first": [1, [Fraction(1)], y], "rest": [], "f": [f], "g": [Fraction(0)], "lam": lam, "power": m}


def two_samples(trial: Trial, renewed: bool = False) -> Iterator[Instance]:
    """n = 2, one point, y = (1, 0), λ = 10, m = 2, and the second sample is left out."""
    one, lam = [Fraction(1)], Fraction(10)
    f, g = 1 / (2 * (1 + lam)), 1 / (1 + (1 if renewed else 2) * lam)
    yield {"first": [1, one, Fraction(0)], "rest": [[1, one, Fraction(1)]], "f": [f], "g": [g], "lam": lam, "power": Fraction(2)}


def three_samples(trial: Trial, renewed: bool = False) -> Iterator[Instance]:
    """Three samples in the plane whose targets make two chosen functions the minimisers."""
    for k in range(trial.count(20, 200)):
        m, lam = POWERS[k % len(POWERS)], Fraction(2) ** int(trial.rng.integers(-4, 5))
        (first, *rest), f, g = leave_one_out_pair(trial.rng, m, lam, renewed)
        yield {"first": list(first), "rest": [list(sample) for sample in rest], "f": f, "g": g, "lam": lam, "power": m}


def kept_divisor(trial: Trial) -> Iterator[Instance]:
    """Pairs of minimisers, both sums divided by n."""
    yield from one_sample(trial)
    yield from two_samples(trial)
    yield from three_samples(trial)


def renewed_divisor(trial: Trial) -> Iterator[Instance]:
    """Pairs of minimisers, the sum without sample i divided by n − 1."""
    yield from two_samples(trial, renewed=True)
    yield from three_samples(trial, renewed=True)


def not_minimisers(trial: Trial) -> Iterator[Instance]:
    """The same samples with f and g exchanged."""
    for instance in kept_divisor(trial):
        yield instance | {"f": instance["g"], "g": instance["f"]}


def towards(f: Sequence[Any], g: Sequence[Any], t: Fraction) -> list[Any]:
    """f + t (g − f)."""
    return [a + t * (b - a) for a, b in zip(f, g, strict=True)]


def cost(sample: Sequence[Any], w: Sequence[Any]) -> Any:
    """c(y, f, x) = (y − f(x))²."""
    _, x, y = sample
    return (y - dot(w, x)) ** 2


@claim(
    "AK-14-17",
    covers=("AK-18",),
    paper=AUDIFFREN_KADRI,
    place="Appendix D, proof of Theorem 3, (14) to (18)",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Let m > 1, λ > 0, f = f_Z and g = f_{Z^i}, where **both sums are divided by n = |Z|** (c is the squared loss, R_e the empirical "
    r"and R_r the regularised error). For 0 ≤ t ≤ 1, f_t = f + t(g − f) and g_t = g + t(f − g): (14) R_e(f_t, Z^i) − R_e(f, Z^i) ≤ "
    r"t (R_e(g, Z^i) − R_e(f, Z^i)), and the same with f and g exchanged; (15) the sum of the two left sides is ≤ 0; (16) R_r(f, Z) − "
    r"R_r(f_t, Z) + R_r(g, Z^i) − R_r(g_t, Z^i) ≤ 0; (17) c(y_i, f, x_i) − c(y_i, f_t, x_i) + λn (‖f‖^m − ‖f_t‖^m + ‖g‖^m − ‖g_t‖^m) ≤ 0; "
    r"(18) |c(y_i, f, x_i) − c(y_i, f_{1/2}, x_i)| ≥ nλ (‖f‖^m − 2‖(f + g)/2‖^m + ‖g‖^m).",
    instances=kept_divisor,
    knobs={"steps": STEPS, "samples": Fraction(1)},
    mutants={
        "Z^i divided by n − 1": {"instances": renewed_divisor},
        "f and g exchanged": {"instances": not_minimisers},
        "t = 3/2": {"steps": (Fraction(3, 2),)},
        "1.01 λn": {"samples": Fraction(101, 100)},
    },
    note="R_e is printed with 1/n and the proof extends Theorem 22 of Bousquet and Elisseeff, who divide by n: that is the reading here. "
    "Definitions 3.1 and 4.2 taken literally divide by n − 1, and then (17) and (18) fail: AK-18-renewed. Theorem 3 survives: AK-T3.",
)
def chain_of_inequalities(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Every link on exact minimisers; powers of norms are enclosures."""
    f, g, lam, m = instance["f"], instance["g"], instance["lam"], instance["power"]
    first: Sample = tuple(instance["first"])
    rest: list[Sample] = [tuple(sample) for sample in instance["rest"]]
    n = size(rest) + 1
    share = Fraction(n - 1, n)  # R_e(·, Z^i) sums n − 1 terms and divides by n

    def error(w: Sequence[Any]) -> Any:
        return share * risk(rest, w) if rest else Fraction(0)

    def regularised(w: Sequence[Any], whole: bool) -> Any:
        return lam * norm(w) + error(w) + (cost(first, w) / n if whole else 0)

    def norm(w: Sequence[Any]) -> Expr:
        return fractional(dot(w, w), m / 2)

    for t in trial["steps"]:
        ft, gt = towards(f, g, t), towards(g, f, t)
        there, back = error(ft) - error(f), error(gt) - error(g)
        yield at_most(there, t * (error(g) - error(f)), f"(14), t = {t}")
        yield at_most(back, t * (error(f) - error(g)), f"(14) exchanged, t = {t}")
        yield at_most(there + back, 0, f"(15), t = {t}")
        gain = regularised(f, True) - regularised(ft, True) + regularised(g, False) - regularised(gt, False)
        yield at_most(gain, 0, f"(16), t = {t}")
        bent = trial["samples"] * lam * n * (norm(f) - norm(ft) + norm(g) - norm(gt))
        yield at_most(bent, cost(first, ft) - cost(first, f), f"(17), t = {t}")
    middle = towards(f, g, Fraction(1, 2))
    bent = trial["samples"] * n * lam * (norm(f) - 2 * norm(middle) + norm(g))
    yield at_least(abs(cost(first, f) - cost(first, middle)), bent, "(18)", row="AK-18")


def two_targets(trial: Trial) -> Iterator[Instance]:
    """The data of the counterexample: one point, two targets."""
    yield {"y": [Fraction(1), Fraction(0)], "lam": Fraction(10)}


@claim(
    "AK-18-renewed",
    paper=AUDIFFREN_KADRI,
    place="Appendix D, (17) and (18), our counterexample for 1/(n − 1)",
    kind=COUNTEREXAMPLE,
    expected=HOLDS,
    says=r"If Z^i divides its sum by n − 1 (Definitions 3.1 and 4.2 read literally), (18), which is (17) at t = 1/2, fails: for n = 2, "
    r"k = 1, Y = (1, 0), λ = 10, m = 2 and the second sample left out, f_Z = 1/22, f_{Z^i} = 1/11, and (18) reads 5/1936 ≥ 10/484.",
    instances=two_targets,
    exhaustive=True,
    quantifier=SOME,
    knobs={"divisor": 1},
    mutants={"Z^i divided by n": {"divisor": 2}},
)
def chain_breaks_when_renewed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both minimisers of λf² + risk are y̅/(1 + λ), in closed form; so both sides are formulas of the data."""
    (first, second), lam = inputs(y=instance["y"], lam=instance["lam"])
    f = (first + second) / 2 / (1 + lam)
    g = first / (1 + trial["divisor"] * lam)
    yield equal((first - f) + (second - f), 2 * lam * f, "first-order condition of f_Z")
    yield equal(first - g, trial["divisor"] * lam * g, "first-order condition of f_{Z^i}")
    middle = (f + g) / 2
    change = abs((second - f) ** 2 - (second - middle) ** 2)
    bent = 2 * lam * (f**2 - 2 * middle**2 + g**2)
    yield at_most(change, bent, "(18) is violated", strict=True)
    yield equal(change, Fraction(5, 1936), "left side")
    yield equal(bent, Fraction(10, 484), "right side")
