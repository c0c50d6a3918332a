"""Proof files made by an adversary, each with a digest that fits: `recheck` refuses them, quickly, or prints exactly what it computed."""

import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from simopt import recheck
from simopt.recheck import Rejected, Unreadable


def proof(**changes: Any) -> dict[str, Any]:
    """A proof file with one statement, x <= x + 1 on the instance x = 1 unless changed."""
    statement: dict[str, Any] = {
        "steps": [["+", "x", "1"]],
        "claim": ["<=", "x", 0],
        "where": [],
        "symbols": [],
        "role": "claim",
        "name": "",
        "names": ["x"],
    }
    statement |= {"rows": [["1"]]} if "ranges" not in changes else {}
    statement |= changes
    made = {"format": recheck.FORMAT, "row": "TOY", "place": "nowhere", "says": "a toy", "remains": [], "statements": [statement]}
    return made | {"digest": recheck.digest(made)}


def symbolic(steps: list[list[Any]], left: Any, right: Any) -> dict[str, Any]:
    return proof(steps=steps, claim=["==", left, right], symbols=["x", "y", "z"], names=[], rows=[[]])


def test_the_honest_files_of_this_page_are_accepted() -> None:
    assert "x <= (x + 1)" in "\n".join(recheck.check(proof()))
    assert recheck.check(symbolic([["*", "x", "y"], ["*", "y", "x"]], 0, 1))


PRINTED_AS_ONE_THING_COMPUTED_AS_ANOTHER = {
    "quotient of three": proof(steps=[["/", "x", "1", "1000"]], claim=["<=", "1", 0]),
    "product of three symbols": symbolic([["*", "x", "y", "z"], ["*", "x", "y"]], 0, 1),
    "power with two exponents": symbolic([["^", "x", 3, 2], ["*", "x", "x"]], 0, 1),
    "fractional power": proof(steps=[["^", "x", 2.5]], claim=["<=", 0, "4"], rows=[["2"]]),
    "power in words": proof(steps=[["^", "x", " 2"]], claim=["<=", 0, "4"], rows=[["2"]]),
    "fractional root": proof(steps=[["root", "x", 2.9, "e"]], claim=["<=", 0, "2"], names=["x", "e"], rows=[["4", ["2", "2"]]]),
    "one tenth as a float": proof(steps=[["*", 0.1, "10"]], claim=["<", "1", 0]),
    "float in a row": proof(rows=[[0.1]]),
    "float in a range": proof(ranges={"x": [0.2, 3.9]}),
    "relation of a hypothesis": proof(where=[["!=", "1", "1"]]),
    "truth value as a step": proof(steps=[["+", "x", "1"], ["+", "x", "2"]], claim=["<=", "x", True]),
    "step counted from the end": proof(claim=["<=", "x", -1]),
    "step not yet made": symbolic([["+", 0, "1"]], 0, 0),
    "two inputs of one name": proof(names=["x", "x"], rows=[["5", "1"]]),
    "name that is a number": proof(names=["1"], steps=[["+", "1", "1"]], claim=["<=", 0, "1"], rows=[["0"]]),
    "fraction with a letter": proof(claim=["<=", "x", "1e3"]),
    "not a number": proof(claim=["<=", "x", "nan"]),
    "infinity": proof(claim=["<=", "x", float("inf")]),
    "infinite row": proof(rows=[[float("inf")]]),
    "zero denominator": proof(rows=[["1/0"]]),
}


@pytest.mark.parametrize("name", PRINTED_AS_ONE_THING_COMPUTED_AS_ANOTHER)
def test_what_is_printed_is_what_is_computed(name: str) -> None:
    with pytest.raises((Rejected, Unreadable)):
        recheck.check(PRINTED_AS_ONE_THING_COMPUTED_AS_ANOTHER[name])


