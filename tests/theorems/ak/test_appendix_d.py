"""Claims of Appendix D of Audiffren & Kadri: how sharp the bounds are for each m, and the learners behind."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simopt.claims import catalogue, runner
from simopt.equivalence.stability_bounds import Change, norm_bound, sharpened, subquadratic, theorem3
from simopt.theorems.ak.admissibility import at_the_tie, solutions
from simopt.theorems.ak.families import m_power_rls
from simopt.theorems.ak.rational_power import fractional
from simopt.theorems.ak.rational_ridge import dot
from simopt.theorems.ak.stability_sets import (
    LearningSet,
    decoded,
    doubled_inputs,
    doubled_targets,
    learning_set,
    moved_to,
    on_a_line,
    sharp_sets,
    sharp_sets_below_two,
    training_set,
)
from simopt.theorems.ak.theorem_3 import changes, fixed_divisor, renewed_divisor
from tests.theorems.conftest import quick

FLOATS = ("AK-LD.2", "AK-T3", "AK-T3+", "AK-open")


@pytest.mark.parametrize(("name", "least"), [("AK-D.1/A3/A4", 0.99), ("AK-T3", 0.99), ("AK-T3+", 0.99), ("AK-open", 0.8), ("AK-18", 0.45)])
def test_bound_is_nearly_reached(name: str, least: float) -> None:
    result = runner.run("AK-14-17" if name == "AK-18" else name)
    tightness = result.rows[name].tightness
    assert tightness is not None and least <= tightness <= 1


def largest_ratio(instances, power, change, bound):
    chosen = [instance for instance in instances if instance["power"] == power]
    assert chosen
    ratios = []
    for made in chosen:
        limit = bound(len(made["targets"]), made["regularization"], power, 1.0, 1.0, change)
        ratios.append(float(np.max(changes(LearningSet(**made), change).distances)) / limit)
    return max(ratios)


@pytest.mark.parametrize(("power", "reported"), [(1.05, 0.023), (1.1, 0.046), (1.3, 0.118), (1.5, 0.232), (1.8, 0.521), (1.95, 0.801)])
@pytest.mark.parametrize("change", [Change.BOUSQUET_ELISSEEFF, Change.RENORMALISED])
def test_search_below_two_reaches_what_the_second_audit_reached(power: float, reported: float, change: Change) -> None:
    assert 0.95 * reported < largest_ratio(sharp_sets_below_two(), power, change, subquadratic) < 1


@pytest.mark.parametrize(
    ("power", "fixed", "renewed"), [(2.0, 0.9986, 0.997), (2.5, 0.9932, 0.85), (3.0, 0.9892, 0.841), (5.0, 0.9751, 0.878)]
)
def test_search_above_two_reaches_what_the_second_audit_reached(power: float, fixed: float, renewed: float) -> None:
    assert 0.99 * fixed < largest_ratio(sharp_sets(), power, Change.BOUSQUET_ELISSEEFF, sharpened) < 1
    assert 0.85 * renewed < largest_ratio(sharp_sets(), power, Change.RENORMALISED, sharpened) < 1


def test_theorem_three_is_looser_than_its_sharpened_form_by_the_factor() -> None:
    for change in (Change.BOUSQUET_ELISSEEFF, Change.RENORMALISED):
        for m in (2.0, 3.0, 5.0):
            ratio = sharpened(4, 0.3, m, 2.0, 0.7, change) / theorem3(4, 0.3, m, 2.0, 0.7)
            assert ratio == pytest.approx((change.factor / m) ** (1 / (m - 1)), rel=1e-12)


@pytest.mark.parametrize("power", [1.3, 2.0, 3.0])
def test_sets_in_other_units_have_the_same_ratio(power: float) -> None:
    made = learning_set(*on_a_line([1, 0.6], [1, -1]), 3.0, power)
    moved = moved_to(made, 2.5, 0.4)
    assert np.max(np.abs(moved["targets"])) == 2.5 and np.max(np.linalg.norm(moved["inputs"], axis=1)) == 0.4
    bound = sharpened if power >= 2 else subquadratic
    change = Change.BOUSQUET_ELISSEEFF
    plain = changes(LearningSet(**made), change).distances / bound(2, 3.0, power, 1.0, 1.0, change)
    scaled = changes(LearningSet(**moved), change).distances / bound(2, moved["regularization"], power, 2.5, 0.4, change)
    assert scaled == pytest.approx(plain, rel=1e-10)


def test_instances_satisfy_the_assumptions_and_the_mutants_do_not() -> None:
    for name in FLOATS:
        made = list(catalogue.find(name).instances(quick(name)))
        assert all(np.max(np.abs(i["targets"])) <= i["target_bound"] * (1 + 1e-12) for i in made)
        assert all(np.max(np.linalg.norm(i["inputs"], axis=1)) <= i["kappa"] * (1 + 1e-12) for i in made)
        assert any(np.max(np.abs(i["targets"])) > i["target_bound"] for i in doubled_targets(made))
        assert any(np.max(np.linalg.norm(i["inputs"], axis=1)) > i["kappa"] for i in doubled_inputs(made))
    rng = np.random.default_rng(0)
    for point in rng.random((50, 6)):
        made_here = decoded(point, 2.0, 6.0, (-2.0, 6.0))
        assert np.max(np.linalg.norm(made_here["inputs"], axis=1)) <= 1 + 1e-12 and np.max(np.abs(made_here["targets"])) <= 1


@pytest.mark.parametrize("sets", [fixed_divisor, renewed_divisor])
def test_exact_pairs_solve_their_first_order_conditions(sets) -> None:
    renewed = sets is renewed_divisor
    for made in sets(quick("AK-14-17")):
        m, lam, rest = made["power"], made["lam"], made["rest"]
        n = len(rest) + 1
        for w, samples, divisor in ((made["f"], [made["first"], *rest], n), (made["g"], rest, n - 1 if renewed else n)):
            pulled = [sum((y - dot(w, x)) * x[j] for _, x, y in samples) for j in range(len(w))]
            if not any(w):
                assert not any(pulled)
                continue
            weight = divisor * lam * m / 2 * fractional(dot(w, w), m / 2 - 1)
            for have, want in zip(pulled, w, strict=True):
                gap = weight * want - have
                assert max(abs(Fraction(gap.low)), abs(Fraction(gap.high))) < Fraction(1, 10**40)


def test_solutions_for_every_power() -> None:
    X, y = np.ones((1, 1)), np.ones(1)
    for power in (0.1, 0.5):
        tie = at_the_tie(power)
        low, high = solutions(X, y, 0.99 * tie, power), solutions(X, y, 1.01 * tie, power)
        assert low[0][0] > 0.5 and high[0][0] == 0.0
        assert low[0][0] <= norm_bound(0.99 * tie, power, 1.0)
        assert len(solutions(X, y, 0.99 * tie, power, minimal=False)) == 3
    below = 0.9999 * at_the_tie(0.05)
    assert 0.97 < solutions(X, y, below, 0.05)[0][0] / norm_bound(below, 0.05, 1.0) <= 1
    assert solutions(X, y, 1.0, 2.0)[0] == pytest.approx([0.5])
    assert np.all(solutions(X[:0], y[:0], 1.0, 2.0)[0] == 0)


def test_changes_agree_with_certified_fits() -> None:
    for made in (*list(sharp_sets())[:3], *list(sharp_sets_below_two())[:3]):
        Z, lam, m = training_set(made["inputs"], made["targets"]), made["regularization"], made["power"]
        apart = changes(LearningSet(**made), Change.RENORMALISED)
        f, g = m_power_rls(m).fit(lam, Z), m_power_rls(m).fit(lam, Z.without(apart.worst))
        assert f.distance(g) == pytest.approx(np.max(apart.distances), abs=1e-9 * f.norm() + f.error + g.error)
