"""Statistics over instances, against values computed by hand and against what must hold for all times."""

import itertools
import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import record

from simopt.compare import profiles, table
from simopt.compare.answer import answer, answers
from simopt.compare.bands import bands, decade
from simopt.compare.claim_rows import certified_bounds, claim_rows
from simopt.compare.instance_seconds import TIE, InstanceSeconds, common, instance_seconds, lead
from simopt.compare.means import means, shifted_geometric_mean
from simopt.compare.pairs import pairs
from simopt.compare.record import Record
from simopt.compare.standings import standings

SECONDS = st.one_of(st.floats(1e-6, 1e4), st.just(math.inf))
TABLES = st.integers(1, 4).flatmap(lambda k: st.lists(st.lists(SECONDS, min_size=k, max_size=k), min_size=1, max_size=8))


def instances(table: list[list[float]], limit: float = 1e4, **more: Any) -> list[InstanceSeconds]:
    """Instances from rows of seconds, solvers a, b, …"""
    return [InstanceSeconds(f"i{i}", "M", dict(zip("abcd", row, strict=False)), limit, **more) for i, row in enumerate(table)]


def test_shifted_geometric_mean_by_hand() -> None:
    assert shifted_geometric_mean([1.0, 7.0], 1.0) == pytest.approx(3.0)  # √(2 · 8) − 1
    assert shifted_geometric_mean([0.0, 0.0], 10.0) == 0.0
    assert shifted_geometric_mean([2.0, 8.0, 90.0], 10.0) == pytest.approx((12 * 18 * 100) ** (1 / 3) - 10)
    assert math.isnan(shifted_geometric_mean([], 1.0))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=12), st.sampled_from([1.0, 10.0]), st.randoms())
def test_the_mean_has_no_order_and_lies_between_the_least_and_the_arithmetic_mean(
    values: list[float], shift: float, chance: random.Random
) -> None:
    mean, mixed = shifted_geometric_mean(values, shift), list(values)
    chance.shuffle(mixed)
    assert shifted_geometric_mean(mixed, shift) == mean
    assert min(values) - 1e-9 <= mean * (1 + 1e-9) + 1e-9 and mean <= math.fsum(values) / len(values) * (1 + 1e-9) + 1e-9
    assert shifted_geometric_mean([v * 2 for v in values], 2 * shift) == pytest.approx(2 * mean), "a change of unit"


def test_failures_count_as_the_limit_and_are_counted() -> None:
    a, b = means(instances([[1.0, math.inf], [7.0, math.inf]], limit=20.0))
    assert (a.failures, b.failures, a.instances) == (0, 2, 2)
    assert a.means[0] == pytest.approx(3.0)
    assert b.means == pytest.approx((20.0, 20.0)), "who fails all has the limit as its mean"
    slow, failed = means(instances([[50.0, math.inf]], limit=20.0))
    assert (slow.failures, failed.failures) == (0, 1)
    assert slow.means == failed.means == pytest.approx((50.0, 50.0)), "the limit is on the solver's clock: who fails is not faster"


def test_who_leads_is_ahead_in_every_round() -> None:
    def race(first: list[float], second: list[float]) -> tuple[str, ...]:
        runs = [record(name, seconds, repetition=i) for name, each in (("a", first), ("b", second)) for i, seconds in enumerate(each)]
        (made,) = instance_seconds(runs)
        (pair,) = pairs([made])
        assert (pair.wins, pair.ties) == ((0, 1) if len(made.leaders) == 2 else (1, 0))
        return made.leaders

    assert race([1.0, 1.0, 1.0], [2.0, 2.0, 2.0]) == ("a",)
    assert race([1.0, 1.0, 2.5], [2.0, 2.0, 2.0]) == ("a", "b"), "in the last round the other was faster"
    assert race([1.0, 1.0, 1.0], [1.05, 1.2, 1.01]) == ("a", "b"), "the medians are within 10 %"


@given(TABLES, st.randoms())
def test_the_order_of_instances_has_no_part_in_any_statistic(rows: list[list[float]], chance: random.Random) -> None:
    mixed = list(rows)
    chance.shuffle(mixed)
    one, two = instances(rows, limit=30.0, variables=3), instances(mixed, limit=30.0, variables=3)
    for statistic in (means, pairs, profiles.performance, profiles.data, lead):
        assert repr(statistic(one)) == repr(statistic(two))  # type: ignore[operator]


