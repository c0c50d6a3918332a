"""Parts of the engine on numbers that are known: one check, one draw, the account of a row, what several seeds say together."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simopt.arithmetic import Interval
from simopt.claims import (
    SOME,
    TIGHTNESS,
    Check,
    Evidence,
    InvalidClaim,
    Verdict,
    at_most,
    equal,
    expectation,
    inputs,
    outcome,
    probability,
    run,
    symbols,
    true,
)
from simopt.claims.check import Outcome
from simopt.claims.expression import root
from simopt.claims.kinds import Scope
from simopt.claims.measured import Ledger
from simopt.claims.proof import Collector
from simopt.claims.statistics import UNDECIDED, Mean, Pool, _bernstein
from simopt.claims.tally import RowResult, merge


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-1.0, 0.0, Outcome.SATISFIED),
        (-1.5, -1.0, Outcome.UNDECIDED),
        (-2.0, -1.5, Outcome.REFUTED),
        (-2.0, 5.0, Outcome.UNDECIDED),
        (-1.0, -1.0, Outcome.SATISFIED),
    ],
)
def test_the_resolution_itself_is_allowed(low: float, high: float, outcome: Outcome) -> None:
    assert Check(low, high, Evidence.FLOAT).outcome(1.0) is outcome


def test_a_draw_has_no_slack_of_its_own() -> None:
    draw = expectation(0.3, 0.5, support=(0.0, 1.0))
    assert (draw.low, draw.high, draw.value, draw.target) == (0, 0, 0.3, 0.5) and draw.evidence is Evidence.STATISTICAL


def test_the_worst_entry_of_an_array_counts_and_the_enclosure_of_all() -> None:
    check = at_most(np.array([1.0, 3.0, 2.0]), np.array([2.0, 2.5, 4.0]))
    assert (check.low, check.high, check.measured, check.bound) == (-0.5, -0.5, 3.0, 2.5)
    both = at_most(np.array([1.0, 3.0]), 5.0, error=np.array([3.0, 0.0]))
    assert (both.low, both.high) == (1.0, 2.0), "the least end of any entry, and the least upper end"


def test_tightness_is_below_one_and_sharp_bounds_have_one() -> None:
    assert at_most(0.25, 0.5).tightness == 0.5 and at_most(0.5, 0.5).tightness == 1.0 and at_most(0.0, 0.5).tightness == 0.0
    assert at_most(-0.25, 0.5).tightness is None and at_most(0.25, math.inf).tightness is None


def test_equality_of_numbers_is_two_sided() -> None:
    for left, right in ((1.0, 1.5), (1.5, 1.0)):
        check = equal(left, right)
        assert check.high == check.low == -0.5
    wide = equal(1.0, 1.25, error=0.5)
    assert (wide.low, wide.high) == (-0.75, 0)


def result(verdict: Verdict, evidence: Evidence, **more) -> RowResult:
    return RowResult("TOY-1", verdict, evidence, Scope.SAMPLED, **more)


def test_what_two_seeds_say_is_as_strong_as_the_weaker() -> None:
    rows = [(0, result(Verdict.HOLDS, Evidence.EXACT)), (1, result(Verdict.HOLDS, Evidence.FLOAT))]
    for order in (rows, rows[::-1]):
        assert merge(order).evidence is Evidence.FLOAT and merge(order).verdict is Verdict.HOLDS
    assert merge(rows[:1]).evidence is Evidence.EXACT


def test_two_samples_that_give_two_formulas_prove_nothing_for_all(make) -> None:
    def instances(trial):
        yield {"k": 1}
        yield {"k": 2}

    def formulas(instance, trial):
        (x,) = symbols("x")
        yield equal(x + instance["k"] * trial["c"], instance["k"] * trial["c"] + x, "x + k = k + x")

    def one_formula(instance, trial):
        (x,) = symbols("x")
        yield equal(x + trial["c"] * x, 2 * x, "2x")

    assert run(make(formulas, instances=instances)).verdict is not Verdict.PROVED
    assert run(make(one_formula, instances=instances)).verdict is Verdict.PROVED


def test_tuples_lists_and_arrays_are_compared_entry_by_entry() -> None:
    for kind in (tuple, list, np.array):
        check = at_most(kind([1.0, 2.0]), kind([2.0, 2.25]))
        assert (check.low, check.high) == (0.25, 0.25)


def test_differences_of_balls_are_rounded_outwards() -> None:
    for a, b in np.random.default_rng(0).uniform(0.0, 1.0, (100, 2)).tolist():
        check, exact = at_most(Interval(a), Interval(b)), Fraction(b) - Fraction(a)
        assert check.evidence is Evidence.INTERVAL and Fraction(check.low) < exact < Fraction(check.high)


def test_powers_of_zero_are_zero() -> None:
    x = inputs(x=0)
    assert ((x**2).low, (x**2).high) == (0, 0) and (x**3 + 1).low == 1
    nothing = root(2) - root(2)  # known to lie around 0
    assert nothing.low < 0 < nothing.high and (nothing**2).low == 0 and (nothing**3).low < 0 < (nothing**3).high
    for zero in (x, nothing):
        with pytest.raises(ZeroDivisionError):
            zero**-1


def test_facts_are_counted_apart_from_comparisons() -> None:
    ledger = Ledger()
    ledger.add(true(True, "a fact"), Outcome.SATISFIED)
    ledger.add(at_most(1.0, 2.0, "a comparison"), Outcome.SATISFIED)
    told = ledger.document()
    assert (told["facts"], told["checks"], told["compared"]) == ({"satisfied": 1}, {"satisfied": 2}, 1)


def test_of_checks_with_one_name_the_worst_is_told() -> None:
    ledger = Ledger()
    for slack in (0.5, 0.25, 0.75):
        ledger.add(Check(slack, slack, Evidence.FLOAT, "room"), Outcome.SATISFIED)
    (entry,) = ledger.document()["telling"]
    assert (entry["slack"], entry["times"]) == (0.25, 3)
    best = Ledger(largest_slack=True)
    for slack in (0.5, 0.75, 0.25):
        best.add(Check(slack, slack, Evidence.FLOAT, "room"), Outcome.SATISFIED)
    assert best.document()["telling"][0]["slack"] == 0.75 and best.document()["compared"] == 3


def test_a_formula_that_was_evaluated_in_floats_is_in_no_proof() -> None:
    stated = at_most(inputs(x=2), 3)
    proof = Collector()
    proof.add(stated, frozenset({"2"}))
    assert proof.complete and proof.formulas == 1
    proof.add(replace(stated, evidence=Evidence.FLOAT), frozenset())
    assert not proof.complete and proof.formulas == 0


def test_a_formula_that_no_rigorous_check_stands_behind_is_in_no_proof() -> None:
    for evidence in (Evidence.STATISTICAL, Evidence.FLOAT):
        proof = Collector(symbols_only=True)
        (x,) = symbols("x")
        proof.add(replace(at_most(x - x, 0), evidence=evidence), frozenset())
        assert not proof.complete


def test_a_probability_that_is_small_enough_states_nothing_about_its_lower_end() -> None:
    """low ≤ δ is less than P ≤ δ: only where P ≤ δ fails is it the sentence that failed."""
    low, high = Fraction(1, 10), Fraction(2, 5)
    assert probability(low, high, Fraction(1, 2)).statement is None
    (failing, passing), both = (probability(low, high, delta) for delta in (Fraction(1, 20), Fraction(1, 2))), Fraction(1, 20)
    assert passing.statement is None and failing.statement == at_most(low, both).statement
    assert probability(low, low, Fraction(1, 2)).statement == at_most(low, Fraction(1, 2)).statement


@pytest.mark.parametrize("shift", [-3.0, 0.0, 5.0])
def test_a_mean_and_its_interval_move_with_the_values(shift: float) -> None:
    drawn = np.random.default_rng(0).random(600)
    mean = Mean(expectation(shift, shift + 0.9, support=(shift, shift + 1.0)), 1e-6)
    for value in drawn:
        mean.add(expectation(shift + value, shift + 0.9, support=(shift, shift + 1.0)))
    fixed = Mean(expectation(0.0, 0.9, support=(0.0, 1.0)), 1e-6)
    for value in drawn:
        fixed.add(expectation(value, 0.9, support=(0.0, 1.0)))
    assert (mean.low - shift, mean.high - shift) == pytest.approx((fixed.low, fixed.high), abs=1e-9)
    assert 0.0 < fixed.low < 0.5 < fixed.high < 1.0


def test_conditions_are_said_in_words_that_are_short(make) -> None:
    def quotient(instance, trial):
        (x,) = symbols("x")
        yield equal(trial["c"] * x / x, 1, "x/x = 1")

    def one(trial):
        yield {"k": 1}
        yield {"k": 2}

    where = run(make(quotient, instances=one)).own.where
    assert "x" in where and "#" not in where and "longer" not in where


def test_some_needs_every_check_of_one_instance(make) -> None:
    def half(instance, trial):
        yield at_most(0.0, 1.0, "certain")
        yield at_most(0.0, 1.0, "blurred", error=2.0)

    assert run(make(half, quantifier=SOME, kind=TIGHTNESS)).verdict is Verdict.INCONCLUSIVE


def test_a_claim_has_a_name(make) -> None:
    for name in ("", "two words"):
        with pytest.raises(InvalidClaim, match="id must be a non-empty word"):
            make(lambda instance, trial: iter(()), id=name)


def test_the_radius_of_a_mean_counts_variance_and_width() -> None:
    values, log = np.array([0.0, 1.0] * 200), 5.0
    mean, radius = _bernstein(values, 1.0, log)
    assert mean == 0.5 and radius == pytest.approx(math.sqrt(2 * 0.25 * log / 400) + 3 * log / 400)
    assert _bernstein(np.full(400, 0.5), 1.0, log)[1] == pytest.approx(3 * log / 400)


def test_a_group_that_may_still_be_decided_keeps_the_loop_open() -> None:
    pool = Pool()
    mark = pool.begin()
    assert pool.loops == 1 and not pool.enough(mark)
    for bad in (True, False):
        pool.add(outcome(bad, 0.5, "coin"))
    assert not pool.enough(mark)
    for _ in range(60):
        pool.add(outcome(False, 0.5, "coin"))
    assert pool.enough(mark)
    pool.end()
    assert pool.loops == 0
    for _ in range(UNDECIDED):
        pool.add(expectation(0.3, 0.5, "unbounded"))
    assert pool.enough(mark), "a mean without a support will never be decided"


def test_looks_at_a_mean_are_counted_upwards_and_share_the_error() -> None:
    pool = Pool()
    rng = np.random.default_rng(1)
    for value in rng.uniform(0.2, 0.4, 3000).tolist():
        pool.add(expectation(value, 0.5, "mean", support=(0.0, 1.0)))
    (mean,) = pool.groups.values()
    assert mean.decided and mean._stages >= 1
