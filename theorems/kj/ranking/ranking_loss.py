r"""Appendix F, the squared loss of lists: its Lipschitz constant, what landmarks cost in the mean, and the sum over documents as m E_μ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from simopt.claims import *
from simopt.theorems.kj.landmarks.landmark_laws import deviations, draws
from simopt.theorems.kj.ranking.ranking_worlds import masses, mean, random_world, squared_loss, world
from simopt.theorems.kj.ranking.relevance_lists import BINARY, BITS, NATURAL, logarithm

SECTION = "ordinal"
HALF, ONE = Fraction(1, 2), Fraction(1)


def at_the_edge(trial: Trial) -> Iterator[Instance]:
    """Base 2, one relevant document: η = 1; predictions −B and −B + step."""
    for bound in (ONE, Fraction(4)):
        yield {"bound": bound, "step": bound / 8, "eta": ONE}


@claim(
    "KJ-Thm30-lip",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 30: region of interest",
    kind=INEQUALITY,
    expected=REFUTED,
    defect=CONSTANT,
    says=r"On |f| ≤ B the squared loss (f − η)² is 2B-Lipschitz in f.",
    instances=at_the_edge,
    knobs={"eta": 0},
    mutants={"2(B + η)": {"eta": 1}},
    note="|(f − η)² − (f' − η)²| = |f − f'| |f + f' − 2η|: with B = 1, η = 1 (base 2, one relevant document), f = −1, f' = −7/8 the "
    "quotient is 31/8. It would be 2B for η = 0; even for η ≤ B it is up to 4B.",
)
def lipschitz_as_printed(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Difference of the losses at −B and near it."""
    bound, step, eta = inputs(bound=instance["bound"], step=instance["step"], eta=instance["eta"])
    constant = 2 * (bound + trial["eta"] * eta)
    yield at_most(abs((-bound - eta) ** 2 - (-bound + step - eta) ** 2), constant * step, "difference of losses")


def once(trial: Trial) -> Iterator[Instance]:
    """No data: identities in symbols."""
    yield {}


@claim(
    "KJ-Thm30-lip+",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 30: region of interest, corrected",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"For |f|, |f'| ≤ B and 0 ≤ η ≤ η_max, |(f − η)² − (f' − η)²| ≤ **2(B + η_max)** |f − f'|: the quotient is |f + f' − 2η|, and 2(B "
    r"+ η_max) ∓ (f + f' − 2η) are sums of the nonnegative B ∓ f, B ∓ f' and 2(η_max ± η). Attained at f' → f = −B, η = η_max, which is "
    r"log 2, or 1 with base 2. (In symbols.)",
    instances=once,
    exhaustive=True,
    knobs={"eta": 1},
    mutants={"2B": {"eta": 0}},
    corrects="KJ-Thm30-lip",
)
def lipschitz_corrected(instance: Instance, trial: Trial) -> Iterator[Check]:
    """The quotient and the two sums."""
    f, g, eta, top, bound = symbols("f g eta top bound")
    constant = 2 * (bound + trial["eta"] * top)
    yield equal((f - eta) ** 2 - (g - eta) ** 2, (f - g) * (f + g - 2 * eta), "difference of losses")
    yield equal(constant - (f + g - 2 * eta), (bound - f) + (bound - g) + 2 * (top + eta), "upper")
    yield equal(constant + (f + g - 2 * eta), (bound + f) + (bound + g) + 2 * (top - eta), "lower")


def predictions(trial: Trial) -> Iterator[Instance]:
    """Lists of equal documents with f near −B, then random worlds; f and f̃ in multiples of B/4; B from 1/8 to 4."""
    for base in (NATURAL, BINARY):
        yield world([1], [[1]], [[1]], 2, f=[-Fraction(9, 10)], landmarked=[-ONE], bound=ONE) | {"base": base}
    for _ in range(trial.count(12, 60)):
        made = random_world(trial.rng, int(trial.rng.integers(2, 4)))
        bound, size = Fraction(int(2 ** trial.rng.integers(0, 6)), 8), len(masses(made))
        f, g = ([bound * Fraction(int(v), 4) for v in trial.rng.integers(-4, 5, size=size)] for _ in range(2))
        yield made | {"f": f, "landmarked": g, "bound": bound, "base": BINARY if trial.rng.integers(2) else NATURAL}


