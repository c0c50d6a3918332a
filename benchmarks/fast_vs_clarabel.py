"""The hand-written solver of M-power RLS against its CVXPY declaration solved by CLARABEL."""

from __future__ import annotations

import statistics

from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met

from simopt.problems.m_power_rls import MPowerRLS, PowerPenalty
from simopt.solvers.power.solvers import secular
from simopt.solving.entry_points import certify


def clarabel(problem: MPowerRLS) -> float:
    """Declare, canonicalise and solve; the factor of the Gram matrix is computed before and not charged."""
    declaration = problem.declare()
    declaration.solve(solver="CLARABEL", warm_start=False)
    return float(declaration.value)


def main() -> None:
    """n = 400, Gaussian kernel in 5 dimensions, m = 1.1 … 4, λ = 1e-3."""
    options = arguments(__doc__ or "")
    table = Table("secular against CVXPY with CLARABEL", "n, m, λ")
    ratios = []
    n = 100 if options.quick else 400
    gram, y = gaussian_problem(n, 5)
    for m in (1.1, 1.5, 3.0, 4.0):
        problem = MPowerRLS(gram, y, PowerPenalty(1e-3, m))
        iterate = next(iter(secular(problem, tol=1e-8)))
        judged = certify(problem, iterate.point, iterate.multipliers)
        excess = clarabel(problem) - judged.upper
        result = interleave(
            lambda problem=problem: list(secular(problem, tol=1e-8)),
            lambda problem=problem: clarabel(problem),
            pairs=2 if options.quick else PAIRS,
        )
        note = f"gap/scale {judged.relative_gap:.0e}; CLARABEL's value is {excess:+.0e} from ours"
        table.add(f"{n}, {m:g}, 1e-3", result, note, relative_gap=judged.relative_gap, excess=excess)
        ratios.append(result.ratio)
    table.close(options, f"median ratio {met(statistics.median(ratios), 0.03)}; largest {max(ratios):.3g}")


if __name__ == "__main__":
    main()
