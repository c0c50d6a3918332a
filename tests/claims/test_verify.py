"""The program `verify` as a library: rows, events, evidence files, workers, interrupts."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from simopt.claims import REFUTED, Kind, Quantifier, at_least, at_most, inputs
from simopt.claims.verification import longest_first, summary, verify
from simopt.core.errors import NotAvailable, UnknownName

FIELDS = ["id", "covers", "paper", "section", "place", "kind", "expected", "corrects", "defect", "verdict", "evidence", "scope", "checks"]
FIELDS += ["worst_slack", "tightness", "seconds", "seeds", "witness", "proof"]

TOYS = """
import os
import time
from simopt.claims import AUDIFFREN_KADRI, HOLDS, INEQUALITY, at_most, claim

def header(name, cost):
    return dict(id=name, paper=AUDIFFREN_KADRI, place="p", kind=INEQUALITY, expected=HOLDS, says="s", cost=cost,
                instances=lambda trial: iter([{"x": 1}]), knobs={"c": 1}, mutants={"c = 3": {"c": 3}})

for number in range(4):
    @claim(**header(f"TOY-Q{number}", 9))
    def quick(instance, trial):
        yield at_most(trial["c"] * instance["x"], 2)

@claim(**header("TOY-SLOW", 1))
def slow(instance, trial):
    with open(os.environ["TOY_BEGUN"], "w") as fifo:
        fifo.write("begun")
    time.sleep(600)
    yield at_most(instance["x"], 2)
