"""Whether the claims that a run left out are those on data that the repository may not carry: `python not_run.py VERDICTS.json`.

With `--none` behind it: whether it left out none, as with all data.
"""

import json
import sys
from pathlib import Path

from simopt.claims import catalogue
from simopt.data.datasets import describe

rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
left_out = {row["id"] for row in rows if row["verdict"] == "NOT_RUN"}
declared = {row["id"]: catalogue.find(row["id"]).datasets for row in rows}
wanting = {name for name, sets in declared.items() if "--none" not in sys.argv and any(not describe(each).carried for each in sets)}
print(f"not run, for want of data: {', '.join(sorted(left_out)) or 'none'}")
if left_out != wanting:
    sys.exit(f"expected: {', '.join(sorted(wanting)) or 'none'}")