def largest_eta(base: str) -> Expr:
    """η_max = F(1)."""
    return rational(1) if base == BINARY else logarithm(2)


@claim(
    "KJ-Thm30-dec",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 30: decomposition",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"If |f|, |f̃| ≤ B and E_μ |f̃ − f| ≤ 2ε_1, then E ℓ_sq(f̃(x), η(r(x))) ≤ E ℓ_sq(f(x), η(r(x))) + 4**(B + η_max)** m ε_1 "
    r"(printed: 4Bmε_1). (Random worlds of queries and documents, lists of two and three, both logarithms, all lists enumerated; E_μ |f̃ "
    r"− f| is 2ε_1.)",
    instances=predictions,
    knobs={"eta": 1},
    mutants={"4Bmε_1, as printed": {"eta": 0}},
    note="The printed constant uses KJ-Thm30-lip and is false: f = −9/10, f̃ = −1 = −B on lists of two equal documents.",
    cost=0.6,
)
def cost_of_landmarks_in_lists(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Both expected losses, enclosed, over all lists."""
    f, g, bound, m = instance["f"], instance["landmarked"], instance["bound"], instance["m"]
    apart = mean(instance, [abs(a - b) for a, b in zip(f, g, strict=True)])
    added = 2 * (bound + trial["eta"] * largest_eta(instance["base"])) * m * apart
    yield at_most(squared_loss(instance, g), squared_loss(instance, f) + added, "E ℓ_sq(f̃)")


def lists_in_symbols(trial: Trial) -> Iterator[Instance]:
    """No data, for lists of every size; numbers of documents of each query, and the length of lists."""
    yield {}
    for documents, m in (((2,), 2), ((2,), 3)):
        yield {"documents": list(documents), "m": m}


def _symbolic_lists(documents: Sequence[int], m: int) -> tuple[list[Expr], list[tuple[Expr, list[int], list[Expr]]]]:
    """μ and all lists: mass, pairs, η. η of a document is a free symbol for each document and each choice of the others in the list."""
    first = symbols("q")[0] if len(documents) == 2 else rational(1)
    mu: list[Expr] = []
    made = []
    for query, (weight, count) in enumerate(zip((first, 1 - first), documents, strict=False)):
        free = list(symbols(" ".join(f"p{query}{k}" for k in range(count - 1))))
        laws = [*free, 1 - total(free)]
        start = len(mu)
        mu += [weight * law for law in laws]
        for chosen in itertools.product(range(count), repeat=m):
            mass = weight
            for document in chosen:
                mass = mass * laws[document]
            others = ["".join(map(str, sorted(chosen[:i] + chosen[i + 1 :]))) for i in range(m)]
            etas = [symbols(f"e{query}_{chosen[i]}_{others[i]}")[0] for i in range(m)]
            made.append((mass, [start + document for document in chosen], etas))
    return mu, made


@claim(
    "KJ-Thm31-a",
    paper=KAR_JAIN,
    section=SECTION,
    place="Appendix F, proof of Theorem 31: from lists to pairs",
    kind=IDENTITY,
    expected=HOLDS,
    says=r"E ℓ_sq(f(x), η(r(x))) = m E_μ (f(z) − r̃(z))² + C_D, **r̃(z) = E[η_i | z_i = z]**, C_D = E Σ η_i² − m E_μ r̃², so that both "
    r"programmes have the same minimiser: the places of lists with z there, of masses c and η = e, add to Cf² − 2fS_1 + S_2, C = Σ c = "
    r"mμ(z) (KJ-F-mu), S_1 = Σ ce, S_2 = Σ ce², which is C(f − S_1/C)² + S_2 − S_1²/C. (In symbols, by induction over the places, for "
    r"every z with μ(z) > 0; and for all lists of two and three from two documents.)",
    instances=lists_in_symbols,
    exhaustive=True,
    knobs={"conditional": True},
    mutants={"r̃ of one list": {"conditional": False}},
    note="r̃ is the same for each i, because lists are exchangeable. It depends on m and on the other documents of the query.",
    cost=0.6,
)
def lists_as_pairs(instance: Instance, trial: Trial) -> Iterator[Check]:
    """One more place, and all of them; both sides for all lists of the sizes."""
    if not instance:
        v, c, e, C, first, second = symbols("f c e C S1 S2")
        before = C * v**2 - 2 * v * first + second
        yield equal(before + c * (v - e) ** 2, (C + c) * v**2 - 2 * v * (first + c * e) + (second + c * e**2), "one more place")
        yield equal(before, C * (v - first / C) ** 2 + second - first**2 / C, "all places of z")
        return
    m = instance["m"]
    mu, found = _symbolic_lists(instance["documents"], m)
    f = symbols(" ".join(f"f{z}" for z in range(len(mu))))
    relevance = []
    for z, p in enumerate(mu):
        reached = [(mass, e) for mass, pairs, etas in found for pair, e in zip(pairs, etas, strict=True) if pair == z]
        relevance.append(total(mass * e for mass, e in reached) / (m * p) if trial["conditional"] else reached[0][1])
    left = total(mass * total((f[z] - e) ** 2 for z, e in zip(pairs, etas, strict=True)) for mass, pairs, etas in found)
    squares = total(mass * total(e**2 for e in etas) for mass, _, etas in found)
    constant = squares - m * total(p * r**2 for p, r in zip(mu, relevance, strict=True))
    yield equal(left, m * total(p * (v - r) ** 2 for p, v, r in zip(mu, f, relevance, strict=True)) + constant, "E ℓ_sq")


@claim(
    "KJ-Thm30-half",
    paper=KAR_JAIN,
    section=SECTION,
    place="Theorem 30, ours: landmarks at the rate of regression",
    kind=INEQUALITY,
    expected=HOLDS,
    says=r"For |K| ≤ 1, |w| ≤ B and d landmarks, √(E ℓ_sq(f̃, η)) ≤ √(E ℓ_sq(f, η)) + √(m E_μ (f̃ − f)²), and the mean over landmarks of "
    r"E_μ (f̃ − f)² is ≤ B²/d: what landmarks cost the NDCG regret is O(‖D − rev D‖ **√(m/d)** B), not d^{−1/4}. (The first on random "
    r"worlds, the second by exact laws.)",
    instances=lambda trial: [*predictions(trial), *draws(trial)],
    knobs={"spread": ONE, "norm": 1},
    mutants={"9B²/10d": {"spread": Fraction(9, 10)}, "without the norm of f̃ − f": {"norm": 0}},
    note="Minkowski's inequality in L₂ of lists and documents, and Var(w K) ≤ B² a landmark. By McDiarmid's inequality √(E_μ (f̃ − f)²) ≤ "
    "(B/√d)(1 + √(2 log(1/δ))) with probability ≥ 1 − δ. So the factor 4Bmε_1 under the root, and the fourth root, are not needed.",
    cost=0.9,
)
def landmarks_by_the_triangle_inequality(instance: Instance, trial: Trial) -> Iterator[Check]:
    """Minkowski on a world; the exact mean of E_μ (f̃ − f)² over landmarks."""
    if "d" in instance:
        found = sum(
            (
                mass * sum((p * e**2 for p, e in zip(instance["masses"], off, strict=True)), Fraction(0))
                for off, mass in deviations(instance)
            ),
            Fraction(0),
        )
        yield at_most(found, trial["spread"] / instance["d"], "E E_μ (f̃ − f)², B = 1")
        return
    f, g = instance["f"], instance["landmarked"]
    apart = root(instance["m"] * mean(instance, [(a - b) ** 2 for a, b in zip(f, g, strict=True)]), bits=BITS)
    left, right = (root(squared_loss(instance, values), bits=BITS) for values in (g, f))
    yield at_most(left, right + trial["norm"] * apart, "√(E ℓ_sq(f̃))")