"""


def test_rows_have_the_fields_asked_for_and_the_record_is_plain_json(make, shelf, tmp_path):
    def unavailable(instance, trial):
        raise NotAvailable("not here")
        yield

    shelf(
        make(lambda i, t: iter([at_most(inputs(x=i["x"]), 5)]), id="TOY-P", exhaustive=True),
        make(lambda i, t: iter([at_most(i["x"], 3), at_most(i["x"], 4, row="TOY-R2")]), id="TOY-R", covers=("TOY-R2",), expected=REFUTED),
        make(unavailable, id="TOY-N"),
        make(lambda i, t: iter([at_most(0.0, float("inf"))]), id="TOY-INF"),
        make(lambda i, t: iter([at_least(inputs(x=i["x"]), 5)]), id="TOY-S", quantifier=Quantifier.SOME, kind=Kind.EXISTENCE),
    )
    events = []
    record = verify(jobs=1, evidence_dir=tmp_path, on_event=events.append)
    assert record.exit_ok and record.counts() == {"PROVED": 2, "HOLDS": 1, "REFUTED": 1, "NOT_RUN": 1}
    text = json.dumps(record.to_json(), allow_nan=False)
    rows = {row["id"]: row for row in json.loads(text)}
    assert all(field in row for row in rows.values() for field in FIELDS)
    assert rows["TOY-INF"]["worst_slack"] is None and rows["TOY-N"]["reason"] == "not here"
    covered = rows["TOY-R"]["rows"]["TOY-R2"]
    assert covered["verdict"] == "REFUTED" and covered["worst_slack"] == -1 and Path(covered["witness"]).exists()
    assert Path(rows["TOY-P"]["proof"]).exists() and Path(rows["TOY-S"]["witness"]).exists()
    assert [event["event"] for event in events] == ["start", *["row"] * 5, "end"]
    assert sorted(json.loads((tmp_path / "seconds.json").read_text())) == sorted(rows)
    assert not list(tmp_path.glob("*.part"))
    assert [summary(rows[name]) for name in ("TOY-P", "TOY-R", "TOY-N", "TOY-INF")] == [
        "PROVED (exact, exhaustive)",
        "REFUTED (exact, constant, witness)",
        "NOT_RUN (not here)",
        "HOLDS (float, 5 instances)",
    ]


def test_an_unexpected_verdict_or_an_uncaught_mutant_fails_the_run(make, shelf):
    fine = make(lambda i, t: iter([at_most(t["c"] * i["x"], 7)]))
    shelf(fine)
    assert verify(jobs=1, evidence_dir=None, mutants=True).exit_ok
    shelf(fine, make(lambda i, t: iter([at_most(i["x"], 4)]), id="TOY-2"))
    record = verify(jobs=1, evidence_dir=None)
    assert not record.exit_ok and [row["ok"] for row in record.rows] == [True, False] and record.rows[1]["witness"] is None
    shelf(make(lambda i, t: iter([at_most(i["x"], 70)])))
    record = verify(jobs=1, evidence_dir=None, mutants=True)
    assert not record.exit_ok and "stays" in record.rows[0]["mutants"][0]["reason"]


def test_unknown_names_stop_before_anything_runs(make, shelf):
    shelf(make(lambda i, t: iter([at_most(1, 2)])))
    events = []
    with pytest.raises(UnknownName, match="did you mean 'TOY-1'"):
        verify(["TOY1"], on_event=events.append, evidence_dir=None)
    assert events == []


@pytest.mark.parametrize("name", ["audiffren", "Kadri", "equivalnce", "kadri-theorem-1"])
def test_an_author_or_a_word_of_a_title_is_answered_with_the_key_of_the_paper(make, shelf, name):
    shelf(make(lambda i, t: iter([at_most(1, 2)])))
    with pytest.raises(UnknownName, match=f"unknown claim '{name}'; did you mean 'ak' .J. Audiffren and H. Kadri, Equivalence") as caught:
        verify([name], evidence_dir=None)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_longest_claims_come_first_and_damaged_timings_are_ignored(make, tmp_path):
    one, two = make(lambda i, t: iter(()), id="TOY-A", cost=1.0), make(lambda i, t: iter(()), id="TOY-B", cost=2.0)
    assert longest_first([one, two], tmp_path) == [two, one]
    (tmp_path / "seconds.json").write_text('{"TOY-A": 5}')
    assert longest_first([one, two], tmp_path) == [one, two]
    (tmp_path / "seconds.json").write_text("[")
    assert longest_first([one, two], tmp_path) == [two, one]


@pytest.fixture
def toys(tmp_path):
    """A module of claims that worker processes can import."""
    (tmp_path / "toys_for_verify.py").write_text(TOYS)
    os.mkfifo(tmp_path / "begun")
    return dict(os.environ, PYTHONPATH=str(tmp_path), OMP_NUM_THREADS="1", TOY_BEGUN=str(tmp_path / "begun"))


def script(body: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(body)]


def test_workers_find_claims_by_module_and_run_mutants(toys):
    body = """
        import toys_for_verify
        from simopt.core import registry
        registry.load = lambda *groups: None
        from simopt.claims.verification import verify
        record = verify([f"TOY-Q{n}" for n in range(4)], jobs=2, mutants=True, evidence_dir=None)
        print(record.jobs, [row["verdict"] for row in record.rows], record.exit_ok)
    """
    done = subprocess.run(script(body), capture_output=True, text=True, timeout=60, env=toys, check=False)
    assert done.stdout.strip() == "2 ['HOLDS', 'HOLDS', 'HOLDS', 'HOLDS'] True", done.stderr


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_the_rows_that_are_done(toys, jobs):
    body = f"""
        import toys_for_verify
        from simopt.core import registry
        registry.load = lambda *groups: None
        from simopt.claims.verification import verify
        tell = lambda event: print(event["event"], event.get("row", {{}}).get("id", ""), flush=True)
        record = verify(jobs={jobs}, evidence_dir=None, on_event=tell)
        print(record.interrupted, len(record.rows), record.exit_ok, record.selected, flush=True)
    """
    child = subprocess.Popen(script(body), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=toys, start_new_session=True)
    try:
        seen = [child.stdout.readline().split() for _ in range(5)]
        assert Path(toys["TOY_BEGUN"]).read_text() == "begun"  # opens as soon as the slow claim is under way
        os.killpg(child.pid, signal.SIGINT)  # what Ctrl-C on a terminal does: the whole group
        rest, errors = child.communicate()
    finally:
        if child.poll() is None:
            child.kill()
    assert [line[0] for line in seen] == ["start", "row", "row", "row", "row"]
    assert rest.splitlines()[0].strip() == "interrupted" and rest.splitlines()[-1] == "True 4 False 5", errors
