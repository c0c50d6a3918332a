"""Certificate files, each of their fields damaged or forged: refused in one line, or what is proved is true of the data in them."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from counted import case
from damage import CHANGES, FIRST, changed, damaged, paths, tried_first
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import simopt
from simopt import recheck_certificate as checker
from simopt.cli.main import app

SECONDS = 20.0  # of the processor, of one damaged file
made: dict[str, dict[str, Any]] = {}


def problem_of(name: str) -> cp.Problem:
    x, X = cp.Variable(2, name="x"), cp.Variable((2, 2), PSD=True, name="X")
    rows = [x[0] + 2 * x[1] >= 1, x >= 0]
    return {
        "linear": lambda: cp.Problem(cp.Minimize(3 * x[0] + x[1]), rows),
        "every cone": lambda: cp.Problem(
            cp.Maximize(-cp.sum_squares(x) - cp.norm(x - 1) - cp.trace(X)), [*rows, X[0, 1] == 1, X[0, 0] <= 3]
        ),
        "infeasible": lambda: cp.Problem(cp.Minimize(x[0]), [*rows, cp.sum(x) <= 0.25]),
        "unbounded": lambda: cp.Problem(cp.Minimize(cp.square(x[0]) - x[1]), rows),
    }[name]()


def certificate(name: str, folder: Path) -> dict[str, Any]:
    if name not in made:
        simopt.save_certificate(problem_of(name), folder / "whole.json")
        made[name] = json.loads((folder / "whole.json").read_text(encoding="utf-8"))
    return dict(made[name])


def signed(document: Any) -> Any:
    """With the digest of its data, as a forger would write it."""
    if isinstance(document, dict):
        try:
            return document | {"digest": checker.digest(document)}
        except (KeyError, RecursionError, TypeError, ValueError):
            return document
    return document


def optimum(document: dict[str, Any]) -> float:
    """The optimum of the data in a file by a solver, in the sense of its problem; NaN where the solver does not say."""
    texts = [*document["c"], *document["b"], document["d"], *(entry[2] for name in "AP" for entry in document[name])]
    if not all(value == 0 or 1e-6 < abs(value) < 1e6 for value in map(checker.number, texts)):
        return math.nan  # a solver's answer is about numbers near 1
    A, P = np.zeros((len(document["b"]), document["size"])), np.zeros((document["size"], document["size"]))
    for i, j, value in document["A"]:
        A[i, j] = checker.number(value)
    for i, j, value in document["P"]:
        P[i, j] = P[j, i] = checker.number(value)
    c, b = (np.array([float(checker.number(value)) for value in document[name]]) for name in "cb")
    x, rows, start = cp.Variable(len(c)), [], 0
    s = b - A @ x
    for kind, size in document["cones"]:
        end = start + (size * size if kind == "semidefinite" else size)
        part, start = s[start:end], end
        if kind == "semidefinite":
            matrix = cp.reshape(part, (size, size), order="F")
            part = matrix + matrix.T
        norm = cp.norm(part[1:]) if kind == "second-order" and size > 1 else 0.0
        rows += [part == 0] * (kind == "zero") + [part >= 0] * (kind == "nonnegative")
        rows += [norm <= part[0]] * (kind == "second-order") + ([part >> 0] if kind == "semidefinite" else [])
    convex = np.linalg.eigvalsh(P)[0] >= -1e-12
    quadratic = cp.quad_form(x, cp.psd_wrap(P)) / 2 if convex else 0.0
    problem = cp.Problem(cp.Minimize(quadratic + c @ x + float(checker.number(document["d"]))), rows)
    try:
        value = float(problem.solve(solver="CLARABEL"))
    except cp.SolverError:
        return math.nan
    if problem.status not in (cp.OPTIMAL, cp.INFEASIBLE, cp.UNBOUNDED) or not convex:
        return math.nan
    return -value if document["maximise"] else value


def assert_true(lines: list[str], document: dict[str, Any]) -> None:
    """What is proved is what a solver finds of the data in the file."""
    assert lines[-1].startswith("PROVED") and all(line.isprintable() for line in lines)
    value = optimum(document)
    if math.isnan(value) or abs(value) > 1e12:
        return
    slack = 1e-5 * (1.0 + abs(value))
    bounds = {line.split(" bound: ")[0]: line.split(" bound: ")[1] for line in lines if " bound: " in line}
    if "no point is feasible" in lines[-1]:
        assert value == (-math.inf if document["maximise"] else math.inf)
    elif "without end" in lines[-1]:
        assert value == (math.inf if document["maximise"] else -math.inf)
    else:
        assert bounds["lower"] == "none" or float(bounds["lower"]) <= value + slack
        assert bounds["upper"] == "none" or value - slack <= float(bounds["upper"])


def answered(path: Path) -> None:
    """The program's answer to a file: what it proves, or one line; never long after."""
    begin = time.process_time()
    try:
        document = checker.read(str(path))
        lines = checker.check(document)
    except (checker.NotProved, checker.Malformed) as error:
        assert "\n" not in str(error) and len(str(error)) < 1000
    else:
        assert_true(lines, document)
    assert time.process_time() - begin < SECONDS


