"""Parts of the engine on numbers that are known: one check, one draw, the account of a row, what several seeds say together."""

import math

import numpy as np
import pytest

from simopt.claims import Check, Evidence, Verdict, at_most, equal, expectation, run, symbols
from simopt.claims.check import Outcome
from simopt.claims.kinds import Scope
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
