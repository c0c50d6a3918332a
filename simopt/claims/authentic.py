"""Whether a proof file is the claim's own: its words and its formulas, compared with those of the catalogue.

`recheck` knows no catalogue: it checks formulas, and prints the words of the file beside them. A file with a proof of 0 ≤ 1 under
the words of a theorem passes there. Here the words are looked up, and the claim is run again for the formulas that belong to them.
"""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from typing import Any

from simopt import recheck
from simopt.claims import catalogue, runner
from simopt.claims.kinds import Scope, Verdict
from simopt.claims.proof import document as written
from simopt.core.errors import UnknownName

SOUGHT = "place", "says", "quantifier"


def compared(document: dict[str, Any]) -> str:
    """One line on what the catalogue says of a proof file.

    Raises
    ------
    recheck.Rejected
        if the words are not those of the claim that the file names, or if it passes for all there is of a claim whose formulas are others.
    """
    row = str(document["row"])
    try:
        claim = catalogue.find(row)
    except UnknownName:
        return f"No catalogue at hand knows {row}: its words are the file's own, compared with nothing."
    if document.get("claim") != claim.id:
        raise recheck.Rejected(f"the file says that {document.get('claim')!r} decides {row}; in the catalogue {claim.id} does")
    found = runner.run(claim)
    result = found.rows[row]
    if result.proof is None or not result.filed:
        _require_wording(document, {"place": f"{claim.paper}, {claim.place}", "says": claim.says, "quantifier": claim.quantifier.value})
        if result.verdict is Verdict.NOT_RUN:
            return f"The words are those of the catalogue; the formulas were not compared: {result.reason}."
        raise recheck.Rejected(f"{row} leaves no proof file: it comes out {result.verdict} ({result.reason or result.evidence})")
    own = written(claim, row, str(result.scope), result.proof, "")
    _require_wording(document, {name: own[name] for name in (*SOUGHT, "scope", "remains")})
    if _stated(document) == _stated(own):
        return "Words and formulas are those of the catalogue."
    if result.scope is Scope.EXHAUSTIVE:
        raise recheck.Rejected(f"the formulas are not those by which the catalogue proves {row}")
    return "The words are those of the catalogue; the formulas are NOT those of quick effort and seed 0: read whether they say the same."


def _require_wording(document: dict[str, Any], own: dict[str, Any]) -> None:
    for name, value in own.items():
        if document.get(name) != value:
            raise recheck.Rejected(f"{name!r} is not what the catalogue says, which is: {value}")


def _stated(document: dict[str, Any]) -> set[str]:
    return {json.dumps(statement, sort_keys=True) for statement in document["statements"]}


def main(paths: list[str]) -> int:
    """Print a line for each proof file that `recheck` has accepted: whether it is the claim's own or rejected, and why."""
    for path in paths:
        try:
            with redirect_stdout(sys.stderr):  # what claims print is no answer
                word, said = "own", compared(recheck.read(path))
        except recheck.Rejected as error:
            word, said = "rejected", str(error)
        sys.stdout.write(f"{word} {' '.join(said.split())}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
