"""The table of attacks counts what was run, and every test of an attack has a class."""

import re
from pathlib import Path

import pytest
from attacks import CLASSES, NONE, class_of, counts
from counted import case, taken

HERE = Path(__file__).parent


def test_every_file_of_attacks_has_a_class_and_every_class_a_file() -> None:
    files = {path.stem for path in HERE.glob("test_*.py")}
    for file in files - set(NONE):
        tests = re.findall(r"^def (test_\w+)", (HERE / f"{file}.py").read_text(encoding="utf-8"), flags=re.M)
        assert tests and all(class_of(file, test) for test in tests)
    assert {pattern.partition("::")[0] for kind in CLASSES for pattern in kind.tests} | set(NONE) == files


def test_a_file_without_a_class_is_told() -> None:
    with pytest.raises(LookupError, match="test_new::test_it: give it a class"):
        class_of("test_new", "test_it")


def test_cases_and_failures_are_added_up() -> None:
    found = counts([
        ("test_downloads", "test_archives_that_are_broken[empty]", "passed", 1),
        ("test_downloads", "test_archives_that_are_broken[half]", "failed", 3),
        ("test_downloads", "test_lists_that_are_none[null]", "passed", 1),
        ("test_downloads", "test_mirrors_speak_https[ftp]", "skipped", 1),
        ("test_security_page", "test_the_page_has_no_other_limits", "failed", 1),
    ])  # fmt: skip
    made = {kind.name: (count.cases, count.failures, count.skipped) for kind, count in found.items() if count.cases or count.skipped}
    assert made == {
        "broken archives": (4, 1, 0),
        "malformed answers of OpenML": (1, 0, 0),
        "other bad downloads: answers, redirects, certificates, caches": (0, 0, 1),
    }


def test_each_test_has_its_own_count(request: pytest.FixtureRequest) -> None:
    case(), case(5)
    assert taken() == 6 and taken() == 0
    assert not any(name == "cases" for name, _ in request.node.user_properties), "it is written down when the test is over"
