"""A 100 × 30 grid of (λ, m) as a share of the one eigendecomposition that it needs."""

from __future__ import annotations

import numpy as np
from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met

from simopt.solvers.power.grid import spectral_grid
from simopt.solvers.squares.spectrum import decompose


def main() -> None:
    """n = 500 and 2000, Gaussian kernels in 2, 5 and 20 dimensions."""
    options = arguments(__doc__ or "")
    table = Table("3000 pairs (λ, m) against one eigendecomposition", "n, dimension")
    lam, powers = np.logspace(-8, 2, 100), np.linspace(1.1, 4.0, 30)
    shares, milliseconds = [], []
    for n in (200,) if options.quick else (500, 2000):
        for dimension in (2, 5, 20):
            gram, y = gaussian_problem(n, dimension)
            system = decompose(gram, y)
            seen = system.spectrum
            grid = spectral_grid(seen, lam, powers)
            result = interleave(
                lambda seen=seen: spectral_grid(seen, lam, powers),
                lambda gram=gram, y=y: decompose(gram, y),
                pairs=2 if options.quick else PAIRS,
            )
            worst = float(np.max(grid.gap / grid.objective))
            note = f"{seen.values.size} eigenvalues count, {grid.evaluations.mean():.2f} evaluations a pair, gap/|upper| ≤ {worst:.0e}"
            table.add(f"{n}, {dimension}", result, note, evaluations=float(grid.evaluations.mean()), gap_over_upper=worst)
            if n >= 2000:
                shares.append(result.ratio)
            else:
                milliseconds.append(1e3 * result.ours.median)
    summary = f"milliseconds at the smaller n {met(max(milliseconds), 15.0)}"
    table.close(options, (f"share at n = 2000 {met(max(shares), 0.03)}; " if shares else "") + summary)


if __name__ == "__main__":
    main()
