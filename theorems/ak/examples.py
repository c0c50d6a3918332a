r"""The example after Definition 4.2: KRR, KRR with λ/|Z|, and what their equivalence does to stability (Ex.a to Ex.d).

A(λ, Z) minimises (1/|Z|) Σ (y − f(x))² + λ ‖f‖², B(λ, Z) the same with λ/|Z| in the place of λ. So B(λ, Z) solves the linear system of
KRR with μ = λ, A(λ, Z) with μ = |Z| λ.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.theorems.ak.rational_ridge import Sample, dot, loss_change, random_samples, ridge, size, without

CITATION = "Section 4, Example after Definition 4.2"


@sc.claim(
    "AK-Ex.a",
    place=CITATION,
    kind=sc.IDENTITY,
    compares=("kernel-ridge ~ kernel-ridge-over-n",),
    says=r"KRR A and modified KRR B (λ/|Z| for λ) are weakly equivalent with Φ(λ, Z) = λ|Z|: for every λ > 0 and Z the objectives "
    r"(1/|Z|) Σ (y − f(x))² + λ ‖f‖² and (1/|Z|) Σ (y − f(x))² + (Φ/|Z|) ‖f‖² are the same function of f, and Φ(·, Z) is a bijection "
    r"of (0, ∞) with inverse t ↦ t/|Z|.",
    exhaustive=True,
    knobs={"power": 1},
    mutants={"Φ = λ": {"power": 0}, "Φ = λ|Z|²": {"power": 2}},
)
def modified_ridge_is_ridge_with_another_parameter(trial: sc.Trial) -> Iterator[sc.Check]:
    """The two objectives as polynomials, the map and its inverse, and the two minimisers on two samples."""
    lam, n, squares, norm, t = sc.symbols("lam n squares norm t")
    phi = lam * n ** trial["power"]
    yield sc.equal(squares / n + lam * norm, squares / n + (phi / n) * norm, "objectives")
    yield sc.equal((t / n) * n ** trial["power"], t, "Φ(Φ⁻¹(t)) = t")
    yield sc.equal(phi / n, lam, "Φ⁻¹(Φ(λ)) = λ")
    x1, x2, y1, y2 = sc.symbols("x1 x2 y1 y2")
    two: list[Sample] = [(1, [x1], y1), (1, [x2], y2)]
    yield sc.equal(ridge(two, 2 * lam, 1)[0], ridge(two, lam * 2 ** trial["power"], 1)[0], "minimisers on two samples")


def limit_in_the_size(s: Any) -> tuple[Any, Any]:
    """lim s² · nλ · (change of KRR) as n → ∞, λ = s², on the sets of Ex.b, with Z^i divided by n and by n − 1: polynomials in s."""
    return (s + Fraction(1, 2)) ** 2, (s + 1) ** 2 * (2 * s + 1) / 4


def scaled_changes(s: Any, e: Any) -> tuple[Any, Any]:
    """s² · nλ · (change of KRR) on the sets of Ex.b at n = 1/e, with Z^i divided by n and by n − 1; nothing in it divides by e."""
    size, whole = (2 - e) * s**2 + e, ((1 - e) * s - e) / ((2 - e) * s**2 + e)
    kept, renewed = (1 - e) / ((2 - e) * s), 1 / (2 * s)
    return (
        s**3 * ((2 - e) * s + 1 - e) / (size * (2 - e)) * (2 + whole + kept),
        s**3 * (s + 1) ** 2 / (2 * size) * (2 + whole + renewed),
    )


def scaled_bound(c1: Any, c2: Any, s: Any, power: int) -> Any:
    """s² · nλ · β = C₁ s^{2−p} (s + C₂)^p for β = C₁ (1 + C₂/s)^p/(nλ)."""
    return c1 * s ** (2 - power) * (s + c2) ** power


def constants_of_a_bound(trial: sc.Trial) -> Iterator[sc.Instance]:
    """√λ in the limit; and for constants C₁, C₂ ≥ 0 the √λ = 1/(54 C₁(1 + C₂) + 2) and the n = 1/λ that defeat them."""
    yield {"root": 0}
    for c1, c2 in ((1, 1), (10**3, 10**3), (10**6, 1), (1, 10**6)):
        root = Fraction(1, 54 * c1 * (1 + c2) + 2)
        yield {"C1": c1, "C2": c2, "root": root, "n": 1 / root**2}


@sc.claim(
    "AK-Ex.b",
    place=CITATION,
    kind=sc.INEQUALITY,
    expected=sc.REFUTED,
    defect=sc.SUBSTANTIVE,
    says=r"There are constants C₁, C₂ such that for |y| ≤ C_y = 1, k(x, x) ≤ κ² = 1 and the squared loss KRR is β-uniformly stable with "
    r"β(n, λ) = C₁ (1 + C₂/√λ)/(nλ), for every λ > 0 and n; so that nλ² times the change of loss, as n → ∞ and then λ → 0, stays below "
    r"the limit of C₁ (λ + C₂ √λ).",
    instances=constants_of_a_bound,
    constants=("C1", "C2"),
    defeats="√λ = 1/(54 |C₁|(1 + |C₂|) + 2) and n ≥ 1/λ defeat C₁ and C₂: the change is at least 1/(27nλ²). For all: AK_Ex_b_no_constants.",
    knobs={"power": 1},
    mutants={"factor squared": {"power": 2}},
    note="n − 1 points x = √λ, y = 1 and one point x = 1, y = −1, which is removed and tested: nλ² times the change tends to (√λ + 1/2)² "
    "as n → ∞ (Z^i divided by n − 1: (√λ + 1)² (2√λ + 1)/4), both 1/4 at λ = 0, where the bound is 0 whatever C₁ and C₂. These are "
    "identities in symbols. With the factor squared the bound ends at C₁ C₂².",
)
def some_constants_bound_the_change_of_ridge(
    root: Fraction | int, trial: sc.Trial, C1: int | None = None, C2: int | None = None, n: Fraction | None = None
) -> Iterator[sc.Check]:
    """The change on the sets for all n and λ; its limit in n for all λ; the bound for all constants; then the sets that defeat them."""
    power = trial["power"]
    if C1 is not None:
        c1, c2, s, size_of_set = sc.inputs(C1=C1, C2=C2, root=root, n=n)
        change, _ = scaled_changes(s, 1 / size_of_set)
        yield sc.at_most(change, scaled_bound(c1, c2, s, power), f"nλ² times the change, C₁ = {C1}, C₂ = {C2}")
        return
    s, e, c1, c2 = sc.symbols("s e c1 c2")
    rest: list[Sample] = [(1 / e - 1, [s], 1)]
    (w,) = ridge([*rest, (1, [1], -1)], s**2 / e, 1)
    for made, limit, left, name in zip(
        scaled_changes(s, e), zip(scaled_changes(s, 0), limit_in_the_size(s), strict=True), (s**2 / e, (1 / e - 1) * s**2),
        ("n", "n − 1"), strict=True,
    ):  # fmt: skip
        (v,) = ridge(rest, left, 1)
        yield sc.equal(s**4 / e * (v - w) * (2 + v + w), made, f"nλ² times the change, n = 1/e, Z^i divided by {name}")
        yield sc.equal(*limit, f"its limit as n → ∞, Z^i divided by {name}")
    yield sc.equal(s**2 * c1 * (1 + c2 / s) ** power, scaled_bound(c1, c2, s, power), "nλ² times β")
    zero = Fraction(root)
    of_ones = scaled_bound(1, 1, zero, power)
    yield sc.equal(scaled_bound(c1, c2, zero, power), c1 * c2**power * of_ones, "at λ = 0 the constants are a factor of the bound")


def ridge_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Small sets in the plane with rational √λ, the two-point set on which the bound is approached as λ → ∞, the set of Ex.b."""
    for s in (Fraction(1, 4), Fraction(1), Fraction(10), Fraction(1000)):
        yield {"samples": [(1, [Fraction(1)], Fraction(1)), (1, [Fraction(1)], Fraction(-1))], "root": s}
        yield {"samples": [(1, [Fraction(1)], Fraction(1))], "root": s}
    s = Fraction(1, 64)
    yield {"samples": [(100 * int(1 / s**2), [s], Fraction(1)), (1, [Fraction(1)], Fraction(-1))], "root": s}
    for _ in range(trial.count(20, 200)):
        count = int(trial.rng.integers(1, 5))
        yield {"samples": random_samples(trial.rng, count), "root": Fraction(2) ** int(trial.rng.integers(-4, 8))}


