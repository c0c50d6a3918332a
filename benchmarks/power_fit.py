"""One M-power RLS fit against scikit-learn's KernelRidge(kernel="precomputed") on the same Gram matrix."""

from __future__ import annotations

import statistics
import warnings

from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met

from simopt.solvers.power.single_fit import power_fit


def main() -> None:
    """n = 2000 and 4000, Gaussian kernels in 2, 5 and 20 dimensions, m = 1.5 and 3, λ = 1e-2 … 1e-8."""
    from sklearn.kernel_ridge import KernelRidge

    options = arguments(__doc__ or "")
    warnings.simplefilter("ignore")  # the peer warns of ill-conditioning at λ = 1e-8
    table = Table("M-power RLS fit against KernelRidge.fit", "n, dimension, m, λ")
    ratios, gaps = [], []
    for n in (300,) if options.quick else (2000, 4000):
        for dimension in (2, 5, 20):
            gram, y = gaussian_problem(n, dimension)
            for m in (1.5, 3.0):
                for lam in (1e-2, 1e-4, 1e-6, 1e-8):
                    fit = power_fit(gram, y, lam, m)
                    result = interleave(
                        lambda gram=gram, y=y, lam=lam, m=m: power_fit(gram, y, lam, m),
                        lambda gram=gram, y=y, lam=lam: KernelRidge(alpha=y.size * lam, kernel="precomputed").fit(gram, y),
                        pairs=2 if options.quick else PAIRS,
                    )
                    over = fit.bracket.gap_over_upper
                    note = f"{fit.method} {fit.steps}, gap/|upper| {over:.0e}"
                    table.add(f"{n}, {dimension}, {m:g}, {lam:.0e}", result, note, gap_over_upper=over)
                    ratios.append(result.ratio)
                    if lam >= 1e-6:
                        gaps.append(over)
    table.close(
        options,
        f"median ratio {met(statistics.median(ratios), 0.65)}; largest {met(max(ratios), 0.95)}; "
        f"largest gap at λ ≥ 1e-6 {met(max(gaps), 1e-8)}",
    )


if __name__ == "__main__":
    main()
