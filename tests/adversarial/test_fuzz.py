"""Every format that is read, with what Hypothesis makes of it: no error but the one that is promised. What was found stands as an example.

Formats: JSON itself, witnesses, proof files, formulas of claims, texts of statements, runs of comparisons, similarities, records in .npz.
"""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counted import case
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from simopt import recheck
from simopt.claims import witness
from simopt.claims.expression import Expr, inputs, rational, symbols
from simopt.claims.witness import BadWitness
from simopt.compare.record import from_row
from simopt.core import jsonio
from simopt.core.errors import InvalidFile, InvalidProblem, UnknownName
from simopt.core.monotone_function import MonotoneFunction
from simopt.data.similarities import from_json, kinds

fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
texts = st.text(max_size=12) | st.sampled_from(["x", "0", "1/2", "-1", "1e9", "nan", "0x1p0", "0x1p9999", "refuted", "quick", "float64"])
plain = st.none() | st.booleans() | st.integers() | st.integers(-3, 3) | st.floats() | texts
anything = st.recursive(plain, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12)


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return path


@fuzz
@given(st.binary(max_size=60) | st.text('{}[]:,"\\0123456789eE+-.truefalsn ', max_size=40).map(str.encode))
@example(b"[" * 5000)
@example(b"9" * 5000)
@example(b'{"a": NaN}')
@example(b"\xef\xbb\xbf{}")
@example(b"")
@example(b'"\\ud800"')
def test_json(tmp_path: Path, content: bytes) -> None:
    case()
    try:
        jsonio.read(written(tmp_path / "x.json", content))
    except InvalidFile as error:
        assert "x.json" in str(error)


coded = st.recursive(
    plain
    | st.builds(lambda h: {"float": h}, texts)
    | st.builds(lambda h: {"int": h}, texts)
    | st.builds(lambda f: {"fraction": f}, anything),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.builds(lambda x: {"tuple": x}, st.lists(inner, max_size=3) | inner)
        | st.builds(lambda x: {"dict": x}, st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3) | inner)
        | st.builds(
            lambda d, s, x: {"array": {"dtype": d, "shape": s, "data": x}},
            st.sampled_from(["float64", "int8", "object", "<U3", "bool", "O,O", "<U9999", "V3", "M8[s]"]) | texts,
            st.lists(st.integers(-2, 5), max_size=3) | anything,
            st.lists(inner, max_size=6),
        )
    ),
    max_leaves=10,
)
witnesses = st.fixed_dictionaries(
    {
        "format": st.just(witness.FORMAT), "simopt": texts, "claim": texts, "row": texts, "seed": st.integers(-1, 9) | plain,
        "index": st.integers(-4, 9) | plain, "effort": st.sampled_from(["quick", "full"]) | plain, "check": texts,
        "slack": st.sampled_from(["0x1p0", "-inf", "nan"]) | plain, "instance": st.builds(lambda x: {"dict": [["x", x]]}, coded) | coded,
    },
    optional={"outcome": st.sampled_from(["refuted", "satisfied", ""]) | plain, "more": anything},
)  # fmt: skip


@fuzz
@given(witnesses)
@example({"format": witness.FORMAT, "instance": {"fraction": "1e100000000"}})
@example({"format": witness.FORMAT, "instance": {"array": {"dtype": "<U268435455", "shape": [1], "data": ["x"]}}})
def test_witnesses(tmp_path: Path, document: dict[str, Any]) -> None:
    case()
    try:
        found = witness.read(written(tmp_path / "x.json", json.dumps(document)))
    except BadWitness as error:
        assert "x.json" in str(error)
        return
    again = witness.read(written(tmp_path / "y.json", json.dumps(found.document())))
    assert json.dumps(again.document()) == json.dumps(found.document())


refs = st.sampled_from(["x", "y", "1", "-1/2", "0", "1/0", "9" * 300]) | st.integers(-1, 3) | plain
steps = st.lists(
    st.lists(refs, min_size=1, max_size=3).flatmap(
        lambda rest: st.sampled_from(sorted(recheck.ARGUMENTS)).map(lambda op: [op, *rest])
    )
    | st.tuples(st.sampled_from(["^", "root"]), refs, st.sampled_from([2, -1, 65536, -(10**6), 10**18, 0])).map(list)
    | anything,
    max_size=5,
)  # fmt: skip
relations = st.tuples(st.sampled_from(["<=", "<", "=="]) | texts, refs, refs).map(list) | anything
values = st.sampled_from(["1", "-1/3", "0", "9" * 200]) | st.lists(st.sampled_from(["0", "1", "2/3"]), min_size=2, max_size=2) | plain
statements = st.fixed_dictionaries(
    {
        "steps": steps, "claim": relations, "where": st.lists(relations, max_size=1),
        "symbols": st.sampled_from([[], ["x", "y"]]) | anything,
        "role": st.sampled_from(["claim", "step"]) | plain, "name": texts, "names": st.sampled_from([["x", "y"], ["x"], []]) | anything,
        "rows": st.lists(st.lists(values, min_size=1, max_size=2), max_size=3) | anything,
    },
    optional={"ranges": st.dictionaries(st.sampled_from(["x", "y"]), st.lists(st.integers(-5, 40), min_size=2, max_size=2)) | anything},
)  # fmt: skip
POWER: dict[str, Any] = {"claim": ["==", 1, 1], "where": [], "symbols": ["x", "y"], "role": "claim", "name": "", "names": [], "rows": [[]]}


