"""The record of a run of all claims of `toy_paper`, and the report that is written from it."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # so that toy_paper and headless can be imported

import toy_paper

from simopt import report
from simopt.claims.verification import Record, verify
from simopt.core import registry


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, Path]:
    """A record of the whole toy catalogue and the folder with its report."""
    folder = tmp_path_factory.mktemp("report")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "load", lambda *groups: None)
        patch.setitem(registry._entries, "claim", {claim.id: claim for claim in toy_paper.claims()})
        record = verify(jobs=1, evidence_dir=folder / "evidence")
        report.write(record, folder / "out")
    return record, folder / "out"
