r"""Ivanov's and Tikhonov's forms of ridge regression are weakly equivalent on the right range of radii (remark after Definition 3.4).

Ivanov: minimise the empirical squared risk E subject to ‖f‖² ≤ r. Tikhonov: minimise E + λ ‖·‖². With f_λ Tikhonov's solution and
r = ‖f_λ‖², for every g

    E(g) − E(f_λ) = E_0(g − f_λ) + λ ‖g − f_λ‖² + λ (r − ‖g‖²),        E_0(h) = (1/n) Σ h(x)² ≥ 0,

so f_λ is Ivanov's only solution at r. As λ falls from ∞ to 0, ‖f_λ‖² rises strictly from 0 to ‖f_0‖², the least norm of a least-squares
fit; it never gets there. For r ≥ ‖f_0‖² Ivanov's solution (of least norm) is f_0, which is on no path of Tikhonov's.

That they are equivalent and not equally stable (Rifkin, as cited in §2) is seen on sets of two opposite targets at one input.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.ak.rational_ridge import Sample, dot, minus, ridge, risk, size


def diagonal_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Samples on the axes of ℝ³, some at x = 0, with K Y ≠ 0, and a probe g; every K is such a diagonal in its eigenbasis."""
    for _ in range(trial.count(12, 120)):
        scales = [Fraction(int(k), 4) for k in trial.rng.integers(0, 6, size=3)]
        targets = [Fraction(int(k), 4) for k in trial.rng.integers(-6, 7, size=3)]
        scales[0], targets[0] = scales[0] or Fraction(1, 2), targets[0] or Fraction(1)
        yield {"scales": scales, "targets": targets, "probe": [Fraction(int(k), 8) for k in trial.rng.integers(-8, 9, size=3)]}


@sc.claim(
    "AK-D3.3b",
    place="Section 3, after Definition 3.4",
    kind=sc.EQUIVALENCE,
    compares=("kernel-ridge ~ kernel-ridge-ball",),
    says=r"If K Y ≠ 0, Tikhonov's (1/n) Σ (y − f(x))² + λ ‖f‖² and Ivanov's (1/n) Σ (y − f(x))² subject to ‖f‖² ≤ r are weakly "
    r"equivalent for λ ∈ (0, ∞) and r ∈ (0, ‖f₀‖²), f₀ the least-squares fit of least norm: λ ↦ r = ‖f_λ‖² is a decreasing bijection of "
    r"these intervals, and f_λ is Ivanov's solution at r.",
    instances=diagonal_sets,
    knobs={"shares": (Fraction(1, 1000), Fraction(1, 2), Fraction(999, 1000)), "multiplier": 1},
    mutants={"r beyond ‖f₀‖²": {"shares": (Fraction(1, 2), Fraction(4))}, "multiplier λ/2": {"multiplier": Fraction(1, 2)}},
    note="The text does not name the range of r. Under Definition 3.3 read with r in all of (0, ∞) there is no bijection: n = 1, K = 1, "
    "y = 1 has Tikhonov's path (0, 1), and Ivanov's solution at r = 4 is 1.",
)
def tikhonov_runs_through_ivanov(
    scales: list[Fraction], targets: list[Fraction], probe: list[Fraction], trial: sc.Trial
) -> Iterator[sc.Check]:
    """The identity above in symbols, then the norms along the path against the radii asked for."""
    yield _identity(trial["multiplier"])
    axes = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]
    samples: list[Sample] = [(1, [s * e for e in axis], y) for s, axis, y in zip(scales, axes, targets, strict=True)]
    least = dot(*2 * ([y / s if s else Fraction(0) for s, y in zip(scales, targets, strict=True)],))
    path = [ridge(samples, size(samples) * Fraction(4) ** k, 3) for k in range(-12, 9)]
    norms = [dot(w, w) for w in path]
    yield sc.at_most(norms[1:], norms[:-1], "‖f_λ‖ falls as λ grows", strict=True)
    yield sc.at_most(norms[0], least, "‖f_λ‖ < ‖f_0‖", strict=True)
    for share in trial["shares"]:
        wanted = min(share * least, least)  # the squared norm of Ivanov's solution
        low, high = _bracket(samples, wanted)
        yield sc.at_least(_norm(samples, low), wanted, f"some λ reaches r = {share} ‖f_0‖²")
        yield sc.at_most(_norm(samples, high), wanted, f"some λ stays below r = {share} ‖f_0‖²")
    for k in (4, 12):
        w, lam = path[k], Fraction(4) ** (k - 12)
        g = probe
        share = dot(w, w) / (dot(w, w) + dot(g, g))  # makes ‖share · g‖ ≤ ‖w‖ without a root
        inside = [share * value for value in g]
        gain = lam * dot(minus(inside, w), minus(inside, w))
        yield sc.at_least(risk(samples, inside), risk(samples, w) + trial["multiplier"] * gain, "f_λ is best in its ball")


