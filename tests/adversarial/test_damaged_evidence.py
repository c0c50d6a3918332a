"""Witness and proof files of real claims, one of each kind, each of their fields damaged in every way: refused in one line, or replayed."""

from __future__ import annotations

import faulthandler
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import CHANGES, FIRST, damaged
from typer.testing import CliRunner

from simopt import __version__, recheck
from simopt.claims import at_most, catalogue, inputs, isolation, proof, runner, witness
from simopt.claims.kinds import Effort
from simopt.claims.replay import replay, replays
from simopt.claims.trial import Trial
from simopt.claims.witness import BadWitness, Witness
from simopt.cli.main import app
from simopt.core import reading
from simopt.core.errors import UnknownName
from simopt.report import counterexample

WITNESSES = ("RMW-FW", "AK-P4.5fn", "RMW-l01", "AK-P5.1", "AK-P5.1Gam", "AK-Tab1", "KJ-Thm13b", "AK-Ex.c", "KJ-E1b", "KJ-Thm9b")
PROOFS = ("AK-19-witness", "KK-E1c", "RMW-T14b", "RMW-T1b", "KJ-Thm13b+", "KJ-X4", "RMW-T22b+", "KJ-H2")
LONG = ("KJ-Thm9b", "KJ-Thm13b", "RMW-T1b", "RMW-T14b")  # to run, or to read
SECONDS = 20.0  # of the processor, of one damaged file; what waits for ever is ended by pytest
made: dict[str, Any] = {}


def claim_result(name: str) -> Any:
    """The claim of this name, run once."""
    if name not in made:
        made[name] = runner.run(name)
    return made[name]


def spent() -> float:
    """Seconds of the processor, of processes that have ended as well."""
    return sum(os.times()[:4])


def witness_of(name: str) -> dict[str, Any]:
    result = claim_result(name).rows[name]
    assert result.witness is not None
    return dict(json.loads(json.dumps(result.witness.document())))


def proof_of(name: str) -> dict[str, Any]:
    result = claim_result(name).rows[name]
    assert result.proof is not None
    return dict(json.loads(json.dumps(proof.document(catalogue.find(name), name, str(result.scope), result.proof, "1"))))


@pytest.mark.parametrize("name", [name for name in WITNESSES if name not in LONG])
def test_whole_witnesses_replay(name: str, tmp_path: Path) -> None:
    (tmp_path / "whole.json").write_text(json.dumps(witness_of(name)))
    assert replay(tmp_path / "whole.json").same


def pairs(names: tuple[str, ...], quick: tuple[str, ...], change: str) -> list[Any]:
    """(name, change): in the usual run every change of the quick ones, and one change of others that are not long."""
    usual = [*((name, each) for name in quick for each in FIRST), *((name, change) for name in names if name not in (*quick, *LONG))]
    every = [(name, each) for name in names for each in CHANGES]
    return usual + [pytest.param(*pair, marks=pytest.mark.slow) for pair in every if pair not in usual]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "change"), pairs(WITNESSES, ("KJ-E1b",), "negative"))
