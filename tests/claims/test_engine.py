"""Verdicts of tiny claims of every kind, including those that must fail."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from simopt.claims import (
    ALL,
    EXACT,
    EXPERIMENT,
    HIGH_PROBABILITY,
    IN_EXPECTATION,
    OPEN,
    RATE,
    REFUTED,
    SOME,
    TIGHTEN,
    TIGHTNESS,
    VACUOUS,
    Check,
    Defect,
    Effort,
    Instance,
    InvalidClaim,
    Trial,
    Verdict,
    at_least,
    at_most,
    between,
    distinct,
    equal,
    expectation,
    inputs,
    outcome,
    probability,
    rate,
    run,
    symbols,
    true,
    vacuous,
)
from simopt.core.errors import NotAvailable


def test_float_inequality_holds_on_samples_and_reports_slack_and_tightness(make):
    def function(instance: Instance, trial: Trial) -> Iterator[Check]:
        yield at_most(0.5 * instance["x"], 1.0 * instance["x"])

    result = run(make(function))
    assert (result.verdict, result.own.evidence, result.own.scope) == (Verdict.HOLDS, "float", "sampled")
    assert result.own.checks == result.own.instances == 5
    assert result.own.worst_slack == 0.5 and result.own.tightness == 0.5
    assert result.seeds == (0,) and result.ok


def test_a_function_gets_what_its_parameters_name(make):
    def pairs(trial):
        yield {"x": 3, "y": 4}
        yield {"x": 1}

    def by_name(x: int, trial: Trial, instance: Instance, y: int = 9) -> Iterator[Check]:
        assert instance.get("y", 9) == y and instance["x"] == x
        yield at_most(trial["c"] * x, y)

    assert run(make(by_name, instances=pairs), mutants=True).own.instances == 2
    assert run(make(lambda: iter([at_most(1, 2)]))).verdict is Verdict.HOLDS
    assert run(make(lambda x=1, y=2: iter([at_most(x, y)]), instances=lambda trial: iter([{}]))).verdict is Verdict.HOLDS
    assert run(make(lambda first, second: iter([at_most(second["c"] * first["x"], 5)]))).verdict is Verdict.HOLDS


def test_a_parameter_that_no_entry_has_and_an_entry_that_no_parameter_has_are_told(make):
    def of(*keys):
        return lambda trial: iter([dict.fromkeys(keys, 1)])

    def optional(x: int, y: int = 9) -> Iterator[Check]:
        yield at_most(x, y)

    assert "has no entry 'x'; the function takes x, y" in run(make(optional, instances=of("y"))).own.reason
    assert "has an entry 'yy'" in run(make(optional, instances=of("x", "yy"))).own.reason
    assert run(make(optional, instances=of("x", "y", "z"))).verdict is Verdict.HOLDS  # no default is taken: z is for other readers
    with pytest.raises(InvalidClaim, match=r"the function takes \*\*rest"):
        make(lambda x, **rest: iter(()))


def test_refuted_claim_leaves_the_smallest_witness(make):
    def several(trial):
        yield {"x": [3, 4, 5]}
        yield {"x": [7]}
        yield {"x": [1, 1]}

    def function(instance, trial):
        yield at_most(sum(instance["x"]), 2)

    result = run(make(function, instances=several, expected=REFUTED))
    assert result.verdict is Verdict.REFUTED and result.own.evidence is EXACT and result.own.scope == "witness"
    assert result.own.witness.instance == {"x": [7]} and result.own.witness.index == 1 and result.own.worst_slack == -10
    assert result.ok


def test_of_two_witnesses_with_as_many_numbers_the_plainer_is_smaller(make):
    def several(trial):
        yield from ({"C": C, "n": 12 * C, "p": Fraction(1, C)} for C in (1000, 10**6, 10))

    result = run(make(lambda i, t: iter([at_most(i["n"], 2)]), instances=several, expected=REFUTED))
    assert result.own.witness.instance["C"] == 10 and result.own.worst_slack < -1e6


def test_a_result_in_words_has_verdict_witness_and_mutants(make):
    found = run(
        make(lambda i, t: iter([at_most(i["x"], t["c"] + 3, "x ≤ 4")]), mutants={"c = 9": {"c": 9}, "c = 0": {"c": 0}}), mutants=True
    )
    assert str(found).splitlines() == [
        "TOY-1: REFUTED (exact, 5 checks), tightness 1.000",
        "  witness: instance 4 of seed 0, x ≤ 4, slack -1",
        "  mutant 'c = 9': caught",
        "  mutant 'c = 0': NOT CAUGHT, the verdict stays REFUTED",
    ]
    assert "NotImplementedError" in str(run(make(_unwritten)))


def _unwritten(instance, trial):
    raise NotImplementedError("later")


def test_undecided_enclosure_is_inconclusive_not_held(make):
    def function(instance, trial):
        yield at_most(between(0.9, 1.1), 1.0, "bracket")

    result = run(make(function))
    assert result.verdict is Verdict.INCONCLUSIVE and "bracket" in result.own.reason and not result.ok


def test_exact_evidence_is_decided_at_zero_and_floats_at_the_resolution(make):
    tiny = Fraction(1, 10**20)
    exact = run(make(lambda i, t: iter([at_most(1 + tiny, 1)])))
    rounded = run(make(lambda i, t: iter([at_most(1.0 + 1e-15, 1.0)])))
    assert exact.verdict is Verdict.REFUTED and rounded.verdict is Verdict.HOLDS


def test_strict_and_distinct_do_not_accept_equality(make):
    assert run(make(lambda i, t: iter([distinct(1, 1)]))).verdict is Verdict.REFUTED
    assert run(make(lambda i, t: iter([distinct(1.0, 1.0)]))).verdict is Verdict.INCONCLUSIVE
    assert run(make(lambda i, t: iter([distinct(1.0, 1.5, error=0.6)]))).verdict is Verdict.INCONCLUSIVE
    assert run(make(lambda i, t: iter([distinct(1.0, 1.5, error=0.1)]))).verdict is Verdict.HOLDS
    assert run(make(lambda i, t: iter([at_least(2, 2, strict=True)]))).verdict is Verdict.REFUTED


def test_arrays_are_compared_entry_by_entry_and_the_worst_entry_counts(make):
    check = at_most(np.array([1.0, 2.0, 5.0]), 4.0, scale=2.0)
    assert check.low == check.high == -0.5
    assert equal(np.eye(2), np.eye(2) + np.array([[0, 1e-3], [0, 0]])).low == pytest.approx(-1e-3)


def test_no_check_at_all_is_inconclusive(make):
    result = run(make(lambda i, t: iter(())))
    assert result.verdict is Verdict.INCONCLUSIVE and result.own.reason == "no check decides this row"


def test_vacuous_only_if_every_check_is(make):
    always = make(lambda i, t: iter([vacuous(True, "bound above 1")]), expected=VACUOUS)
    sometimes = make(lambda i, t: iter([vacuous(i["x"] < 3), at_most(i["x"], 9)]))
    assert run(always).verdict is Verdict.VACUOUS and run(always).ok and run(always).own.worst_slack is None
    assert run(sometimes).verdict is Verdict.HOLDS


def test_some_needs_one_instance_all_of_whose_checks_hold(make):
    def both(instance, trial):
        yield at_least(instance["x"], 3)
        yield at_most(instance["x"], trial["c"] + 2)

    result = run(make(both, kind=TIGHTNESS, quantifier=SOME))
    assert result.verdict is Verdict.HOLDS and result.own.witness.instance == {"x": 3} and result.own.scope == "witness"
    none = run(make(lambda i, t: iter([at_least(i["x"], 6)]), kind=TIGHTNESS, quantifier=SOME))
    assert none.verdict is Verdict.INCONCLUSIVE
    every = make(lambda i, t: iter([at_least(i["x"], 6)]), kind=TIGHTNESS, quantifier=SOME, exhaustive=True, expected=REFUTED)
    assert run(every).verdict is Verdict.REFUTED and run(every).own.scope == "exhaustive"


@pytest.mark.parametrize(("p", "verdict"), [(0.0, Verdict.HOLDS), (0.02, Verdict.HOLDS), (0.3, Verdict.REFUTED)])
def test_high_probability_draws_until_the_interval_leaves_delta(make, p, verdict):
    drawn = []

    def function(instance, trial):
        for _ in trial.draws(100_000):
            drawn.append(1)
            yield outcome(trial.rng.random() < p, 0.1)

    claim = make(function, kind=HIGH_PROBABILITY, instances=lambda t: iter([{}]))
    result = run(claim)
    assert result.verdict is verdict and result.own.evidence == "statistical" and len(drawn) < 2000


def test_high_probability_at_the_threshold_is_inconclusive_by_nature(make):
    def function(instance, trial):
        for _ in trial.draws(400):
            yield outcome(trial.rng.random() < 0.1, 0.1)

    result = run(make(function, kind=HIGH_PROBABILITY, instances=lambda t: iter([{}])))
    assert result.verdict is Verdict.INCONCLUSIVE


def test_exact_probability_refutes_what_no_sampling_could(make):
    claim = make(lambda i, t: iter([probability(Fraction(119, 10**9), Fraction(119, 10**9), Fraction(110, 10**9))]), expected=REFUTED)
    assert run(claim).verdict is Verdict.REFUTED and run(claim).own.evidence is EXACT


def test_expectation_with_support_and_without(make):
    def bounded(instance, trial):
        for _ in trial.draws(100_000):
            yield expectation(trial.rng.random(), trial["c"] * 0.6, support=(0.0, 1.0))

    def unbounded(instance, trial):
        for _ in trial.draws(100_000):
            yield expectation(trial.rng.normal(), -0.5)

    one = {"kind": IN_EXPECTATION, "instances": lambda t: iter([{}])}
    assert run(make(bounded, **one)).verdict is Verdict.HOLDS
    found = run(make(unbounded, **one))  # the mean is 0 and the bound −0.5, but no test of a mean controls its error without a support
    assert found.verdict is Verdict.INCONCLUSIVE and "support" in found.own.reason
    assert "support" in run(make(lambda i, t: (expectation(2.0, 1.0, support=(0, 1)) for _ in t.draws(1)), **one)).own.reason


def test_rate_fit_never_refutes(make):
    n = np.array([10, 20, 40, 80, 160])
    good = make(lambda i, t: iter([rate(n, 3.0 / n, -1.0)]), kind=RATE)
    slow = make(lambda i, t: iter([rate(n, 3.0 / np.sqrt(n), -1.0)]), kind=RATE)
    late = make(lambda i, t: iter([rate(n, 1.0 / np.maximum(n, 20), -1.0, window=(20, 200))]), kind=RATE)
    assert run(good).verdict is Verdict.HOLDS and run(slow).verdict is Verdict.INCONCLUSIVE and run(late).verdict is Verdict.HOLDS


def test_an_open_row_meets_the_verdict_it_had_last_and_no_other(make):
    def undecided(last):
        return make(lambda i, t: iter([true(False)]), expected=OPEN, kind=RATE, note="constants unknown", last=last)

    assert run(undecided(Verdict.REFUTED)).verdict is Verdict.REFUTED and run(undecided(Verdict.REFUTED)).ok
    assert not run(undecided(Verdict.HOLDS)).ok and not run(undecided(Verdict.INCONCLUSIVE)).ok


def of_constants(*values):
    """Instances that are a function of the constant: n = C² for each."""
    return lambda trial: iter([{"C": C, "n": C**2} for C in values])


def test_one_constant_that_fails_refutes_no_sentence_about_some_constant(make):
    sentence = dict(says="There is a constant C with n ≤ 10 C.", constants=("C",), defeats="n = C² for C > 10", expected=REFUTED)
    claim = dict(sentence, defect=Defect.CONSTANT, resolution=0.0)

    def bound(instance, trial):
        yield at_most(instance["n"], 10 * instance["C"])

    assert run(make(bound, **claim, instances=of_constants(11, 50, 10**6))).verdict is Verdict.REFUTED
    mixed = run(make(bound, **claim, instances=of_constants(11, 2, 50)))
    assert mixed.verdict is Verdict.INCONCLUSIVE and "C = 2 serves" in mixed.own.reason
    assert run(make(bound, **claim, instances=of_constants(1, 2))).verdict is Verdict.HOLDS
    several = run(make(bound, **claim, instances=lambda trial: iter([{"C": 2, "n": 30}, {"C": 2, "n": 4}, {"C": 20, "n": 10**4}])))
    assert several.verdict is Verdict.REFUTED  # of the instances of one constant one that fails is enough


def test_a_step_that_fails_refutes_no_sentence_about_some_constant(make):
    claim = dict(says="There is a constant C.", constants=("C",), defeats="n > 1", expected=REFUTED, defect=Defect.CONSTANT)
    step = run(make(lambda i, t: iter([at_most(i["n"], 1)]), **claim, instances=lambda trial: iter([{"n": 2}, {"C": 1, "n": 2}])))
    assert step.verdict is Verdict.INCONCLUSIVE and "without constants" in step.own.reason
    none = run(make(lambda i, t: iter([at_most(2, 1)]), **claim, instances=lambda trial: iter([])))
    assert none.verdict is Verdict.INCONCLUSIVE


def test_missing_data_is_not_run(make):
    def missing(instance, trial):
        raise NotAvailable("no such data here")
        yield

    result = run(make(missing, kind=EXPERIMENT))
    assert result.verdict is Verdict.NOT_RUN and "no such data" in result.own.reason and result.ok
    absent = run(make(missing, kind=EXPERIMENT, requires=("a_module_that_is_not_there",)))
    assert absent.verdict is Verdict.NOT_RUN and "a_module_that_is_not_there" in absent.own.reason
    assert 0.0 <= result.seconds < 60.0 and 0.0 <= absent.seconds < 60.0


def test_an_exception_is_an_error_and_never_a_verdict(make):
    def broken(instance, trial):
        yield at_most(1.0, 2.0)
        raise RuntimeError("the claim is broken")

    result = run(make(broken))
    assert result.verdict is Verdict.ERROR and "RuntimeError: the claim is broken" in result.trace and not result.ok
    nan = run(make(lambda i, t: iter([at_most(float("nan"), 1.0)])))
    assert nan.verdict is Verdict.ERROR and "NaN" in nan.own.reason


def test_covered_rows_have_their_own_verdict_slack_and_witness(make):
    def function(instance, trial):
        yield at_most(instance["x"], 10)
        yield at_most(instance["x"], 4, row="TOY-2")

    result = run(make(function, covers=("TOY-2", "TOY-3")))
    assert result.rows["TOY-1"].verdict is Verdict.HOLDS and result.rows["TOY-1"].worst_slack == 5
    assert result.rows["TOY-2"].verdict is Verdict.REFUTED and result.rows["TOY-2"].witness.instance == {"x": 5}
    assert result.rows["TOY-3"].verdict is Verdict.INCONCLUSIVE and "no check" in result.rows["TOY-3"].reason
    assert not result.ok
    stray = run(make(lambda i, t: iter([at_most(1, 2, row="TOY-9")])))
    assert stray.verdict is Verdict.ERROR and "TOY-9" in stray.own.reason


def test_seeds_must_agree(make):
    def function(instance, trial):
        yield at_most(float(trial.seed), 2.5 * trial.rng.integers(1, 2))

    result = run(make(function), effort="full")
    assert result.seeds == (0, 1, 2, 3, 4)
    assert result.verdict is Verdict.INCONCLUSIVE and "seed 2: HOLDS, seed 3: REFUTED" in result.own.reason


def test_a_claim_without_randomness_runs_once(make):
    assert run(make(lambda i, t: iter([at_most(1, 2)])), effort="full").seeds == (0,)


def test_randomness_depends_on_claim_seed_and_index_only():
    draws = [Trial("A", seed, index, Effort.QUICK, {}).rng.random() for seed, index in ((0, 0), (0, 0), (0, 1), (1, 0))]
    assert draws[0] == draws[1] and len(set(draws)) == 3


def test_attack_finds_what_the_instances_do_not_show(make):
    def bump(instance, trial):
        yield at_most(np.exp(-40 * sum((v - 0.3) ** 2 for v in instance["x"])), 0.9)

    corners = {"instances": lambda t: iter([{"x": [0.0, 0.0]}])}
    without = run(make(bump, **corners))
    attacked = run(make(bump, **corners, decode=lambda u, t: {"x": list(u)}, dimension=2, expected=REFUTED))
    assert without.verdict is Verdict.HOLDS and attacked.verdict is Verdict.REFUTED
    assert attacked.own.checks <= 151 and attacked.own.tightness == 1.0


def test_mutants_change_the_verdict_or_are_reported(make):
    def function(instance, trial):
        yield at_most(trial["c"] * instance["x"], 7)

    caught = run(make(function, mutants={"c = 2": {"c": 2}, "larger x": {"instances": lambda t: iter([{"x": 8}])}}), mutants=True)
    assert [mutant.caught for mutant in caught.mutants] == [True, True] and caught.ok
    missed = run(make(function, mutants={"c = 9/8": {"c": Fraction(9, 8)}}), mutants=True)
    assert not missed.mutants[0].caught and "HOLDS" in missed.mutants[0].reason and not missed.ok
    empty = run(make(function, mutants={"nothing": {"instances": lambda t: iter(())}}), mutants=True)
    broken = run(make(function, mutants={"text": {"c": "two"}}), mutants=True)
    assert not empty.mutants[0].caught and not broken.mutants[0].caught and "does not run" in broken.mutants[0].reason


def test_mutant_of_a_refuted_claim_must_make_it_hold(make):
    claim = make(lambda i, t: iter([at_most(i["x"], 3 * t["c"])]), expected=REFUTED)
    assert run(claim, mutants=True).mutants[0].verdicts == {"TOY-1": Verdict.HOLDS}


def test_automatic_tightening_counts_only_where_the_bound_is_nearly_reached(make):
    def function(instance, trial):
        yield at_most(1.0 * instance["x"], 5.0 * trial["c"])

    sharp = run(make(function, mutants=TIGHTEN), mutants=True)
    loose = run(make(function, mutants=TIGHTEN, knobs={"c": 4}), mutants=True)
    assert sharp.mutants[0].caught and sharp.mutants[0].verdicts["TOY-1"] is Verdict.REFUTED
    assert not loose.mutants[0].caught and "0.25" in loose.mutants[0].reason


def test_proved_needs_formulas_rigour_and_everything_looked_at(make):
    def stated(instance, trial):
        x = inputs(x=instance["x"])
        yield at_most(trial["c"] * x, x**2, "linear below quadratic")

    def plain(instance, trial):
        yield at_most(Fraction(instance["x"]), instance["x"] ** 2)

    assert run(make(stated, exhaustive=True)).verdict is Verdict.PROVED
    assert run(make(stated, quantifier=ALL)).verdict is Verdict.HOLDS
    held = run(make(plain, exhaustive=True))
    assert held.verdict is Verdict.HOLDS and held.own.evidence is EXACT  # two finished numbers leave nothing to recheck
    mixed = make(lambda i, t: iter([at_most(inputs(x=i["x"]), 9), true(True, evidence=EXACT)]), exhaustive=True)
    assert run(mixed).verdict is Verdict.HOLDS and run(mixed).own.evidence is EXACT
    rounded = make(lambda i, t: iter([at_most(1.0 * i["x"], 9)]), exhaustive=True)
    assert run(rounded).verdict is Verdict.HOLDS


def test_symbolic_identity_is_proved_from_any_instance_and_a_false_one_refuted(make):
    x, y = symbols("x y")
    true_one = make(lambda i, t: iter([equal((x + y) ** 2 / (x + y), x + t["c"] * y)]), instances=lambda t: iter([{}]))
    result = run(true_one, mutants=True)
    assert result.verdict is Verdict.PROVED and result.own.scope == "exhaustive" and result.mutants[0].caught
    assert run(make(lambda i, t: iter([equal((x + y) ** 2, x**2 + y**2)]), expected=REFUTED)).verdict is Verdict.REFUTED


def test_exact_witness_of_a_some_claim_is_proved(make):
    def function(instance, trial):
        x = inputs(x=instance["x"])
        yield at_least(x**2, 16)

    assert run(make(function, quantifier=SOME, kind=TIGHTNESS)).verdict is Verdict.PROVED
