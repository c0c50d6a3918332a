"""PROVED is kept for files that hold the whole sentence; a file of steps HOLDS by exact steps and says what remains."""

import json
from pathlib import Path

import pytest

from simopt import recheck
from simopt.claims import (
    HOLDS,
    REFUTED,
    SOME,
    TIGHTNESS,
    Evidence,
    InvalidClaim,
    NotComparable,
    Verdict,
    at_least,
    at_most,
    equal,
    inputs,
    run,
    symbols,
    true,
)
from simopt.claims.verification import summary, to_row, verify
from simopt.report import markdown

LEFT = "the induction over n"


def below_square(instance, trial):
    x = inputs(x=instance["x"])
    yield at_most(trial["c"] * x, x**2, "x ≤ x²")


def written(made, folder):
    return json.loads(Path(to_row(run(made), folder)["proof"]).read_text())


def test_a_claim_that_says_what_remains_holds_by_exact_steps_and_leaves_its_file(make, tmp_path):
    whole, part = make(below_square, exhaustive=True), make(below_square, exhaustive=True, remains=LEFT)
    assert run(whole).verdict is Verdict.PROVED and run(whole).own.remains == ""
    result = run(part, mutants=True)
    assert (result.verdict, result.own.evidence, result.own.scope) == (Verdict.HOLDS, Evidence.EXACT_STEPS, "exhaustive")
    assert result.own.remains == LEFT and result.ok and f"remains: {LEFT}" in str(result)
    document = written(part, tmp_path)
    assert document["remains"] == [LEFT] and {each["role"] for each in document["statements"]} == {"step"}
    lines = recheck.check(document)
    assert lines[1] == "[1] a step of the proof: x ≤ x²" and lines[-1] == f"STEPS, not the whole sentence; what remains: {LEFT}"
    lines = recheck.check(written(whole, tmp_path))
    assert lines[1] == "[1] the claim itself: x ≤ x²" and "STEPS" not in lines[-1]


def test_one_step_among_the_statements_of_a_row_is_enough(make, tmp_path):
    def mixed(instance, trial):
        x = inputs(x=instance["x"])
        yield at_most(trial["c"] * x, x**2, "x ≤ x²")
        yield at_most(x, 2 * x, "x ≤ 2x").step("that the bound is reached")

    result = run(make(mixed, exhaustive=True))
    assert result.verdict is Verdict.HOLDS and result.own.evidence is Evidence.EXACT_STEPS
    assert result.own.remains == "that the bound is reached"
    assert [each["role"] for each in written(make(mixed, exhaustive=True), tmp_path)["statements"]] == ["claim", "step"]


def test_of_several_rows_only_those_named_are_steps(make):
    def two(instance, trial):
        yield from below_square(instance, trial)
        yield at_most(inputs(x=instance["x"]), 5, row="TOY-2")

    rows = run(make(two, exhaustive=True, covers=("TOY-2",), remains={"TOY-2": LEFT})).rows
    assert rows["TOY-1"].verdict is Verdict.PROVED
    assert rows["TOY-2"].verdict is Verdict.HOLDS and rows["TOY-2"].remains == LEFT


def test_samples_of_a_step_leave_a_file_and_samples_of_the_claim_do_not(make):
    sampled = run(make(below_square, remains=LEFT))
    assert (sampled.own.evidence, sampled.own.scope) == (Evidence.EXACT_STEPS, "sampled") and sampled.own.filed
    assert not run(make(below_square)).own.filed

    def mixed(instance, trial):
        yield from below_square(instance, trial)
        yield at_most(inputs(x=instance["x"]), 5).step(LEFT)

    assert not run(make(mixed)).own.filed and run(make(mixed)).own.evidence is Evidence.EXACT


def test_symbols_and_witnesses_may_be_steps_too(make):
    x, y = symbols("x y")
    square = make(lambda i, t: iter([equal((x + y) ** 2, x**2 + 2 * t["c"] * x * y + y**2)]), instances=lambda t: iter([{}]), remains=LEFT)
    assert (run(square).own.evidence, run(square).own.scope) == (Evidence.EXACT_STEPS, "exhaustive")
    reached = make(lambda i, t: iter([at_least(inputs(x=i["x"]), 5)]), quantifier=SOME, kind=TIGHTNESS, remains=LEFT)
    assert (run(reached).own.evidence, run(reached).own.scope) == (Evidence.EXACT_STEPS, "witness")


def test_what_has_no_file_is_called_what_it_is_whatever_remains(make):
    def half(instance, trial):
        yield from below_square(instance, trial)
        yield true(instance["x"] > 0)

    result = run(make(half, exhaustive=True, remains=LEFT))
    assert result.own.evidence is Evidence.FLOAT and not result.own.filed and result.own.remains == ""


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"remains": "  "}, "in words"),
        ({"remains": {"TOY-1": ""}}, "in words"),
        ({"remains": {"TOY-9": "x"}}, "TOY-9"),
        ({"remains": "x", "expected": REFUTED}, "expected to hold"),
    ],
)
def test_what_remains_is_said_in_words_of_rows_that_exist_and_hold(make, fields, message):
    with pytest.raises(InvalidClaim, match=message):
        make(below_square, **fields)
    with pytest.raises(NotComparable, match="in words"):
        at_most(1, 2).step(" ")


def test_table_record_summary_report_and_show_tell_the_difference(make, shelf, tmp_path, capsys):
    from simopt.cli.show import _claim
    from simopt.cli.verify import _show

    shelf(make(below_square, id="TOY-W", exhaustive=True), make(below_square, id="TOY-S", exhaustive=True, remains=LEFT, expected=HOLDS))
    record = verify(jobs=1, evidence_dir=tmp_path)
    assert record.counts() == {"PROVED": 1, "HOLDS": 1} and record.by_steps() == 1
    whole, part = json.loads(json.dumps(record.to_json()))
    assert whole["remains"] is None and part["remains"] == LEFT and part["evidence"] == "exact steps"
    assert summary(part) == f"HOLDS (exact steps, exhaustive; remains: {LEFT})"
    assert f"exact steps, exhaustive; remains: {LEFT}" in markdown.verdict_table(record.rows)
    assert "| 2 | 1 | 1 (1 by exact steps) |" in markdown.summary(record.rows)
    _show(record, tmp_path)
    shown = " ".join(capsys.readouterr().out.split())
    assert "exact steps" in shown and "1 PROVED, 1 HOLDS (1 by exact steps)" in shown
    assert (tmp_path / "evidence.txt").read_text(encoding="utf-8").count("simopt recheck") == 2
    assert any(title == "remains" and LEFT in text for title, text in _claim(run("TOY-S").claim))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("remains"),
        lambda d: d.update(remains=[]),
        lambda d: d.update(remains=[" "]),
        lambda d: d.update(remains="everything"),
        lambda d: d["statements"][0].update(role="claim"),
        lambda d: d["statements"][0].update(role="lemma"),
        lambda d: d["statements"][0].pop("role"),
    ],
)
def test_a_file_of_steps_that_passes_itself_off_as_something_else_is_refused(make, tmp_path, change):
    document = written(make(below_square, exhaustive=True, remains=LEFT), tmp_path)
    change(document)
    document["digest"] = recheck.digest(document)
    with pytest.raises((recheck.Rejected, recheck.Unreadable)):
        recheck.check(document)
