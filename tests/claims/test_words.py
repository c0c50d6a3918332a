"""No word more than is known: sizes that no symbol stands for, computed inputs, denominators, and draws that come near no bound."""

import json
from dataclasses import replace
from fractions import Fraction
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simopt import recheck
from simopt.claims import (
    HIGH_PROBABILITY,
    REFUTED,
    SOME,
    Evidence,
    Kind,
    Scope,
    Verdict,
    at_least,
    at_most,
    equal,
    inputs,
    once,
    outcome,
    probability,
    rational,
    root,
    run,
    symbols,
)
from simopt.claims.input_origins import numbers
from simopt.claims.looseness import NEAR, remark
from simopt.claims.proof import REMEDY
from simopt.claims.quantified import unstated
from simopt.claims.verification import summary, to_row, verify
from simopt.report import markdown

EVERY = {"instances": once, "exhaustive": True}


def looped(instance: Any, trial: Any) -> Any:
    """(x + 1)^n − x (x + 1)^{n−1} = (x + 1)^{n−1} for n = 1, …, 5, one formula each."""
    (x,) = symbols("x")
    for n in range(1, 6):
        yield equal((x + 1) ** n - x * (x + 1) ** (n - 1), trial["c"] * (x + 1) ** (n - 1), f"n = {n}")


def listed(instance: Any, trial: Any) -> Any:
    """n ≤ n² on the instances."""
    n = inputs(n=instance["n"])
    yield at_most(trial["c"] * n, n**2)


def in_symbols(instance: Any, trial: Any) -> Any:
    """(n + 1)² with n free."""
    (n,) = symbols("n")
    yield equal((n + 1) ** 2, n**2 + 2 * trial["c"] * n + 1)


FIVE = {"instances": lambda trial: iter([{"n": n} for n in range(1, 6)]), "exhaustive": True}


@pytest.mark.parametrize(
    "says", ["The identity, for all n.", "For every n ≥ 1 it holds.", "Any n will do.", "For n ≥ 1 it holds.", "For n = 1, 2, … it holds.",
             "It holds for all real x and every integer n.", "Whatever n is, it holds.", "For all 1 ≤ n it holds.",
             "It holds, n ∈ ℕ.", "It holds for arbitrary n.", "Let n ≥ 1. Then it holds.", "It holds for n ∈ {1, 2, …}."],
)  # fmt: skip
@pytest.mark.parametrize(("rule", "fields"), [(looped, EVERY), (listed, FIVE)], ids=["in a loop", "as an input"])
def test_a_few_sizes_are_steps_of_a_sentence_about_all(make: Any, tmp_path: Path, says: str, rule: Any, fields: Any) -> None:
    result = run(make(rule, says=says, **fields), mutants=True)
    assert (result.verdict, result.own.evidence, result.ok) == (Verdict.HOLDS, Evidence.EXACT_STEPS, True)
    assert result.own.remains.startswith("every n")
    document = json.loads(Path(to_row(result, tmp_path)["proof"]).read_text())
    assert {each["role"] for each in document["statements"]} == {"step"}
    assert recheck.check(document)[-1] == f"STEPS, not the whole sentence; what remains: {result.own.remains}"
    assert run(make(rule, says="Tried for n = 1, …, 5.", **fields)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "says", ["For all n ≤ 5.", "For every n in {1, 2, 3, 4, 5}.", "For all 1 ≤ n ≤ 5.", "For each n from 1 to 5.",
             "For each of the n samples.", "For n = 1, 2, …, 5.", "For all n_+ pairs.", "For every x.", "For all of them."],
)  # fmt: skip
@pytest.mark.parametrize(("rule", "fields"), [(looped, EVERY), (listed, FIVE)], ids=["in a loop", "as an input"])
def test_a_sentence_that_ends_is_proved_by_its_cases(make: Any, says: str, rule: Any, fields: Any) -> None:
    assert run(make(rule, says=says, **fields)).verdict is Verdict.PROVED


@pytest.mark.parametrize("says", ["For all n.", "For every n ≥ 0.", "For all y and n."])
def test_a_size_that_is_a_symbol_is_every_size(make: Any, says: str) -> None:
    assert run(make(in_symbols, says=says, **EVERY)).verdict is Verdict.PROVED


