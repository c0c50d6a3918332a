r"""The proof of Theorem 19 (Appendix B): its first display, and what one point moves of a mean of losses."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.landmarks.dipping_domains import ONE, domain, largest_gap
from simopt.theorems.kj.landmarks.piecewise_linear import box, largest
from simopt.theorems.kj.landmarks.stability import SECTION, domains_and_sharp_pairs, far_targets, samples


def shares(instance: Instance, drawn: tuple[int, ...]) -> list[Fraction]:
    """The empirical distribution of a sample."""
    return [Fraction(k, instance["n"]) for k in samples(drawn, len(instance["masses"]))]


def supremum(instance: Instance, drawn: tuple[int, ...], coefficients: list[Fraction]) -> Fraction:
    """sup_{f ∈ F_S} Σ_x c_x |f(x) − y(x)|, exactly."""
    n, counts = instance["n"], samples(drawn, len(instance["masses"]))
    marks = [x for x, k in enumerate(counts) if k]
    slopes = [[row[x] / n for x in marks] for row in instance["gram"]]
    return largest(coefficients, slopes, instance["targets"], box([counts[x] * instance["B"] for x in marks]))


def unlike_targets(trial: Trial) -> Iterator[Instance]:
    """K = 0, targets 0 and 1 = B with equal chances; one point with y = 0 becomes one with y = 1."""
    for n in (1, 2, 5):
        made = domain([Fraction(1, 2)] * 2, [[0, 0], [0, 0]], [0, 1], 1, n)
        yield made | {"pairs": [((0,) * n, (1,) + (0,) * (n - 1))]}


def _first_display(instance: Instance, drawn: tuple[int, ...], other: tuple[int, ...], sign: int) -> Check:
    """g(S) against sup (L_f − L̂^{S^i}_f) + sup ±(L̂^{S^i}_f − L̂^S_f), all over F_S."""
    p, q, r = instance["masses"], shares(instance, drawn), shares(instance, other)
    first, second = ([a - b for a, b in zip(x, z, strict=True)] for x, z in ((p, r), (r, q)))
    bound = supremum(instance, drawn, first) + supremum(instance, drawn, [sign * c for c in second])
    return at_most(supremum(instance, drawn, [a - b for a, b in zip(p, q, strict=True)]), bound, f"g(S), n = {instance['n']}")


@claim(
    "KJ-T19-p0",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first display",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=TYPO,
    says=r"g(S) = sup_{f ∈ F_S} (L_f − L̂^S_f) ≤ sup_{f ∈ F_S} (L_f − L̂^{S^i}_f) + sup_{f ∈ F_S} (L̂^S_f − L̂^{S^i}_f).",
    instances=unlike_targets,
    knobs={"sign": -1},
    mutants={"L̂^{S^i} − L̂^S": {"sign": 1}},
    note="K = 0, B = 1, y = 0 or 1 fairly, n = 1: f = 0, L = 1/2; S has y = 0, S^i has y = 1: 1/2 ≤ −1/2 − 1. The last difference has the "
    "wrong sign. Harmless: its bound is used for either sign (and is wrong for another reason, KJ-T19-p1).",
)
def first_display_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """All three suprema, exactly."""
    for drawn, other in instance["pairs"]:
        yield _first_display(instance, tuple(drawn), tuple(other), trial["sign"])


def with_pairs(trial: Trial) -> Iterator[Instance]:
    """The witnesses of the printed sign; sharp pairs and random domains, two samples that differ in one point."""
    yield from unlike_targets(trial)
    for made in domains_and_sharp_pairs(trial):
        n, points = made["n"], len(made["masses"])
        cycle = tuple(x % points for x in range(n))
        yield {"pairs": [(cycle, ((cycle[0] + 1) % points, *cycle[1:]))]} | made


@claim(
    "KJ-T19-p0+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first display, corrected",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"g(S) ≤ sup_{f ∈ F_S} (L_f − L̂^{S^i}_f) + sup_{f ∈ F_S} (**L̂^{S^i}_f − L̂^S_f**), since L_f − L̂^S_f is the sum of both "
    r"differences for every f. (Exactly, on small domains.)",
    instances=with_pairs,
    knobs={"sign": 1},
    mutants={"the printed sign": {"sign": -1}},
    corrects="KJ-T19-p0",
    cost=1.0,
)
def first_display(instance: Instance, trial: Trial) -> Iterator[Check]:
    """All three suprema, exactly."""
    for drawn, other in instance["pairs"]:
        yield _first_display(instance, tuple(drawn), tuple(other), trial["sign"])


def losses_on(instance: Instance, drawn: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
    """sup_{f ∈ F_S} (L̂^{S'}_f − L̂^S_f) for the absolute loss: like g, with the masses of S' in the place of the domain's."""
    points = len(instance["masses"])
    return largest_gap(instance | {"masses": shares(instance, other)}, samples(drawn, points))


@claim(
    "KJ-T19-p1",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, proof of Theorem 19, the first 2BC_L/n",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=MISSING_HYPOTHESIS,
    says=r"If |K| ≤ 1 and the loss is C_L-Lipschitz, sup_{f ∈ F_S} |L̂^S_f − L̂^{S^i}_f| ≤ 2BC_L/n.",
    instances=far_targets,
    knobs={"range": 0},
    mutants={"plus the range of the loss": {"range": 1}},
    note="The two means differ in one term, at two points with two targets: the difference is up to M/n, M the range of the loss.",
)
def means_differ_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """K = 0: the losses are |y_i| and |y_i'|."""
    B, n = instance["B"], instance["n"]
    reach = B + max(abs(y) for y in instance["targets"])
    ((drawn, other),) = instance["pairs"]
    yield at_most(losses_on(instance, drawn, other), (2 * B + trial["range"] * reach) / n, f"difference of the means, n = {n}")


@claim(
    "KJ-T19-p1+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix B, proof of Theorem 19, with the range of the loss",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If |K| ≤ 1 and the loss takes values in an interval of length M on the predictions of F_S, then |L̂^S_f − L̂^{S^i}_f| ≤ M/n; "
    r"for the absolute loss M = B + sup|y|, and this is attained.",
    instances=domains_and_sharp_pairs,
    knobs={"share": ONE},
    mutants={"half": {"share": Fraction(1, 2)}},
    corrects="KJ-T19-p1",
    cost=1.0,
)
def means_differ(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The supremum over F_S, exactly, for two samples that differ in one point."""
    n, points = instance["n"], len(instance["masses"])
    cycle = tuple(x % points for x in range(n))
    pairs = instance.get("pairs", [(cycle, ((cycle[0] + 1) % points, *cycle[1:]))])
    reach = instance["B"] + max(abs(y) for y in instance["targets"])
    for drawn, other in pairs:
        yield at_most(losses_on(instance, tuple(drawn), tuple(other)), trial["share"] * reach / n, f"difference of the means, n = {n}")
