r"""Lemma 5: how much nearer to w one step of GLM-tron comes, the identities of its proof, and the size of the step ((10), (15)).

Write d = w − w^t, g = mean (u(w·x) − u(w^t·x)) x and n = mean (y − ȳ) x, so that w^{t+1} − w = −(d − g − n). Since ⟨g, d⟩ ≥ ε̂ and
‖g‖² ≤ ε̂, ‖d − g‖² ≤ ‖d‖² − ε̂, and the triangle inequality gives ‖w^{t+1} − w‖ ≤ √(‖d‖² − ε̂) + η: sharper than Lemma 5, for every W.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.kkks.index_models import ONE, decoded_narrow, decoded_wide, length, narrow, of_every_width, step, transfer, wide
from simopt.theorems.small_worlds.worlds import dot, squared

LEMMA = "Appendix A.1, Lemma 5"
STEP = "Section 5.1, (10); Appendix A.1, (15)"


@sc.claim(
    "KK-L5",
    place=LEMMA,
    kind=sc.INEQUALITY,
    says=r"Let **W ≥ 1** (assumed in the proof, before (15)), ‖w^t − w‖ ≤ W and ‖mean (y_i − u(w·x_i)) x_i‖ ≤ η. Then ‖w^t − w‖² − "
    r"‖w^{t+1} − w‖² ≥ ε̂(h^t) − 5Wη for GLM-tron.",
    instances=wide,
    decode=decoded_wide,
    dimension=10,
    evaluations=(100, 350),
    knobs={"c": Fraction(5)},
    mutants={"W = 1/100": {"instances": narrow}, "29/10 W η": {"c": Fraction(29, 10)}},
    note="Without W ≥ 1 it fails (the mutant): x = y = 1, u = 1/2, w = w^t = 0. With η the norm itself it holds if and only if W ≥ η/3 is "
    "asked for, and 3W suffices for W ≥ η (KK-L5-sharp).",
)
def one_step_comes_nearer(instance: sc.Instance, W: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """ε̂ minus the decrease against 5Wη, with the η that the model has."""
    s = step(instance, known=True)
    yield sc.at_most(s.error() - s.decrease(), trial["c"] * W * s.eta1(), "ε̂ − decrease")


@sc.claim(
    "KK-L5+",
    place=LEMMA + ", for every W > 0",
    kind=sc.INEQUALITY,
    says=r"For every W ≥ ‖w^t − w‖ the decrease is at least ε̂ − 2Wη − 2η√ε̂ − η² ≥ ε̂ − (2W + 3)η, where η = ‖mean (y_i − ȳ_i) x_i‖ ≤ 1.",
    instances=of_every_width,
    decode=decoded_narrow,
    dimension=10,
    evaluations=(80, 250),
    knobs={"linear": Fraction(2), "rest": Fraction(3)},
    mutants={"W and 1/10 for 2W and 3": {"linear": ONE, "rest": Fraction(1, 10)}},
    note="Taken with W = ‖w^t − w‖.",
)
def one_step_for_every_width(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both forms."""
    s = step(instance, known=True)
    W, eta, error = length(s.square_before()), s.eta1(), s.error()
    yield sc.at_most(error - s.decrease(), (trial["linear"] * W + trial["rest"]) * eta, "(2W + 3)η")
    finer = trial["linear"] * W * eta + (trial["rest"] - 1) * eta * sc.root(error) + eta * eta
    yield sc.at_most(error - s.decrease(), finer, "2Wη + 2η√ε̂ + η²")


