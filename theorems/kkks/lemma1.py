r"""Lemma 1: Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) ≥ 0 for every f that rises at least as fast as the identity.

On one chain the sum is linear in the values of f at ŷ_1 ≤ … ≤ ŷ_m, and these values form a cone moved by the identity: constants in
both directions, and a jump 1[· ≥ v] at each value v but the least. The lemma holds for all f if it holds for f = id, if the sum does not
change with a constant, and if Σ_{ŷ_i ≥ v} (y_i − ŷ_i) ≥ 0 at each v. So one chain is decided for all f, exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import (
    HOLDS,
    IDENTITY,
    INEQUALITY,
    KAKADE_KALAI_KANADE_SHAMIR,
    REFUTED,
    TYPO,
    Check,
    Instance,
    Trial,
    at_least,
    claim,
    equal,
    symbols,
)
from simopt.claims.expression import total
from simopt.theorems.kkks.chains import chains, fit, gaps, small_chains
from simopt.theorems.kkks.piecewise_linear import ONE, ZERO
from simopt.theorems.kkks.rational_lpav import cumulative_residuals

PROOF = "Section 5.1, proof of Lemma 1"


@claim(
    "KK-L1",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Section 5.1, Lemma 1",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"Let ŷ be the output of LPAV for sorted z (ties allowed) and y in [0, 1], and let f(β) − f(α) ≥ β − α for β ≥ α, on the values "
    r"ŷ_i. Then Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) ≥ 0. Decided for all f on each chain.",
    instances=chains,
    knobs={"slope": ONE, "lipschitz": ONE},
    mutants={"f rises half as fast": {"slope": Fraction(1, 2)}, "LPAV with constant 1/2": {"lipschitz": Fraction(1, 2)}},
    note="The cone test is in the head of lemma1.py, a proof by the multipliers in KK-L1-kkt.",
)
def residuals_and_faster_functions(instance: Instance, trial: Trial) -> Iterator[Check]:
    """f = id, constants and jumps."""
    z, y = instance["z"], instance["y"]
    x = fit(instance, trial["lipschitz"])
    off = [a - b for a, b in zip(y, x, strict=True)]
    along = sum((r * (trial["slope"] * value - t) for r, value, t in zip(off, x, z, strict=True)), ZERO)
    yield equal(sum(off, ZERO), 0, "constants")
    yield at_least(along, 0, "f = id")
    for v in sorted(set(x))[1:]:
        yield at_least(sum((r for r, value in zip(off, x, strict=True) if value >= v), ZERO), 0, f"jump at {v}")


def lengths(trial: Trial) -> Iterator[Instance]:
    """Chains of 2 to 7 points."""
    for m in range(2, 8):
        yield {"m": m}


@claim(
    "KK-L1-kkt",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place=PROOF + ", by multipliers",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"Let a_i, b_i be the multipliers of ŷ_{i+1} − ŷ_i ≤ z_{i+1} − z_i and of ŷ_{i+1} ≥ ŷ_i, s_i the slack of the first, r_i = "
    r"ŷ_{i+1} − ŷ_i, and f(ŷ_{i+1}) − f(ŷ_i) = r_i + e_i. With y_i − ŷ_i = (a_{i−1} − b_{i−1}) − (a_i − b_i): Σ (y_i − ŷ_i)(f(ŷ_i) − z_i) "
    r"= Σ [a_i e_i + b_i (z_{i+1} − z_i)] − Σ [a_i s_i + b_i r_i + b_i e_i]. Here a, b, e ≥ 0, and the last sum is 0: a_i s_i = b_i r_i = "
    r"0, and e_i = 0 where r_i = 0. So the sum is ≥ 0. Proved for chains of 2 to 7 points.",
    instances=lengths,
    exhaustive=True,
    knobs={"sign": 1},
    mutants={"b_i with the other sign": {"sign": -1}},
    note="Abel summation; ŷ_1, f(ŷ_1) and z_1 drop out because Σ (y_i − ŷ_i) = 0, so that the paper's ŷ_0 = 0 and f(ŷ_0) = 0 are not "
    "needed.",
)
def lemma_by_multipliers(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The identity of polynomials for one length."""
    m = instance["m"]
    a, b, r, e, s = (symbols(" ".join(f"{name}{i}" for i in range(1, m))) for name in "abres")
    f, z = list(symbols("f1 z1")), []
    values, places = [f[0]], [f[1]]
    for i in range(m - 1):
        values.append(values[-1] + r[i] + e[i])
        places.append(places[-1] + r[i] + s[i])
    z = [q - p for p, q in itertools.pairwise(places)]
    tau = [0, *(p - trial["sign"] * q for p, q in zip(a, b, strict=True)), 0]
    left = total((tau[i] - tau[i + 1]) * (values[i] - places[i]) for i in range(m))
    gain = total(a[i] * e[i] + b[i] * z[i] for i in range(m - 1))
    zero = total(a[i] * s[i] + b[i] * r[i] + b[i] * e[i] for i in range(m - 1))
    yield equal(left, gain - zero, f"m = {m}")


def tight_steps(instance: Instance, shift: int) -> Iterator[Check]:
    """σ_i < 0 against the fall and σ_i > 0 against the slack of the step between i + shift and i + shift + 1 (counted from 1)."""
    z, y = instance["z"], instance["y"]
    x = fit(instance)
    m, rises, bounds = len(x), gaps(x), gaps(z)
    prices = cumulative_residuals(x, y)  # σ_i = τ_{i−1} − τ_m
    yield equal(prices[-1], 0, "σ_1")
    for i in range(2, m + 1):
        sigma, k = prices[i - 2] - prices[-1], i - 1 + shift
        if k < m - 1:
            yield equal(max(-sigma, ZERO) * rises[k] + max(sigma, ZERO) * (bounds[k] - rises[k]), 0, f"σ_{i} and the step from {k + 1}")


@claim(
    "KK-L1pf",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place=PROOF,
    kind=INEQUALITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"With σ_i = Σ_{j ≥ i} (y_j − ŷ_j): σ_i < 0 implies ŷ_i = ŷ_{i+1}, and σ_i > 0 implies ŷ_{i+1} − ŷ_i = z_{i+1} − z_i.",
    instances=small_chains,
    resolution=0.0,
    knobs={"shift": 0},
    mutants={"the step from i − 1 to i": {"shift": -1}},
    note="z = 0, 1, 2 and y = 1, 0, 1: ŷ = 1/2, 1/2, 1 and σ_2 = −1/2, but ŷ_2 < ŷ_3. σ_i belongs to the step from i − 1 to i, and (4), "
    "where it is used, has that step.",
)
def printed_index(instance: Instance, trial: Trial) -> Iterator[Check]:
    """σ_i against the step from i."""
    yield from tight_steps(instance, trial["shift"])


@claim(
    "KK-L1pf+",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place=PROOF + ", corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"σ_1 = 0; for i ≥ 2, σ_i < 0 implies ŷ_{i−1} = ŷ_i, and σ_i > 0 implies ŷ_i − ŷ_{i−1} = z_i − z_{i−1}.",
    instances=chains,
    knobs={"shift": -1},
    mutants={"the step from i to i + 1": {"shift": 0}},
    corrects="KK-L1pf",
)
def corrected_index(instance: Instance, trial: Trial) -> Iterator[Check]:
    """σ_i against the step to i."""
    yield from tight_steps(instance, trial["shift"])
