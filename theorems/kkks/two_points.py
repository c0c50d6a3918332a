r"""The run of L-Isotron that refutes Theorem 2 (theorem_2.py), in symbols: two points, of which LPAV is as steep as it may be.

x = ±1/(2W), y = 1 for x > 0 and 0 otherwise, a share q of positive x; z_+ − z_− = g = w^t/W, so that LPAV allows ŷ_+ − ŷ_− ≤ g.
"""

from __future__ import annotations

from collections.abc import Iterator

from simopt.claims import *


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: identities in symbols."""
    yield {}


@claim(
    "KK-T2-run",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Theorem 2, the run that refutes it",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"For 0 ≤ g ≤ 1 and 0 ≤ q ≤ 1 let p = q + (1 − q)g and r = q − qg. Then q(1 − a)² + (1 − q)b² = q(1 − p)² + (1 − q)r² + q(a − p)² "
    r"+ (1 − q)(b − r)² + 2q(1 − q)(1 − g)(g − (a − b)), so that a = p, b = r is the fit of LPAV, a − b ≤ g. The step is w^{t+1} − w^t = "
    r"[q(1 − p) + (1 − q)r]/(2W) = q(1 − q)(1 − g)/W, hence 1 − g_{t+1} = (1 − g_t)(1 − q(1 − q)/W²); ε̂ = q(1 − p)² + (1 − q)r² = q(1 − "
    r"q)(1 − g)². And q(1 − q) = 3/16 + (q − 1/4)(3/4 − q) = 1/4 − (1/2 − q)².",
    instances=once,
    exhaustive=True,
    resolution=0.0,
    knobs={"steepness": 1},
    mutants={"LPAV with constant 2": {"steepness": 2}},
    note="With g_1 = 0, 1/4 ≤ q ≤ 3/4 and Bernoulli's inequality: ε̂(h^t) ≥ (3/16)(1 − 1/(4W²))^{2T} ≥ (3/16)(1 − T/(2W²)) for all t ≤ T + "
    "1. This is the bound in KK-T2 and KK-T2-sharp.",
    cost=0.1,
)
def two_points_in_symbols(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The fit, the step, the error and the two forms of q(1 − q)."""
    q, g, W, a, b = symbols("q g W a b")
    size = q * (1 - q)
    rise = trial["steepness"] * g
    high, low = q + (1 - q) * rise, q - q * rise
    least = q * (1 - high) ** 2 + (1 - q) * low**2
    off = q * (a - high) ** 2 + (1 - q) * (b - low) ** 2
    yield equal(q * (1 - a) ** 2 + (1 - q) * b**2, least + off + 2 * size * (1 - g) * (g - (a - b)), "cost of any a, b")
    move = (q * (1 - high) + (1 - q) * low) / (2 * W)
    yield equal(1 - (g + move / W), (1 - g) * (1 - size / W**2), "1 − g_{t+1}")
    yield equal(least, size * (1 - g) ** 2, "ε̂")
    yield equal(size, rational("3/16") + (q - rational("1/4")) * (rational("3/4") - q), "q(1 − q) ≥ 3/16")
    yield equal(size, rational("1/4") - (rational("1/2") - q) ** 2, "q(1 − q) ≤ 1/4")