def test_one_of_two_sizes_without_a_symbol_is_named() -> None:
    assert unstated("For all m, n and d, and every k ≤ 3.", {"n"}) == ["m", "d"]


def test_a_witness_is_none_of_every_size(make: Any) -> None:
    larger = make(lambda i, t: iter([at_least(inputs(x=i["x"]), 5)]), quantifier=SOME, says="For every n there is an x ≥ 5.")
    assert (run(larger).own.evidence, run(larger).own.remains[:7]) == (Evidence.EXACT_STEPS, "every n")


def successor(value: Any) -> Any:
    """A statement whose input is computed from the instance."""
    return lambda instance, trial: iter([at_most(inputs(y=value(instance["x"])), Fraction(40, trial["c"]), "y ≤ 40")])


@pytest.mark.parametrize("value", [lambda x: x * x + 6, lambda x: Fraction(x, 7), lambda x: -x, lambda x: 9])
@pytest.mark.parametrize("fields", [{"exhaustive": True}, {"quantifier": SOME}])
def test_a_computed_number_is_no_datum(make: Any, value: Any, fields: Any) -> None:
    result = run(make(successor(value), knobs={"c": 1}, **fields))
    assert (result.verdict, result.own.filed) == (Verdict.HOLDS, False)
    assert result.own.reason == f"no proof file: y computed, neither data of the instance nor in a hypothesis; {REMEDY}"


def rounded(instance: Any, trial: Any) -> Any:
    """k ≤ x < k + 1, k = ⌊x⌋ computed, and 2k ≤ 2x."""
    x, k = inputs(x=instance["x"], k=int(instance["x"]))
    yield at_most(2 * trial["c"] * k, 2 * x, "2⌊x⌋ ≤ 2x").assuming(at_most(k, x), at_most(x, k + 1, strict=True))


def test_a_computed_number_that_a_hypothesis_explains_is_called_computed(make: Any, tmp_path: Path) -> None:
    halves = {"instances": lambda trial: iter([{"x": Fraction(k, 2)} for k in range(1, 8)]), "exhaustive": True}
    result = run(make(rounded, **halves))
    assert (result.verdict, result.own.computed) == (Verdict.PROVED, "k") and "computed: k" in str(result)
    row = to_row(result, tmp_path)
    assert row["computed"] == "k" and summary(row) == "PROVED (exact, computed: k, exhaustive)"
    assert "; computed: k" in markdown.verdict_table([row])
    document = json.loads(Path(row["proof"]).read_text())
    assert document["statements"][0]["computed"] == ["k"]
    assert recheck.check(document)[-1].endswith("true in all 7 cases; computed, and no data: k")
    document["statements"][0]["computed"] = ["z"]
    with pytest.raises(recheck.Unreadable):
        recheck.check(document | {"digest": recheck.digest(document)})


@pytest.mark.parametrize("exponent", [2, 50, -4])
def test_the_exponent_of_a_hypothesis_is_none_of_its_formulas(make: Any, exponent: int) -> None:
    """Step 2 of the program is y², it has no step 50, and −4 would count from its end."""

    def stated(instance: Any, trial: Any) -> Any:
        x, y = inputs(x=instance["x"], y=Fraction(instance["x"], 7))
        yield at_most(trial["c"] * y - 1, y * y + 1 + 3 * x).assuming(at_least(x**exponent, 0))

    assert run(make(stated, exhaustive=True)).own.reason.startswith("no proof file: y computed")


def test_data_and_constants_are_not_computed(make: Any) -> None:
    def stated(instance: Any, trial: Any) -> Any:
        values = inputs(a=instance["a"], b=instance["b"], c=instance["nested"]["c"])
        yield at_most(root(values[0], bits=20) + values[1][1] * values[2] + rational(1) / 7, Fraction(99, trial["c"]))

    data = {"a": "1/2", "b": np.array([3, 4]), "nested": {"c": [Fraction(5, 3)][0]}, "z": np.array([0.25]), "words": "p/q", "yes": True}
    assert numbers(data) == {"1/2", "3", "4", "5/3"}
    result = run(make(stated, instances=lambda trial: iter([data]), exhaustive=True))
    assert (result.verdict, result.own.computed) == (Verdict.PROVED, "")