@sc.claim(
    "KK-13/14",
    place="Appendix A.1, (12) to (14)",
    kind=sc.IDENTITY,
    says=r"(13): u nondecreasing and 1-Lipschitz gives 0 ≤ δ ≤ Δ or Δ ≤ δ ≤ 0 for δ = u(a) − u(b), Δ = a − b, hence Δδ − δ² = δ(Δ − δ) ≥ "
    r"0. (14): ‖n + g‖² = (‖n‖ + ‖g‖)² − 2(‖n‖‖g‖ − ⟨n, g⟩). Jensen: mean e_i² − ‖mean e_i x_i‖² = mean e_i²(1 − ‖x_i‖²) + m⁻² Σ_{i<j} "
    r"‖e_i x_i − e_j x_j‖², which is ≥ 0 for ‖x_i‖ ≤ 1. Proved for every m and dimension: with z_i = e_i x_i, Σ_{i<j} ‖z_i − z_j‖² = m Σ "
    r"‖z_i‖² − ‖Σ z_i‖² by induction over m, in symbols for Σ ‖z_i‖², ‖Σ z_i‖², and ‖z‖² and ⟨Σ z_i, z⟩ of the next z.",
    exhaustive=True,
    knobs={"power": 2, "pairs": Fraction(1)},
    mutants={"Δδ ≥ δ": {"power": 1}, "half of the pairs": {"pairs": Fraction(1, 2)}},
    note="In (14) N and G stand for ‖n‖ and ‖g‖, and Cauchy–Schwarz is KK-6/8.",
)
def steps_of_the_known_transfer(trial: sc.Trial) -> Iterator[sc.Check]:
    """The three identities."""
    small, large, N, G, inner = sc.symbols("delta Delta N G inner")  # inner = ⟨n, g⟩
    yield sc.equal(large * small - small ** trial["power"], small * (large - small), "(13)")
    yield sc.equal(N**2 + 2 * inner + G**2, (N + G) ** 2 - 2 * (N * G - inner), "(14)")
    m, squares, whole, pairs, size, along, e, length = sc.symbols("m squares whole pairs size along e length")
    yield sc.equal(0 * size, 1 * size - size, "pairs, m = 1")
    more = pairs + trial["pairs"] * (squares - 2 * along + m * size)  # Σ_i ‖z_i − z‖² is added
    grown = (m + 1) * (squares + size) - (whole + 2 * along + size)
    yield sc.equal(more - grown, pairs - (m * squares - whole), "pairs, from m to m + 1")
    yield sc.equal(e**2 - e**2 * length, e**2 * (1 - length), "Jensen: e² − ‖ex‖² for one sample")
    short = squares / m - (m * squares - pairs) / m**2  # mean ‖z_i‖² − ‖mean z_i‖²
    yield sc.equal(short, pairs / m**2, "Jensen: mean ‖z_i‖² − ‖mean z_i‖²")


