r"""Section 6: how fast the mean of m independent draws approaches ω_P.

With V = E‖ψ − ω_P‖² = E‖ψ‖² − ‖ω_P‖² the mean ω̂_m of m draws has E‖ω_P − ω̂_m‖² = V/m. The next draw is independent of ω̂_m and has the
mean ω_P, so that no product of the two remains,

    E‖ω_P − ω̂_{m+1}‖² = (m² E‖ω_P − ω̂_m‖² + V)/(m + 1)².
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import simopt.claims as sc
from simopt.theorems.small_worlds.exact_tails import law, squared_distance
from simopt.theorems.small_worlds.sampled_worlds import coin
from simopt.theorems.small_worlds.worlds import add, dot, minus, plus, scaled, squared

CITATION = "Section 6, 'standard monte-carlo techniques'"


def few_draws(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Worlds of two and three points, and m."""
    for m in (1, 2, 3):
        yield coin(m, Fraction(1, 2))
        yield coin(m, Fraction(1, 3), (Fraction(1), Fraction(-1, 2)))
    corners = [[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)], [Fraction(-3, 5), Fraction(4, 5)]]
    yield {"probabilities": [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], "features": corners, "n": 1}


def mean_square(probabilities: list[Fraction], features: list[list[Fraction]], draws: int) -> Fraction:
    """E‖ω_P − ω̂_m‖² for m = `draws`, by enumeration of what can be drawn."""
    return sum((mass * square for square, mass in law(draws, probabilities, features, squared_distance)), Fraction(0))


@sc.claim(
    "RMW-6-MC",
    place=CITATION,
    kind=sc.RATE,
    expected=sc.REFUTED,
    defect=sc.TYPO,
    says=r"The mean ω̂_m of m independent draws of ψ(z) converges to ω_P at the rate 1/√m **of the square error**: four times as many "
    r"draws halve E‖ω_P − ω̂_m‖².",
    instances=few_draws,
    knobs={"left": Fraction(1, 2)},
    mutants={"1/m: they leave a quarter": {"left": Fraction(1, 4)}},
    note="'Convergence at rate 1/√m of the square error ‖ω_P − ω̂‖ → 0': the display has the error, for which the rate is right; the words "
    "have its square. Of a fair coin, one draw has the mean square error 1, four have 1/4. That 1/√m is an upper bound is true, and "
    "not what a comparison with herding needs.",
)
def square_error_as_printed(probabilities: list[Fraction], features: list[list[Fraction]], n: int, trial: sc.Trial) -> Iterator[sc.Check]:
    """m and 4m draws, exactly."""
    few, many = (mean_square(probabilities, features, draws) for draws in (n, 4 * n))
    yield sc.equal(many, trial["left"] * few, f"E‖ω_P − ω̂‖² for {4 * n} and {n} draws")


@sc.claim(
    "RMW-6-MC+",
    place=CITATION + ", corrected",
    kind=sc.IDENTITY,
    says=r"The mean ω̂_m of m independent draws of ψ(z) has **E‖ω_P − ω̂_m‖² = V/m**, V = E‖ψ‖² − ‖ω_P‖², for every m: the rate is 1/m of "
    r"the square error, and 1/√m of the error ‖ω_P − ω̂_m‖, whose root mean square is √(V/m). (By induction over m, in symbols. Means are "
    r"sums over the points, here three; all is bilinear in the vectors, here in the plane.)",
    exhaustive=True,
    remains="any number of points in any inner product space: means are sums over the points, and all is bilinear in the vectors",
    knobs={"ahead": 1},
    mutants={"the new draw with the weight 1/(m + 2)": {"ahead": 2}},
    corrects="RMW-6-MC",
    note="V ≤ 1 for ‖ψ‖ ≤ 1. So some of the draws are as near as 1/√m: Maurey's argument, on which RMW-T22 and RMW-13-size rest.",
)
def square_error_of_independent_draws(trial: sc.Trial) -> Iterator[sc.Check]:
    """The value of V; the next draw for a fixed ω̂; and base and step of the induction."""
    m, p, q, V = sc.symbols("m p q V")
    here = list(sc.symbols("u v"))
    points = [list(sc.symbols(f"a{i} b{i}")) for i in range(3)]
    chances = [p, q, 1 - p - q]
    omega: list[Any] = [Fraction(0), Fraction(0)]
    for chance, point in zip(chances, points, strict=True):
        omega = plus(omega, scaled(point, chance))

    def mean(value: Any) -> Any:
        return add(chance * value(point) for chance, point in zip(chances, points, strict=True))

    spread = mean(lambda point: squared(minus(point, omega)))
    yield sc.equal(spread, mean(squared) - dot(omega, omega), "V, the mean square error of one draw")
    weight = 1 / (m + trial["ahead"])
    after = mean(lambda point: squared(minus(omega, plus(scaled(here, 1 - weight), scaled(point, weight)))))
    yield sc.equal(after, (m**2 * squared(minus(omega, here)) + spread) / (m + 1) ** 2, "one more draw, its mean given ω̂_m")
    yield sc.equal((m**2 * (V / m) + V) / (m + 1) ** 2, V / (m + 1), "V/m → V/(m + 1)")