FALSE = {
    "ends of an enclosure exchanged": proof(steps=[], claim=["<=", "x", "0"], rows=[[["1", "0"]]]),
    "division by an enclosure of zero": proof(steps=[["/", "1", "x"]], claim=["<=", 0, "1"], rows=[[["-1", "1"]]]),
    "division by an exchanged enclosure of zero": proof(steps=[["/", "1", "x"]], claim=["<=", 0, "1"], rows=[[["1", "-1"]]]),
    "even power of an enclosure": proof(steps=[["^", "x", 2]], claim=["<=", "1", 0], rows=[[["-1", "1"]]]),
    "absolute value of an enclosure": proof(steps=[["abs", "x"]], claim=["<=", "1", 0], rows=[[["-1", "1"]]]),
    "least of two enclosures": proof(steps=[["min", "x", "1/2"]], claim=["<=", "1/2", 0], rows=[[["0", "1"]]]),
    "an enclosure equal to itself": proof(steps=[["-", "x", "x"]], claim=["==", 0, "0"], rows=[[["0", "1"]]]),
    "strictness": proof(steps=[], claim=["<", "x", "1"]),
    "symbols do not cancel to zero": symbolic([["-", "x", "x"], ["/", "1", 0]], 1, 1),
    "symbols divided by zero to a power": symbolic([["-", "x", "x"], ["^", 0, -1]], 1, 1),
    "hypotheses about symbols": proof(steps=[], claim=["==", "x", "x"], where=[["==", "x", "1"]], symbols=["x"]),
    "empty range": proof(ranges={"x": [3, 2]}),
    "no rows": proof(rows=[]),
    "hypothesis that excludes all": proof(ranges={"x": [0, 3]}, where=[["<", "x", "0"]]),
    "hypothesis that is undecided": proof(where=[["<=", "x", "1"]], rows=[[["0", "2"]]]),
    "root of something that may be negative": proof(
        steps=[["root", "x", 2, "e"]], claim=["<=", 0, "1"], names=["e", "x"], rows=[[["0", "1"], ["-1", "1"]]]
    ),
    "root of order zero": proof(steps=[["root", "x", 0, "e"]], claim=["<=", 0, "1"], names=["e", "x"], rows=[["1", "1"]]),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_and_empty_statements_are_refused(name: str) -> None:
    with pytest.raises((Rejected, Unreadable)):
        recheck.check(FALSE[name])


OVERSIZED = {
    "power": proof(steps=[["^", "2", 10**9]]),
    "negative power": proof(steps=[["^", "2", -(10**9)]]),
    "power of a power": proof(steps=[["^", "2", 60000], ["^", 0, 60000], ["^", 1, 60000]]),
    "squared again and again": proof(steps=[["+", "3", "0"], *[["*", i, i] for i in range(60)]]),
    "exponential": proof(steps=[["exp", "x", "e"]], names=["e", "x"], rows=[["1", "1000000000000"]]),
    "logarithm": proof(steps=[["log", "x", "e"]], names=["e", "x"], rows=[[["0", "1000000000000"], "2"]]),
    "root": proof(steps=[["root", "x", 10**9, "e"]], names=["e", "x"], rows=[["2", "2"]]),
    "range": proof(ranges={"x": [0, 10**12]}),
    "box": proof(ranges={name: [0, 999] for name in "xyz"}),
    "power of a sum of symbols": symbolic([["+", "x", "y"], ["^", 0, 10**7]], 1, 1),
    "products of sums of symbols": symbolic([["sum", "x", "y", "z"], *[["*", i, i] for i in range(30)]], 30, 30),
    "numbers beside symbols": symbolic([["*", "x", "3"], *[["*", i, i] for i in range(60)]], 60, 60),
    "range beside an empty one": proof(ranges={"x": [0, 10**11], "y": [0, 10**11]}),
    "sum of fractions without a common denominator": proof(steps=[["sum", *(f"1/{10**400 + k}" for k in range(300))]]),
    "sum of such beside symbols": symbolic([["sum", "x", *(f"1/{10**400 + k}" for k in range(300))]], 0, 0),
    "coefficients without a common denominator": symbolic(
        [["sum", *(["x"] if k == 0 else [f"1/{10**900 + k}"])] for k in range(60)] + [["sum", *range(60)], ["^", 60, 30]], 61, 61
    ),
    "long powers in turn": symbolic([["^", "x", 60_000], ["^", 0, 2], *[["*", i, i] for i in range(1, 20)], ["^", 0, 70_000]], 1, 1),
}


@pytest.mark.parametrize("name", OVERSIZED)
def test_work_without_end_is_refused_at_once(name: str) -> None:
    start = time.perf_counter()
    with pytest.raises((Rejected, Unreadable), match="too large"):
        recheck.check(OVERSIZED[name])
    assert time.perf_counter() - start < 5


UNPAID = {
    "as many cases as there may be of something long": proof(
        ranges={"x": [1, 1000], "y": [1, 1000]}, steps=[["+", "x", "y"], *[["*", i, "7/3"] for i in range(60)]], claim=["<=", "x", 60]
    ),
    "powers of an input": proof(ranges={"x": [2, 10**6]}, steps=[["^", "x", 2000], ["+", 0, "1"]], claim=["<", 0, 1]),
    "roots of a high order": proof(
        steps=[["root", "x", 60_000, "e"], *[["root", 0, 60_000, "e"]] * 400], names=["e", "x"], rows=[["1", "1"]] * 20
    ),
    "many exponentials": proof(
        steps=[["exp", "x", "e"]], claim=["<=", 0, "100"], names=["e", "x"], rows=[[["0", "100"], f"{k}/9000"] for k in range(30_000)]
    ),
    "constants of thousands of digits": proof(ranges={"x": [1, 10**6]}, steps=[["+", "x", "1" * 4000]], claim=["<=", "x", 0]),
    "a sum of many symbols": proof(
        steps=[["sum", *(f"x{k}" for k in range(9000))]], claim=["==", 0, 0], symbols=[f"x{k}" for k in range(9000)], names=[], rows=[[]]
    ),
    "products as large as they may be": symbolic([["sum", "x", "y", "z"], ["^", 0, 21], *[["*", 1, 1]] * 300], 2, 2),
    "a power by and by": symbolic([["^", "x", 65_000]] * 60, 0, 0),
    "terms of a sum that is printed": proof(steps=[["+", "x", "1" * 100], ["sum", *[0] * 300_000]], claim=["<=", 1, 1]),
}


@pytest.mark.parametrize("name", UNPAID)
def test_many_steps_that_could_be_paid_one_by_one_are_refused_together(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck, "BUDGET", recheck.BUDGET // 100)
    start = time.perf_counter()
    with pytest.raises(Unreadable, match="too large"):
        recheck.check(UNPAID[name])
    assert time.perf_counter() - start < 5


@pytest.mark.slow
@pytest.mark.parametrize("name", UNPAID)
def test_no_small_file_takes_minutes_or_gigabytes(name: str, tmp_path: Any) -> None:
    """The same with the whole budget, in a process that has one gigabyte."""
    path = tmp_path / "oversized.json"
    path.write_text(json.dumps(UNPAID[name]))
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)); sys.path.insert(0, sys.argv[1]);"
    code = f"{limited} import recheck; sys.exit(recheck.main(sys.argv[2:]))"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(Path(recheck.__file__).parent), str(path)],
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 2) and "MemoryError" not in done.stderr, done.stderr[-300:]