def test_a_damaged_witness_is_refused_or_replays(name: str, change: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    for place, text in damaged(witness_of(name), change):
        path.write_text(text)
        begin = spent()
        try:
            replay(path, time_limit=SECONDS / 4)
        except BadWitness as error:
            assert str(path) in str(error) and "\n" not in str(error) and len(str(error)) < 1000, place
        except UnknownName:
            assert place == "claim"
        shown = counterexample.shown(path)
        assert shown is not None and all(len(words) <= counterexample.LONGEST for _, words in shown.lines)
        assert spent() - begin < SECONDS, place


@pytest.mark.parametrize(("name", "change"), pairs(PROOFS, ("KJ-X4",), "negative"))
@pytest.mark.parametrize("digest", ["of the damaged file", pytest.param("as it was", marks=pytest.mark.slow)])
def test_a_damaged_proof_is_refused_or_proves_what_it_prints(name: str, change: str, digest: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.json"
    for place, text in damaged(proof_of(name), change):
        path.write_text(text)
        begin = time.process_time()
        try:
            document = recheck.read(str(path))
            if digest == "of the damaged file" and isinstance(document, dict) and place != "digest":
                document["digest"] = recheck.digest(document)
            lines = recheck.check(document)
            assert all(line.isprintable() for line in lines)
        except (recheck.Rejected, recheck.Unreadable):
            pass
        assert time.process_time() - begin < SECONDS, place


VALUES: dict[str, Any] = {
    "a fraction that Fraction would compute": {"fraction": "1e100000000"},
    "a fraction of 10⁸ places": {"fraction": "0.00000001"},
    "a fraction of long numbers": {"fraction": [{"int": "0x" + "f" * 100_000}, 3]},
    "a fraction of 5000 digits": {"fraction": "9" * 5000},
    "a fraction over 0": {"fraction": [1, 0]},
    "a fraction of floats": {"fraction": [{"float": "0x1p0"}, 2]},
    "a fraction of three": {"fraction": [1, 2, 3]},
    "a fraction of fractions": {"fraction": [{"fraction": [1, 2]}, 2]},
    "an underscore": {"int": "0x1_0"},
    "a number with spaces": {"int": " 0x10 "},
    "an int of a megabyte": {"int": "0x" + "f" * 1_000_000},
    "an int that is none": {"int": 5},
    "a float of letters": {"float": "zebra"},
    "a float of a list": {"float": [1]},
    "a float beyond floats": {"float": "0x1p99999"},
    "a tuple of letters": {"tuple": "abc"},
    "a tuple of an object": {"tuple": {"a": 1}},
    "a dictionary of letters": {"dict": "abcd"},
    "a dictionary with a list for a key": {"dict": [[[1], 2]]},
    "a dictionary of triples": {"dict": [[1, 2, 3]]},
    "two kinds": {"int": "0x1", "float": "0x1p0"},
    "no kind": {},
    "another kind": {"call": ["os.system", "true"]},
    "an array of objects that are code": {"array": {"dtype": "O,O", "shape": [1], "data": [1]}},
    "entries of a gigabyte": {"array": {"dtype": "<U268435455", "shape": [1], "data": ["x"]}},
    "wide entries, many": {"array": {"dtype": "<U1000", "shape": [100_000], "data": ["x"] * 100_000}},
    "void": {"array": {"dtype": "V1000000000", "shape": [1], "data": [0]}},
    "a dtype that is a call": {"array": {"dtype": "f8,(", "shape": [1], "data": [0]}},
    "a dtype of a number": {"array": {"dtype": 8, "shape": [1], "data": [0]}},
    "10¹² rows": {"array": {"dtype": "float64", "shape": [10**12], "data": [{"float": "0x0p0"}]}},
    "10¹² rows of none": {"array": {"dtype": "float64", "shape": [10**12, 0], "data": []}},
    "a shape to be guessed": {"array": {"dtype": "int64", "shape": [-1], "data": [1, 2]}},
    "a shape of two halves": {"array": {"dtype": "int64", "shape": [0.5, 2], "data": [1]}},
    "a shape of a number": {"array": {"dtype": "int64", "shape": 2, "data": [1, 2]}},
    "100 axes": {"array": {"dtype": "int64", "shape": [1] * 100, "data": [1]}},
    "a number too large for its array": {"array": {"dtype": "int8", "shape": [1], "data": [300]}},
    "a word in an array of numbers": {"array": {"dtype": "float64", "shape": [1], "data": ["x"]}},
    "a list in an array of numbers": {"array": {"dtype": "float64", "shape": [1], "data": [[1, 2]]}},
    "an array with another entry": {"array": {"dtype": "int64", "shape": [1], "data": [1], "strides": [0]}},
    "an array without data": {"array": {"dtype": "int64", "shape": [1]}},
    "an array that is a list": {"array": [1, 2]},
}  # fmt: skip
ACCEPTED = ("10¹² rows of none",)  # an array without entries is one


@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_is_none_is_refused_before_it_is_computed(name: str, tmp_path: Path) -> None:
    document = Witness("C", "C", 0, 0, Effort.QUICK, {}, 0.0, "check", "refuted", "1").document()
    document["instance"] = {"dict": [["x", VALUES[name]]]}
    (tmp_path / "planted.json").write_text(json.dumps(document))
    begin = time.process_time()
    if name in ACCEPTED:
        assert witness.read(tmp_path / "planted.json").instance["x"].size == 0
    else:
        with pytest.raises(BadWitness, match=r"planted\.json"):
            witness.read(tmp_path / "planted.json")
    assert time.process_time() - begin < SECONDS / 4


def test_what_encode_writes_comes_back(tmp_path: Path) -> None:
    values = {
        "whole": -(2**64), "long": 2**60000 % 10**4000, "fraction": Fraction(-(2**70), 3), "float": -0.1, "infinite": float("-inf"),
        "pair": (1, [2, None]), "table": {1: "a", (1, 2): Fraction(1, 2)}, "numbers": np.arange(6.0).reshape(2, 3),
        "words": np.array(["a", "bcd"]), "truth": np.array(True), "fractions": np.array([[Fraction(1, 3), 2**70]], dtype=object),
        "none": np.empty((0, 3)), "large": np.array([2**64 - 1], dtype=np.uint64),
    }  # fmt: skip
    path = tmp_path / "w.json"
    path.write_text(json.dumps(Witness("C", "C", 2**63, -2, Effort.FULL, values, float("-inf"), "check", "refuted", "1").document()))
    back = witness.read(path)
    assert back.seed == 2**63 and back.slack == float("-inf")
    for name, value in values.items():
        assert type(back.instance[name]) is type(value) and repr(back.instance[name]) == repr(value), name


ENDLESS = {
    "a loop": "while True: pass",
    "a loop that catches what stops it": "while True:\n    try:\n        while True: pass\n    except Exception: pass",
    "memory": "kept = []\nwhile True: kept.append(bytearray(1 << 26))",
    "an array of 10¹² numbers": "import numpy\nnumpy.ones(10**12)",
    "a number of 10⁹ digits": "int('9' * 5000)",
    "recursion": "def f(): return f()\nf()",
    "an assertion": "assert False",
}
DEADLY = {
    "an abort": "import os\nos.abort()",
    "an abort with words": "import os\nos.write(2, b'no memory\\n')\nos.abort()",
    "a fault": "import ctypes\nctypes.string_at(0)",
    "a kill": "import os\nos.kill(os.getpid(), 9)",
    "no memory in C": "import flint\nflint.arb_mat(10**5, 10**5)",
    "an end": "import os\nos._exit(0)",
    "an exit": "import sys\nsys.exit(0)",
    "an end of a generator": "raise GeneratorExit",
    "an error that is no Exception": "class Panic(BaseException): pass\nraise Panic",
    "one operation in C": "import time, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\ntime.sleep(1000)",
}
ENDINGS = ENDLESS | DEADLY
TOY = "TOY-ends"


def ending(how: str, id: str = TOY) -> Any:
    """A claim whose check ends so; of "nothing" it goes through, and its check measures the number of its process."""

    def end(instance: Any, trial: Trial) -> Any:
        faulthandler.disable()  # of pytest: it would tell of ends that are meant
        exec(ENDINGS.get(how, ""), {})
        yield at_most(os.getpid(), 0, "process")

    return replace(claim_result("KJ-E1b").claim, id=id, covers=(), corrects=None, function=end)


def toy_witness(path: Path, id: str = TOY) -> str:
    changed = {"claim": id, "row": id, "check": "process", "outcome": "refuted", "simopt": __version__}
    path.write_text(json.dumps(witness_of("KJ-E1b") | changed))
    return str(path)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second, a little memory."""
    monkeypatch.setattr(sys.modules["simopt.claims.replay"], "MEMORY", 1 << 29)
    monkeypatch.setattr(isolation, "GRACE", 0.5)


@pytest.fixture(params=["usual", pytest.param("fresh", marks=pytest.mark.slow)])
def process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork, where that is safe here; or a fresh process, as where threads forbid a fork."""
    if request.param == "fresh":
        monkeypatch.setattr(isolation, "forkable", lambda: False)


@pytest.mark.usefixtures("soon", "process")
@pytest.mark.parametrize("how", ENDINGS)
def test_a_check_that_does_not_end_or_ends_its_process_is_ended(how: str, tmp_path: Path, shelf: Callable[..., None]) -> None:
    """Whatever a claim makes of an instance that is none of its own."""
    shelf(ending(how))
    path = toy_witness(tmp_path / "w.json")
    with pytest.raises(BadWitness, match="cannot check the instance") as told:
        replay(path, time_limit=0.5)
    assert str(told.value).startswith(path)


@pytest.mark.usefixtures("soon", "process")
@pytest.mark.parametrize("how", ["an abort with words", "a kill", "an exit"])
def test_what_one_file_does_to_its_process_stops_no_other_and_is_one_line(
    how: str, tmp_path: Path, shelf: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    shelf(ending("nothing"), ending(how, "TOY-bad"))
    for number in range(4):
        toy_witness(tmp_path / f"{number}.witness.json", TOY if number != 1 else "TOY-bad")
    with pytest.raises(SystemExit) as status:
        app(["replay", str(tmp_path)])
    said = capfd.readouterr()
    assert status.value.code == 2
    assert said.err.count("\n") == 1 and said.err.startswith(f"simopt: {tmp_path / '1.witness.json'}: ")
    assert said.out.splitlines()[-1] == "4 witnesses: 3 replay, 1 unreadable"


@pytest.mark.usefixtures("process")
def test_many_witnesses_take_one_process_and_another_after_each_that_dies(tmp_path: Path, shelf: Callable[..., None]) -> None:
    shelf(ending("nothing"), ending("a kill", "TOY-bad"))
    good, bad = toy_witness(tmp_path / "good.json"), toy_witness(tmp_path / "bad.json", "TOY-bad")
    with replays() as again:
        before = {int(-again(good).checks[0].low) for _ in range(20)}
        with pytest.raises(BadWitness):
            again(bad)
        after = {int(-again(good).checks[0].low) for _ in range(20)}
    assert len(before) == len(after) == 1 and before != after and os.getpid() not in before | after


def test_what_a_check_prints_is_printed_once_it_has_ended(
    tmp_path: Path, shelf: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(ENDINGS, "words", "import os\nos.write(1, b'to all'); os.write(2, b'a warning')")
    isolation._pool.cache_clear()  # a process that was kept writes where it began, and pytest's files were others then
    shelf(ending("words"))
    replay(toy_witness(tmp_path / "w.json"))
    assert capfd.readouterr() == ("to all", "a warning")


def test_a_formula_that_is_too_deep_to_be_sent_is_left_out(tmp_path: Path, shelf: Callable[..., None]) -> None:
    def deep(instance: Any, trial: Trial) -> Any:
        sum = inputs(x=1)
        for _ in range(20_000):
            sum = sum + 1
        yield at_most(sum, 0, "deep")
        yield at_most(inputs(x=1), 0, "flat")

    shelf(replace(claim_result("KJ-E1b").claim, id=TOY, covers=(), corrects=None, function=deep))
    assert [check.low for check in replay(toy_witness(tmp_path / "w.json")).checks] == [-20_001, -1]


KILLED = """
import os, sys
from simopt import recheck
from simopt.cli.main import main
{0}
sys.argv.insert(1, "recheck")
main()
"""


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("end", ["os.abort()", "os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_checker_that_dies_of_a_proof_file_is_one_line(many: bool, end: str, tmp_path: Path) -> None:
    """No file is known that kills it; so it is killed when it sees the name of one."""
    for name in ("bad", "good"):
        (tmp_path / f"{name}.proof.json").write_text(json.dumps(proof_of("KJ-X4")))
    dying = f"real = recheck.read\ndef read(path):\n    if 'bad' in path: {end}\n    return real(path)\nrecheck.read = read"
    asked = tmp_path if many else tmp_path / "bad.proof.json"
    command = [sys.executable, "-c", KILLED.format(dying), str(asked)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and str(tmp_path / "bad.proof.json") in done.stderr
    assert "it cannot be checked" in done.stderr and done.stdout.count("CHECKED") == many


@pytest.mark.parametrize("command", [("replay",), ("recheck",)])
@pytest.mark.parametrize(
    "kind", ["pipe", "folder", "nothing", "link to nothing", "zeros", "bytes", "large", "deep", "text", "empty", "NaN"]
)
def test_what_is_no_file_of_ours_is_one_line(command: tuple[str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.2)
    monkeypatch.setattr(recheck, "PATIENCE", 0.2)
    monkeypatch.setattr(recheck, "LETTERS", 1 << 20)
    monkeypatch.setattr(witness, "EVIDENCE", 1 << 20)
    path = tmp_path / "planted.json"
    contents = {
        "bytes": b"\xff\xfe\x00",
        "large": b"[" + b"1," * (1 << 20),
        "deep": b"[" * 100_000,
        "text": b"x",
        "empty": b"",
        "NaN": b"NaN",
    }
    if kind in contents:
        path.write_bytes(contents[kind])
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind != "nothing":
        path.symlink_to("/dev/zero" if kind == "zeros" else tmp_path / "not there")
    begin = time.process_time()
    result = CliRunner().invoke(app, [*command, str(path)])
    assert time.process_time() - begin < SECONDS
    assert result.exit_code == 2 and result.output.startswith("simopt: ") and result.output.count("\n") == 1
