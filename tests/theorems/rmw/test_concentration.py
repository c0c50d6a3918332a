"""Theorems 3 to 5 and the PAC-Bayes bounds of section 11: the exact tails and learners they rest on."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from simopt.claims import runner
from simopt.claims.kinds import Evidence
from simopt.theorems.rmw.concentration import fair_coins
from simopt.theorems.rmw.concentration_kernels import best_of_copies, best_of_maps
from simopt.theorems.rmw.pac_bayes_normal import Learner, learners_with_tags, moments
from simopt.theorems.rmw.posteriors import divergence, finite_learners, into_ball, single_maps, worst_posteriors
from simopt.theorems.small_worlds.exact_tails import (
    average,
    ball,
    counts,
    enclosed,
    excess,
    expected,
    law,
    multinomial,
    ratios,
    squared_distance,
    tails,
    unit_ratios,
)
from simopt.theorems.small_worlds.sampled_worlds import coin, decoded_world, three_points, two_points
from simopt.theorems.small_worlds.worlds import squared
from tests.theorems.conftest import quick

HALF = Fraction(1, 2)


@pytest.mark.parametrize(("name", "least"), [("RMW-T3", 0.41), ("RMW-T3-proven", 0.54), ("RMW-T4+", 0.54), ("RMW-T5", 0.41)])
def test_bound_is_approached_as_the_audits_found(name: str, least: float) -> None:
    tightness = runner.run(name).rows[name].tightness
    assert tightness is not None and least <= tightness <= 1


def test_counterexample_to_theorem_four_in_plain_numbers() -> None:
    n, delta = 24, 1.1e-7
    assert 2 / math.sqrt(n) + math.sqrt(math.log(2 / delta) / (2 * n)) == pytest.approx(0.998374, abs=1e-6)
    (_, reached), *_ = tails(law(n, [HALF, HALF], [[Fraction(1)], [Fraction(-1)]], squared_distance))
    assert reached == Fraction(1, 2**23) and float(reached) > delta
    hundred = next(made for made in fair_coins(quick("RMW-T4")) if made["n"] == 100)
    limit = 2 / 10 + math.sqrt(math.log(2 / hundred["delta"]) / 200)
    bad = stats.binom.cdf(math.ceil(50 - 50 * limit) - 1, 100, 0.5) * 2
    assert bad / float(hundred["delta"]) == pytest.approx(1.744, abs=2e-3)


def test_theorem_four_fails_in_the_limit_below_a_fixed_level() -> None:
    def too_likely(delta: float) -> bool:
        return bool(2 * stats.norm.sf(2 + math.sqrt(math.log(2 / delta) / 2)) > delta)

    assert too_likely(6.2e-6) and not too_likely(6.3e-6)


def test_multinomial_probabilities() -> None:
    for n, chances in ((5, [Fraction(1, 3), Fraction(2, 3)]), (4, [Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)])):
        made = multinomial(n, tuple(chances))
        assert sum(mass for _, mass in made) == 1
        assert [drawn for drawn, _ in made] == list(counts(n, len(chances)))
        for drawn, mass in made:
            assert float(mass) == pytest.approx(stats.multinomial.pmf(drawn, n, [float(p) for p in chances]))
        mean = expected(chances, [[Fraction(j)] for j in range(len(chances))])
        again = sum(mass * average(drawn, [[Fraction(j)] for j in range(len(chances))])[0] for drawn, mass in made)
        assert mean == [again]


def test_largest_ratio_is_that_of_every_level() -> None:
    # brute force over a fine grid of δ never exceeds the largest of the finitely many ratios, and comes near it
    made = coin(6, Fraction(2, 5))
    pairs = law(6, made["probabilities"], made["features"], excess)
    bound = max(float(one.high) for one in ratios(tails(pairs), lambda t: ball(3 * t**2 - 1) if t > 0 and 3 * t**2 > 1 else None))
    worst = 0.0
    for delta in np.exp(-np.linspace(1e-6, 12, 20000)):
        limit = math.sqrt(2 * (1 + math.log(1 / delta)) / 6)
        worst = max(worst, sum(float(mass) for value, mass in pairs if value > limit) / delta)
    assert 0.99 * bound < worst <= bound * (1 + 1e-9)


def test_three_tosses_have_the_largest_ratio_for_theorem_three() -> None:
    made = tails(law(3, [HALF, HALF], [[Fraction(1)], [Fraction(-1)]], excess))
    (one,) = ratios(made[:1], lambda t: ball(3 * t**2 / 2 - 1))
    assert float(one.low) == pytest.approx(math.exp(0.5) / 4, rel=1e-15)


def test_ratios_of_balls_agree_with_ratios_of_fractions() -> None:
    pairs = [(Fraction(1, 3), Fraction(1, 4)), (Fraction(2), Fraction(1, 8)), (Fraction(1, 3), Fraction(1, 8)), (Fraction(-1), HALF)]
    exact = ratios(tails(pairs), lambda x: ball(x) if x > 0 else None)
    balls = unit_ratios([(ball(value), mass) for value, mass in pairs])
    assert max(float(one.high) for one in balls) == pytest.approx(max(float(one.high) for one in exact), rel=1e-12)


def test_best_of_independent_copies_is_that_of_the_product_world() -> None:
    p, support = Fraction(1, 3), (Fraction(1), Fraction(-1, 2))
    single = coin(3, p, support)
    atoms = list(itertools.product(range(2), repeat=2))
    chances = [(p if i == 0 else 1 - p) * (p if j == 0 else 1 - p) for i, j in atoms]
    maps = [[[support[pair[k]]] for pair in atoms] for k in range(2)]
    product = best_of_maps(3, chances, maps)
    copies = dict(best_of_copies(3, single["probabilities"], single["features"], 2))
    for value, reached in product:
        assert copies[value] == reached
    one = best_of_copies(3, single["probabilities"], single["features"], 1)
    assert one == tails(law(3, single["probabilities"], single["features"], excess))


def test_worlds_satisfy_the_hypotheses() -> None:
    trial = quick("RMW-T3")
    made = [*two_points(trial), *three_points(trial)]
    rng = np.random.default_rng(0)
    made += [decoded_world(rng.random(7), trial) for _ in range(50)]
    for instance in made:
        assert sum(instance["probabilities"]) == 1 and min(instance["probabilities"]) >= 0
        assert max(squared(v) for v in instance["features"]) <= 1


def slack(instance: dict, drawn: tuple[int, ...], q: np.ndarray) -> float:
    """ℓ(S, Q̄) + D_KL(Q, π)/(βn) − ℓ_ββ(P, Q)."""
    chances, losses, prior = (np.array(instance[key], dtype=float) for key in ("chances", "losses", "prior"))
    n, beta = instance["n"], float(instance["beta"])
    annealed = np.log(q @ (chances @ np.exp(-beta * losses))) / beta
    return float(q @ (np.array(drawn) @ losses / n) + q @ np.log(q / prior) / (beta * n) + annealed)


def test_worst_posteriors_are_worse_than_random_ones() -> None:
    rng = np.random.default_rng(1)
    for instance in [one for one in finite_learners(quick("RMW-T19")) if len(one["prior"]) == 3][:6]:
        for (drawn, _), q in zip(
            multinomial(instance["n"], tuple(instance["chances"])),
            worst_posteriors(*(instance[key] for key in ("chances", "losses", "prior", "beta", "n"))),
            strict=True,
        ):
            others = [slack(instance, drawn, other) for other in rng.dirichlet(np.ones(3), 50)]
            assert slack(instance, drawn, np.array(q, dtype=float)) <= min(others) + 1e-6


def test_divergence_of_finite_distributions() -> None:
    value = enclosed(divergence([HALF, HALF, Fraction(0)], [Fraction(1, 4), HALF, Fraction(1, 4)]))
    assert float(value.low) == pytest.approx(0.5 * math.log(2), rel=1e-15)
    assert enclosed(divergence([HALF, HALF], [HALF, HALF])).high < 1e-20


def test_normal_learners_stay_in_the_ball_and_sharp_ones_are_sharp() -> None:
    ratios_found = []
    for instance in single_maps(quick("RMW-T20-quarter")):
        assert all(squared(vector) <= 1 for vectors in instance["vectors"] for vector in vectors)
        moments_found = list(moments(Learner(**instance)))
        gain = sum(mass * g for mass, g, _ in moments_found)
        square = sum(mass * s for mass, _, s in moments_found)
        ratios_found.append(gain / (square / (instance["beta"] * instance["n"]) + instance["beta"] / 4))
    assert max(ratios_found) == 1
    assert into_ball([Fraction(3), Fraction(4)]) != [3, 4]


def test_tags_that_are_drawn_make_the_divergence_necessary() -> None:
    first = next(iter(learners_with_tags(quick("RMW-T21"))))
    n, beta = first["n"], first["beta"]
    ((gain, square),) = {(g, s) for _, g, s in moments(Learner(**first))}
    half = square / (2 * beta * n) + beta
    assert half < gain < half + Fraction(math.log(6)) / (beta * n)


def test_evidence_of_the_refutation_is_exact() -> None:
    assert runner.run("RMW-T4").own.evidence is Evidence.EXACT