@given(TABLES)
def test_profiles_rise_to_the_fraction_that_is_certified(rows: list[list[float]]) -> None:
    made = instances(rows, variables=9)
    for kind in (profiles.performance, profiles.data):
        for i, profile in enumerate(kind(made)):
            assert list(profile.fractions) == sorted(profile.fractions) and list(profile.ratios) == sorted(profile.ratios)
            certified = sum(math.isfinite(row[i]) for row in rows) / len(rows)
            assert profile.at(math.inf) == pytest.approx(certified) and profile.left_out == 0
    solved = sum(math.isfinite(min(row)) for row in rows)
    assert sum(p.at(1.0) for p in profiles.performance(made)) * len(rows) >= solved - 1e-9, "somebody is first wherever anybody got there"


def test_data_profile_by_hand() -> None:
    made = [replace(each, variables=n) for each, n in zip(instances([[1.0, 6.0], [4.0, math.inf], [8.0, 1.0]]), (1, 3, 0), strict=True)]
    a, b = profiles.data(made)  # seconds over n + 1: 0.5 and 3; 1 and ∞; the third has no size
    assert (a.instances, a.left_out) == (2, 1)
    assert [a.at(x) for x in (0.4, 0.5, 1.0, 9.0)] == [0.0, 0.5, 1.0, 1.0] and [b.at(x) for x in (2.9, 3.0, 9.0)] == [0.0, 0.5, 0.5]


def test_pairs_by_hand() -> None:
    (pair,) = pairs(instances([[1.0, 2.0], [3.0, 1.0], [1.0, 1.05], [math.inf, 4.0], [math.inf, math.inf], [2.0, math.inf], [8.0, 2.0]]))
    assert (pair.wins, pair.losses, pair.ties, pair.neither) == (2, 3, 1, 1)
    assert pair.ratio == pytest.approx(math.sqrt(1 / 1.05 * 3.0)), "of 1/2, 1/1.05, 3 and 4 the geometric middle"


@given(TABLES)
def test_an_exchanged_pair_says_the_same(rows: list[list[float]]) -> None:
    back = [dict(reversed(each.seconds.items())) for each in instances(rows)]
    for pair, other in itertools.product(pairs(instances(rows)), pairs([InstanceSeconds("i", "M", each, 1.0) for each in back])):
        assert pair.wins + pair.losses + pair.ties + pair.neither == len(rows)
        if (pair.one, pair.other) == (other.other, other.one):
            assert (pair.wins, pair.losses, pair.ties) == (other.losses, other.wins, other.ties)
            assert math.isnan(pair.ratio) or pair.ratio == pytest.approx(other.exchanged.ratio)


def test_solvers_that_ran_on_few_instances_do_not_take_the_others_away() -> None:
    """Three back ends on six instances, one of ours on one of them."""
    made = [InstanceSeconds(f"i{i}", "M", {"clarabel": 1.0, "scs": 2.0, "own": 0.1} if i == 0 else {"clarabel": 1.0, "scs": 2.0}, 5.0)
            for i in range(6)]  # fmt: skip
    names, block = common(made)
    assert names == ["clarabel", "scs"] and len(block) == 6
    assert [row.solver for row in means(made)] == ["clarabel", "scs"] and lead(made) == {"clarabel": 5, "scs": 0, "own": 1}
    assert common([]) == ([], []) and means([]) == [] and pairs([]) == [] and profiles.performance([]) == []


@given(TABLES)
def test_all_that_ran_everywhere_are_compared_everywhere(rows: list[list[float]]) -> None:
    made = instances(rows)
    assert common(made) == (list(made[0].seconds), made)


def test_ties_are_no_wins() -> None:
    made = instances([[1.0, TIE], [1.0, 1.2], [math.inf, math.inf]])
    assert [each.leaders for each in made] == [("a", "b"), ("a",), ()] and lead(made) == {"a": 1, "b": 0}


def runs(table: dict[int, list[float | None]], names: str = "ab", **cell: Any) -> list[Record]:
    return [record(name, seconds, size=n, **cell) for n, row in table.items() for name, seconds in zip(names, row, strict=True)]


