"""Whether the claims that a run left out are those that want a data set that is not here: `python not_run.py VERDICTS.json`."""

import json
import sys
from pathlib import Path

from simopt.claims import catalogue, runner
from simopt.errors import MissingDataset


def wants_data(name: str) -> bool:
    """Whether a claim needs a data set that is not here."""
    try:
        runner.require(catalogue.find(name))
    except MissingDataset:
        return True
    return False


rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
left_out = {row["id"] for row in rows if row["verdict"] == "NOT_RUN"}
wanting = {row["id"] for row in rows if wants_data(row["id"])}
print(f"not run, for want of data: {', '.join(sorted(left_out)) or 'none'}")
if left_out != wanting:
    sys.exit(f"expected: {', '.join(sorted(wanting)) or 'none'}")
