"""What the page says of the kernel's answers: counts, what is not as it should be, assumptions, and the theorems that it quotes."""

from fractions import Fraction
from pathlib import Path

import pytest

from simopt.claims.check import at_most
from simopt.claims.expression import inputs
from simopt.claims.statement import serialise
from simopt.coq.kernel import Result
from simopt.coq.mutant import claimed
from simopt.coq.page import BEGIN, END, KernelResults, block, lines, quoted, write
from simopt.coq.theory import refutation

ROWS = [{"id": name, "verdict": "HOLDS", "kind": "inequality", "evidence": "float", "scope": "sampled", "reason": None} for name in "ACDEF"]


def answers() -> KernelResults:
    """Two proof files, of which one was not accepted, a refutation with an axiom of its own, a mutant that was."""
    good, bad = Result("1", True, 2.0, ("Uint63.add_spec", "Classical_Prop.classic")), Result("2", False, 4.0, (), "no\nproof")
    results = {
        "proof file": {"A": good, "B": bad},
        "refutation": {"C_refuted": Result("3", True, 1.0, ("ours",))},
        "mutant": {"A_mutant": Result("4", False, 1.0, (), "exit status 0")},
    }
    return KernelResults(
        results,
        {"mutant": 3},
        {"D": "no formula", "E": "no formula"},
        {"A", "C"},
        {"A": good, "C_refuted": Result("3", False, 5.0, (), "no .vo")},
    )


def test_everything_that_is_wrong_is_said() -> None:
    message = "\n".join(lines(answers()))
    assert "proof files: 1 of 2 accepted; median 3.0 s, longest 4.0 s, 6 s in all" in message
    assert "0 of 1 refused" in message and "3 left out of the sample" in message
    assert "B NOT ACCEPTED: no proof" in message and "C_refuted NOT ACCEPTED AGAIN: no .vo" in message and "A_mutant NOT REFUSED" in message
    assert "by coqchk: 1 of 2 accepted; median 3.5 s" in message


def test_foreign_assumptions_are_said() -> None:
    made = answers()
    made.again = {}
    assert "C_refuted ASSUMES ours" in "\n".join(lines(made)) and "coqchk" not in block(made, {}, ROWS)


def test_the_block_has_the_same(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nSTALE\n{END}\nafter\n", encoding="utf-8")
    write(page, answers(), {}, ROWS)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "STALE" not in text
    assert "| proof files | 2 | 1 | 3.0 | 4.0 | 6 |" in text and "A sample: 3 files were left out." in text
    assert (
        "| Coq's 63-bit integers, classic | 1 |" in text
        and "- no formula (2): D, E" in text
        and "Of 5 rows of the catalogue 2 have a theorem. Not stated are 3:" in text
    )
    assert "- its checks compute with floats (1): F" in text
    assert "| accepted ones again, with what they stand on, by coqchk | 2 | 1 | 3.5 | 5.0 | 7 |" in text
    assert block(answers(), {}, ROWS) in text


def test_theorems_are_quoted_whole() -> None:
    (headline,) = quoted({})
    assert headline.startswith("Definition world := list (R * (R * R)).") and headline.endswith("<= B.")
    with pytest.raises(ValueError, match="AK_Ex_d_3"):
        quoted({"AK_Ex_d": "nothing"})


def test_the_mutant_of_a_refutation_claims_what_it_denies() -> None:
    (u,) = (inputs(u=Fraction(9, 4)),)
    stated = at_most(u, 1).statement
    assert stated is not None
    template, values = serialise(stated)
    text = refutation(["words"], "r", template | {"names": ["u"], "rows": [[values["u"]]]})
    assert "~ (u <= 1)" in text and "~" not in claimed(text) and "  (u <= 1)." in claimed(text)
    with pytest.raises(ValueError, match="denies one claim"):
        claimed(claimed(text))
