"""Steps of the proofs of Lemmas 3 and 5 that are identities with visibly non-negative terms: proved in symbols."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *


def numbered(name: str, count: int) -> tuple[Expr, ...]:
    """Symbols name1, name2, …"""
    return symbols(" ".join(f"{name}{i}" for i in range(1, count + 1)))


def once(trial: Trial) -> Iterator[Instance]:
    """One instance without data: identities in symbols."""
    yield {}


@claim(
    "KK-6/8",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Section 5.1, (6) and (8)",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"If ‖n‖ ≤ η₁ and ‖d‖ ≤ W, then 2⟨n, d⟩ ≥ −2Wη₁, because 2Wη₁ + 2⟨n, d⟩ = (W/η₁)‖n + (η₁/W) d‖² + (W/η₁)(η₁² − ‖n‖²) + (η₁/W)(W² "
    r"− ‖d‖²). And 2aD ≥ −2W|a| for |D| ≤ W: with a = p − q, |a| = p + q, 2W(p + q) + 2(p − q)D = 2p(W + D) + 2q(W − D). Hence (6) ≥ "
    r"−2Wη₁ and (8) ≥ −2Wη₂. (In symbols ‖n‖², ‖d‖² and ⟨n, d⟩, for every dimension; sums over i term by term.)",
    instances=once,
    exhaustive=True,
    knobs={"times": 2},
    mutants={"W for 2W": {"times": 1}},
    note="n = mean (y − ȳ) x, d = w − w^t, a_i = ỹ_i − ŷ_i, D_i = d·x_i. Checked on models in KK-L3-steps.",
)
def noise_terms(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both identities."""
    W, eta, p, q, D, nn, nd, dd = symbols("W eta p q D nn nd dd")  # nn = ‖n‖², nd = ⟨n, d⟩, dd = ‖d‖²
    off = W / eta * (nn + 2 * (eta / W) * nd + (eta / W) ** 2 * dd)  # (W/η₁)‖n + (η₁/W) d‖²
    yield equal(trial["times"] * W * eta + 2 * nd, off + W / eta * (eta**2 - nn) + eta / W * (W**2 - dd), "(6)")
    yield equal(trial["times"] * W * (p + q) + 2 * (p - q) * D, 2 * p * (W + D) + 2 * q * (W - D), "(8)")


@claim(
    "KK-11b",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Section 5.1, after (11)",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"For ŷ, ỹ, ȳ in [0, 1]: (ỹ − ȳ)² − (ŷ − ȳ)² = (ỹ − ŷ) s, s = ỹ + ŷ − 2ȳ; with ỹ − ŷ = p − q and |ŷ − ỹ| = p + q, 2(p + q) + (p "
    r"− q)s = p(2 + s) + q(2 − s), and 2 + s = ỹ + ŷ + 2(1 − ȳ), 2 − s = (1 − ỹ) + (1 − ŷ) + 2ȳ are ≥ 0. So the mean over i of the first "
    r"is ≥ −(2/m) Σ |ŷ_i − ỹ_i|, which is ≥ −2η₂ if (1/m) Σ |ŷ_i − ỹ_i| ≤ η₂: ε̂(h̃^t) − ε̂(h^t) ≥ −2η₂.",
    instances=once,
    exhaustive=True,
    knobs={"times": 2},
    mutants={"η₂ for 2η₂": {"times": 1}},
    note="In the last display of the proof the factor ỹ_i + ŷ_i − 2ȳ_i stands outside of the sum over i to which it belongs. Checked on "
    "models in KK-L3-steps.",
)
def errors_of_the_two_fits(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The four identities."""
    hat, tilde, bar, p, q, s = symbols("hat tilde bar p q s")
    yield equal((tilde - bar) ** 2 - (hat - bar) ** 2, (tilde - hat) * (tilde + hat - 2 * bar), "difference of squares")
    yield equal(trial["times"] * (p + q) + (p - q) * s, p * (2 + s) + q * (2 - s), "bound")
    yield equal(2 + (tilde + hat - 2 * bar), tilde + hat + 2 * (1 - bar), "2 + s")
    yield equal(2 - (tilde + hat - 2 * bar), (1 - tilde) + (1 - hat) + 2 * bar, "2 − s")


@claim(
    "KK-13/14",
    paper=KAKADE_KALAI_KANADE_SHAMIR,
    place="Appendix A.1, (12) to (14)",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"(13): u nondecreasing and 1-Lipschitz gives 0 ≤ δ ≤ Δ or Δ ≤ δ ≤ 0 for δ = u(a) − u(b), Δ = a − b, hence Δδ − δ² = δ(Δ − δ) ≥ "
    r"0. (14): ‖n + g‖² = (‖n‖ + ‖g‖)² − 2(‖n‖‖g‖ − ⟨n, g⟩). Jensen: mean e_i² − ‖mean e_i x_i‖² = mean e_i²(1 − ‖x_i‖²) + m⁻² Σ_{i<j} "
    r"‖e_i x_i − e_j x_j‖², which is ≥ 0 for ‖x_i‖ ≤ 1. Proved for every m and dimension: with z_i = e_i x_i, Σ_{i<j} ‖z_i − z_j‖² = m Σ "
    r"‖z_i‖² − ‖Σ z_i‖² by induction over m, in symbols for Σ ‖z_i‖², ‖Σ z_i‖², and ‖z‖² and ⟨Σ z_i, z⟩ of the next z.",
    instances=once,
    exhaustive=True,
    knobs={"power": 2, "pairs": Fraction(1)},
    mutants={"Δδ ≥ δ": {"power": 1}, "half of the pairs": {"pairs": Fraction(1, 2)}},
    note="In (14) N and G stand for ‖n‖ and ‖g‖, and Cauchy–Schwarz is KK-6/8.",
)
def steps_of_the_known_transfer(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The three identities."""
    small, large, N, G, inner = symbols("delta Delta N G inner")  # inner = ⟨n, g⟩
    yield equal(large * small - small ** trial["power"], small * (large - small), "(13)")
    yield equal(N**2 + 2 * inner + G**2, (N + G) ** 2 - 2 * (N * G - inner), "(14)")
    m, squares, whole, pairs, size, along, e, length = symbols("m squares whole pairs size along e length")
    yield equal(0 * size, 1 * size - size, "pairs, m = 1")
    more = pairs + trial["pairs"] * (squares - 2 * along + m * size)  # Σ_i ‖z_i − z‖² is added
    grown = (m + 1) * (squares + size) - (whole + 2 * along + size)
    yield equal(more - grown, pairs - (m * squares - whole), "pairs, from m to m + 1")
    yield equal(e**2 - e**2 * length, e**2 * (1 - length), "Jensen: e² − ‖ex‖² for one sample")
    short = squares / m - (m * squares - pairs) / m**2  # mean ‖z_i‖² − ‖mean z_i‖²
    yield equal(short, pairs / m**2, "Jensen: mean ‖z_i‖² − ‖mean z_i‖²")
