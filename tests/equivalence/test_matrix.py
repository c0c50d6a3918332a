"""The matrix of all pairs says what the statements say, and no more than it has measured."""

import importlib.util
from pathlib import Path

import pytest

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
def found():
    return matrix(NAMES)


@pytest.mark.parametrize(("source", "target"), TRUTH)
def test_an_entry_says_what_the_statement_says(found, source, target):
    for one, two in ((source, target), (target, source)):
        pair = found.entry(one, two)
        assert pair.relation is TRUTH[source, target], pair
        assert (pair.reason == "") == (pair.relation is STRONG)
        assert pair.kind is not None and 1 <= len(pair.parameters) <= 2


def test_every_pair_is_there_once(found):
    assert len(found.pairs) == len(NAMES) * (len(NAMES) - 1) == len({(pair.source, pair.target) for pair in found.pairs})
    assert [name for name, _ in found.rows()] == NAMES
    assert all(row[i] == "=" for i, (_, row) in enumerate(found.rows()))


def test_the_equivalences_between_them_are_measured_on_their_own_intervals(found):
    measured = {claim.name: claim for claim in found.claims}
    assert measured["m-power-rls-to-kernel-ridge"].answer is Answer.HOLDS
    assert measured["tikhonov-to-ivanov"].between == ("kernel-ridge", "kernel-ridge-ball")
    assert "Proposition 5.1" in measured["m-power-rls-to-kernel-ridge"].source
    assert "landmarked-svr-tikhonov-to-ivanov" not in measured


def test_the_text_has_all_of_it(found):
    text = str(found)
    assert all(name in text for name in (*NAMES, *(claim.name for claim in found.claims)))
    assert "size" in text and "strong" in text and "weak" in text and "no" in text


def test_the_page_has_all_of_it(found, monkeypatch):
    path = Path(__file__).resolve().parents[2] / "docs" / "equivalences.py"
    spec = importlib.util.spec_from_file_location("equivalences_page", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "equivalences_page", module)
    spec.loader.exec_module(module)
    text = module.page(found)
    assert all(f"`{name}`" in text for name in NAMES)
    assert "[Proposition 5.1" in text and "](methods/power_rls.md)" in text
    assert text.count("\n| `") >= len(found.pairs) + len(found.claims)


def test_families_on_different_targets_are_kept_apart():
    found = matrix(["mean-ball", "kernel-ridge"])
    assert found.entry("mean-ball", "kernel-ridge").kind == "labels"


def test_an_unknown_name_is_refused():
    with pytest.raises(UnknownName, match="kernel-ridge"):
        matrix(["kernel-rigde", "m-power-rls"])


def test_an_interrupt_hands_over_what_was_measured():
    def stop(done, wanted, text):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        matrix(NAMES[:3], progress=stop)
    assert len(caught.value.done.pairs) == 2 and caught.value.done.entry(NAMES[2], NAMES[0]) is None
    assert "?" in {cell for _, row in caught.value.done.rows() for cell in row}