def test_a_file_is_not_read_beyond_its_limit(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck, "LETTERS", 100)
    path = tmp_path / "long.json"
    path.write_text(json.dumps(proof()))
    with pytest.raises(Unreadable, match="too large"):
        recheck.read(str(path))


@pytest.mark.parametrize("ranges", [{"x": [5, 0]}, {"x": [5, 0], "y": [5, 0]}, {"x": [0, 10**11], "y": [1, 0]}, {"x": [False, True]}])
def test_a_range_that_is_none_is_refused_before_it_is_walked(ranges: Any) -> None:
    with pytest.raises((Rejected, Unreadable)):
        recheck.check(proof(ranges=ranges))


def test_inputs_given_as_enclosures_are_shown() -> None:
    lines = recheck.check(proof(steps=[], claim=["<=", "pi", "3"], names=["pi"], rows=[[["3", "3"]]]))
    assert lines[-1].strip() == "on the instances of the file; pi in [3, 3]: true in all 1 cases"
    rooted = proof(steps=[["root", "x", 2, "e"]], claim=["<=", 0, "x"], names=["e", "x"], rows=[[["2", "2"], "4"]])
    assert recheck.check(rooted)[-1].strip() == "on the instances of the file; x = 4: true in all 1 cases"


def test_the_enclosure_of_a_root_has_no_name_in_a_formula() -> None:
    """Otherwise `pi <= 3` is printed of a pi that is the root of nine."""
    with pytest.raises(Unreadable, match="'pi'"):
        recheck.check(proof(steps=[["root", "x", 2, "pi"]], claim=["<=", "pi", "3"], names=["pi", "x"], rows=[[["3", "3"], "9"]]))


def test_inputs_that_are_not_listed_are_counted() -> None:
    names = [f"a_rather_long_name_{k}" for k in range(60)]
    text = recheck.check(proof(steps=[], claim=["<=", names[59], "3"], names=names, rows=[["3"] * 60]))[-1]
    assert "a_rather_long_name_0 = 3" in text and "more inputs" in text


