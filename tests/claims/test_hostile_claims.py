"""Claims written carelessly or against the engine: what they must not get away with."""

import json
from fractions import Fraction

import numpy as np
import pytest

from simopt.claims import (
    ALL,
    EXACT,
    REFUTED,
    SOME,
    BadWitness,
    Verdict,
    at_most,
    equal,
    inputs,
    outcome,
    rational,
    replay,
    run,
    symbols,
    true,
    vacuous,
)
from simopt.claims.tally import merge
from simopt.claims.verification import to_row, verify
from simopt.claims.witness import decode, encode, read


def numbered(trial):
    for n in (1, 2, 3):
        yield {"n": n}


def test_symbols_whose_formula_changes_with_sampled_instances_prove_nothing(make):
    def sum_of_n(instance, trial):
        (x,) = symbols("x")
        yield equal(x * instance["n"], sum([x] * instance["n"], rational(0)))

    assert run(make(sum_of_n, instances=numbered)).verdict is Verdict.HOLDS  # n = 1, 2, 3 only
    assert run(make(sum_of_n, instances=numbered, exhaustive=True)).verdict is Verdict.PROVED
    assert run(make(sum_of_n, instances=lambda t: iter([{"n": 2}]))).verdict is Verdict.HOLDS
    same = make(lambda i, t: iter([equal(symbols("x")[0] * 2, symbols("x")[0] + symbols("x")[0])]), instances=numbered)
    assert run(same).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "extra", [lambda: true(True, evidence=EXACT), lambda: at_most(1, 2), lambda: at_most(0.5, 1.0), lambda: vacuous(False), vacuous]
)
@pytest.mark.parametrize("quantifier", [ALL, SOME])
def test_one_check_without_a_formula_makes_no_proof(make, extra, quantifier):
    def half_stated(instance, trial):
        yield at_most(inputs(x=instance["x"]), 5)
        yield extra()

    result = run(make(half_stated, exhaustive=True, quantifier=quantifier))
    assert result.verdict in (Verdict.HOLDS, Verdict.INCONCLUSIVE)


@pytest.mark.parametrize("name", ["1", "1/2", "x y", "", "enclosed0"])
def test_names_that_would_shadow_something_are_refused(name):
    with pytest.raises(ValueError, match="cannot name"):
        inputs(**{name: 1})


def test_symbols_are_called_by_names_and_not_by_numbers():
    with pytest.raises(ValueError, match="cannot name"):
        symbols("x 2")


def test_data_too_long_to_print_leave_a_verdict_and_a_witness_but_no_proof(make, shelf, tmp_path):
    def long(instance, trial):
        yield at_most(inputs(x=instance["x"]), instance["bound"])

    for bound, verdict in ((0, Verdict.REFUTED), (10**6000, Verdict.HOLDS)):
        cases = [{"x": 10**5000 + 1, "bound": bound}, {"x": Fraction(1, 3**12000), "bound": bound}]
        claim = make(long, instances=lambda t, cases=cases: iter(cases), exhaustive=True)
        result = run(claim)
        assert result.verdict is verdict, result.own.reason
    shelf(make(long, instances=lambda t: iter([{"x": 10**5000 + 1, "bound": 0}]), expected=REFUTED))
    row = to_row(run("TOY-1"), tmp_path)
    assert replay(row["witness"]).witness.instance["x"] == 10**5000 + 1


def test_numbers_of_any_length_survive_a_witness_file():
    for value in (2**64, -(10**5000), Fraction(10**5000, 7), np.array([10**30, Fraction(1, 3**9000)], dtype=object)):
        back = decode(json.loads(json.dumps(encode(value))))
        assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value and type(back) is type(value)


def test_a_witness_is_the_instance_as_it_was_given_even_if_the_check_or_the_generator_alters_it(make, shelf, tmp_path):
    buffer = np.zeros(2)

    def reused(trial):
        for k in (1.0, 2.0, 3.0):
            buffer[:] = k
            yield {"x": buffer, "seen": []}

    def greedy(instance, trial):
        yield at_most(instance["x"].sum(), 1.0)
        instance["x"] *= 100
        instance["seen"].append(1)

    shelf(make(greedy, instances=reused, expected=REFUTED))
    row = to_row(run("TOY-1"), tmp_path)
    again = replay(row["witness"])
    assert again.witness.instance["x"].tolist() == [3.0, 3.0] and again.witness.instance["seen"] == []
    assert float(again.checks[0].low) == again.witness.slack == -5.0


@pytest.mark.parametrize(
    "text",
    [
        '{"instance": 1e999}',
        '{"seed": 1e999}',
        '{"instance": {"float": "0x1p99999"}}',
        '{"instance": {"dict": [["x", {"fraction": "1/0"}]]}}',
        '{"instance": {"dict": [["x", {"array": {"dtype": "float64", "shape": [7], "data": []}}]]}}',
        '{"instance": {"dict": [["x", {"array": {"dtype": "nonsense", "shape": [0], "data": []}}]]}}',
        '{"instance": ' + "[" * 500 + "]" * 500 + "}",
        '{"instance": ' + "[" * 5000 + "]" * 5000 + "}",
        '{"instance": {}}',
        '{"instance": {"dict": [[[1], 2]]}}',
        "[]",
        "",
        "\x00",
    ],
)
def test_a_witness_damaged_in_any_way_is_a_bad_witness(tmp_path, text):
    whole = {"format": "simopt-witness/1", "claim": "TOY-1", "row": "TOY-1", "seed": 0, "index": 0, "effort": "quick", "check": ""}
    whole |= {"slack": "0x0p0", "simopt": "0"}
    path = tmp_path / "w.json"
    path.write_text(json.dumps(whole)[:-1] + ", " + text[1:] if text.startswith("{") else text)
    with pytest.raises(BadWitness):
        read(path)