CENTRAL = comb(40, 20)


def formed() -> Any:
    """C(40, 20) as the product of the (40 − j)/(j + 1)."""
    return prod((rational(40 - j) / (j + 1) for j in range(20)), start=rational(1))


def below_a_million_millions(number: Any) -> Any:
    """The number is ≤ 10¹²."""
    return lambda instance, trial: iter([at_most(number(instance), rational(10) ** 12 / trial["c"] ** 4)])


STATED = {"instances": lambda trial: iter([{"of": 40, "C": CENTRAL}]), "exhaustive": True}


@pytest.mark.parametrize("fields", [EVERY, {"instances": once, "quantifier": SOME}])
def test_a_computed_number_in_a_formula_is_no_datum(make: Any, fields: Any) -> None:
    result = run(make(below_a_million_millions(lambda instance: rational(CENTRAL)), says="C(40, 20) ≤ 10¹².", **fields), mutants=True)
    assert (result.verdict, result.own.filed, result.ok) == (Verdict.HOLDS, False, True)
    assert result.own.reason == (
        "no proof file: 137846528820 computed, neither data of the instance nor in a hypothesis; form it in the formula from shorter "
        "numbers, or make it an entry of the instance"
    )


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (lambda instance: formed(), EVERY),
        (lambda instance: rational(instance["C"]), STATED),
        (lambda instance: inputs(C=instance["C"]), STATED),
        (lambda instance: rational(CENTRAL), EVERY | {"says": "C(40, 20) = 137846528820 ≤ 10¹²."}),
        (lambda instance: rational(-CENTRAL), EVERY | {"says": "−C(40, 20) = −137846528820 ≤ 10¹²."}),
        (lambda instance: rational(Fraction(CENTRAL, 1000)), EVERY | {"says": "C(40, 20)/1000 = 137846528.820 ≤ 10¹²."}),
        (lambda instance: rational(Fraction(1, CENTRAL)), EVERY | {"says": "1/137846528820 ≤ 10¹²."}),
    ],
    ids=["formed", "datum", "input", "in words", "below 0", "decimal", "quotient"],
)
def test_a_number_that_is_formed_or_stands_in_the_claim_is_not_computed(make: Any, number: Any, fields: Any) -> None:
    result = run(make(below_a_million_millions(number), **fields))
    assert (result.verdict, result.own.computed) == (Verdict.PROVED, "")


@pytest.mark.parametrize("number", ["99", "-99/98", "1/99", "1024", "1/1024", "100", "1/1000000000000000", "-1000", "0"])
def test_short_numbers_and_powers_of_ten_and_two_are_the_formulas_own(make: Any, number: str) -> None:
    assert run(make(below_a_million_millions(lambda instance: rational(number)), **EVERY)).verdict is Verdict.PROVED


@pytest.mark.parametrize("number", ["101", "-101", "1/101", "99/1024", "1025/2", "3/1000", "1000/3", "200"])
def test_other_numbers_are_computed(make: Any, number: str) -> None:
    assert run(make(below_a_million_millions(lambda instance: rational(number)), **EVERY)).own.reason.startswith(
        f"no proof file: {number} computed"
    )


def test_a_computed_number_that_a_hypothesis_explains_or_that_is_in_a_step_is_called_computed(make: Any) -> None:
    stated = below_a_million_millions(lambda instance: rational(CENTRAL))
    explained = make(lambda i, t: iter([check.assuming(equal(rational(CENTRAL), formed())) for check in stated(i, t)]), **EVERY)
    assert (run(explained).verdict, run(explained).own.computed) == (Verdict.PROVED, str(CENTRAL))
    step = run(make(stated, **EVERY, remains="that it is C(40, 20)"))
    assert (step.own.evidence, step.own.computed) == (Evidence.EXACT_STEPS, str(CENTRAL))


def test_a_step_may_have_computed_inputs_and_names_them(make: Any) -> None:
    result = run(make(successor(lambda x: x + 6), exhaustive=True, remains="that y is what it is"))
    assert (result.own.evidence, result.own.computed) == (Evidence.EXACT_STEPS, "y")