def scatter_of_ridge(point: Array, trial: sc.Trial) -> sc.Instance:
    """Two kinds of samples on the line, the second up to 32 times, and √λ between 2⁻⁵ and 2⁷."""
    a, b, y, z = (Fraction(round(64 * float(u)) - 32, 32) for u in point[:4])
    count = 1 + round(31 * float(point[4]))
    return {"samples": [(1, [a], y), (count, [b], z)], "root": Fraction(2) ** round(12 * float(point[5]) - 5)}


@sc.claim(
    "AK-Ex.b+",
    place=CITATION + ", corrected",
    kind=sc.INEQUALITY,
    says=r"If |y| ≤ C_y = 1, k(x, x) ≤ κ² = 1 and f_∅ = 0, KRR with the squared loss is β-uniformly stable with "
    r"β(n, λ) = c C²κ²/(2λn), C = 2 C_y (1 + κ/√λ), where c = 1 if Z^i divides by n and c = 2 if it divides by n − 1. "
    r"So the factor 1 + C₂/√λ must be squared.",
    instances=ridge_sets,
    decode=scatter_of_ridge,
    dimension=6,
    evaluations=(250, 2500),
    knobs={"power": 2, "share": Fraction(1)},
    mutants={"factor not squared": {"power": 1}, "constant 1 % smaller": {"share": Fraction(99, 100)}},
    corrects="AK-Ex.b",
    note="AK-T3+ at m = 2 (docs/proofs/m_power_stability.md). Both constants c are sharp as λ → ∞ (two points x = 1, y = ±1). Exact "
    "rationals.",
)
def squared_factor_bounds_the_change_of_ridge(
    samples: list[tuple[int, list[Fraction], Fraction]], root: Fraction, trial: sc.Trial
) -> Iterator[sc.Check]:
    """Remove each sample in turn; the worst y in [−1, 1] at each x is an end point."""
    s = root
    dimension, n, lam = len(samples[0][1]), size(samples), s * s
    whole = ridge(samples, n * lam, dimension)
    bound = trial["share"] * (2 * (1 + 1 / s)) ** trial["power"] * 2 ** (2 - trial["power"]) / (2 * lam * n)
    for c, name in ((1, "divided by n"), (2, "divided by n − 1")):
        worst = Fraction(0)
        for i in range(len(samples)):
            rest = without(samples, i)
            left = ridge(rest, (n if c == 1 else n - 1) * lam, dimension)
            worst = max([worst, *(loss_change(x, y, whole, left) for _, x, _ in samples for y in (-1, 1))])
        yield sc.at_most(worst, c * bound, f"change, Z^i {name}", scale=bound)


