r"""Section 4.4: over rich classes every convex potential gives the classifier of linear loss, with and without label noise.

At one x, with η = P(Y = 1 | x), the conditional risk of the score v is C(v) = η ψ(v) + (1 − η) ψ(−v), and C'(0) = (2η − 1) ψ'(0). Convexity
gives C(v) ≥ C(0) + (2η − 1) ψ'(0) v: no v on the wrong side of 0 is better than 0, and 0 is not best.
"""

from __future__ import annotations

from collections.abc import Iterator

import simopt.claims as sc


@sc.claim(
    "RMW-4.4",
    place="Section 4.4, 'will produce the same result as using linear loss'",
    kind=sc.EQUIVALENCE,
    says=r"Let ψ be convex and **differentiable at 0** with ψ'(0) < 0, as every convex potential is (Definition 9). If f minimises "
    r"E ψ(y f(x)) over all functions, then **where η(x) ≠ ½** f(x) has the sign of f_P(x), the minimiser of linear loss over [−1, 1]^X: "
    r"the two are the same classifier. So they are under label noise σ ∈ (0, ½), where η becomes σ + (1 − 2σ)η.",
    remains="that the difference quotients of ψ at 0 come as near to ψ'(0) as is asked: it is differentiable there",
    exhaustive=True,
    knobs={"kink": False, "ratio": 1},
    mutants={"a kink at 0": {"kink": True}, "label 1 flipped twice as often": {"ratio": 2}},
    note="'Sufficiently rich' is read as: some minimiser over all functions lies in the class. What is the same is the classifier; scores "
    "differ (the logistic loss gives log η/(1 − η)). The sentence calls on Theorem 1, which is about linear loss alone; the other half is "
    "this. Linear loss has no minimiser over all functions: the class has to be bounded.",
)
def potentials_agree_with_linear_loss(trial: sc.Trial) -> Iterator[sc.Check]:
    """Excess over the score 0, its slope there, and the noisy η, with ψ(0), ψ(±v) and ψ'(0) free."""
    eta, v, zero, right, left, slope, sigma = sc.symbols("eta v psi0 psi_v psi_minus_v slope sigma")
    other = sc.symbols("left_slope")[0] if trial["kink"] else slope
    above, below = right - zero - slope * v, left - zero + other * v  # both ≥ 0: ψ is convex
    excess = eta * right + (1 - eta) * left - zero
    yield sc.equal(excess, (2 * eta - 1) * slope * v + eta * above + (1 - eta) * below, "C(v) − C(0): ≥ 0 for v on the wrong side of 0")
    quotients = (right - zero) / v - slope, (zero - left) / v - other
    yield sc.equal(
        excess / v - (2 * eta - 1) * slope, eta * quotients[0] - (1 - eta) * quotients[1], "(C(v) − C(0))/v, v → 0: < 0 on the right side"
    )
    noisy = eta * (1 - trial["ratio"] * sigma) + (1 - eta) * sigma
    yield sc.equal(2 * noisy - 1, (1 - 2 * sigma) * (2 * eta - 1), "noise leaves η on its side of ½")
