r"""Long and Servedio's theorem for any convex potential: the three points, and a certificate on one line of the plane.

Let g(v) = (1 − σ) ψ′(v) − σ ψ′(−v) be the slope of the noisy potential (at a kink the right derivative). On the line w = t(1, 1) the
margins of the three points are t, 6γt and 0. So the slope of the risk along the line is a quarter of G(t) = g(t) + 6γ g(6γt). Where it
vanishes, the slope across, along (1, −1), is γ (g(0) − (5/2) g(6γt)). If that is positive, then by convexity no w with w₁ ≥ w₂ beats the
best point of the line, and points with w₁ < w₂ do. So every minimiser gives (γ, −γ), which has mass ½, a negative score. Since g grows,
G(t) ≥ 0 and g(6γt) < (2/5) g(0) at one t > 0 are enough; and for small γ they hold wherever g(t) > 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import simopt.claims as sc
from simopt.theorems.rmw.long_servedio import MASSES, margins, pull, three_points
from simopt.theorems.rmw.potentials import POTENTIALS, Potential, named, random_mixture
from simopt.theorems.small_worlds.worlds import dot

RATES = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(49, 100))
DOUBLINGS = 12


@sc.claim(
    "RMW-LS1-criterion",
    place="Sections 4.4 and 9, our proof",
    kind=sc.IDENTITY,
    says=r"With slopes g₁, g₂, g₀ of the noisy potential at the margins t, 6γt, 0 of the points at w = (t, t): the derivative of the "
    r"noisy risk along (1, 1) is (g₁ + 6γg₂)/4; where it is 0, the derivative along (1, −1) is γ(g₀ − (5/2)g₂). So the minimisers for a "
    r"convex potential, differentiable at 0, give (γ, −γ) a negative score if g(6γt) < (2/5) g(0) at the t where the risk is least on the "
    r"line, and a positive one if **the left derivative** there is > (2/5) g(0).",
    remains="from the two derivatives to the minimisers of a convex risk",
    exhaustive=True,
    knobs={"masses": MASSES},
    mutants={"equal masses": {"masses": (Fraction(1, 3),) * 3}},
    note="A subgradient of the risk at (t, t) that vanishes along (1, 1) has the slope γ(g₀ − (5/2)g₂) along (1, −1), g₂ between the left "
    "and the right derivative at 6γt. If all these slopes are > 0, 0 is no subgradient and R(w) > R(t, t) for w₁ > w₂; < 0 in the same "
    "way. For the hinge with γ = 1/6 and σ = 2/5 the right derivative at 6γt = 1 is > (2/5) g(0), and the southern point has the score 0.",
)
def slopes_on_the_line(trial: sc.Trial) -> Iterator[sc.Check]:
    """Margins and derivatives with everything free."""
    gamma, t, g2, g0, g1 = sc.symbols("gamma t g2 g0 g1")
    world = three_points(gamma, trial["masses"])
    for found, said, name in zip(margins(world, [t, t]), (t, 6 * gamma * t, 0), ("first", "second", "southern"), strict=True):
        yield sc.equal(found, said, f"{name} margin")
    yield sc.equal(dot(pull(world, [g1, g2, g0]), [1, 1]), (g1 + 6 * gamma * g2) / 4, "along the line")
    still = pull(world, [-6 * gamma * g2, g2, g0])
    yield sc.equal(dot(still, [1, -1]), gamma * (g0 - Fraction(5, 2) * g2), "across, where the slope along vanishes")


def potentials_and_rates(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Each potential at each rate, and random mixtures of hinges at random rates."""
    for name in trial["potentials"]:
        for rate in RATES:
            yield {"potential": name, "rate": rate}
    if trial["mixtures"]:
        for _ in range(trial.count(20, 200)):
            weights, bends = random_mixture(trial.rng)
            yield {"weights": weights, "bends": bends, "rate": Fraction(int(trial.rng.integers(1, 500)), 1000)}


def a_scale_that_fails(psi: Potential, rate: Fraction, ratio: Fraction) -> tuple[Fraction, Fraction]:
    """(γ, t), powers of two, for which both inequalities hold if any are found: t where g is positive, then γ small enough."""
    t = next((Fraction(2) ** k for k in range(-4, DOUBLINGS) if psi.noisy_slope(Fraction(2) ** k, rate).low > 0), Fraction(1))
    for k in range(3, 3 + DOUBLINGS):
        gamma = Fraction(1, 2) ** k
        along, across, zero = slopes(psi, rate, gamma, t)
        if along.low >= 0 and (across - ratio * zero).high < 0:
            break
    return gamma, t


def slopes(psi: Potential, rate: Fraction, gamma: Fraction, t: Fraction) -> tuple[sc.Expr, sc.Expr, sc.Expr]:
    """G(t), g(6γt) and g(0)."""
    second = psi.noisy_slope(6 * gamma * t, rate)
    return psi.noisy_slope(t, rate) + 6 * gamma * second, second, psi.noisy_slope(Fraction(0), rate)