def _identity(multiplier: Any) -> sc.Check:
    """E(g) − E(f) = E_0(g − f) + λ (g − f)² + λ (f² − g²) on two samples on the line, in symbols."""
    x1, x2, y1, y2, lam, g = sc.symbols("x1 x2 y1 y2 lam g")
    two: list[Sample] = [(1, [x1], y1), (1, [x2], y2)]
    (w,) = ridge(two, 2 * lam, 1)
    mean = (x1 * x1 + x2 * x2) / 2
    rest = mean * (g - w) ** 2 + multiplier * lam * ((g - w) ** 2 + w**2 - g**2)
    return sc.equal(risk(two, [g]) - risk(two, [w]), rest, "E(g) − E(f_λ) as a sum")


def _norm(samples: list[Sample], lam: Fraction) -> Any:
    w = ridge(samples, size(samples) * lam, 3)
    return dot(w, w)


def _bracket(samples: list[Sample], wanted: Fraction) -> tuple[Fraction, Fraction]:
    """Powers of 4 with ‖f_low‖² ≥ wanted ≥ ‖f_high‖², as far as 4^−60 goes."""
    low = high = Fraction(1)
    while _norm(samples, low) < wanted and low > Fraction(1, 4**60):
        low /= 4
    while _norm(samples, high) > wanted:
        high *= 4
    return low, high


@sc.claim(
    "AK-S2Rif",
    place="Section 2, on Rifkin's thesis, Chapter 5",
    kind=sc.COUNTEREXAMPLE,
    says=r"Tikhonov's and Ivanov's learners do not have the same stability: let n ≥ 3 and Z be n − 2 copies of (e₁, 0), (e₂, 1) and "
    r"(e₂, −1), linear kernel on ℝ². For 0 < ρ ≤ 1 Ivanov's solution over ‖f‖ ≤ ρ is 0 on Z, and ρ e₂ without (e₂, −1), each the only "
    r"one: the squared loss at (e₂, 1) changes by 1 − (1 − ρ)² for every n. KRR's changes there by at most 2/(1 + μ), μ = nλ if Z^i "
    r"divides by n and (n − 1)λ if it divides by n − 1.",
    exhaustive=True,
    knobs={"copies": 0},
    mutants={"a copy of (e₂, 0) in Z^i": {"copies": 1}},
    note="The paper cites this as a fact of the literature and gives no example; this one is ours. The two are weakly equivalent for "
    "ρ < ‖f₀‖ where K Y ≠ 0 (AK-D3.3b); KRR is stable on all sets (AK-Ex.b+).",
)
def equivalent_and_not_equally_stable(trial: sc.Trial) -> Iterator[sc.Check]:
    """Risks of Ivanov's learner above those of its solutions; KRR's solutions by their first-order conditions, μ its penalty."""
    n, u, v, rho, mu = sc.symbols("n u v rho mu")
    far: Sample = (n - 2, [1, 0], 0)
    both: list[Sample] = [far, (1, [0, 1], 1), (1, [0, 1], -1)]
    one: list[Sample] = [far, (1, [0, 1], 1), *([(1, [0, 1], 0)] if trial["copies"] else [])]

    def squares(samples: list[Sample], w: list[Any]) -> Any:
        """Σ count · (y − ⟨w, x⟩)²."""
        return sum((c * (y - dot(w, x)) ** 2 for c, x, y in samples), Fraction(0))

    yield sc.equal(squares(both, [u, v]) - squares(both, [0, 0]), (n - 2) * u**2 + 2 * v**2, "Ivanov on Z: at (u, v) and at 0")
    rise = (n - 2) * u**2 + (rho - v) * (2 - rho - v)
    yield sc.equal(squares(one, [u, v]) - squares(one, [0, rho]), rise, "Ivanov on Z^i: at (u, v) and at ρ e₂, v ≤ ρ ≤ 1")
    yield sc.equal(1 - (1 - rho) ** 2, rho * (2 - rho), "Ivanov: change of the loss at (e₂, 1), n drops out")
    for samples, name, wanted in ((both, "Z", Fraction(0)), ([far, (1, [0, 1], 1)], "Z^i", 1 / (1 + mu))):
        for k, (found, value) in enumerate(zip(ridge(samples, mu, 2), (Fraction(0), wanted), strict=True), 1):
            yield sc.equal(found, value, f"KRR on {name}, along e{k}")
    change = 1 - (1 - 1 / (1 + mu)) ** 2
    yield sc.equal(2 / (1 + mu) - change, 1 / (1 + mu) ** 2, "KRR: what is left to 2/(1 + μ), a square")
