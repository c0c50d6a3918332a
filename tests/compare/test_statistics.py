"""What is computed from runs, against numbers computed by hand."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_records import record

from simopt.compare import profiles, statistics, table
from simopt.compare.instance_seconds import instance_seconds


def test_time_to_a_gap_is_the_first_time_it_was_certified() -> None:
    run = record("a", 2.0)
    assert run.time_to(1e-2) == 1.0 and run.time_to(1e-8) == 2.0 and run.time_to(1e-10) == math.inf


def test_profile_by_hand() -> None:
    # instance 1: a 1 s, b 3 s; instance 2: a 4 s, b 2 s; instance 3: b alone; instance 4: nobody
    times = {100: (1.0, 3.0), 200: (4.0, 2.0), 300: (None, 5.0), 400: (None, None)}
    runs = [record(name, t[i], size=n) for n, t in times.items() for i, name in enumerate("ab")]
    a, b = profiles.performance(instance_seconds(runs, 1e-8))
    assert (a.solver, a.instances, a.left_out) == ("a", 4, 0)
    assert [a.at(r) for r in (1.0, 1.99, 2.0, 100.0)] == [0.25, 0.25, 0.5, 0.5]
    assert [b.at(r) for r in (1.0, 2.9, 3.0, 100.0)] == [0.5, 0.5, 0.75, 0.75]


def test_an_instance_on_which_not_all_ran_is_left_out() -> None:
    runs = [record("a", 1.0), record("b", 2.0), record("a", 1.0, size=200)]
    assert {(p.instances, p.left_out) for p in profiles.performance(instance_seconds(runs, 1e-8))} == {(1, 1)}


def test_failures_count_in_medians_rates_and_rows() -> None:
    runs = [record("a", 1.0), record("a", None, repetition=1), record("a", None, repetition=2)]
    (row,) = statistics.summary(runs)
    assert (row.successes, row.runs, row.status, row.reason) == (1, 3, "time limit", "over 5 s")
    assert statistics.success_rates(runs) == {"a": (1, 3)}
    assert row.seconds_to_gap[statistics.gaps(runs).index(1e-8)] == math.inf, "two of three did not get there"
    assert "TIME LIMIT: over 5 s" in table.cells(row)
    assert "33%" in table.success_lines(runs)[0]


def test_ratios_are_taken_within_repetitions() -> None:
    runs = [record("a", 1.0), record("b", 3.0), record("a", 10.0, repetition=1), record("b", 20.0, repetition=1)]
    row = next(row for row in statistics.summary(runs) if row.solver == "b")
    assert (row.ratio_low, row.ratio, row.ratio_high) == (2.0, 2.5, 3.0)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_scaling_of_an_exact_power(exponent: float) -> None:
    runs = [record("a", 1e-4 * n**exponent, size=n) for n in (100, 1000, 10_000)] + [record("a", None, size=100_000)]
    (fit,) = statistics.scaling(runs)
    assert fit.exponent == pytest.approx(exponent) and fit.factor == pytest.approx(1e-4)
    assert fit.high - fit.low < 1e-6 and fit.failed == (100_000,)


def test_interval_of_the_exponent_agrees_with_scipy() -> None:
    from scipy import stats

    sizes, seconds = [100, 300, 1000, 3000], [0.1, 0.5, 1.1, 4.2]
    (fit,) = statistics.scaling([record("a", t, size=n) for n, t in zip(sizes, seconds, strict=True)])
    peer = stats.linregress(np.log(sizes), np.log(seconds))
    assert fit.exponent == pytest.approx(peer.slope)
    assert fit.high - fit.exponent == pytest.approx(stats.t.ppf(0.975, 2) * peer.stderr)


def test_two_sizes_have_no_interval_and_one_no_fit() -> None:
    (fit,) = statistics.scaling([record("a", 1.0), record("a", 2.0, size=200)])
    assert fit.exponent == pytest.approx(1.0) and math.isnan(fit.low)
    assert statistics.scaling([record("a", 1.0)]) == []


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"tol": 1e-4}, "tol = 0.0001"), ({"time_limit": 60.0}, "60 s"), ({"threads": 2}, "threads = 2"), ({"fingerprint": "f00"}, "f00")],
)
def test_what_is_not_the_same_measurement_is_no_repetition(changed: dict[str, Any], message: str) -> None:
    runs = [record("a", 1.0), record("a", 5.0, **changed), record("b", 2.0)]
    rows = statistics.summary(runs)
    assert [row.runs for row in rows] == [1, 1, 1] and len({row.instance for row in rows}) == 2
    assert [message in row.instance for row in rows] == [row.seconds == 5.0 for row in rows]
    assert {row.solver: row.ratio for row in rows if message not in row.instance} == {"a": 1.0, "b": 2.0}
    more = [record("a", 2.0 * (t or 1.0), size=200, **c) for t, c in ((1.0, {}), (5.0, changed))]
    assert [fit.factor * 100**fit.exponent for fit in statistics.scaling(runs[:2] + more)] == pytest.approx([1.0, 5.0])


def test_a_gap_that_was_not_asked_for_is_not_missed() -> None:
    runs = [record("a", 1.0), record("b", None, tol=1e-4)]
    times = {row.solver: dict(zip(statistics.gaps(runs), row.seconds_to_gap, strict=True)) for row in statistics.summary(runs)}
    assert "the tolerance asked for" in table.success_lines(runs)[0] and "to 1e-08 (" in table.success_lines(runs[:1])[0]
    assert math.isinf(times["b"][1e-4]) and math.isnan(times["b"][1e-8]) and times["a"][1e-8] == 1.0


def test_a_failure_has_no_seconds() -> None:
    quick = replace(record("a", None), setup_seconds=0.0, solve_seconds=1e-6)
    (row,) = statistics.summary([quick])
    assert math.isnan(row.seconds) and math.isnan(row.setup_seconds) and math.isnan(row.solve_seconds)
    assert "0" not in table.cells(row)


def test_machines_are_kept_apart() -> None:
    runs = [record("a", 1.0), record("a", 2.0, machine="other")]
    assert len(statistics.summary(runs)) == 2 and len(table.blocks(runs)) == 2


def test_nothing_is_no_error() -> None:
    assert statistics.summary([]) == [] and table.markdown([]) and table.plain([])["runs"] == 0
