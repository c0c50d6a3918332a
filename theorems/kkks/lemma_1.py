r"""Lemma 1: Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) ≥ 0 for every f that rises at least as fast as the identity.

On one chain the sum is linear in the values of f at ŷ_1 ≤ … ≤ ŷ_m. These values form a cone moved by the identity: constants in
both directions, and a jump 1[· ≥ v] at each value v but the least. The lemma holds for all f on three conditions. It holds for f = id, the
sum does not change with a constant, and Σ_{ŷ_i ≥ v} (y_i − ŷ_i) ≥ 0 at each v. So one chain is decided for all f, exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kkks.chains import chains, fit, gaps, small_chains
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO
from simopt.theorems.kkks.rational_lpav import cumulative_residuals

PROOF = "Section 5.1, proof of Lemma 1"


@sc.claim(
    "KK-L1",
    place="Section 5.1, Lemma 1",
    kind=sc.INEQUALITY,
    says=r"Let ŷ be the output of LPAV for sorted z (ties allowed) and y in [0, 1], and let f(β) − f(α) ≥ β − α for β ≥ α, on the values "
    r"ŷ_i. Then Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) ≥ 0. Decided for all f on each chain.",
    instances=chains,
    knobs={"slope": ONE, "lipschitz": ONE},
    mutants={"f rises half as fast": {"slope": Fraction(1, 2)}, "LPAV with constant 1/2": {"lipschitz": Fraction(1, 2)}},
    note="The cone test is in the head of lemma_1.py, a proof by the multipliers in KK-L1-kkt.",
)
def residuals_and_faster_functions(z: list[Fraction], y: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """f = id, constants and jumps."""
    x = fit(y, z, trial["lipschitz"])
    off = [a - b for a, b in zip(y, x, strict=True)]
    along = sum((r * (trial["slope"] * value - t) for r, value, t in zip(off, x, z, strict=True)), ZERO)
    yield sc.equal(sum(off, ZERO), 0, "constants")
    yield sc.at_least(along, 0, "f = id")
    for v in sorted(set(x))[1:]:
        yield sc.at_least(sum((r for r, value in zip(off, x, strict=True) if value >= v), ZERO), 0, f"jump at {v}")


@sc.claim(
    "KK-L1sum",
    place="Section 5.1, proof of Lemma 1, first line",
    kind=sc.IDENTITY,
    says=r"Σ_j (y_j − ŷ_j) = 0 for the output ŷ of LPAV: all chains of up to 3 points on a grid, ties included, and longer ones.",
    instances=chains,
    knobs={"low": ZERO, "high": ONE},
    mutants={"range [1/4, 3/4]": {"low": Fraction(1, 4), "high": Fraction(3, 4)}},
    note="Adding a constant to ŷ is allowed as long as the range is inactive, which it is (KK-LPAV).",
)
def residuals_add_up_to_zero(y: list[Fraction], z: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """The sum, with the range as a constraint."""
    x = fit(y, z, low=trial["low"], high=trial["high"])
    yield sc.equal(sum(y, ZERO) - sum(x, ZERO), 0, f"m = {len(x)}")


@sc.claim(
    "KK-L1-kkt",
    place=PROOF + ", by multipliers",
    kind=sc.IDENTITY,
    says=r"Let a_i, b_i be the multipliers of ŷ_{i+1} − ŷ_i ≤ z_{i+1} − z_i and of ŷ_{i+1} ≥ ŷ_i, s_i the slack of the first, r_i = "
    r"ŷ_{i+1} − ŷ_i, and f(ŷ_{i+1}) − f(ŷ_i) = r_i + e_i. With y_i − ŷ_i = (a_{i−1} − b_{i−1}) − (a_i − b_i): Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) "
    r"= Σ [a_i e_i + b_i (z_{i+1} − z_i)] − Σ [a_i s_i + b_i r_i + b_i e_i]. Here a, b, e ≥ 0, and the last sum is 0: a_i s_i = b_i r_i = "
    r"0, and e_i = 0 where r_i = 0. So the sum is ≥ 0. Proved for every length: with c_i = a_i − b_i and d_i = f(ŷ_i) − z_i, Σ_{i ≤ k} "
    r"(c_{i−1} − c_i) d_i = Σ_{i < k} c_i (d_{i+1} − d_i) − c_k d_k by induction over k, c_m = 0, and each c_i (d_{i+1} − d_i) is the "
    r"i-th term.",
    exhaustive=True,
    knobs={"sign": 1},
    mutants={"b_i with the other sign": {"sign": -1}},
    note="Abel summation; ŷ_1, f(ŷ_1) and z_1 drop out because Σ (y_i − ŷ_i) = 0, so that the paper's ŷ_0 = 0 and f(ŷ_0) = 0 are not "
    "needed.",
)
def lemma_by_multipliers(trial: sc.Trial) -> Iterator[sc.Check]:
    """Summation by parts (k = 1, and from k to k + 1), and one term of it."""
    left, right, c, following, d, further = sc.symbols("left right c following d further")
    yield sc.equal((0 - c) * d, 0 - c * d, "k = 1")
    before = left - (right - c * d)  # what the two sides differ by at k
    after = left + (c - following) * further - (right + c * (further - d) - following * further)
    yield sc.equal(after, before, "from k to k + 1")
    a, b, r, e, s, f, z = sc.symbols("a b r e s f z")
    term = (a - trial["sign"] * b) * (((f + r + e) - (z + r + s)) - (f - z))
    yield sc.equal(term, a * e + b * ((z + r + s) - z) - (a * s + b * r + b * e), "one term")


def tight_steps(z: list[Fraction], y: list[Fraction], shift: int) -> Iterator[sc.Check]:
    """σ_i < 0 against the fall and σ_i > 0 against the slack of the step between i + shift and i + shift + 1 (counted from 1)."""
    x = fit(y, z)
    m, rises, bounds = len(x), gaps(x), gaps(z)
    prices = cumulative_residuals(x, y)  # σ_i = τ_{i−1} − τ_m
    yield sc.equal(prices[-1], 0, "σ_1")
    for i in range(2, m + 1):
        sigma, k = prices[i - 2] - prices[-1], i - 1 + shift
        if k < m - 1:
            yield sc.equal(max(-sigma, ZERO) * rises[k] + max(sigma, ZERO) * (bounds[k] - rises[k]), 0, f"σ_{i} and the step from {k + 1}")


@sc.claim(
    "KK-L1pf",
    place=PROOF,
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"With σ_i = Σ_{j ≥ i} (y_j − ŷ_j): σ_i < 0 implies ŷ_i = ŷ_{i+1}, and σ_i > 0 implies ŷ_{i+1} − ŷ_i = z_{i+1} − z_i.",
    instances=small_chains,
    resolution=0.0,
    knobs={"shift": 0},
    mutants={"the step from i − 1 to i": {"shift": -1}},
    note="z = 0, 1, 2 and y = 1, 0, 1: ŷ = 1/2, 1/2, 1 and σ_2 = −1/2, but ŷ_2 < ŷ_3. σ_i belongs to the step from i − 1 to i, and (4), "
    "where it is used, has that step.",
)
def printed_index(z: list[Fraction], y: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """σ_i against the step from i."""
    yield from tight_steps(z, y, trial["shift"])


@sc.claim(
    "KK-L1pf+",
    place=PROOF + ", corrected",
    kind=sc.INEQUALITY,
    says=r"σ_1 = 0; for i ≥ 2, σ_i < 0 implies ŷ_{i−1} = ŷ_i, and σ_i > 0 implies ŷ_i − ŷ_{i−1} = z_i − z_{i−1}.",
    instances=chains,
    knobs={"shift": -1},
    mutants={"the step from i to i + 1": {"shift": 0}},
    corrects="KK-L1pf",
)
def corrected_index(z: list[Fraction], y: list[Fraction], trial: sc.Trial) -> Iterator[sc.Check]:
    """σ_i against the step to i."""
    yield from tight_steps(z, y, trial["shift"])