def _printed(c1: Any, c2: Any, s: Any, r: Any) -> Any:
    return c1 * (1 + c2 / (s * r)) / s**2


def _substituted(c1: Any, c2: Any, s: Any, r: Any) -> Any:
    return c1 * (1 + c2 * r / s) / s**2


@sc.claim(
    "AK-Ex.c",
    place=CITATION,
    kind=sc.IDENTITY,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"Putting λ/n in the place of λ in β_A(n, λ) = C₁ (1 + C₂/√λ)/(nλ) gives β_B(n, λ) = C₁ (1 + C₂/√(λn))/λ.",
    exhaustive=True,
    knobs={"bound": _printed},
    mutants={"√(n/λ)": {"bound": _substituted}},
    note="In the text: 'which no longer tends to ∞ as n increases', where 0 is meant. s = √λ and r = √n are free symbols.",
)
def printed_bound_of_modified_ridge(trial: sc.Trial) -> Iterator[sc.Check]:
    """Substitute s → s/r in A's bound."""
    c1, c2, s, r = sc.symbols("c1 c2 s r")
    yield sc.equal(c1 * (1 + c2 / (s / r)) / (r**2 * (s / r) ** 2), trial["bound"](c1, c2, s, r), "β_A(n, λ/n)")


@sc.claim(
    "AK-Ex.c+",
    place=CITATION + ", corrected",
    kind=sc.IDENTITY,
    says=r"Putting λ/n in the place of λ in C₁ (1 + C₂/√λ)/(nλ) gives C₁ (1 + C₂ √(n/λ))/λ, and in C₁ (1 + C₂/√λ)²/(nλ) (Ex.b corrected) "
    r"C₁ (1 + C₂ √(n/λ))²/λ. Both exceed C₁/λ by non-negative terms, so neither tends to 0 as n grows.",
    exhaustive=True,
    knobs={"bound": _substituted},
    mutants={"the printed √(λn)": {"bound": _printed}},
    corrects="AK-Ex.c",
)
def bound_of_modified_ridge(trial: sc.Trial) -> Iterator[sc.Check]:
    """The same substitution, for the bound as printed and as corrected."""
    c1, c2, s, r = sc.symbols("c1 c2 s r")
    bound = trial["bound"](c1, c2, s, r)
    yield sc.equal(c1 * (1 + c2 / (s / r)) / (r**2 * (s / r) ** 2), bound, "β_A(n, λ/n)")
    yield sc.equal(c1 * (1 + c2 / (s / r)) ** 2 / (r**2 * (s / r) ** 2), bound**2 * s**2 / c1, "β_A(n, λ/n), corrected")
    yield sc.equal(bound - c1 / s**2, c1 * c2 * r / s**3, "what it exceeds C₁/λ by")
    yield sc.equal(bound**2 * s**2 / c1 - c1 / s**2, c1 * (2 * c2 * r / s + (c2 * r / s) ** 2) / s**2, "what it exceeds C₁/λ by, corrected")


