"""False siblings, which the kernel must refuse.

False statements: one of a proof file, with a constant moved by 1e-30 or the relation turned; or that a refuted claim holds.
"""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

A_LITTLE = Fraction(1, 10**30)  # by which a true statement is changed to a false one


def mutant(document: dict[str, Any]) -> dict[str, Any]:
    """The mutant of a proof file; which statement it takes is told by the digest of the file.

    An equation gets 1e-30 on its right side; a < b becomes b <= a, and a <= b becomes b < a: all three contradict what was proved.
    """
    chosen = int(str(document["digest"])[:8], 16) % len(document["statements"])
    statement = copy.deepcopy(document["statements"][chosen])
    relation, left, right = statement["claim"]
    if relation == "==":
        statement["steps"].append(["+", right, str(A_LITTLE)])
        statement["claim"] = [relation, left, len(statement["steps"]) - 1]
    else:
        statement["claim"] = ["<=" if relation == "<" else "<", right, left]
    return {**document, "statements": [statement]}


def claimed(text: str) -> str:
    """The mutant of a refutation: that the claim holds for the instance, not that it fails."""
    if text.count("~ (") != 1:
        raise ValueError(f"a refutation denies one claim, this one {text.count('~ (')}")
    return text.replace("~ (", "(").replace("(NotLe ", "(Le ").replace("(NotLt ", "(Lt ")
