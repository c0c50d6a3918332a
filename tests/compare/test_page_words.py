"""The words of a comparison's page: whole, in plain terms, in an order that one can search."""

import re
from dataclasses import replace
from typing import Any

import pytest
from made_records import record

pytest.importorskip("jinja2", reason="the page needs jinja2")

from simopt.compare import page, table
from simopt.compare.record import Record


def rendered(*records: Record) -> str:
    return page.render(list(records), complete=True, planned=len(records), unsuitable=[])


def lines(text: str) -> str:
    """The text of a page without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", text))


def test_how_to_read_it_is_not_cut() -> None:
    made = [record("a", 1.0)]
    longest = max(table.notes(made), key=len)
    assert len(longest) > page.CUT and longest.replace("'", "&#39;") in rendered(*made)


def test_what_shows_a_claim_is_in_words() -> None:
    claim: dict[str, Any] = {
        "claimed": "optimal", "claimed_value": -2.5, "claim_tolerance": 1e-8, "claim_gap": 0.1, "claim_residual": 0.25, "claim_bound": -1.5,
        "claim_verdict": "FALSE", "claim_reason": "the value is below -1.5 by 1e-05", "claim_point": '{"x": [-1.0]}',
    }  # fmt: skip
    text = lines(rendered(replace(record("a", 1.0), lower=1.0, upper=2.0, **claim)))
    assert (
        "claimed optimum −2.5; certified: 1 ≤ optimum ≤ 2; largest residual of its own point: 0.25; the bound that contradicts it: −1.5; "
        "the value is below −1.5 by 1e−05; the point that proves it: {&#34;x&#34;: [−1.0]}"
    ) in text
    assert page.signed("a-1 x-2 1e-05 of -3 (-.5) e-7") == "a-1 x-2 1e−05 of −3 (−.5) e-7"
    assert page.bound(-2e-20) == "−2e−20"
    assert "claim residual" not in text and "claim reason" not in text


def test_the_footnote_names_both_conditions() -> None:
    text = lines(rendered(record("a", 1.0)))
    assert "FALSE needs two things." in text and "the residuals of the solver’s own point exceed ten times its tolerance" in text


def test_the_filters_are_in_order() -> None:
    sizes = {1: 250, 2: 7, 3: 4000, 4: 0}
    made = [
        replace(record(name, seconds, size=n), variables=count, problem_class="SDP" if n == 1 else "LP")
        for n, count in sizes.items()
        for name, seconds in (("zeta", 1.0 if n % 2 else 2.0), ("Alpha", None if n == 4 else 1.0 + n % 2))
    ]
    found = dict(page.choices([each for machine in [page._machine("M", made, page.drawings.markers(["zeta", "Alpha"]), True)]
                               for each in machine.instances], False))  # fmt: skip
    assert [value for value, _ in found["variables"]] == ["1–9", "100–999", "1000–9999", "unknown"]
    assert [value for value, _ in found["class"]] == ["LP", "SDP"] and [value for value, _ in found["fastest"]] == ["Alpha", "zeta"]
    assert page._rank("fastest", page.NOBODY) > page._rank("fastest", "zeta")


def test_the_packages_have_the_back_ends_that_ran() -> None:
    made = [replace(record("osqp", 1.0), solver_version="1.0.4"), replace(record("highs", 1.0), solver_version="1.11"),
            replace(record("newton", 1.0), solver_version="0.1.0")]  # fmt: skip
    assert dict(page.about(made))["packages"] == "simopt 0.1.0, osqp 1.0.4, highspy 1.11"


def test_profiles_say_what_their_heights_are() -> None:
    made = [record(name, seconds, size=n) for n in (1, 2) for name, seconds in (("a", 1.0), ("b", 2.0))]
    assert rendered(*made).count(">fraction of the instances</text>") == 1, "without sizes there is no data profile"
    sized = [replace(each, variables=10) for each in made]
    assert rendered(*sized).count(">fraction of the instances</text>") == 2
