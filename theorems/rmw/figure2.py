"""Figure 2 of van Rooyen, Menon and Williamson: Long and Servedio's three points, what hinge loss makes of them, and the mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from simopt.claims.tables import Cell, Curve, Run, table
from simopt.core.arrays import Array
from simopt.core.errors import NotAvailable
from simopt.problems.convex_potential import ConvexPotential, three_points
from simopt.solving.entry_points import solve
from simopt.theorems.rmw import long_servedio
from simopt.theorems.rmw.hinge_vertices import corners
from simopt.theorems.rmw.noise_thresholds import POTENTIALS, curve, failing_rate
from simopt.theorems.small_worlds.worlds import by, flipped, risk, zero_one

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simopt.claims.reproduction import Reproduction

RADIUS = 50.0  # of the ball in which the potentials are minimised: it stays inactive
TOLERANCE = 1e-9
SMALL = Fraction(1, 1000)


@dataclass(frozen=True)
class Scenario:
    """One scale of the points and one rate of noise."""

    gamma: float
    rate: float


SETTINGS = {"γ = 1/10, σ = 3/10": Scenario(0.1, 0.3), "γ = 1/20, σ = 3/10": Scenario(0.05, 0.3)}
SCALES = "all scales"


def minimiser(setting: Scenario, rate: float, potential: str = "hinge") -> tuple[Array, float]:
    """A minimiser of the risk at a rate, and its certified relative gap.

    Raises
    ------
    NotAvailable
        if the back end returns nothing.
    """
    solution = solve(ConvexPotential(*three_points(setting.gamma, rate), potential, RADIUS), "clarabel", tol=TOLERANCE)
    if solution.point is None or solution.certificate is None:
        raise NotAvailable(f"clarabel returned no solution: {solution.status}")
    return np.asarray(solution.point["w"]), solution.certificate.relative_gap


def error(setting: Scenario, w: Array) -> float:
    """Clean ℓ₀₁ of w; a score of 0 counts half."""
    features, labels, mass = three_points(setting.gamma, 0.0)
    margins = labels * (features @ w)
    return float(mass[margins < 0].sum() + mass[margins == 0].sum() / 2)


def south(setting: Scenario, w: Array) -> float:
    """Margin of the southern point."""
    return float(setting.gamma * (w[0] - w[1]))


def mean(setting: Scenario, rate: float) -> Array:
    """ω_{P_σ}."""
    features, labels, mass = three_points(setting.gamma, rate)
    direction: Array = features.T @ (mass * labels)
    return direction


def draw_points(axes: Axes, curves: dict[str, Curve]) -> None:
    """The points, and each solution's hyperplane."""
    points = curves["points"]
    axes.scatter(points.x, points.y, s=[40, 40, 80], color="tab:blue", zorder=3)
    styles = {"clean hinge": ("black", "-"), "noisy hinge": ("black", "--"), "mean": ("tab:red", "-")}
    for label, (colour, line) in styles.items():
        axes.plot(curves[label].x, curves[label].y, line, color=colour, label=label)
    axes.set_xlim(-0.2, 1.1)
    axes.set_ylim(-0.4, 0.7)
    axes.set_aspect("equal")
    axes.legend(frameon=False)


def plot(figure: Figure, done: Reproduction) -> None:
    """The drawn scene on the left, the threshold curves on the right."""
    left, right = figure.subplots(1, 2)
    for row in done.rows:
        curves = {each.label: each for each in row.curves}
        if row.name == next(iter(SETTINGS)) and curves:
            draw_points(left, curves)
            left.set_title(row.name)
        if row.name == SCALES:
            for label, each in curves.items():
                right.loglog(each.x, each.y, label=label)
            right.set_ylim(1e-4, 0.6)
            right.set_xlabel("scale γ")
            right.set_ylabel("least rate σ that loses the southern point")
            right.legend(frameon=False)


@table(
    "rmw-figure2",
    place="Figure 2, Section 9",
    rows=(*SETTINGS, SCALES),
    says="Points (1, 0) and (γ, 5γ) of mass ¼ and (γ, −γ) of mass ½, all of label 1, and linear classifiers through 0. Stated: clean "
    "hinge loss is right on all points, noisy hinge loss for σ large enough loses the southern one (error ½), the scale can make this σ "
    "as small as one likes, the mean is right. Ours: the coordinates (those of Long and Servedio), γ and σ, the other potentials, the "
    "least σ.",
    plot=plot,
)
def figure2(row: str, run: Run) -> Iterator[Cell | Curve]:
    """Errors and southern margins of each solution; for all scales the thresholds."""
    if row == SCALES:
        yield from thresholds(row)
        return
    scene = SETTINGS[row]
    solutions = {"clean hinge": minimiser(scene, 0.0), "noisy hinge": minimiser(scene, scene.rate), "mean": (mean(scene, scene.rate), 0.0)}
    for (label, (w, gap)), printed in zip(solutions.items(), (0.0, 0.5, 0.0), strict=True):
        yield Cell(row, f"error, {label}", error(scene, w), printed=printed)
        yield Cell(row, f"southern margin, {label}", south(scene, w) / float(np.linalg.norm(w)), unit="margin / ‖w‖")
        if label != "mean":
            yield Cell(row, f"certified gap, {label}", gap, unit="gap / scale")
        yield Curve(row, label, *hyperplane(w))
    for potential in POTENTIALS[1:]:
        yield Cell(row, f"error, noisy {potential}", error(scene, minimiser(scene, scene.rate, potential)[0]))
    features = three_points(scene.gamma, 0.0)[0][:3]
    yield Curve(row, "points", features[:, 0], features[:, 1])


def hyperplane(w: Array) -> tuple[Array, Array]:
    """{x : ⟨w, x⟩ = 0}, as a segment."""
    along = np.array([-w[1], w[0]]) / float(np.linalg.norm(w))
    return np.array([-2.0, 2.0]) * along[0], np.array([-2.0, 2.0]) * along[1]


def thresholds(row: str) -> Iterator[Cell | Curve]:
    """A rate of 1/1000 at the scale that is made for it, and the least rate by potential and scale."""
    world = long_servedio.three_points(SMALL / 3)
    best = corners(flipped(world, SMALL))[1]
    worst = min(risk(world, zero_one("C"), by(w)) for w in best)
    yield Cell(row, f"error of hinge loss at σ = {float(SMALL):g}, γ = σ/3", float(worst), printed=0.5)
    for potential in POTENTIALS:
        for gamma in (0.01, 0.05, 0.1):
            rate = failing_rate(potential, gamma)
            if rate is not None:
                yield Cell(row, f"least σ, {potential}, γ = {gamma:g}", rate)
        yield Curve(row, potential, *curve(potential, np.logspace(-3, np.log10(1 / 6), 60)))