@fuzz
@given(st.lists(statements | anything, max_size=2), anything)
@example([POWER | {"steps": [["+", "x", "y"], ["^", 0, 65536]]}], [])
@example([POWER | {"steps": [["+", "x", "y"], ["^", 0, 10**18]]}], [])
@example(
    [{"steps": [["*", "x", "y"]] * 100, "claim": ["<=", "0", 99], "where": [], "symbols": [], "role": "claim", "name": "", "names": [],
      "ranges": {"x": [0, 1023], "y": [0, 1023]}}], [],
)  # fmt: skip
def test_proofs(drawn_statements: Any, remains: Any) -> None:
    case()
    made = {"format": recheck.FORMAT, "row": "X", "place": "p", "says": "s", "remains": remains, "statements": drawn_statements}
    made = json.loads(json.dumps(made))
    try:
        assert recheck.check(made | {"digest": recheck.digest(made)})
    except (recheck.Rejected, recheck.Unreadable):
        pass


@fuzz
@given(texts | st.text("0123456789/.eE+-_ ", max_size=12))
@example("1e100000000")
@example("1e-100000000")
@example("9" * 100_000)
@example("1/" + "0" * 5000)
@example("1_000")
def test_numbers_in_formulas(text: str) -> None:
    case()
    try:
        made = rational(text)
    except (ValueError, ZeroDivisionError):
        return
    assert made.low == Fraction(text)


@fuzz
@given(st.lists(st.tuples(st.sampled_from("+-*/^"), st.integers(-40, 40) | st.sampled_from([65536, -(2**40), 10**18])), max_size=6))
@example([("+", 1), ("^", 10**18)])
@example([("^", 65536), ("^", 65536)])
def test_formulas(operations: list[tuple[str, int]]) -> None:
    case()
    for start in (inputs(x=Fraction(3, 7)), symbols("x y")[0]):
        made: Expr = start
        try:
            for op, number in operations:
                made = {"+": made.__add__, "-": made.__sub__, "*": made.__mul__, "/": made.__truediv__, "^": made.__pow__}[op](number)
        except (OverflowError, ZeroDivisionError) as error:
            assert str(error)


@fuzz
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["\\frac", "{", "}", "$", "^", "_", "√", "(", "x", "\\text", "<b>", "**", "`"])).map("".join)
)
@example("$\\newcommand{\\a}{\\a\\a}\\a$")
@example("$" + "\\frac{" * 200 + "$")
def test_statements(text: str) -> None:
    case()
    pytest.importorskip("latex2mathml")
    from simopt.report.prose import Prose

    made = str(Prose(["x"], lambda name: "#")(text))
    assert "<b>" not in made and "<script" not in made


RUN = {
    "problem": "p", "data": "d", "size": 1, "conditioning": None, "settings": "{}", "seed": 0, "solver": "s", "options": "{}", "tol": 1e-8,
    "time_limit": 1.0, "threads": 1, "repetition": 0, "fingerprint": "", "status": "optimal", "reported_status": "", "message": "",
    "sampling": "", "problem_fingerprint": "", "shapes": {}, "scale": None, "upper": None, "lower": None, "gap": None, "relative_gap": None,
    "setup_seconds": None, "solve_seconds": None, "spent_seconds": None, "wall_seconds": None, "iterations": 0,
    "megabytes": None, "warm": False, "threads_seen": 0, "jobs": 1, "started": "", "machine": "", "solver_version": "",
    "versions": {}, "system": {}, "key": "",
}  # fmt: skip


@fuzz
@given(st.dictionaries(st.sampled_from(sorted(RUN)), anything, max_size=4), anything)
@example({"iterations": float("inf")}, [])
@example({"size": 10**400}, [])
@example({"settings": "[1]"}, [])
@example({"tol": -1}, [])
@example({}, [{"setup": 0, "solve": 0, "gap": 0, "relative_gap": 0, "iteration": float("inf")}])
def test_runs(changes: dict[str, Any], trace: Any) -> None:
    case()
    with pytest.raises(InvalidFile, match="here"):
        from_row(RUN | changes, trace, "here")


@fuzz
@given(st.dictionaries(texts, anything, max_size=2), st.sampled_from([*kinds(), ""]), anything)
@example({"terms": [{"kind": "sum", "terms": []}]}, "sum", 0)
@example({"kind": {"a": 1}}, "", 0)
def test_similarities(fields: dict[str, Any], kind: str, value: Any) -> None:
    case()
    names = ["mu", "terms", "factors", "similarity", "gram", "points", "degree", "offset", "weights"]
    for each in (fields, {"kind": kind, **fields}, *({"kind": kind, name: value} for name in names)):
        try:
            made = from_json(each)
        except (InvalidProblem, UnknownName, TypeError, ValueError, RecursionError):  # what `archive.rebuilding` calls a damaged file
            continue
        assert from_json(made.to_json()).kind == made.kind


@fuzz
@given(st.binary(max_size=80), st.integers(0, 400), st.integers(0, 400))
def test_records(tmp_path: Path, noise: bytes, at: int, length: int) -> None:
    """A whole .npz with bytes exchanged, cut out or put in."""
    case()
    buffer = io.BytesIO()
    np.savez(buffer, nodes=np.arange(3.0), values=np.arange(3.0), meta=np.array(json.dumps({"format": "x", "extrapolation": "linear"})))
    whole = buffer.getvalue()
    place = at * len(whole) // 400
    try:
        MonotoneFunction.load(written(tmp_path / "x.npz", whole[:place] + noise + whole[place + length :]))
    except InvalidFile as error:
        assert "x.npz" in str(error)
