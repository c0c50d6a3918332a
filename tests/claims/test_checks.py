"""Enclosures, checks and the example of the guide."""

import math
import re
import textwrap
from fractions import Fraction

import numpy as np
import pytest

import simopt.claims as guide
from simopt.arithmetic import INTERVAL
from simopt.claims import (
    Evidence,
    NotComparable,
    Verdict,
    at_least,
    at_most,
    between,
    distinct,
    enclose,
    equal,
    expectation,
    outcome,
    rate,
    run,
)
from simopt.claims.attack import attack
from simopt.claims.check import Outcome
from simopt.claims.papers import PAPERS, paper
from simopt.claims.statistics import ALPHA, clopper_pearson, error_part
from simopt.core import registry
from simopt.core.errors import UnknownName


def test_the_example_of_the_guide_runs_and_is_proved(monkeypatch):
    monkeypatch.setitem(registry._entries, "claim", {})
    monkeypatch.setattr(registry, "_modules", {})
    code = re.search(r"ONE instance::\n\n(.*?)\n\nRules", guide.__doc__, re.S)
    exec(textwrap.dedent(code.group(1)), {"__name__": "guide_example"})
    result = run("AK-19+", mutants=True)
    assert result.verdict is Verdict.PROVED and result.own.checks == 75 and result.mutants[0].caught


def test_every_public_check_is_explained_in_the_guide():
    for name in ("at_most", "at_least", "equal", "distinct", "true", "vacuous", "between", "outcome", "probability", "expectation", "rate"):
        assert f"\n* {name}(" in guide.__doc__


def test_evidence_is_inferred_and_the_weakest_part_counts():
    ball = INTERVAL.lift(0.1) + INTERVAL.lift(0.2)
    assert at_most(ball, Fraction(1, 2)).evidence is Evidence.INTERVAL
    assert at_most(ball, 0.5).evidence is Evidence.FLOAT
    assert at_most(3, Fraction(7, 2)).evidence is Evidence.EXACT
    assert at_most(np.int64(3), np.float64(3.5)).evidence is Evidence.FLOAT
    assert at_most(2, 3, error=0.1).evidence is Evidence.FLOAT


def test_interval_slack_is_rounded_outward_and_contains_the_true_one():
    third = INTERVAL.lift(1.0) / INTERVAL.lift(3.0)
    check = at_most(third, Fraction(1, 3), scale=7)
    assert check.low < 0 < check.high and check.high - check.low < 1e-15
    assert check.outcome(0.0) is Outcome.UNDECIDED and check.outcome(1e-12) is Outcome.SATISFIED
    balls = INTERVAL.lift(np.array([1.0, 2.0])) * INTERVAL.lift(3.0)
    worst = at_most(balls, np.array([4.0, 5.0]))
    assert worst.high < -0.99 and worst.outcome(1e-12) is Outcome.REFUTED


def test_error_bars_and_brackets_widen_the_slack():
    check = at_most(0.5, 1.0, error=0.2)
    assert check.low == pytest.approx(0.3) and check.high == pytest.approx(0.7)
    bracket = at_least(between(0.5, 0.7), 0.6)
    assert (bracket.low, bracket.high) == (pytest.approx(-0.1), pytest.approx(0.1)) and bracket.outcome(1e-12) is Outcome.UNDECIDED
    same = equal(1.0, 1.05, error=0.1)
    assert same.low == pytest.approx(-0.15) and same.high == 0 and same.outcome(1e-12) is Outcome.UNDECIDED
    assert distinct([1.0, 2.0], [1.0, 2.5], error=0.1).low == pytest.approx(0.4)


def test_tightness_is_the_ratio_of_measured_to_bound_on_either_side():
    assert at_most(1, 4).tightness == 0.25 and at_least(4, 1).tightness == 0.25
    assert at_most(-1, 4).tightness is None and at_most(1, 0).tightness is None and equal(1, 1).tightness is None
    assert at_most(1, math.inf).tightness is None
    for check in (at_most(1.0, 4.0, scale=2), at_least(4.0, 1.0, scale=2)):
        assert check.tightened(0.26).low > 0 > check.tightened(0.24).low


@pytest.mark.parametrize(
    "bad",
    [
        lambda: at_most(math.nan, 1),
        lambda: at_most(1j, 1),
        lambda: at_most("1", 1),
        lambda: at_most([], 1),
        lambda: at_most(1, 2, scale=0),
        lambda: at_most(1, 2, error=-1),
        lambda: between(2, 1),
        lambda: enclose(np.zeros(2)),
        lambda: outcome(True, 1.0),
        lambda: rate([1, 2], [1, 2], -1),
        lambda: rate([1, 2, 4], [1, 0, 1], -1),
        lambda: rate([1, 2, 4], [1, 1, 1], -1, direction="up"),
        lambda: guide.probability(1.2, 1.3, 0.1),
        lambda: expectation(math.nan, 0.0),
        lambda: at_most(guide.inputs(x=1), 2).assuming(at_least(guide.inputs(y=0), 1)),
    ],
)
def test_what_cannot_be_compared_is_refused(bad):
    with pytest.raises(NotComparable):
        bad()


def test_clopper_pearson_covers_exactly_and_the_error_is_shared():
    low, high = clopper_pearson(3, 50, 0.01)

    def tail(p: float, upper: bool) -> float:
        chosen = range(3, 51) if upper else range(4)
        return sum(math.comb(50, k) * p**k * (1 - p) ** (50 - k) for k in chosen)

    assert tail(low, True) == pytest.approx(0.01) and tail(high, False) == pytest.approx(0.01)
    assert clopper_pearson(0, 9, 0.01)[0] == 0 and clopper_pearson(9, 9, 0.01)[1] == 1
    assert sum(error_part(k) for k in range(1, 10_000)) < ALPHA


def test_attack_keeps_to_its_budget_and_reaches_a_smooth_minimum():
    calls = []

    def objective(x):
        calls.append(x)
        return float(((x - 0.37) ** 2).sum())

    point, least = attack(objective, 3, 300, np.random.default_rng(0))
    assert len(calls) <= 300 and least < 1e-6 and np.allclose(point, 0.37, atol=1e-2)
    assert all(((x >= 0) & (x <= 1)).all() for x in calls)
    assert attack(lambda x: math.inf, 2, 20, np.random.default_rng(0))[1] == math.inf


def test_papers_are_found_by_key_and_by_prefix():
    assert list(PAPERS) == ["kj", "ak", "kkks", "rmw"]
    assert paper("KK") is paper("kkks") and paper("AK").key == "ak"
    with pytest.raises(UnknownName, match="did you mean 'kkks'"):
        paper("kks")


def test_the_old_name_of_assuming_is_accepted_for_one_release():
    check = at_most(guide.inputs(x=1), 2)
    with pytest.warns(DeprecationWarning, match="Check.given is called assuming"):
        old = check.given(at_least(guide.inputs(y=1), 0))
    assert old.statement is not None and len(old.statement.hypotheses) == 1
    assert not hasattr(check, "granted")