@pytest.mark.parametrize(("top", "low", "whole"), [("x", "x", "1"), ("x**2 - 1", "x - 1", "x + 1"), ("x**3 - x", "x**2 - 1", "x")])
def test_a_quotient_for_all_reals_says_where_no_denominator_vanishes(make: Any, shelf: Any, tmp_path: Path, capsys: Any, top: str, low: str,
                                                                     whole: str) -> None:  # fmt: skip
    from simopt.cli.verify import _show

    (x,) = symbols("x")
    side = {name: eval(text, {"x": x}) for name, text in (("top", top), ("low", low), ("whole", whole))}
    wrong = make(lambda i, t: iter([equal(x, x + t["c"])]), id="TOY-Q", says="printed", expected=REFUTED, **EVERY)
    right = make(lambda i, t: iter([equal(side["top"] / side["low"], t["c"] * side["whole"])]), id="TOY-Q+", says="For all reals x.",
                 corrects="TOY-Q", **EVERY)  # fmt: skip
    shelf(replace(wrong, knobs={"c": 1}, mutants={"c = 0": {"c": 0}}), right)
    record = verify(jobs=1, evidence_dir=tmp_path)
    row = record.rows[1]
    assert row["verdict"] == "PROVED" and row["where"].endswith(" != 0")
    said = f"For all reals x. (Where no denominator vanishes: {row['where']}.)"
    assert recheck.check(recheck.read(row["proof"]))[3].strip().startswith("for all values of x where no denominator vanishes")
    _show(record, tmp_path)
    assert said in " ".join(capsys.readouterr().out.split())


def draws(rate: float, delta: float = 0.5) -> Any:
    """Draws of an event of this probability."""

    def rule(instance: Any, trial: Any) -> Any:
        for _ in trial.draws(100_000):
            yield outcome(bool(trial.rng.random() < rate), delta * trial["c"])

    return rule


@pytest.mark.parametrize("rate", [0.0, 0.002, 0.2])
def test_draws_that_come_near_no_bound_say_so_of_their_own(make: Any, tmp_path: Path, rate: float) -> None:
    result = run(make(draws(rate), kind=HIGH_PROBABILITY, instances=lambda trial: iter([{}])))
    row = to_row(result, tmp_path)
    assert row["verdict"] == "HOLDS" and row["tightness"] is not None
    far = row["tightness"] < NEAR
    assert far is (rate < 0.1) and bool(row["remark"]) is far
    shown = f"; {row['remark']}" if far else ""
    assert summary(row) == f"HOLDS (statistical, 1 instance{shown})" and shown in markdown.verdict_table([row])
    if far:
        assert row["remark"] in str(result)
        assert ("none is reached at all" if row["tightness"] == 0 else f"at most {row['tightness']:.2g} of one") in row["remark"]


def law(chance: float, delta: float = 0.5) -> Any:
    """An event whose probability is computed."""
    return lambda instance, trial: iter([probability(chance, chance, delta * trial["c"])])


def test_computed_probabilities_far_from_their_bounds_are_remarked_on_as_laws(make: Any) -> None:
    sampled: dict[str, Any] = {"kind": HIGH_PROBABILITY, "instances": lambda trial: iter([{"n": 1}])}
    for chance in (0.0, 0.001, 0.01, 0.06, 0.3):
        found = run(make(law(chance), **sampled)).own
        assert found.verdict is Verdict.HOLDS
        assert remark(found, Kind.HIGH_PROBABILITY).startswith("the laws that were tried cannot tell") is (chance / 0.5 < NEAR)
        assert remark(found, Kind.INEQUALITY) == ""


def test_what_does_not_hold_by_samples_is_not_remarked_on(make: Any) -> None:
    result = run(make(draws(0.0), kind=HIGH_PROBABILITY, instances=lambda trial: iter([{}]))).own
    assert remark(result, Kind.HIGH_PROBABILITY) == remark(result, Kind.RATE) != ""  # draws are random in a claim of any kind
    for changes in ({"verdict": Verdict.INCONCLUSIVE}, {"scope": Scope.EXHAUSTIVE}, {"tightness": NEAR}, {"tightness": None}):
        assert remark(replace(result, **changes), Kind.HIGH_PROBABILITY) == ""
