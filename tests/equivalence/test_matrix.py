"""The matrix of all pairs says what the statements say, and no more than it has measured."""

import importlib
import re
from itertools import permutations
from pathlib import Path

import pytest

from simopt.claims.catalogue import claims, comparing
from simopt.core import registry
from simopt.core.errors import Interrupted, UnknownName
from simopt.equivalence.equivalence import Answer
from simopt.equivalence.matrix import Relation, matrix

STRONG, SIZE, WEAK, NO, APART = Relation.STRONG, Relation.SAME_SIZE, Relation.WEAK, Relation.NO, Relation.APART
NAMES = [
    "kernel-ridge",
    "kernel-ridge-over-n",
    "m-power-rls",
    "kernel-ridge-ball",
    "mean-penalised",
    "mean-ball",
    "mmd-witness",
    "kernel-density",
]
TRUTH = {
    ("kernel-ridge", "kernel-ridge-over-n"): SIZE,  # Φ = λ|Z|
    ("kernel-ridge", "m-power-rls"): WEAK,  # Proposition 5.1
    ("kernel-ridge", "kernel-ridge-ball"): WEAK,
    ("mean-penalised", "mean-ball"): WEAK,
    ("mean-ball", "mmd-witness"): SIZE,  # on classes of equal size, as those of the samples of one size are
    ("mean-penalised", "kernel-density"): STRONG,
    ("kernel-ridge", "mean-penalised"): NO,
    ("m-power-rls", "mmd-witness"): NO,
}


@pytest.fixture(scope="module")
def result():
    return matrix(NAMES)


@pytest.mark.parametrize(("source", "target"), TRUTH)
def test_an_entry_says_what_the_statement_says(result, source, target):
    for one, two in ((source, target), (target, source)):
        pair = result.entry(one, two)
        assert pair.relation is TRUTH[source, target], pair
        assert (pair.reason == "") == (pair.relation is STRONG)
        assert pair.kind is not None and 1 <= len(pair.parameters) <= 2


def test_processes_measure_the_same_and_every_step_is_told(result):
    told = []
    assert matrix(NAMES, jobs=2, progress=lambda *step: told.append(step)) == result
    wanted = len(result.pairs) + len(result.claims)
    assert [(done, of) for done, of, _ in told] == [(i + 1, wanted) for i in range(wanted)]
    assert [text.partition(":")[0] for *_, text in told[len(result.pairs) :]] == [claim.name for claim in result.claims]


def test_every_registered_family_is_measured_by_default():
    """Stopped after the first pair, which names how many there are to be."""

    def stop(done, wanted, text):
        counts.append(wanted)
        raise KeyboardInterrupt

    counts = []
    with pytest.raises(Interrupted) as caught:
        matrix(progress=stop)
    names, equivalences = registry.names("family"), registry.names("equivalence")
    assert caught.value.done.names == tuple(names) and counts == [len(names) * (len(names) - 1) + len(equivalences)]


def test_every_pair_is_there_once(result):
    assert len(result.pairs) == len(NAMES) * (len(NAMES) - 1) == len({(pair.source, pair.target) for pair in result.pairs})
    assert [name for name, _ in result.rows()] == NAMES
    assert all(row[i] == "=" for i, (_, row) in enumerate(result.rows()))


def test_the_equivalences_between_them_are_measured_on_their_own_intervals(result):
    measured = {claim.name: claim for claim in result.claims}
    assert measured["m-power-rls-to-kernel-ridge"].answer is Answer.HOLDS
    assert measured["tikhonov-to-ivanov"].between == ("kernel-ridge", "kernel-ridge-ball")
    assert "Proposition 5.1" in measured["m-power-rls-to-kernel-ridge"].source
    assert "landmarked-svr-tikhonov-to-ivanov" not in measured


def test_the_text_has_all_of_it(result):
    text = str(result)
    assert all(name in text for name in (*NAMES, *(claim.name for claim in result.claims)))
    assert "size" in text and "strong" in text and "weak" in text and "no" in text