def claimed(run: Record, verdict: str, what: str = "optimal") -> Record:
    return replace(run, claimed=what, claimed_value=1.5, claim_tolerance=1e-8, claim_gap=0.5, claim_verdict=verdict)


SEVEN: dict[int, list[float | None]] = {n: [1.0, 2.0] for n in range(1, 6)} | {6: [3.0, 1.0], 7: [1.0, 1.01]}


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (SEVEN, "a fastest on 5 of 7 instances (1 level)"),
        (SEVEN | {8: [None, None]}, "a fastest on 5 of 8 instances (1 level, 1 solved by none)"),
        ({1: [1.0, 2.0]}, "a fastest on 1 of 1 instance (one is too few to say more)"),
        ({1: [1.0, 2.0], 2: [2.0, 1.0]}, "a and b fastest on 1 of 2 instances each (2 are too few to say more)"),
        ({1: [1.0, 1.0], 2: [2.0, 2.0]}, "no solver is fastest: where one certified, another was level (2 are too few to say more)"),
        ({1: [None, None]}, "no solver certified the one instance"),
        ({1: [None, None], 2: [None, None]}, "no solver certified any of the 2 instances"),
    ],
)
def test_the_answer_is_honest(table: dict[int, list[float | None]], sentence: str) -> None:
    assert answer(runs(table)) == [sentence]


def test_one_solver_is_not_called_the_fastest() -> None:
    assert answer(runs({1: [1.0], 2: [None]}, "a")) == ["a alone was run: it certified 1 of 2 instances"]
    assert answers([]) == []


def test_false_claims_are_part_of_the_answer_and_an_instance_counts_once() -> None:
    made = runs(SEVEN)
    made[1] = claimed(made[1], "FALSE")
    made.append(claimed(record("b", 2.0, size=1, repetition=1), "FALSE"))
    made[3] = claimed(made[3], "FALSE")
    made[5] = claimed(made[5], "FALSE", "infeasible")
    made[0] = claimed(made[0], "true")
    assert answer(made)[1:] == ["b claimed 2 optima that are false and 'infeasible' falsely on 1 instance"]
    assert [(row.solver, row.verdict) for row in claim_rows(made)] == [("b", "FALSE")] * 3 + [("a", "true")]
    assert [(row.false_claims, row.unproven_claims) for row in standings(made)] == [(0, 0), (3, 0)]
    both = [claimed(each, "FALSE") for each in runs({1: [1.0, 2.0]})]
    assert answer(both)[1:] == ["a and b each claimed 1 optimum that is false"]
    assert ", so far: not all runs are done; b claimed" in answers(made, complete=False)[0]
    assert table.markdown(made).splitlines()[2].startswith("**a fastest on 5 of 7 instances")


@pytest.mark.parametrize("what", ["infeasible", "unbounded"])
def test_an_instance_without_an_optimum_is_no_failure(what: str) -> None:
    proven = [claimed(record("a", None, size=9), "true", what), record("b", None, size=9), claimed(record("c", None, size=9), "true", what)]
    made = [*runs(SEVEN), *proven]
    assert answer(made) == ["a fastest on 5 of 7 instances (1 level); 1 more has no optimum"]
    rows = {row.solver: row for row in standings(made)}
    assert (rows["a"].instances, rows["b"].instances, rows["c"].instances, rows["c"].fastest) == (7, 7, 0, 0)
    assert {name: row.failures for name, row in rows.items()} == {"a": 0, "b": 0, "c": 0} and rows["a"].compared == 7
    assert answer(proven) == ["no optimum to certify: 1 instance proven infeasible or unbounded"]
    unproven = [claimed(record("a", None), "not proven", what), record("b", None)]
    assert answer(unproven) == ["no solver certified the one instance"] and [row.failures for row in standings(unproven)] == [1, 1]
    contradicted = [claimed(record("a", None), "true", what), record("b", 1.0)]
    assert answer(contradicted) == ["b fastest on 1 of 1 instance (one is too few to say more)"]


def test_bounds_beside_a_claim_are_the_best_of_all_runs() -> None:
    made = [replace(record("a", 1.0), lower=1.0, upper=3.0), replace(record("b", None), lower=0.5, upper=2.0), record("c", None)]
    assert certified_bounds(made) == (1.0, 2.0) and certified_bounds(made[2:]) == (-math.inf, math.inf)
    (row,) = claim_rows([claimed(made[0], "not proven"), *made[1:]])
    assert (row.lower, row.upper, row.verdict, row.value) == (1.0, 2.0, "not proven", 1.5)


