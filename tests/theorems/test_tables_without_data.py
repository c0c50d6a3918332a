"""Tables whose data are not here: every row says so, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import simopt.claims.reproduction
from simopt.theorems.kj.experiments import bin_counts, landmark_curves, ordinal_curves, table1a, table1b
from simopt.theorems.kkks import table1

KAR_JAIN = ("kj-table1a", "kj-figure1a", "kj-figure2ab", "kj-table1b", "kj-figure1b", "kj-figure2cd")
TABLES = (*KAR_JAIN, "kkks-table1", "kkks-table2", "kkks-figure2")
KEPT = (  # what rows share is computed once in a process
    *(table1a.measured, table1a.baselines, landmark_curves.curves),
    *(table1b.measured, table1b.constants, ordinal_curves.curves, bin_counts.misfits),
    table1.measured,
)


@pytest.mark.parametrize("name", TABLES)
def test_rows_whose_data_are_missing_say_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path / "nowhere"))
    for function in KEPT:
        function.cache_clear()
    done = simopt.claims.reproduction.reproduce(name)
    assert done.complete
    assert all(row.not_run and "name the one that holds" in row.not_run and ".csv.gz" in row.not_run for row in done.rows)