def test_false_undecided_and_not_proven_are_three_answers() -> None:
    wide = {"steps": [], "claim": ["<=", "x", "1"], "rows": [[["0", "2"]]]}
    for changes, kind, word in (
        ({"rows": [["2"]], "claim": ["<=", "x", "1"], "steps": []}, recheck.Refuted, "false for x = 2"),
        ({"rows": [[["2", "3"]]], "claim": ["<=", "x", "1"], "steps": []}, recheck.Refuted, r"false for x in \[2, 3\]"),
        ({"rows": [["1"]], "claim": ["<", "x", "1"], "steps": []}, recheck.Refuted, "false for x = 1"),
        ({"rows": [[["2", "3"]]], "claim": ["==", "x", "1"], "steps": []}, recheck.Refuted, "false"),
        (wide, Rejected, r"undecided for x in \[0, 2\]"),
        (wide | {"claim": ["==", "x", "1"]}, Rejected, "undecided"),
        ({"where": [["<", "x", "0"]]}, Rejected, "a hypothesis fails"),
    ):
        with pytest.raises(kind, match=word) as caught:
            recheck.check(proof(**changes))
        assert type(caught.value) is kind
    with pytest.raises(recheck.Refuted, match="not an identity"):
        recheck.check(symbolic([["+", "x", "1"]], 0, "x"))


def test_conditions_of_statements_in_symbols_are_printed() -> None:
    document = symbolic([["/", "x", "x"], ["^", "y", -2], ["/", 0, 1], ["/", 2, "2"], ["*", 3, 1], ["*", 4, "2"]], 5, "1")
    lines = recheck.check(document)
    assert lines[2].strip().endswith("== 1  where x != 0, y != 0, y^-2 != 0") and "where no denominator vanishes" in lines[3]
    assert "vanishes" not in recheck.check(symbolic([["/", "x", "2"], ["+", 0, 0]], 1, "x"))[3]


def test_words_of_the_file_cannot_pass_for_what_was_checked() -> None:
    document = proof(name="x\n[2] P = NP\n    \x1b[2Jtrue")
    document["says"] = "words\nCHECKED"
    document["digest"] = recheck.digest(document)
    lines = recheck.check(document)
    assert all("\n" not in line and "\x1b" not in line for line in lines)
    assert lines[0] == "TOY (nowhere), in words: words CHECKED" and lines[1].startswith("[1] ") and lines[2].strip() == "x <= (x + 1)"


def test_long_parts_have_names_that_no_input_can_have() -> None:
    long = ["sum", *["x"] * 60]
    shown = recheck.check(proof(steps=[long, ["+", 0, "t0"]], claim=["<=", "t0", 1], names=["t0", "x"], rows=[["1", "1"]]))[2]
    assert shown.count("t0 =") == 0 and "#0 = sum(x" in shown


def test_instances_and_hypotheses_are_counted_in_words() -> None:
    assert recheck.check(proof(rows=[["1"], ["7/2"]]))[-1].strip() == "on the instances of the file; x = 1; x = 7/2: true in all 2 cases"
    text = recheck.check(proof(ranges={"x": [-2, 2]}, where=[["<", "x", "0"]]))[-1]
    assert text.strip() == "for all x in -2..2: true in the 2 of 5 cases that satisfy the hypotheses"


def test_a_key_given_twice_is_refused(tmp_path: Any) -> None:
    path = tmp_path / "twice.json"
    text = json.dumps(proof())
    path.write_text(text.replace('"claim": ', '"claim": ["<=", "1", "0"], "claim": ', 1))
    with pytest.raises(Unreadable, match="twice"):
        recheck.check(recheck.read(str(path)))


def test_nesting_without_end_is_unreadable(tmp_path: Any) -> None:
    path = tmp_path / "deep.json"
    for depth in (300, 900, 100_000):
        path.write_text('{"format": "simopt-proof/2", "digest": ' + "[" * depth + "]" * depth + "}")
        assert recheck.main([str(path)]) in (1, 2)


def test_exponentials_of_long_fractions_are_rounded_outward() -> None:
    x = Fraction(10**300 + 1, 3 * 10**300)  # 1/3 and a third of 10^-300
    low, high = recheck.exp_bounds(x)
    below, above = recheck.exp_bounds(Fraction(1, 3), 1200)[1], recheck.exp_bounds(Fraction(1, 3) + Fraction(1, 10**299), 1200)[0]
    assert low <= below < above <= high and high - low < Fraction(1, 2**200)


PRINTED = {
    "(-3)^2": [["^", "-3", 2]],
    "(2/3)^2": [["^", "2/3", 2]],
    "(x / (1/2))": [["/", "x", "1/2"]],
    "(x - (-1))": [["-", "x", "-1"]],
    "(x^2)^3": [["^", "x", 2], ["^", 0, 3]],
    "(x + 1)^2": [["+", "x", "1"], ["^", 0, 2]],
    "(1/2 * x)": [["*", "1/2", "x"]],
}


@pytest.mark.parametrize("text", PRINTED)
def test_formulas_are_printed_with_the_parentheses_they_need(text: str) -> None:
    steps = PRINTED[text]
    document = proof(steps=steps, claim=["==", len(steps) - 1, len(steps) - 1])
    assert recheck.check(document)[2].strip() == f"{text} == {text}"