def test_rows_of_two_machines_are_in_no_statistic_together() -> None:
    here, there = runs(SEVEN), runs({n: [row[1], row[0]] for n, row in SEVEN.items()}, machine="other")
    both = [*here, *there]
    assert answers(both) == [f"{answer(here)[0]}   (M)", f"{answer(there)[0]}   (other)"]
    assert answer(there) == ["b fastest on 5 of 7 instances (1 level)"]
    found = table.plain(both)
    assert [each["machine"] for each in found["machines"]] == ["M", "other"]
    for each, own in zip(found["machines"], (here, there), strict=True):
        alone = table.plain(own)["machines"][0]
        assert {**each, "machine": ""} == {**alone, "machine": ""}
    assert {(each["solver"], each["machine"], each["instances"]) for each in found["profile"]} == {
        (name, machine, 7) for name in "ab" for machine in ("M", "other")
    }
    assert found["success"] == {f"{name} ({m})": {"certified": 7, "runs": 7} for m in ("M", "other") for name in "ab"}
    titles = [title for title, _, _ in table.over_instances(both)]
    assert titles == [f"{kind}   ({m})" for m in ("M", "other") for kind in ("Over instances", "In pairs")]


def test_decades_and_classes() -> None:
    assert [decade(n) for n in (0, 1, 9, 10, 99, 100, 12345)] == ["unknown", "1–9", "1–9", "10–99", "10–99", "100–999", "10000–99999"]
    sizes = [("QP", 5, 50), ("LP", 500, 50), ("", 0, 0), ("QP", 7, 70)]
    made = [replace(each, problem_class=c, variables=n, nonzeros=z)
            for each, (c, n, z) in zip(instances([[1.0, 2.0], [2.0, 1.0], [1.0, 3.0], [1.0, math.inf]]), sizes, strict=True)]  # fmt: skip
    found = [(band.by, band.name, band.instances, band.fastest) for band in bands(made)]
    assert found == [
        ("class", "LP", 1, {"a": 0, "b": 1}), ("class", "QP", 2, {"a": 2, "b": 0}), ("class", "unknown", 1, {"a": 1, "b": 0}),
        ("variables", "1–9", 2, {"a": 2, "b": 0}), ("variables", "100–999", 1, {"a": 0, "b": 1}),
        ("variables", "unknown", 1, {"a": 1, "b": 0}),
        ("nonzeros", "10–99", 3, {"a": 2, "b": 1}), ("nonzeros", "unknown", 1, {"a": 1, "b": 0}),
    ]  # fmt: skip
    assert bands(instances([[1.0, 2.0]])) == [], "nothing is known, so that there is nothing to set apart"
    (failures,) = {band.means[1].failures for band in bands(made) if band.name == "QP"}
    assert failures == 1


def test_class_and_size_of_an_instance_come_from_any_run_that_knows_them() -> None:
    made = [record("newton", 1.0), replace(record("clarabel", 2.0), problem_class="SOCP", variables=12, nonzeros=340)]
    (found,) = instance_seconds(made)
    assert (found.problem_class, found.variables, found.nonzeros, found.limit) == ("SOCP", 12, 340, 5.0)


def test_times_that_no_clock_has_shown_are_failures() -> None:
    broken = [
        replace(record("a", 1.0), points=({**record("a", 1.0).points[0], "setup": value, "relative_gap": 0.0},))
        for value in (-9.0, math.nan)
    ]
    for run in broken:
        assert instance_seconds([run])[0].seconds == {"a": math.inf}
        assert means(instance_seconds([run]))[0].failures == 1


def test_a_descent_never_rises() -> None:
    points = [{"setup": 0.0, "solve": s, "relative_gap": g} for s, g in ((3.0, 1e-3), (1.0, math.nan), (2.0, 1e-2), (4.0, 5e-3))]
    run = replace(record("a", 1.0), points=tuple({**record("a", 1.0).points[0], **point} for point in points))
    assert run.descent() == [(1.0, math.inf), (2.0, 1e-2), (3.0, 1e-3), (4.0, 1e-3)]
