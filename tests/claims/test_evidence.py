"""Witnesses replay, proof files recheck without simopt, and tampered or damaged ones are refused."""

import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simopt import recheck
from simopt.claims import (
    REFUTED,
    BadWitness,
    Verdict,
    at_least,
    at_most,
    equal,
    exp,
    inputs,
    log,
    maximum,
    minimum,
    rational,
    replay,
    root,
    run,
    symbols,
    total,
)
from simopt.claims.expression import Expr
from simopt.claims.transcendent import exp_bounds, log_bounds, root_bounds
from simopt.claims.verification import to_row
from simopt.claims.witness import decode, encode, read, size

PLAIN = {
    "x": 0.1,
    "inf": math.inf,
    "q": Fraction(-7, 3),
    "n": 3,
    "flag": True,
    "none": None,
    "word": "λ",
    "pair": (1, 2.5),
    "nested": {"list": [Fraction(1, 2), [1]]},
    "matrix": np.array([[0.1, 1 / 3], [2.0, -0.0]]),
    "counts": np.arange(3),
    "exact": np.array([Fraction(1, 3), 2], dtype=object),
}


def pairs(trial):
    for s in range(4):
        for t in range(3):
            yield {"s": s, "t": t}


def power_means(instance, trial):
    s, t = inputs(s=instance["s"], t=instance["t"])
    for p in (1, 2, 3):
        yield at_most((s + t) ** p, (trial["c"] + 1) ** (p - 1) * (s**p + t**p), f"p = {p}").assuming(at_least(s, 0))


@pytest.fixture
def proof(make, tmp_path) -> Path:
    result = run(make(power_means, id="TOY-1/2+", instances=pairs, exhaustive=True))
    assert result.verdict is Verdict.PROVED
    return Path(to_row(result, tmp_path)["proof"])


def alone(path: Path) -> "subprocess.CompletedProcess[str]":
    """Run recheck.py as a file, in isolated mode: nothing of simopt can be imported."""
    command = [sys.executable, "-I", "-S", recheck.__file__, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def tampered(path: Path, change) -> Path:
    document = json.loads(path.read_text())
    change(document)
    document["digest"] = recheck.digest(document)
    path.write_text(json.dumps(document))
    return path


def test_instances_survive_the_file_exactly():
    back = decode(json.loads(json.dumps(encode(PLAIN))))
    for key, value in PLAIN.items():
        if isinstance(value, np.ndarray):
            assert back[key].dtype == value.dtype and back[key].shape == value.shape and all(back[key].flat == value.flatten())
        else:
            assert back[key] == value and type(back[key]) is type(value)
    assert np.signbit(back["matrix"][1, 1]) and size(PLAIN) == 20
    with pytest.raises(TypeError, match="plain data"):
        encode({"f": len})


def test_refuted_claim_replays_from_its_file(make, shelf, tmp_path):
    def noisy(instance, trial):
        yield at_most(instance["x"] + trial.rng.random(), 3.0)

    claim = make(noisy, expected=REFUTED)
    shelf(claim)
    row = to_row(run(claim, seed=5), tmp_path)
    found = replay(row["witness"])
    assert found.verdict is Verdict.REFUTED and found.warning == ""
    slack = read(row["witness"]).slack  # seed and index travel with the instance; the worst slack may be that of a larger one
    assert [float(check.low) for check in found.checks] == [slack] and row["worst_slack"] <= slack < 0
    document = json.loads(Path(row["witness"]).read_text())
    Path(row["witness"]).write_text(json.dumps(document | {"simopt": "0.0.1"}))
    assert "0.0.1" in replay(row["witness"]).warning


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="simopt-witness/9"), "not known here"),
        (lambda d: d.pop("seed"), "damaged"),
        (lambda d: d.update(seed=-1), "a whole number from 0 on is needed"),
        (lambda d: d.update(seed=1 << 64), "a whole number from 0 on is needed"),
        (lambda d: d.update(seed=1.0), "a whole number from 0 on is needed"),
        (lambda d: d.update(index=-10), "a whole number from -3 on is needed"),
        (lambda d: d.update(instance={"float": "zz"}), "damaged"),
        (lambda d: d.update(instance=[1]), "damaged"),
        (lambda d: d.update(row="TOY-7"), "does not decide row"),
    ],
)
def test_damaged_witnesses_are_refused(make, shelf, tmp_path, change, message):
    claim = make(lambda i, t: iter([at_most(i["x"], 1)]), expected=REFUTED)
    shelf(claim)
    path = Path(to_row(run(claim), tmp_path)["witness"])
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises(BadWitness, match=message):
        replay(path)
    path.write_text("{")
    with pytest.raises(BadWitness, match="not a readable"):
        replay(path)