@pytest.mark.parametrize("name", ["linear", "every cone", "infeasible", "unbounded"])
def test_whole_files_are_proved(name: str, tmp_path: Path) -> None:
    document = certificate(name, tmp_path)
    assert_true(checker.check(document), document)


@pytest.mark.parametrize("change", tried_first(CHANGES, FIRST))
@pytest.mark.parametrize("name", ["linear", "every cone", "infeasible", "unbounded"])
def test_a_damaged_file_is_refused_or_true(name: str, change: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    for _, text in damaged(certificate(name, tmp_path), change):
        path.write_text(text)
        answered(path)


NUMBERS = (
    "0", "1", "-1", "2", "1/3", "-7/2", "0x1.8p+1", "-0x1.0p-1000", "0x1.fffffffffffffp+1023", "0x1" + "0" * 400, "1/0x1" + "0" * 400,
    "1e999999999", "1e3", "0.5", "nan", "inf", "-Infinity", "1/0", "0/0", "1/-2", "+1", " 1", "1_0", "１", "0x", "0x1.8p+9999", "0x1.8p",
    "--1", "1/2/3", "9" * 5000, "1/" + "9" * 1_000_000, "0x" + "f" * 1_000_000, "0x1/0x" + "f" * 100_000, "", "x", "\u202e1",
)  # fmt: skip


@pytest.mark.parametrize("name", ["linear", "every cone", "infeasible", "unbounded"])
def test_any_number_may_stand_in_the_place_of_any_other(name: str, tmp_path: Path) -> None:
    """In the data with another digest, too: the file is then about other data, of which what it states must be true."""
    document, path = certificate(name, tmp_path), tmp_path / "forged.json"
    for where in paths(document):
        if where and isinstance(_at(document, where), str) and where[0] in ("P", "c", "A", "b", "d", "proof", "bounds"):
            for text in NUMBERS:
                path.write_text(json.dumps(signed(changed(document, where, text))))
                case()
                answered(path)


def _at(document: Any, where: tuple[Any, ...]) -> Any:
    for key in where:
        document = document[key]
    return document


@pytest.mark.parametrize("name", ["linear", "every cone"])
@pytest.mark.parametrize("end", ["lower", "upper"])
def test_a_bound_that_is_better_by_a_hair_is_not_proved(name: str, end: str, tmp_path: Path) -> None:
    document = certificate(name, tmp_path)
    proved = {line.split()[0]: line.split(": ")[1] for line in checker.check(document) if " bound: " in line}
    hair = Fraction(1, 10**15) if end == "lower" else -Fraction(1, 10**15)
    better = Fraction(proved[end]) + hair
    forged = document | {"bounds": document["bounds"] | {end: f"{hex(better.numerator)}/{hex(better.denominator)}"}}
    with pytest.raises(checker.NotProved, match=f"the {end} bound .* is stated"):
        checker.check(forged)


@pytest.mark.parametrize(("vector", "message"), [("x", "s = b − Ax"), ("z", "z is not in|fails"), ("w", "fails")])
def test_a_vector_that_misses_by_a_hair_proves_nothing(vector: str, message: str, tmp_path: Path) -> None:
    document = certificate("every cone", tmp_path)
    entries = document["proof"][vector]
    unrefused = []
    for i, text in enumerate(entries):
        moved = [*entries]
        for sign in (1, -1):
            value = checker.number(text) + sign * Fraction(1, 10**3)
            moved[i] = f"{hex(value.numerator)}/{hex(value.denominator)}"
            case()
            try:
                lines = checker.check(document | {"proof": document["proof"] | {vector: moved}})
            except checker.NotProved as error:
                assert any(part in str(error) for part in (*message.split("|"), "is stated"))
            else:
                unrefused.append(i)
                assert_true(lines, document)
    assert len({*unrefused}) < len(entries)


def _forgeries(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(what is wrong, the text of the file)."""
    whole = json.dumps(document)
    yield "a key twice", whole[:-1] + ', "states": "bounds"}'
    yield "a key twice inside", whole.replace('"lower":', '"lower": "5", "lower":')
    yield "another version", json.dumps(document | {"format": "simopt-conic-certificate/2"})
    yield "a version that is a list", json.dumps(document | {"format": ["simopt-conic-certificate/1"]})
    yield "a field more", json.dumps(document | {"trust me": True})
    yield "half a file", whole[: len(whole) // 2]
    yield "two files", whole + whole
    yield "deep", json.dumps(signed(document | {"variables": "DEEP"})).replace('"DEEP"', "[" * 100_000 + "]" * 100_000)
    yield "NaN", json.dumps(document | {"d": math.nan})
    yield "a huge exponent", whole.replace('"d": "0"', '"d": 1e999999999')
    yield "a digit more than Python reads", whole.replace('"d": "0"', f'"d": {"9" * 10_000}')
    yield "data of another problem", json.dumps(document | {"c": ["0"] * document["size"]})
    yield "a maximum", json.dumps(signed(document | {"maximise": not document["maximise"]}))
    yield "another kind of proof", json.dumps(document | {"states": "infeasible", "proof": {"z": document["b"]}})
    yield "no proof", json.dumps(document | {"proof": {"x": None, "w": None, "z": None}})
    yield "no multipliers", json.dumps(document | {"proof": document["proof"] | {"w": None, "z": None}})
    yield "w alone", json.dumps(document | {"proof": {"x": None, "w": document["c"], "z": None}})
    yield "no cones", json.dumps(signed(document | {"cones": []}))
    yield "a huge cone", json.dumps(signed(document | {"cones": [["semidefinite", 1 << 20]]}))
    yield "cones without end", json.dumps(signed(document | {"cones": [["second-order", 1]] * 100_000}))
    yield "a cone of another kind", json.dumps(signed(document | {"cones": [["exponential", 3]]}))
    yield "variables elsewhere", json.dumps(signed(document | {"variables": [document["variables"][0] | {"offset": 10**6}]}))
    yield "words of a terminal", json.dumps(document | {"source": "\x1b[2J" * 1000, "unproven": ["\u202e\ud800" * 1000] * 1000})


@pytest.mark.parametrize("name", ["linear", "every cone"])
def test_forgeries_are_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "forged.json"
    for what, text in _forgeries(certificate(name, tmp_path)):
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
        case()
        done = CliRunner().invoke(app, ["recheck", str(path)])
        if what == "words of a terminal":
            assert done.exit_code == 0 and all(line.isprintable() for line in done.output.splitlines())
            continue
        assert done.exit_code in (1, 2) and done.output.count("\n") == 1 and done.output.startswith("simopt: "), what
        alone = subprocess.run([sys.executable, "-S", checker.__file__, str(path)], capture_output=True, text=True, check=False, timeout=60)
        assert alone.returncode in (1, 2) and alone.stdout == "" and alone.stderr.count("\n") == 1, what


def test_work_is_refused_before_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Denominators without a common factor, a matrix that fills up, and many long numbers."""
    monkeypatch.setattr(checker, "BUDGET", checker.BUDGET / 50)
    document, draw = certificate("linear", tmp_path), random.Random(0)
    size = 300
    long = [f"{hex(draw.getrandbits(90_000))}/{hex(draw.getrandbits(90_000) | 1)}" for _ in range(40)]
    data: dict[str, Any] = {"size": size, "c": ["0"] * size, "cones": [["zero", 40]], "b": long, "variables": []}
    dense = [[i, j, f"1/{2 * (i * size + j) + 1}"] for i in range(40) for j in range(size)]
    chain = [[i, i + k, "1/3" if k else "2"] for i in range(20_000) for k in (0, 1) if i + k < 20_000]
    proof = {"x": [*long, *["1/3"] * (size - 40)], "w": None, "z": long}
    heavy = [
        document | data | {"A": dense, "P": [], "proof": proof},
        document | data | {"A": [], "P": [[i, j, long[i]] for i in range(40) for j in range(i, 40)], "proof": proof | {"x": None}},
        document | {"size": 20_000, "c": ["0"] * 20_000, "cones": [], "b": [], "variables": [], "A": [], "P": chain,
                    "proof": {"x": None, "w": None, "z": []}},
    ]  # fmt: skip
    for forged in heavy:
        begin = time.process_time()
        case()
        with pytest.raises((checker.Malformed, checker.NotProved)):
            checker.check(signed(forged))
        assert time.process_time() - begin < SECONDS


INTEGERS = st.integers(-4, 4)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(INTEGERS, INTEGERS, st.integers(0, 4)), min_size=1, max_size=3),
    st.lists(st.fractions(-6, 6, max_denominator=8), min_size=3, max_size=3),
    st.lists(st.fractions(-6, 6, max_denominator=8), min_size=6, max_size=6),
    st.fractions(-40, 40, max_denominator=64),
    st.fractions(-40, 40, max_denominator=64),
    st.booleans(),
)
def test_no_bound_beyond_the_optimum_is_proved(
    box: list[tuple[int, int, int]], x: list[Fraction], z: list[Fraction], lower: Fraction, upper: Fraction, right: bool
) -> None:
    """min Σ c_i x_i with l_i ≤ x_i ≤ u_i is Σ min(c_i l_i, c_i u_i), whatever a file claims and gives as a proof."""
    n = len(box)
    costs, low, high = [c for c, _, _ in box], [a for _, a, _ in box], [a + width for _, a, width in box]
    exact = Fraction(sum(min(c * a, c * b) for c, a, b in zip(costs, low, high, strict=True)))
    point = [Fraction(a if c >= 0 else b) for c, a, b in zip(costs, low, high, strict=True)] if right else x[:n]
    dual = [Fraction(max(-c, 0)) for c in costs] + [Fraction(max(c, 0)) for c in costs] if right else z[: 2 * n]
    document: dict[str, Any] = {
        "format": checker.FORMAT, "source": "drawn", "maximise": False, "variables": [], "cones": [["nonnegative", 2 * n]], "size": n,
        "P": [],
        "c": [str(c) for c in costs], "A": [[i + n * k, i, "1" if k == 0 else "-1"] for k in (0, 1) for i in range(n)],
        "b": [*(str(b) for b in high), *(str(-a) for a in low)], "d": "0", "digest": "", "states": "bounds",
        "proof": {"x": [str(v) for v in point], "w": None, "z": [str(v) for v in dual]},
        "bounds": {"lower": str(lower), "upper": str(upper)}, "unproven": [],
    }  # fmt: skip
    try:
        lines = checker.check(signed(document))
    except checker.NotProved:
        assert not right or not (lower <= exact <= upper)
    else:
        assert lower <= exact <= upper and lines[-1].startswith("PROVED")