@pytest.fixture
def pages(monkeypatch):
    """The generators of the page of equivalences and of the verdict table."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "docs"))
    return importlib.import_module("equivalences"), importlib.import_module("tables")


def rows(ids):
    """A record of a run, of which every verdict is another word than the expected one."""
    keys = ("status", "evidence", "scope", "where", "computed", "remains", "remark", "worst_slack", "tightness")
    return [{"id": name, "place": "", "verdict": f"FOUND {name}", "checks": 1, "rows": {}, **dict.fromkeys(keys)} for name in ids]


def test_the_page_has_all_of_it(result, pages):
    page, _ = pages
    text = page.page(result, page.Spoken(comparing(), {}), "today")
    assert all(f"`{name}`" in text for name in NAMES)
    assert "[Proposition 5.1" in text and "](methods/power_rls.md)" in text
    assert text.count("\n| `") >= len(result.pairs) + len(result.claims)


def test_the_record_that_the_page_is_made_of_says_the_same(result, pages):
    page, _ = pages
    kept, measured = page.recorded()
    assert {*kept.names} == {*registry.names("family")} and (kept.samples, kept.resolution) == (result.samples, result.resolution)
    assert [(pair.source, pair.target) for pair in kept.pairs] == [*permutations(kept.names, 2)] and measured
    for pair in result.pairs:
        again = kept.entry(pair.source, pair.target)
        assert (again.relation, again.kind) == (pair.relation, pair.kind)
        assert again.parameters == pytest.approx(pair.parameters, rel=1e-12)  # ends of domains are of another machine's sums
    assert {claim.name: claim.answer for claim in kept.claims}.items() >= {claim.name: claim.answer for claim in result.claims}.items()


def test_a_record_that_lacks_a_family_is_refused(pages, monkeypatch):
    page, _ = pages
    monkeypatch.setattr(registry, "names", lambda kind: ["kernel-ridge"] if kind == "family" else [])
    with pytest.raises(SystemExit, match="came or went; python docs/equivalences.py --measure"):
        page.recorded()


def test_a_pair_that_a_paper_speaks_of_is_linked_to_the_rows_of_its_claims(result, pages):
    page, table = pages
    record = rows(row for claim in claims() for row in claim.rows)
    spoken = page.Spoken(comparing(), {row["id"]: row["verdict"] for row in record})
    text = page.page(result, spoken, "today")
    verdicts = table.markdown.verdict_table(record, table.labelled)
    labels = re.findall(r"\{#([a-z0-9-]+)\}", verdicts) + re.findall(r"^\(([a-z0-9-]+)\)=$", text, re.M)
    assert len(labels) == len(set(labels)) == len(record) + len(comparing())
    named = re.findall(r"\[([^\]]*)\]\(#(claim-[a-z0-9-]+)\)", text)
    assert {name for _, name in named} <= set(labels)
    assert all(f"[{name}]{{#{where}}}" in verdicts for name, where in named)  # the row that is linked is that of the id
    assert {name for _, name in named} == {table.markdown.label(claim.id) for said in comparing().values() for claim in said}
    for source, target in TRUTH:
        line = next(line for line in text.splitlines() if line.startswith(f"| `{source}` | `{target}` | "))
        for claim in comparing().get(frozenset((source, target)), ()):
            assert f"{page.linked(claim)} FOUND {claim.id}" in line
    assert f"[no](#{page.pair_label(frozenset(('hinge-svm', 'hinge-svm-hull')))})" not in text  # neither is in this matrix
    assert f"[weak](#{page.pair_label(frozenset(('kernel-ridge', 'm-power-rls')))})" in text
    assert all(f"](#{name})" in text for name in labels if name.startswith("pair-kernel-ridge"))


def test_without_a_record_no_verdict_is_said(result, pages):
    page, _ = pages
    text = page.page(result, page.Spoken(comparing(), {}), "today")
    for said in comparing().values():
        for claim in said:
            assert re.search(rf"{re.escape(page.linked(claim))} (\| [^|]* \| )?not run, expected {claim.expected.value}", text), claim.id


def test_what_claims_compare_is_registered():
    registry.load()
    assert all(registry.has("family", name) for pair in comparing() for name in pair)
    assert {frozenset(("m-power-rls", "kernel-ridge")), frozenset(("hinge-svm", "hinge-svm-hull"))} <= comparing().keys()


def test_a_correction_compares_what_the_claim_that_it_corrects_does():
    by_id = {claim.id: claim for claim in claims()}
    for pair, said in comparing().items():
        assert all(claim.pairs or pair in by_id[claim.corrects].pairs for claim in said)
    assert "AK-P5.1+" in {claim.id for claim in comparing()[frozenset(("m-power-rls", "kernel-ridge"))]}


def test_families_on_different_targets_are_kept_apart():
    found = matrix(["mean-ball", "kernel-ridge"])
    assert found.entry("mean-ball", "kernel-ridge").kind == "labels"


def test_an_unknown_name_is_refused():
    with pytest.raises(UnknownName, match="kernel-ridge"):
        matrix(["kernel-rigde", "m-power-rls"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_hands_over_what_was_measured(jobs):
    def stop(done, wanted, text):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        matrix(NAMES[:3], jobs=jobs, progress=stop)
    assert len(caught.value.done.pairs) == 2 and len({pair.source for pair in caught.value.done.pairs}) == 1
    assert "?" in {cell for _, row in caught.value.done.rows() for cell in row}
