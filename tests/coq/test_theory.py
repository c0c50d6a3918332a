"""What a proof file reads like in Coq; and, where there is a Coq, that its kernel accepts it and refuses its mutant."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simopt import recheck
from simopt.claims.check import Check, at_most, equal
from simopt.claims.expression import exp, inputs, log, maximum, root, symbols, total
from simopt.claims.proof import Collector
from simopt.claims.statement import serialise
from simopt.cli.main import app
from simopt.coq.kernel import CoqKernel, Result, available
from simopt.coq.mutant import mutant
from simopt.coq.term import Printer, Terms, identifier
from simopt.coq.theory import comment, export, refutation, title

needs_coq = pytest.mark.skipif(not available(), reason="there is no coqc with coq-interval here")


def document(*checks: Check, row: str = "A+B", **sentence: Any) -> dict[str, Any]:
    """A proof file of these checks."""
    proof = Collector()
    for check in checks:
        _, values = serialise(check.statement) if check.statement else ({}, {})
        proof.add(check, frozenset(value for value in values.values() if isinstance(value, str)))
    assert proof.complete
    made = {
        "format": recheck.FORMAT, "simopt": "", "claim": row, "row": row, "place": "paper, (1)", "says": "what (* it *) says",
        "quantifier": "all", "scope": "", "remains": list(proof.left), "statements": proof.statements(),
    }  # fmt: skip
    made |= sentence
    made = json.loads(json.dumps(made))
    return made | {"digest": recheck.digest(made)}


def samples() -> dict[str, dict[str, Any]]:
    """A proof file of each kind."""
    x, y = symbols("x y")
    rows = [at_most(a * a, 2 * a * b, "rows") for a, b in (inputs(a=1, b=2), inputs(a=Fraction(1, 3), b=1))]
    ranged = [at_most(2 * n, n * n + 1, "ranged") for n in (inputs(n=k) for k in range(-2, 5))]
    u, v = inputs(u=2, v=Fraction(9, 4))
    part = root(u) + root(v)
    real = [
        at_most(part * part + log(u + 1) + exp(-u), 13, "real", strict=True),
        equal(root(v), Fraction(3, 2), "exact root"),
        at_most(maximum(root(u), root(u + 1)), root(v * v * v * v + 1, 3), "largest"),
    ]
    hypothesis = at_most(u, v, "ordered")
    return {
        "symbols": document(equal(x / y + total([0 * x, 1 * y]), (x + y * y) / y, "identity"), row="symbols"),
        "rows": document(*rows, row="rows"),
        "ranges": document(*ranged, row="ranges"),
        "real": document(*real, row="real"),
        "given": document(
            at_most(root(u), root(v), "monotone").assuming(hypothesis), at_most(u * u, v * v, "squares").assuming(hypothesis), row="given"
        ),
    }


def test_symbols_are_for_all_reals_where_nothing_divides_by_zero() -> None:
    text = export(samples()["symbols"])
    assert "forall x y : R,\n  y <> 0 ->\n  x / y + y = (x + y * y) / y." in text


def test_rows_are_a_table_of_rationals() -> None:
    text = export(samples()["rows"])
    assert "for every (a, b) in\n    [(1, 2); (1#3, 1)]%Q,\n  a * a <= 2 * a * b.\nProof. by_computation. Qed." in text


def test_ranges_are_ranges() -> None:
    assert "for every n in range (-2) 4,\n  2 * n <= n * n + 1." in export(samples()["ranges"])


def test_roots_and_logarithms_are_the_real_functions_and_no_enclosure_is_taken_over() -> None:
    text = export(samples()["real"])
    assert "let part1 := sqrt u + sqrt v in\n  part1 * part1 + ln (u + 1) + exp (- u) < 13." in text
    assert "sqrt v = 3 / 2 :> R" in text and "Rpower (v * v * v * v + 1) (1 / 3)" in text
    assert len(max(text.split(), key=len)) < 90  # enclosures have 60 digits each


def test_hypotheses_are_hypotheses_that_hold_in_every_row() -> None:
    text = export(samples()["given"])
    assert "Theorem given_2_given : for every (u, v) in\n    [(2, 9#4)]%Q,\n  u <= v." in text
    assert "u <= v ->\n  u * u <= v * v." in text


def test_the_words_stand_above() -> None:
    made = document(at_most(inputs(a=1), 2, "one").step("the rest"), says='says "so" (* here *)')
    text = export(made)
    assert "(* A+B, paper, (1) *)" in text and "says ''so'' ( * here * )" in text
    assert "What remains to be shown: the rest." in text and made["digest"] in text
    assert "Theorem A_plusB :" in text and "[1] a step of the proof: one" in text
    assert title("KJ-Thm30+'") == "KJ_Thm30_plus_prime" and title("1.2") == "claim_1_2"
    assert comment("a *) b") == "(* a * ) b *)"


def test_a_claim_of_zeros_keeps_them() -> None:
    (x,) = symbols("x")
    assert "0 * x = 0" in export(document(equal(0 * x, 0, "nothing")))


def test_precedence_is_kept() -> None:
    """Evaluating the printed text as Python gives the value of the formula, whatever brackets were left out."""
    terms = Terms()
    a, b, c = (terms.variable(name) for name in "abc")
    third = terms.number(Fraction(-1, 3))
    made = [
        terms.subtract(a, terms.subtract(b, c)), terms.divide(a, terms.multiply(b, c)), terms.power(terms.opposite(a), 3),
        terms.opposite(terms.power(a, 2)), terms.multiply(terms.add(a, b), third), terms.power(terms.divide(a, b), -2),
        terms.subtract(a, terms.opposite(b)), terms.add(terms.opposite(terms.add(a, b)), third), terms.divide(terms.divide(a, b), c),
        terms.divide(terms.number(Fraction(1, 2)), a), terms.multiply(a, terms.number(Fraction(1, 2))),
        terms.opposite(terms.multiply(a, b)), terms.multiply(terms.opposite(a), b), terms.power(terms.power(a, 2), 3),
    ]  # fmt: skip

    def value(term: Any, known: dict[str, Fraction]) -> Fraction:
        if term.op in ("number", "variable"):
            return term.number if term.op == "number" else known[term.name]
        args = [value(arg, known) for arg in term.args]
        if term.op == "^":
            return args[0] ** term.order
        return (
            -args[0]
            if term.op == "opp"
            else {"+": Fraction.__add__, "-": Fraction.__sub__, "*": Fraction.__mul__, "/": Fraction.__truediv__}[term.op](*args)
        )

    known = {"a": Fraction(2, 7), "b": Fraction(-5, 3), "c": Fraction(11, 4)}
    for term in made:
        text = Printer([term], {name: name for name in "abc"}, real=True).text(term)
        whole = "".join(f"Fraction({piece})" if piece.isdigit() else piece for piece in __import__("re").split(r"(\d+)", text)).replace(
            "^ Fraction", "** int"
        )
        assert eval(whole, {"Fraction": Fraction, **known}) == value(term, known), text


def test_names_are_none_of_coq_s() -> None:
    assert [identifier(name) for name in ("x", "in", "exp", "S", "λ", "part1")] == ["x", "in_", "exp_", "S_", "u3bb", "part1_"]


def test_recheck_writes_what_it_checked(tmp_path: Path) -> None:
    good, bad = samples()["rows"], samples()["real"]
    bad["says"] = "altered"
    (tmp_path / "a.proof.json").write_text(json.dumps(good), encoding="utf-8")
    (tmp_path / "b.proof.json").write_text(json.dumps(bad), encoding="utf-8")
    done = CliRunner().invoke(app, ["recheck", str(tmp_path), "--coq", str(tmp_path / "out")])
    assert done.exit_code == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["Simopt.v", "rows.v"]
    assert "coqc -Q . Simopt rows.v" in done.stdout


def test_a_mutant_is_false() -> None:
    for name, made in samples().items():
        false = mutant(made)
        sound = false | {"digest": recheck.digest(false), "remains": []}
        with pytest.raises(recheck.Refuted):
            recheck.check(sound)
        assert name in export(false)


@needs_coq
@pytest.mark.slow
@pytest.mark.parametrize("name", samples())
def test_the_kernel_accepts_what_is_proved_and_refuses_its_mutant(kernel: CoqKernel, name: str) -> None:
    made = samples()[name]
    result = kernel.check(name, export(made))
    assert result.accepted, result.message
    assert not result.foreign
    assert bool(result.assumptions) == (name not in ("rows", "ranges"))
    assert kernel.check(name, export(made)) is result  # the second time from the ledger
    false = kernel.refused(f"{name}_mutant", export(mutant(made)))
    assert false.accepted, false.message


@needs_coq
@pytest.mark.slow
def test_what_is_refused_for_its_form_is_no_refusal(kernel: CoqKernel) -> None:
    text = export(mutant(samples()["rows"])).replace("for every", "for each")
    assert not kernel.refused("form", text).accepted
    assert not kernel.check("nothing", "From Simopt Require Import Simopt.").accepted
    axiom = "From Simopt Require Import Simopt.\nAxiom ours : 0 = 1.\nTheorem t : 0 = 1. Proof. exact ours. Qed."
    assert kernel.check("axiom", axiom).foreign == ["ours"]


@needs_coq
@pytest.mark.slow
def test_coqchk_is_asked_once_for_each_text(kernel: CoqKernel) -> None:
    name = "twice"
    assert kernel.check(name, export(samples()["rows"])).accepted
    first = kernel.again(name)
    assert first.accepted, first.message
    assert kernel.again(name) is first
    assert CoqKernel(kernel.folder).again(name) == first  # from the ledger
    (kernel.folder / f"{name}.vo").write_bytes(b"altered")
    kernel.known[name] = Result("another", True, 0.0)
    assert not kernel.again(name).accepted


def test_the_wheel_holds_the_prelude() -> None:
    configured = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert '"simopt.coq" = ["*.v"]' in configured


def test_a_refutation_says_that_the_hypotheses_hold_and_the_claim_fails() -> None:
    u, v = inputs(u=2, v=Fraction(9, 4))
    checks = {
        "rational": at_most(v, u).assuming(at_most(u, 3)),
        "real": at_most(root(v + 1), u / 2, strict=True),
        "equation": equal(inputs(w=2), 1),
    }
    texts = {}
    for name, check in checks.items():
        assert check.statement is not None
        template, values = serialise(check.statement)
        statement = template | {"names": sorted(values), "rows": [[values[each] for each in sorted(values)]]}
        texts[name] = refutation(["words"], name, statement)
    assert "[(2, 9#4)]%Q,\n  u <= 3 /\\\n  ~ (v <= u).\nProof. by_computation. Qed." in texts["rational"]
    assert "~ (sqrt (v + 1) < u / 2).\nProof. by_enclosures (NotLt " in texts["real"]
    assert "~ (w == 1)" in texts["equation"]
    x, y = symbols("x y")
    stated = equal(x / y, x / y).statement
    assert stated is not None
    with pytest.raises(ValueError, match="symbols"):
        refutation([], "symbolic", serialise(stated)[0] | {"names": []})