def test_proof_file_rechecks_without_simopt_and_says_what_it_checked(proof):
    assert proof.name == "TOY-1_2plus.proof.json"
    done = alone(proof)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("CHECKED\n")
    assert "(s + t)^2 <= (2 * (s^2 + t^2))  given 0 <= s" in done.stdout
    assert "for all s in 0..3, t in 0..2: true in all 12 cases" in done.stdout
    assert "slack" not in proof.read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["statements"][1]["ranges"].update(s=[-3, 3]) or d["statements"][1].update(where=[]), None),
        (lambda d: d["statements"][2]["claim"].reverse(), "compared by"),
        (lambda d: d["statements"][2].update(claim=["<", *d["statements"][2]["claim"][1:]]), "false for"),
        (lambda d: d["statements"][2]["ranges"].update(s=[-9, -1]), "no instance satisfies"),
        (lambda d: d["statements"][0].update(steps=[["+", "s", "t"], ["-", "s", "t"]]), "false for|no earlier step"),
        (lambda d: d["statements"].clear(), "states nothing"),
        (lambda d: d["statements"][1].update(ranges={"2": [0, 3], "s": [0, 1], "t": [0, 1]}), "identifiers"),
        (lambda d: d.update(format="simopt-proof/7"), "not known here"),
    ],
)
def test_tampered_proofs_are_rejected_by_arithmetic_even_with_a_fitting_digest(proof, change, message):
    done = alone(tampered(proof, change))
    if message is None:  # the altered statement is true as well: accepted, and the printed statement shows the alteration
        assert done.returncode == 0 and "s in -3..3" in done.stdout
    else:
        assert done.returncode in (1, 2) and not done.stdout
        with pytest.raises((recheck.Rejected, recheck.Unreadable), match=message):
            recheck.check(recheck.read(str(proof)))


def test_accidental_damage_is_noticed(proof):
    proof.write_text(proof.read_text().replace('"ALL"', '"SOME"'))
    with pytest.raises(recheck.Rejected, match="digest"):
        recheck.check(recheck.read(str(proof)))
    proof.write_text("not json")
    assert alone(proof).returncode == 2
    assert recheck.main([]) == 2


def test_enclosures_of_root_exp_and_log_are_confirmed_and_false_ones_rejected(make, tmp_path):
    def function(instance, trial):
        x = inputs(x=instance["x"])
        yield at_most(root(x, 3) * root(x), x * trial["c"] ** 2, "roots")
        yield at_most(log(x), exp(x - 1) - 1, "log below exp")

    path = Path(to_row(run(make(function, exhaustive=True)), tmp_path)["proof"])
    assert alone(path).returncode == 0

    def nudge(document):
        rows = document["statements"][1]["rows"]
        index = next(i for i, value in enumerate(rows[2]) if isinstance(value, list))
        rows[2][index][0] = str(Fraction(rows[2][index][0]) + Fraction(1, 1000))
        rows[2][index][1] = str(Fraction(rows[2][index][1]) + Fraction(1, 1000))

    done = alone(tampered(path, nudge))
    assert done.returncode == 1 and "does not enclose" in done.stderr


def test_symbolic_proof_and_a_tampered_one(make, tmp_path):
    x, y = symbols("x y")
    identity = make(lambda i, t: iter([equal((x - y) * (x + y) / (x - y) ** 2, (x + y) / (x - y))]), instances=lambda t: iter([{}]))
    path = Path(to_row(run(identity), tmp_path)["proof"])
    assert "for all values of x, y where no denominator vanishes" in alone(path).stdout
    done = alone(tampered(path, lambda d: d["statements"][0]["steps"].__setitem__(0, ["+", "x", "y"])))
    assert done.returncode == 1 and "not an identity" in done.stderr


