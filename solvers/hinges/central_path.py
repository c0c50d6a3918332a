r"""One hinge in a primal-dual interior-point method: on the central path, and in a step of Newton towards it.

A hinge with argument h has a multiplier a ∈ (0, 1), ā = 1 − a, an excess x > 0 and a slack s > 0. They satisfy x − s + a/β = h, as = μ and
āx = μ; 1/β is its `shift`. For β = ∞ and given h these make s the positive root of s² + (h − 2μ)s − μh. Newton's equations give da = D(dh +
q), D = 1/(x/ā + s/a + 1/β); a corrector puts the products da ds and da dx of the predictor into them.
"""

from __future__ import annotations

import math

from simopt.core.compiled import kernel

FRACTION_TO_BOUNDARY = 0.99
Hinge = tuple[float, float, float, float]  # a, ā, x, s
Step = tuple[float, float, float]  # da, dx, ds


@kernel
def central_point(h: float, mu: float) -> Hinge:
    """a, ā, x, s on the central path, β = ∞."""
    root = math.sqrt(h * h + 4.0 * mu * mu)
    if h > 0.0:
        x = 0.5 * (h + 2.0 * mu + root)
        s = mu * x / (x - mu)
    else:
        s = 0.5 * (2.0 * mu - h + root)
        x = mu * s / (s - mu)
    return x / (x + s), s / (x + s), x, s


@kernel
def newton_term(h: float, shift: float, hinge: Hinge, step: Step, mu: float) -> tuple[float, float]:
    """D and q for products μ; `step` is the predictor's, or 0."""
    a, b, x, s = hinge
    da, dx, ds = step
    return 1.0 / (x / b + s / a + shift), h - (x - s + shift * a) - (mu - b * x + da * dx) / b + (mu - a * s - da * ds) / a


@kernel
def newton_step(dh: float, q: float, shift: float, hinge: Hinge, step: Step, mu: float) -> Step:
    """da, dx, ds for the step dh of the argument; `step` is the predictor's, or 0."""
    a, b, x, s = hinge
    up = mu - b * x + step[0] * step[1]
    down = mu - a * s - step[0] * step[2]
    da = (dh + q) / (x / b + s / a + shift)
    return da, (up + x * da) / b, (down - s * da) / a


@kernel
def max_step(hinge: Hinge, step: Step, longest: float) -> float:
    """The largest t ≤ longest that keeps a, ā, x and s positive."""
    a, b, x, s = hinge
    da, dx, ds = step
    if da < 0.0:
        longest = min(longest, -a / da)
    if da > 0.0:
        longest = min(longest, b / da)
    if dx < 0.0:
        longest = min(longest, -x / dx)
    if ds < 0.0:
        longest = min(longest, -s / ds)
    return longest