@sc.claim(
    "AK-Ex.d",
    place=CITATION,
    kind=sc.COUNTEREXAMPLE,
    says=r"Weak equivalence does not transfer uniform stability: let Z be n − 1 copies of (e₁, 0) and one (e₂, 1), linear kernel on ℝ². "
    r"Removing (e₂, 1) changes the squared loss of B at (e₂, 1) by 1 − (λ/(1 + λ))², that is 3/4 at λ = 1, for every n; "
    r"that of the weakly equivalent A changes by at most 2/(nλ). Both conventions for Z^i.",
    exhaustive=True,
    knobs={"overlap": 0},
    mutants={"e₂ replaced by e₁": {"overlap": 1}},
    note="The paper concludes from an upper bound that does not tend to 0, which is no proof; this example completes it.",
)
def modified_ridge_is_not_stable(trial: sc.Trial) -> Iterator[sc.Check]:
    """First-order conditions and losses with n and λ as symbols; then the systems themselves for a few n."""
    lam, n = sc.symbols("lam n")
    last: list[Any] = [trial["overlap"], 1 - trial["overlap"]]
    samples: list[Sample] = [(n - 1, [1, 0], 0), (1, last, 1)]
    for name, penalty, change in (
        ("B", lam, 1 - (lam / (1 + lam)) ** 2),
        ("A", n * lam, 1 - (n * lam / (1 + n * lam)) ** 2),
    ):
        with_point = [0, 1 / (1 + penalty)]
        residual = _stationarity(samples, with_point, penalty)
        yield sc.equal(residual[0], 0, f"{name}: first-order condition along e₁")
        yield sc.equal(residual[1], 0, f"{name}: first-order condition along e₂")
        yield sc.equal((1 - dot([0, 0], last)) ** 2 - (1 - dot(with_point, last)) ** 2, change, f"{name}: change of the loss")
    t = n * lam
    yield sc.equal(2 / t - (1 - (t / (1 + t)) ** 2), (2 + 3 * t) / (t * (1 + t) ** 2), "A: what is left to 2/(nλ), a positive term")
    one = sc.rational(1)
    yield sc.equal(1 - (one / (1 + one)) ** 2, Fraction(3, 4), "B at λ = 1")
    for k in map(sc.rational, (2, 5, 1000)):
        solved = ridge([(k - 1, [1, 0], 0), (1, last, 1)], one, 2)
        yield sc.equal(loss_change(last, 1, solved, [0, 0]), Fraction(3, 4), "B at λ = 1, solved")


def _stationarity(samples: list[Sample], w: list[Any], penalty: Any) -> list[Any]:
    return [sum((c * (y - dot(w, x)) * x[j] for c, x, y in samples), -penalty * w[j]) for j in range(len(w))]