@sc.claim(
    "RMW-LS1",
    place="Section 4.4, after Long and Servedio",
    kind=sc.COUNTEREXAMPLE,
    says=r"**For every rate σ ∈ (0, ½) and every convex potential ψ there is** a separable P on three points of ℝ² (Section 9 with a "
    r"scale γ) such that every minimiser of E_{P_σ} ψ(y⟨w, x⟩) over ℝ² gives the point of mass ½ a negative score, an error of ½ or more "
    r"under every convention. Take t with −ψ′(t) ≤ σa/2, a = −ψ′(0), then u with g < (2/5) g(0) on [0, u], then γ with 6γt ≤ u and "
    r"6γ(1 − 2σ) ≤ σ/2: G(t) ≥ σ²a/2 > 0, and RMW-LS1-criterion applies.",
    remains="that t and u exist (ψ′ → 0 at infinity, and is continuous at 0), and RMW-LS1-criterion: from the slopes to the minimisers",
    exhaustive=True,
    knobs={"noise": 1},
    mutants={"no label noise": {"noise": 0}},
    note="The sentence reads 'there exists P … of any nonzero rate': P depends on σ, as section 9 says ('the scale of the data set can be "
    "chosen so that this occurs for σ arbitrarily small'). One P for all rates does not exist for hinge loss: RMW-LS1-literal. With "
    "stationarity in the second coordinate 0 < w₁ < w₂ for smooth ψ, so the error is ½ exactly. For particular ψ: RMW-LS1-tried.",
)
def every_convex_potential_fails_at_some_scale(trial: sc.Trial) -> Iterator[sc.Check]:
    """Slopes of ψ as their bounds and what is ≥ 0 beside: r₁ by the choice of t, r₂ and r₄ by convexity, r₃ by the choice of γ."""
    sigma, gamma, a, r1, r2, r3, r4 = sc.symbols("sigma gamma a r1 r2 r3 r4")
    rate = trial["noise"] * sigma
    at_t = (1 - rate) * (-sigma * a / 2 + r1) + rate * (a + r2)  # ψ′(t) = −σa/2 + r₁, ψ′(−t) = −a − r₂
    yield sc.equal(at_t, sigma * a / 2 + sigma**2 * a / 2 + (1 - sigma) * r1 + sigma * r2, "g(t)")
    zero = (1 - rate) * -a - rate * -a
    yield sc.equal(zero, -(1 - 2 * sigma) * a, "g(0) < 0")
    scale = (sigma / 2 - r3) / (1 - 2 * sigma)  # 6γ
    along = at_t + scale * (zero + r4)
    yield sc.equal(along, sigma**2 * a / 2 + (1 - sigma) * r1 + sigma * r2 + r3 * a + scale * r4, "G(t), g(6γt) = g(0) + r₄")
    (v,) = sc.symbols("v")
    for found, said in zip(margins(three_points(gamma), [v, 0]), (v, gamma * v, gamma * v), strict=True):
        yield sc.equal(found, said, "P is separable: margins at w = (v, 0), v > 0")


@sc.claim(
    "RMW-LS1-tried",
    place="Section 4.4, after Long and Servedio, potential by potential",
    kind=sc.COUNTEREXAMPLE,
    says=r"For the hinge, its square, the logistic and the exponential potential at six rates from 1/1000 to 49/100, and for random "
    r"mixtures of one to four hinges at random rates, there are powers of two γ < 1/6 and t with G(t) ≥ 0 and g(6γt) < (2/5) g(0), by "
    r"rigorous enclosures. So every minimiser of E_{P_σ} ψ(y⟨w, x⟩) gives the point of mass ½ a negative score (RMW-LS1-criterion).",
    instances=potentials_and_rates,
    knobs={"potentials": tuple(POTENTIALS), "mixtures": True, "masses": MASSES},
    mutants={
        "linear loss": {"potentials": ("linear",), "mixtures": False},
        "most of the mass in the south": {"masses": (Fraction(1, 16), Fraction(1, 16), Fraction(7, 8))},
    },
)
def potentials_fail_at_some_scale(
    instance: sc.Instance, rate: Fraction, trial: sc.Trial, potential: str | None = None, weights: Sequence[Fraction] = ()
) -> Iterator[sc.Check]:
    """Find t and γ among powers of two and check both inequalities."""
    psi = named(potential, weights, instance.get("bends", ()))
    _, second, south = trial["masses"]
    ratio = south / (5 * second)  # 2/5 for the masses of the paper
    gamma, t = a_scale_that_fails(psi, rate, ratio)
    along, across, zero = slopes(psi, rate, gamma, t)
    yield sc.at_least(along, 0, f"G(t) ≥ 0, {psi.name}")
    yield sc.at_most(across - ratio * zero, 0, f"g(6γt) < (2/5) g(0), {psi.name}", strict=True)
    yield sc.at_most(6 * gamma, 1, "γ < 1/6")
