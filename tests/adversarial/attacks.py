"""The classes of attack: which tests make one, and how many cases the issue that asked for them had tried."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Class:
    """Tests, each a file with or without a pattern of names; the first class that has a test gets its cases."""

    name: str
    tests: tuple[str, ...]
    least: int | None = None
    """cases that there must be at least"""

    def has(self, file: str, test: str) -> bool:
        """Whether a test of a file belongs to it."""
        return any(re.fullmatch(f"{each}(::.*)?" if "::" not in each else each, f"{file}::{test}") for each in self.tests)


CLASSES = (
    Class("values that are no real numbers, or not of that shape, at every public function", ("test_entry_points",), 10_900),
    Class("malformed answers of OpenML", ("test_downloads::test_(lists|descriptions|tables)_that_are_(none|not_the_one_described).*",), 11),
    Class("broken archives", ("test_downloads::test_archives_that_are_broken.*",), 5),
    Class("other bad downloads: answers, redirects, certificates, caches", ("test_downloads",), 20),
    Class("tables and data files of one's own", ("test_data_files",)),
    Class(
        "records, runs and tables of comparisons from elsewhere, saved objects",
        ("test_records", "test_damaged_runs", "test_damaged_records"),
        44,
    ),
    Class("damaged witnesses and proof files", ("test_damaged_evidence", "test_damaged_certificates"), 195),
    Class("files of problems: MPS, QPS, CBF and LP", ("test_hostile_files",), 300),
    Class("bytes that a fuzzer makes, in every format", ("test_fuzz", "test_fuzzed_data")),
    Class("injections into pages, tables and pictures", ("test_injection", "test_streams::test_markdown_shows.*"), 100),
    Class(
        "words that a terminal would obey",
        ("test_streams::test_(no_terminal_obeys|whatever_cannot_be_said|colours_of_ours|names_as_utf8|errors_are_one_line).*",),
    ),
    Class("comparisons killed at random", ("test_random_kills::.*comparison.*",), 7),
    Class("other random kills: workers, `verify --jobs 2`", ("test_random_kills",)),
    Class("broken solvers in a comparison", ("test_broken_solvers",), 16),
    Class("solvers that lie", ("test_lying_solvers",)),
    Class("claims and solvers that end their process", ("test_dying_work",)),
    Class("ends of the parent, with what it started still busy", ("test_orphans",)),
    Class("full and read-only disks, planted links", ("test_full_disks", "test_writing")),
    Class("caches of kernels: old, damaged, full, read-only, no home", ("test_kernel_cache",)),
    Class("standard streams that are closed, full or broken", ("test_streams",)),
    Class("modules planted in the working folder, plug-ins that steal names", ("test_planted_modules", "test_plug_ins")),
    Class("threads (8 at each back end) and pools of processes", ("test_threads",)),
    Class("clocks that are set back, folders that two want", ("test_clock_and_lock",)),
)
NONE = ("test_security_page", "test_attacks")  # they attack nothing


def class_of(file: str, test: str) -> Class | None:
    """The class of a test.

    Raises
    ------
    LookupError
        for a test that is in none, so that none is forgotten.
    """
    if file in NONE:
        return None
    found = next((each for each in CLASSES if each.has(file, test)), None)
    if found is None:
        raise LookupError(f"{file}::{test}: give it a class in tests/adversarial/attacks.py")
    return found


@dataclass
class Count:
    """What a run made of a class."""

    cases: int = 0
    failures: int = 0
    skipped: int = 0


def counts(results: Iterable[tuple[str, str, str, int]]) -> dict[Class, Count]:
    """Of results, each a file, a test, "passed", "failed" or "skipped", and its cases; a test that fails counts as one failure."""
    found = {each: Count() for each in CLASSES}
    for file, test, outcome, cases in results:
        kind = class_of(file, test)
        if kind is None:
            continue
        count = found[kind]
        count.cases += cases if outcome != "skipped" else 0
        count.failures += outcome == "failed"
        count.skipped += outcome == "skipped"
    return found
