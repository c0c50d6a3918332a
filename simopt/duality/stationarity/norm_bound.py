"""A proven bound of ‖z‖² over all feasible points, for the argument z of a term."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from simopt.arithmetic import INTERVAL, Interval
from simopt.duality.graph.programme import Definition, Programme, Term, argument, evaluated
from simopt.duality.graph.vectors import Mask
from simopt.duality.stationarity.implied import implied


class NormBound:
    """An upper bound of ‖Cx + b‖² over the x within the bounds that are declared or implied by rows; ∞ if there is none.

    It is computed in intervals from the present constants and parameters, and cached until one of them changes.

    Parameters
    ----------
    programme : Programme
        with all its bounds read.
    term : Term
        the term with the argument Cx + b.
    content : function
        returns what the bound depends on, in a comparable form.
    """

    def __init__(self, programme: Programme, term: Term, content: Callable[[], Any]) -> None:
        self.programme, self.term, self.content = programme, term, content
        self._known: tuple[Any, float] | None = None

    def __call__(self) -> float:
        now = self.content()
        if self._known is None or self._known[0] != now:
            with np.errstate(all="ignore"):
                self._known = (now, self._bound())
        return self._known[1]

    def _bound(self) -> float:
        programme = self.programme
        nodes = {node.key: node for node in programme.nodes}
        leaves, between, waiting = set(), set(), list(self.term.argument.below)
        while waiting:
            key = waiting.pop()
            if key in programme.leaves:
                leaves.add(key)
            elif key not in between:
                if not isinstance(nodes[key], Definition):  # the values of functions over a box are not enclosed
                    return math.inf
                between.add(key)
                waiting += [below for below in argument(nodes[key]).below if below != key]
        wanted: dict[int, Mask] = {key: np.ones(programme.leaves[key].size, dtype=bool) for key in leaves}
        limits = implied(programme, math.inf, wanted)
        values: dict[int, Any] = {}
        for key in leaves:
            entry_index = programme.leaves[key].entry_index
            low, high = limits[key]
            if entry_index is not None:  # an entry that occurs nowhere has no bounds and does not count
                used = np.isin(np.arange(len(low)), entry_index)
                low, high = np.where(used, low, 0.0), np.where(used, high, 0.0)
            if not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
                return math.inf
            values[key] = Interval.hull(low, high)
        for node in programme.nodes:
            if node.key in between:
                values[node.key] = evaluated(INTERVAL, node, values)[1]
        z = self.term.argument.value(INTERVAL, values)
        bound = float(INTERVAL.upper(INTERVAL.dot(z, z)))
        return bound if math.isfinite(bound) else math.inf
