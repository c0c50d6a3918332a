"""5-fold cross-validation over a 100 × 30 grid of (λ, m), in units of one eigendecomposition of the whole Gram matrix."""

from __future__ import annotations

import numpy as np
from pairs import PAIRS, Table, arguments, gaussian_problem, interleave, met

from simopt.solvers.squares.cross_validation import cross_validate
from simopt.solvers.squares.spectrum import decompose


def main() -> None:
    """n = 2000, Gaussian kernels in 2, 5 and 20 dimensions."""
    options = arguments(__doc__ or "")
    table = Table("5-fold cross-validation of 3000 pairs against one eigendecomposition", "n, dimension")
    lam, powers = np.logspace(-8, 2, 100), np.linspace(1.1, 4.0, 30)
    ratios = []
    for n in (300,) if options.quick else (2000,):
        for dimension in (2, 5, 20):
            gram, y = gaussian_problem(n, dimension)
            best = cross_validate(gram, y, lam, powers)
            result = interleave(
                lambda gram=gram, y=y: cross_validate(gram, y, lam, powers),
                lambda gram=gram, y=y: decompose(gram, y),
                pairs=2 if options.quick else PAIRS,
            )
            note = f"best λ = {best.regularization:.1e}, m = {best.power:.2f}"
            table.add(f"{n}, {dimension}", result, note, regularization=best.regularization, power=best.power)
            ratios.append(result.ratio)
    table.close(options, f"eigendecompositions {met(max(ratios), 2.2)}")


if __name__ == "__main__":
    main()
