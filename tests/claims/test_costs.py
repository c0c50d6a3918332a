"""The file of measured costs: written anew from a run, it keeps what the run did not measure and drops what is no claim of ours."""

from pathlib import Path

import pytest

from simopt.claims import costs
from simopt.claims.catalogue import claims
from simopt.core import jsonio


def test_a_run_replaces_what_it_measured_and_keeps_the_rest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = sorted(claim.id for claim in claims() if claim.module.startswith("simopt.theorems."))
    kept, measured, quick, absent = ours[:4]
    file, timings = tmp_path / "costs.json", tmp_path / "timings.json"
    jsonio.write(file, {kept: 7.0, measured: 1.0, "no claim": 3.0})
    jsonio.write(timings, {measured: 2.3456, quick: 1e-4})
    monkeypatch.setattr(costs, "_file", lambda: file)
    costs._measured.cache_clear()
    try:
        costs.main(str(timings))
    finally:
        costs._measured.cache_clear()
    assert jsonio.read(file) == {kept: 7.0, measured: 2.3, quick: costs.LEAST} and absent not in jsonio.read(file)
