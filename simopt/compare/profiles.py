"""Performance profiles (Dolan & Moré 2002) and data profiles (Moré & Wild 2009) of the instances of one machine."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simopt.compare.instance_seconds import InstanceSeconds, common
from simopt.compare.statistics import Profile


def performance(instances: Sequence[InstanceSeconds]) -> list[Profile]:
    """ρ_s(τ) = |{p : t_ps ≤ τ min_s′ t_ps′}| / |P| for each solver s, P the instances on which all of these solvers were run."""
    names, block = common(instances)
    return [
        _steps(name, [_over(each.seconds[name], min(each.seconds[other] for other in names)) for each in block], len(instances), first=1.0)
        for name in names
    ]


def data(instances: Sequence[InstanceSeconds]) -> list[Profile]:
    """d_s(α) = |{p : t_ps / (n_p + 1) ≤ α}| / |P| for each solver s: seconds for each of n_p variables in place of evaluations.

    Instances whose number of variables is not known are left out, as those on which not all of the solvers were run.
    """
    names, block = common([each for each in instances if each.variables])
    return [_steps(name, [each.seconds[name] / (each.variables + 1) for each in block], len(instances)) for name in names]


def _over(seconds: float, best: float) -> float:
    if math.isinf(seconds):
        return math.inf
    return 1.0 if seconds == best else seconds / best if best > 0 else math.inf


def _steps(name: str, costs: Sequence[float], instances: int, first: float | None = None) -> Profile:
    """The fraction of costs that are at most x, by its steps; `first` is one where it need not rise."""
    solved = sorted(cost for cost in costs if math.isfinite(cost))
    steps = sorted({*solved, *(() if first is None else (first,))})
    fractions = tuple(sum(cost <= step for cost in solved) / len(costs) for step in steps) if costs else (0.0,) * len(steps)
    return Profile(name, tuple(steps), fractions, len(costs), instances - len(costs))
