"""A claim that is not well formed is refused when it is registered, with a message that says what would be right."""

import re

import pytest

from simopt.claims import (
    AUDIFFREN_KADRI,
    HOLDS,
    INEQUALITY,
    Defect,
    Expected,
    InvalidClaim,
    Kind,
    Quantifier,
    claim,
    claims,
    find,
    list_claims,
    select,
)
from simopt.claims.kinds import ProofStatus, Verdict
from simopt.core import registry
from simopt.core.errors import UnknownName

FIELDS = ["id", "covers", "paper", "section", "place", "kind", "expected", "corrects", "defect"]


def nothing(instance, trial):
    yield from ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "inequalty"}, "kind must be one of definition, identity"),
        ({"expected": "TRUE"}, "expected must be one of HOLDS"),
        ({"paper": "ak"}, "paper must be a Paper"),
        ({"expected": Expected.REFUTED, "defect": None}, "needs defect="),
        ({"defect": Defect.TYPO}, "belongs to expected=REFUTED"),
        ({"mutants": {}}, "mutants= is missing"),
        ({"mutants": {"d": {"d": 1}}}, "changes 'd'; the knobs are ['c']"),
        ({"mutants": {"same": {"c": 1}}}, "changes nothing"),
        ({"mutants": {}, "no_mutant": "hard"}, "accepted only for"),
        ({"expected": Expected.OPEN}, "needs a note"),
        ({"expected": Expected.OPEN, "kind": Kind.IDENTITY, "note": "x"}, "never allowed"),
        ({"expected": Expected.OPEN, "kind": Kind.RATE, "note": "x"}, "last= is the verdict"),
        ({"last": Verdict.HOLDS}, "last= is the verdict"),
        ({"says": "There is a constant C with x ≤ C.", "expected": Expected.REFUTED}, "says that something exists"),
        (
            {
                "says": "There is a universal constant C ≤ 10 such that log(2m)/m ≤ C/√m for all m ≥ 1.",
                "expected": Expected.REFUTED,
            },
            "says that something exists",
        ),
        ({"says": "x ≤ C for some C ≤ 10.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "x ≤ C, with C a suitable constant.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "x ≲ 1/n.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "The error tends to 0.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "The error is O(1/n).", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "x → 0 as n → ∞.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"says": "A minimiser exists.", "expected": Expected.REFUTED}, "says that something exists"),
        ({"constants": ("C",)}, "needs defeats="),
        ({"constants": ("C",), "defeats": "x = C + 1", "quantifier": Quantifier.SOME}, "belong to quantifier=ALL"),
        ({"constants": ("C",), "defeats": "trust me"}, "says nothing of how"),
        ({"constants": ("C",), "defeats": "x_1 of example.py, in the limit"}, "says nothing of how"),
        ({"status": ProofStatus.GAP}, "needs a note"),
        ({"status": ProofStatus.PROVED, "note": "x"}, "no proof of TOY-1 is known"),
        ({"status": {"TOY-2": ProofStatus.OPEN}, "note": "x"}, "'TOY-2'; the rows are TOY-1"),
        ({"dimension": 2}, "decode and dimension come together"),
        ({"says": " "}, "says must be written out"),
        ({"covers": ("TOY-1",)}, "more than once"),
        ({"corrects": "TOY-1"}, "must name another claim"),
        ({"compares": ("kernel-ridge",)}, "compares= has pairs of registered families"),
        ({"compares": ("kernel-ridge ~ kernel-ridge",)}, "got 'kernel-ridge ~ kernel-ridge'"),
        ({"compares": ("a ~ b", "a ~ ")}, "got 'a ~ b', 'a ~ '"),
        ({"quantifier": "MOST"}, "quantifier must be one of ALL, SOME"),
        ({"resolution": -1.0}, "resolution"),
    ],
)
def test_malformed_claims_are_refused(make, fields, message):
    with pytest.raises(InvalidClaim, match=re.escape(message)):
        make(nothing, **fields)


def test_definitions_may_give_a_reason_instead_of_a_mutant(make):
    assert make(nothing, kind=Kind.DEFINITION, no_mutant="a definition cannot be false").no_mutant


def test_duplicate_ids_name_both_modules(monkeypatch):
    monkeypatch.setitem(registry._entries, "claim", {})
    monkeypatch.setattr(registry, "_modules", {})
    header = {"paper": AUDIFFREN_KADRI, "place": "p", "kind": INEQUALITY, "expected": HOLDS, "says": "s", "instances": lambda t: ()}
    header |= {"knobs": {"c": 1}, "mutants": {"m": {"c": 2}}}

    def another(instance, trial):
        yield from ()

    another.__module__ = "elsewhere.claims"
    claim("TOY-DUP", **header)(nothing)
    with pytest.raises(registry.DuplicateName, match=rf"{__name__}.*elsewhere\.claims"):
        claim("TOY-DUP", **header)(another)


def test_links_between_claims_are_checked(make, shelf):
    refuted = make(nothing, id="TOY-R", expected=Expected.REFUTED)
    shelf(refuted, make(nothing, id="TOY-R+", corrects="TOY-R"))
    assert {"TOY-R"} == {each.corrects for each in claims() if each.corrects}
    shelf(refuted, make(nothing, id="TOY-S+", corrects="TOY-S"))
    with pytest.raises(InvalidClaim, match=r"TOY-S\+.*corrects.*'TOY-S'"):
        claims()
    shelf(make(nothing, id="TOY-H"), make(nothing, id="TOY-H+", corrects="TOY-H"))
    with pytest.raises(InvalidClaim, match="expected to come out HOLDS"):
        claims()
    shelf(make(nothing, id="TOY-A", covers=("TOY-C",)), make(nothing, id="TOY-B", covers=("TOY-C",)))
    with pytest.raises(InvalidClaim, match=r"TOY-C is decided twice.*TOY-A.*TOY-B"):
        claims()


def test_selection_by_id_row_paper_and_section(make, shelf):
    one, two = make(nothing, id="TOY-1", covers=("TOY-1b",)), make(nothing, id="TOY-2", section="appendix")
    shelf(one, two)
    assert select() == [one, two] and select(["ak"]) == [one, two]
    assert select(["toy-1B"]) == [one] and select(["TOY-2", "TOY-2"]) == [two]
    assert select(["ak"], section="Appendix") == [two] and find("toy-2") is two
    assert select(["kj"]) == []
    with pytest.raises(UnknownName, match="did you mean 'TOY-2'"):
        select(["TOY2"])
    with pytest.raises(UnknownName, match="did you mean 'appendix'"):
        select(section="apendix")


def test_list_shows_the_fields_that_the_catalogue_tool_reads(make, shelf):
    shelf(make(nothing, covers=("TOY-1b",), quantifier=Quantifier.SOME))
    (entry,) = list_claims()
    assert list(entry) == FIELDS and entry["covers"] == ["TOY-1b"] and entry["paper"] == "ak" and entry["defect"] is None
