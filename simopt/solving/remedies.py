"""What would help where bounds stay apart, said of each reason."""

from __future__ import annotations

HELP = {
    "no bound takes it": "bounds on this variable would help",
    "is not proven to be ≤ 0": "a point at which all inequalities hold strictly (a Slater point) would help",
    "equality is not proven to hold": "a variable in it that nothing else bounds would help: the equality then defines it",
    "not proven to be in the domain": "a point in the interior of the domain would help",
    "not proven to be within its bounds": "bounds that are apart would help",
    "its scale is 0": "a multiplier > 0 of the row in which it stands would help",
    "outside of the domain of the conjugate": "numbers nearer to 1, or another back end, would help",
    "that stationarity asks for": "a tighter solve, another back end, or bounds on the variables in it would help",
    "not proven to have its sign": "the squares of a matrix's product with the variables, in place of the quadratic form, would help",
    "its scale is": "multipliers of another back end would help",
    "may be 0": "a factor that is known not to be 0 would help",
    "its factor in": "a factor that is known to be positive would help",
    "more than rounding leaves": "a tighter solve, or interval arithmetic, would help",
    "not proven to be convex": "bounds on the variables in it, or a sum of squares in its place, would help",
    "pivots: ": "a small square of the variables in the objective, or bounds on them, would help",
}  # part of a reason -> remedy
UNPROVEN = "of which no proof was found (another back end, bounds on the variables, or numbers nearer to 1 would help)"


def remedy(reason: str) -> str:
    """The remedy of a reason, in brackets."""
    return next((f" ({help})" for part, help in HELP.items() if part in reason), "")