def loud_and_quiet(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Models of every width, and the same with a thousandth of their noise, for which ε̂ often exceeds Wη."""
    for drawn in of_every_width(trial):
        yield drawn
        u = transfer(drawn["knots"], drawn["values"])
        means = [u(Fraction(dot(drawn["w"], x))) for x in drawn["features"]]
        yield drawn | {"labels": [(999 * mean + y) / 1000 for mean, y in zip(means, drawn["labels"], strict=True)]}


@sc.claim(
    "KK-L5-sharp",
    place=LEMMA + ", sharper",
    kind=sc.INEQUALITY,
    says=r"For GLM-tron ‖w^{t+1} − w‖ ≤ √(‖w^t − w‖² − ε̂(h^t)) + η, η = ‖mean (y_i − ȳ_i) x_i‖, without any condition on W. Hence the "
    r"decrease is at least ε̂ − 2Wη − η² for every W ≥ ‖w^t − w‖; and where ε̂ ≥ Wη it is at least ε̂ − 2Wη, so that Theorem 1 holds with "
    r"ε̂ ≤ 3Wη in the place of 6Wη, for every W > 0.",
    instances=loud_and_quiet,
    decode=decoded_narrow,
    dimension=10,
    evaluations=(80, 250),
    knobs={"error": ONE, "noise": ONE},
    mutants={"1.01 ε̂": {"error": Fraction(101, 100)}, "9/10 η": {"noise": Fraction(9, 10)}},
    note="Proof in the head of lemma_5.py; √(W² − ε̂) ≤ W − ε̂/(2W) for the last form. Equality for u = 0, y = 1 and w^t − w "
    "along x: the decrease is −2Wη − η², so that Lemma 5 as printed needs W ≥ η/3.",
)
def distance_after_the_step(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The distance by its square, and the two forms of the decrease."""
    s = step(instance, known=True)
    W, eta, error = length(s.square_before()), trial["noise"] * s.eta1(), trial["error"] * s.error()
    inner = sc.root(sc.maximum(0, s.square_before() - error))
    yield sc.at_most(s.square_after(), (inner + eta) ** 2, "‖w^{t+1} − w‖²")
    yield sc.at_most(error - s.decrease(), 2 * W * eta + eta * eta, "ε̂ − decrease against 2Wη + η²")
    if 0 < s.square_before() * squared(s.noise()) <= s.error() ** 2:
        yield sc.at_most(error - s.decrease(), 2 * W * eta, "ε̂ − decrease against 2Wη, where ε̂ ≥ Wη")


@sc.claim(
    "KK-10",
    place=STEP,
    kind=sc.INEQUALITY,
    says=r"Let **W ≥ 1** (printed before (15), to which (10) refers) and ‖mean (y_i − ȳ_i) x_i‖ ≤ η. Then ‖mean (y_i − ŷ_i) x_i‖² ≤ ε̂(h) "
    r"+ 3Wη, for L-Isotron (ŷ = LPAV) and for GLM-tron (ŷ = u(w^t·x)).",
    instances=wide,
    knobs={"c": Fraction(3)},
    mutants={"W = 1/100": {"instances": narrow}, "Wη/4": {"c": Fraction(1, 4)}},
    note="(15) prints ‖mean (y_i − u(w·x_i)) x_i‖ on its left, a slip: (12) has ŷ_i = u(w^t·x_i) there. Without W ≥ 1: W = 1/100, x = y = "
    "1, u = 1/2, w = w^t = 0 gives 1/4 > 0 + 3/200 for GLM-tron.",
)
def size_of_the_step(instance: sc.Instance, W: Fraction, trial: sc.Trial) -> Iterator[sc.Check]:
    """Both algorithms."""
    for known in (False, True):
        s = step(instance, known)
        bound = s.error() + trial["c"] * W * s.eta1()
        yield sc.at_most(Fraction(squared(s.move())), bound, "GLM-tron" if known else "L-Isotron")


@sc.claim(
    "KK-10+",
    place=STEP + ", for every W",
    kind=sc.INEQUALITY,
    says=r"Whatever W is, ‖mean (y_i − ŷ_i) x_i‖² ≤ (√ε̂(h) + η)² = ε̂ + 2η√ε̂ + η² ≤ ε̂ + 3η, η = ‖mean (y_i − ȳ_i) x_i‖ ≤ 1.",
    instances=of_every_width,
    decode=decoded_narrow,
    dimension=10,
    evaluations=(60, 200),
    knobs={"cross": Fraction(2)},
    mutants={"without 2η√ε̂": {"cross": Fraction(0)}},
    note="The right sides of the two displays are sharp: equality where all x_i are one unit vector and ȳ − ŷ, y − ȳ are constant.",
)
def size_of_the_step_for_every_width(instance: sc.Instance, trial: sc.Trial) -> Iterator[sc.Check]:
    """The sum of the two parts, squared."""
    for known in (False, True):
        s = step(instance, known)
        eta, error = s.eta1(), s.error()
        moved = Fraction(squared(s.move()))
        yield sc.at_most(moved, error + trial["cross"] * eta * sc.root(error) + eta * eta, "GLM-tron" if known else "L-Isotron")
        yield sc.at_most(moved, error + (1 + trial["cross"]) * eta, "ε̂ + 3η")
