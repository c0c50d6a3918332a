"""Tables whose data are not here: every row says so, and what to do; nothing is fetched."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

import simopt.claims.reproduction
from simopt.core import registry
from simopt.core.errors import MissingDataset
from simopt.data.datasets import loader
from simopt.theorems.kj.experiments import bin_counts, landmark_curves, ohsumed, ordinal_curves, table1a, table1b
from simopt.theorems.kkks import table1

KAR_JAIN = ("kj-table1a", "kj-figure1a", "kj-figure2ab", "kj-table1b", "kj-figure1b", "kj-figure2cd")
TABLES = (*KAR_JAIN, "kkks-table1", "kkks-table2", "kkks-figure2")
CACHED = (  # what rows share is computed once in a process
    *(table1a.measured, table1a.baselines, landmark_curves.curves),
    *(table1b.measured, table1b.constants, ordinal_curves.curves, bin_counts.misfits),
    table1.measured,
    ohsumed.measured,
)
DRAWN = ("rmw-figure2", "kkks-figure1")  # tables that need no data
READ = (*TABLES, "kj-ohsumed", "ak-table1", "ak-figure1", "ak-figure2", "ak-figure3", "rmw-figure1", "rmw-label-noise")


@pytest.mark.parametrize("name", TABLES)
def test_rows_whose_data_are_missing_say_what_to_do(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SIMOPT_DATA", str(tmp_path / "nowhere"))
    for function in CACHED:
        function.cache_clear()
    done = simopt.claims.reproduction.reproduce(name)
    assert done.complete
    assert all(row.not_run and "name the one that holds" in row.not_run and ".csv.gz" in row.not_run for row in done.rows)


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """No set is in any place where sets are looked up; what would reach the network is written down, and fails."""
    calls: list[object] = []

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        calls.append(arguments)
        raise OSError("no network here")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"SIMOPT_{name.upper()}", str(tmp_path / name))
    monkeypatch.setattr(loader, "source_tree", lambda: None)
    for function in CACHED:
        function.cache_clear()
    return calls


def test_every_table_is_among_those_that_are_tried() -> None:
    registry.load("theorems")
    ours = {name for name in registry.names("table") if registry.module_of("table", name).startswith("simopt.theorems.")}
    assert ours == {*DRAWN, *READ}


@pytest.mark.parametrize("name", READ)
def test_nothing_is_fetched_unasked(name: str, requested: list[object]) -> None:
    chosen = simopt.claims.reproduction.find(name)
    rows = [row for row in chosen.rows if row != "Synthetic"]
    try:
        told = [row.not_run for row in simopt.claims.reproduction.compute(chosen, rows=rows)]
    except MissingDataset as error:  # the whole table requires it
        told = [str(error)]
    assert all(text is not None and "not here" in text and ("simopt datasets fetch" in text or "neither" in text) for text in told)
    assert told and requested == []