def test_recheck_is_one_short_module_of_the_standard_library():
    source = Path(recheck.__file__).read_text()
    assert (
        len(source.splitlines()) <= 462
    )  # readable in a sitting; it grew by roles, bounds on its work, what was computed, and hands on certificates
    assert "simopt" not in "".join(line for line in source.splitlines() if line.startswith(("import", "from")))


numbers = st.fractions(min_value=-50, max_value=50, max_denominator=50)


@settings(max_examples=60, deadline=None)
@given(numbers, numbers, st.integers(-3, 4))
def test_formulas_agree_with_plain_fractions_and_with_recheck(a, b, n):
    x, y = inputs(x=a, y=b)
    pieces = [(x + 2 * y - 1, a + 2 * b - 1), (x * y, a * b), (minimum(x, y, 0), min(a, b, 0)), (maximum(x, y), max(a, b))]
    pieces += [(abs(-x), abs(a)), (total([x, y, 1]), a + b + 1), (total([]), 0)]
    if b:
        pieces += [(x / y, a / b), (y**n, b**n)]
    for formula, value in pieces:
        assert formula.low == formula.high == value
        check = equal(formula, value)
        if check.statement is not None:
            from simopt.claims.statement import serialise

            template, values = serialise(check.statement)
            names = {name: (Fraction(v), Fraction(v)) for name, v in values.items()}
            assert recheck.conditions(template, names, recheck.Work()) == (True, True)


def test_a_total_of_no_terms_is_zero_in_symbols_too():
    (x,) = symbols("x")
    for right, true in ((x, True), (x + 1, False)):
        statement = equal(x + total([]) * x, right).statement
        assert statement is not None and statement.holds() is true


@settings(max_examples=40, deadline=None)
@given(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), st.integers(1, 7))
def test_transcendental_bounds_enclose_tightly(x, order):
    low, high = root_bounds(x, order)
    assert low**order <= x <= high**order and high - low <= Fraction(1, 2**200)
    low, high = log_bounds(x)
    assert float(low) == pytest.approx(math.log(x), abs=1e-12) and 0 <= high - low < Fraction(1, 2**190)
    assert (low == high) == (x == 1)  # log 1 = 0 is the only exact one
    assert exp_bounds(low)[0] <= x <= exp_bounds(high)[1]


def test_formulas_refuse_floats_comparisons_and_truth_values():
    with pytest.raises(TypeError, match=r"Fraction\(1, 10\)"):
        rational(1) + 0.1
    with pytest.raises(TypeError, match="at_most"):
        _ = rational(1) < 2
    with pytest.raises(TypeError, match="truth value"):
        bool(rational(1))
    with pytest.raises(ZeroDivisionError):
        rational(1) / 0
    with pytest.raises(TypeError, match="integer powers"):
        rational(2) ** 0.5


def test_a_quotient_of_enclosures_holds_every_quotient_of_their_members() -> None:
    """1/[2, 3] is [1/3, 1/2], not [2, 1/3]: signs of both sides, widths from nothing to wide."""
    bounds = [(Fraction(2), Fraction(3)), (Fraction(-3), Fraction(-2)), (Fraction(1, 7), Fraction(9)), (Fraction(-1), Fraction(4))]
    for (a, b), (c, d) in product(bounds, bounds[:3]):
        quotient = Expr("enclosed", (), a, b) / Expr("enclosed", (), c, d)
        corners = [x / y for x in (a, b) for y in (c, d)]
        assert (quotient.low, quotient.high) == (min(corners), max(corners))
    quotient = 1 / root(2)
    assert quotient.low**2 <= Fraction(1, 2) <= quotient.high**2 and quotient.high - quotient.low < Fraction(1, 10**50)
    with pytest.raises(ZeroDivisionError, match="may be zero"):
        Expr("enclosed", (), Fraction(1), Fraction(2)) / Expr("enclosed", (), Fraction(-1), Fraction(4))
