"""Data for the plots of a verdict, collected during the checks: slacks and ratios, the tightest checks, and curves; of bounded size.

Every stride-th check is stored, and the stride doubles whenever there are too many: the stored ones spread evenly over the run and do not
depend on the clock. The tightest checks are stored whatever the stride: those with the least slack, or, for a claim that asks for SOME
instance, with the most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simopt.claims.check import Check, Outcome
from simopt.claims.enclosure import as_float
from simopt.claims.figure import Figure

POINTS = 160  # checks of a distribution
NAMES = 40  # names of checks of which the tightest one is stored
SHOWN = 6  # of these, how many the record shows
FIGURES = 12  # groups of draws, fits and paths
LONGEST = 120  # characters of a name


class Ledger:
    """Running record of one catalogue row."""

    def __init__(self, *, largest_slack: bool = False) -> None:
        self.largest_slack = largest_slack  # for a claim that asks for SOME instance
        self.points: list[tuple[float, float | None]] = []
        self.stride = 1
        self.seen = 0
        self.facts = dict.fromkeys(Outcome, 0)
        self.outcomes = dict.fromkeys(Outcome, 0)
        self.tightest: dict[str, dict[str, Any]] = {}
        self.figures: list[tuple[float, int, Figure]] = []
        self.drawn = 0

    def add(self, check: Check, outcome: Outcome) -> None:
        """Take one more check."""
        if check.boolean:
            self.facts[outcome] += 1
        self.outcomes[outcome] += 1
        slack = as_float(check.low)
        if outcome is not Outcome.VACUOUS:
            self._remember(check, outcome, slack)
        if outcome is Outcome.VACUOUS or check.boolean:
            return
        if self.seen % self.stride == 0:
            self.points.append((slack, check.tightness))
            if len(self.points) > 2 * POINTS:
                self.points = self.points[::2]
                self.stride *= 2
        self.seen += 1
        if check.drawing is not None:
            self._draw(slack, check.drawing)

    def _key(self, slack: float) -> float:
        return -slack if self.largest_slack else slack

    def _remember(self, check: Check, outcome: Outcome, slack: float) -> None:
        name = check.name[:LONGEST]
        known = self.tightest.get(name)
        if known is not None:
            known["times"] += 1
            if self._key(slack) >= self._key(known["slack"]):
                return
        elif len(self.tightest) >= NAMES:
            dull = max(self.tightest, key=lambda each: self._key(self.tightest[each]["slack"]))
            if self._key(slack) >= self._key(self.tightest[dull]["slack"]):
                return
            del self.tightest[dull]
        self.tightest[name] = {
            "name": name,
            "slack": slack,
            "measured": None if check.boolean else check.measured,
            "bound": check.bound,
            "relation": None if check.bound is None else _relation(check),
            "outcome": outcome.value,
            "times": 1 if known is None else known["times"],
        }

    def _draw(self, slack: float, figure: Figure) -> None:
        self.drawn += 1
        self.figures.append((self._key(slack), self.drawn, figure))
        if len(self.figures) > FIGURES:
            self.figures.remove(max(self.figures, key=lambda entry: entry[:2]))

    def document(self) -> dict[str, Any]:
        """The plain data that the record of a run stores."""
        tightest = sorted(self.tightest.values(), key=lambda entry: self._key(entry["slack"]))
        every = 1 + (len(self.points) - 1) // POINTS if self.points else 1
        return {
            "checks": {outcome.value: count for outcome, count in self.outcomes.items() if count},
            "facts": {outcome.value: count for outcome, count in self.facts.items() if count},
            "compared": self.seen,
            "points": [[_short(slack), _short(ratio)] for slack, ratio in self.points[::every]],
            "telling": tightest[:SHOWN],
            "figures": [dict(figure) for _, _, figure in sorted(self.figures, key=lambda entry: entry[1])],
            "drawn": self.drawn,
        }


def pooled(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """One record from those of several seeds; None if there is none."""
    if len(documents) < 2:
        return dict(documents[0]) if documents else None
    points = [point for document in documents for point in document["points"]]
    tightest = {entry["name"]: entry for document in documents for entry in document["telling"]}
    return {
        "checks": _added([document["checks"] for document in documents]),
        "facts": _added([document["facts"] for document in documents]),
        "compared": sum(document["compared"] for document in documents),
        "points": points[:: 1 + (len(points) - 1) // POINTS],
        "telling": list(tightest.values())[:SHOWN],
        "figures": [figure for document in documents for figure in document["figures"]][:FIGURES],
        "drawn": sum(document["drawn"] for document in documents),
    }


def _relation(check: Check) -> str:
    return ("<" if check.strict else "≤") if check.upper else (">" if check.strict else "≥")


def _added(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = dict.fromkeys(name for each in counts for name in each)
    return {name: sum(each.get(name, 0) for each in counts) for name in names}


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