def test_an_instance_that_no_file_can_hold_is_an_error_of_its_claim_and_not_of_the_run(make, shelf, tmp_path):
    odd = make(lambda i, t: iter([at_most(1, 0)]), id="TOY-odd", instances=lambda t: iter([{"f": len}]), expected=REFUTED)
    even = make(lambda i, t: iter([at_most(1, 0)]), id="TOY-even", expected=REFUTED)
    shelf(odd, even)
    record = verify(["TOY-odd", "TOY-even"], jobs=1, evidence_dir=tmp_path)
    assert [row["verdict"] for row in record.rows] == ["ERROR", "REFUTED"]
    assert "plain data" in record.rows[0]["reason"] and not record.exit_ok


def test_damaged_timings_do_not_cost_the_run_its_results(make, shelf, tmp_path):
    shelf(make(lambda i, t: iter([at_most(i["x"], 5)])))
    (tmp_path / "seconds.json").write_text('{"TOY-1": NaN, "OTHER": Infinity}')
    assert len(verify(["TOY-1"], jobs=1, evidence_dir=tmp_path).rows) == 1


def test_an_exact_refutation_below_the_resolution_replays_as_what_it_is(make, shelf, tmp_path, monkeypatch):
    tiny = Fraction(1, 10**15)
    shelf(make(lambda i, t: iter([at_most(tiny * t["c"], 0)]), expected=REFUTED, resolution=1e-12))
    path = to_row(run("TOY-1"), tmp_path)["witness"]
    assert read(path).outcome == "refuted" and replay(path).same
    shelf(make(lambda i, t: iter([at_most(-tiny, 0)]), expected=REFUTED, resolution=1e-12))
    assert not replay(path).same


def test_the_witness_of_several_seeds_is_the_one_that_the_evidence_speaks_of(make):
    def exact_or_float(instance, trial):
        n = 2 if trial.seed == 0 else 1
        value = Fraction(9) if trial.seed == 0 else 9.0 + trial.rng.random()
        yield at_most(value, 5)
        assert len(instance["x"]) == n

    def sized(trial):
        yield {"x": list(trial.rng.random(2 if trial.seed == 0 else 1))}

    result = run(make(exact_or_float, instances=sized, expected=REFUTED), effort="full")
    assert result.own.evidence is EXACT and result.own.witness.seed == 0


def test_merge_of_seeds_that_disagree_says_so(make):
    from simopt.claims.engine import run_seed
    from simopt.claims.kinds import Effort

    claim = make(lambda i, t: iter([at_most(t.rng.random() * 0 + (9 if t.seed == 1 else 0), 5)]))
    merged = merge([(seed, run_seed(claim, Effort.FULL, seed).rows["TOY-1"]) for seed in (0, 1)])
    assert merged.verdict is Verdict.INCONCLUSIVE and "seed 1: REFUTED" in merged.reason and merged.witness is not None


@pytest.mark.parametrize("draws", [3, 100_000])  # too few to decide, and decided long before the end
def test_a_check_after_the_draws_is_read(make, draws):
    def second_check(instance, trial):
        for _ in trial.draws(draws):
            yield outcome(False, 0.1)
        yield at_most(2, 1, "the late check")

    result = run(make(second_check, instances=lambda t: iter([{}]), expected=REFUTED))
    assert result.verdict is Verdict.REFUTED and result.own.witness.check == "the late check" and result.own.checks == 2


def test_groups_drawn_one_after_the_other_are_all_drawn(make):
    def nested(instance, trial):
        for rate in (0.0, 0.9):
            for _ in trial.draws(100_000):
                yield outcome(bool(trial.rng.random() < rate), 0.1, f"rate {rate}")
        for k in trial.draws(100_000):
            yield outcome(False, 0.1, "rate 0.0")
            yield outcome(k % 2 == 0, 0.1, "every other")

    result = run(make(nested, instances=lambda t: iter([{}]), expected=REFUTED))
    assert result.verdict is Verdict.REFUTED and result.own.checks == 3
    assert {entry["name"].split(" bad ")[1]: entry["outcome"] for entry in result.own.measured["telling"]} == {
        "(rate 0.0)": "satisfied",
        "(rate 0.9)": "refuted",
        "(every other)": "refuted",
    }


def test_draws_outside_a_loop_that_can_end_are_refused(make):
    result = run(make(lambda i, t: (outcome(False, 0.1) for _ in range(100_000)), instances=lambda t: iter([{}])))
    assert result.verdict is Verdict.ERROR and "trial.draws" in result.own.reason


def test_two_claims_of_one_module_cannot_share_an_id():
    from simopt.claims import AUDIFFREN_KADRI, HOLDS, INEQUALITY, claim
    from simopt.core import registry

    header = {"paper": AUDIFFREN_KADRI, "place": "p", "kind": INEQUALITY, "expected": HOLDS, "says": "s", "instances": numbered}
    header |= {"knobs": {"c": 1}, "mutants": {"m": {"c": 2}}}

    def first(instance, trial):
        yield at_most(1, 2)

    def second(instance, trial):
        yield at_most(2, 1)

    try:
        claim("TOY-twice", **header)(first)
        claim("TOY-twice", **header)(first)  # a module may be executed again
        with pytest.raises(registry.DuplicateName, match="TOY-twice"):
            claim("TOY-twice", **header)(second)
    finally:
        registry._entries["claim"].pop("TOY-twice", None)
        registry._modules.pop(("claim", "TOY-twice"), None)
