"""A step of an interior-point method solves its Newton equations: the derivatives along it are what it was asked for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simopt.problems.goodness import Goodness
from simopt.problems.kernel_goodness import KernelGoodness
from simopt.problems.kernel_ordinal_goodness import KernelOrdinalGoodness
from simopt.problems.ordinal_goodness import OrdinalGoodness
from simopt.solvers.goodness.ball_hinges import BallHinges
from simopt.solvers.goodness.box_hinges import BoxHinges
from simopt.solvers.goodness.box_squares import BoxSquares
from simopt.solvers.goodness.knapsack_squares import KnapsackSquares
from simopt.solvers.goodness.ordinal_hinges import KernelHinges, SimilarityHinges
from simopt.solvers.goodness.ordinal_margins import Margins
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts

NEVER = -1.0  # a goal that no gap reaches: no certificate is asked for
N = 9


def similarity(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(N, N))


def kernel(rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(N, 2))
    return np.exp(-0.5 * np.sum((X[:, None] - X[None]) ** 2, axis=2))


def masses(rng: np.random.Generator) -> np.ndarray:
    p = rng.exponential(size=N)
    return p / p.sum()


def ordinal(rng: np.random.Generator) -> dict[str, object]:
    return {"labels": rng.integers(1, 5, size=N).astype(float), "classes": 4, "masses": masses(rng), "gamma": 0.4, "delta": 0.3}


def similarity_in_box(rng: np.random.Generator) -> Pairs:
    problem = OrdinalGoodness(similarity(rng), bound=2.0, **ordinal(rng))
    return SimilarityHinges(problem, Margins(problem), NEVER)


def kernel_in_ball(rng: np.random.Generator) -> Pairs:
    problem = KernelOrdinalGoodness(kernel(rng), **ordinal(rng))
    return KernelHinges(problem, Margins(problem), NEVER)


def goodness(rng: np.random.Generator, loss: str) -> Goodness:
    targets = np.sign(rng.normal(size=N)) if loss == "hinge" else rng.normal(size=N)
    return Goodness(similarity(rng), targets, masses=masses(rng), bound=2.0, loss=loss, epsilon=0.0 if loss == "hinge" else 0.1)


def in_ball(rng: np.random.Generator, loss: str) -> Pairs:
    targets = np.sign(rng.normal(size=N)) if loss == "hinge" else rng.normal(size=N)
    epsilon = 0.0 if loss == "hinge" else 0.1
    return BallHinges(KernelGoodness(kernel(rng), targets, masses=masses(rng), gamma=0.4, loss=loss, epsilon=epsilon), NEVER)


METHODS: dict[str, Callable[[np.random.Generator], Pairs]] = {
    "ordinal hinges in a box": similarity_in_box,
    "ordinal hinges in a ball": kernel_in_ball,
    "hinges in a box": lambda rng: BoxHinges(goodness(rng, "hinge")),
    "insensitive loss in a box": lambda rng: BoxHinges(goodness(rng, "insensitive")),
    "hinges in a ball": lambda rng: in_ball(rng, "hinge"),
    "insensitive loss in a ball": lambda rng: in_ball(rng, "insensitive"),
    "squares in a box": lambda rng: BoxSquares(rng.normal(size=(N + 3, N)), rng.normal(size=N + 3)),
    "squares in a knapsack": lambda rng: KnapsackSquares(rng.normal(size=(N + 3, N)), rng.normal(size=N + 3), masses(rng), 0.4),
}


def values(run: Pairs, x: InteriorState) -> tuple[Parts, Parts]:
    """What the equations are off, and the products, at a state."""
    run.x = x
    run.update_gap()
    run.factorise()
    return run.residuals, x.products()


def largest(*parts: np.ndarray) -> float:
    return max(float(np.max(np.abs(part), initial=0.0)) for part in parts)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_a_step_solves_its_newton_equations(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    run = METHODS[name](rng)
    for _ in range(3):
        assert run.iterate()
    x = run.x
    residuals, products = values(run, x)
    r_comp = tuple([rng.normal(size=part.shape) * largest(part) for part in products])
    asked = tuple([np.asarray(part) + 0.1 * rng.normal(size=np.shape(part)) * largest(*x.slacks) for part in residuals])
    move = run.solve(r_comp, asked)
    reach = 1e-2 * min(run.lengths(move))

    def slopes(step: float) -> list[np.ndarray]:
        there = values(run, x.moved(move, step, step))
        return [
            (np.asarray(new) - np.asarray(old)) / step for new, old in zip((*there[0], *there[1]), (*residuals, *products), strict=True)
        ]

    # of equations of the second degree this difference is the derivative itself
    found = [2.0 * half - whole for half, whole in zip(slopes(0.5 * reach), slopes(reach), strict=True)]
    for slope, right in zip(found, (*[-np.asarray(part) for part in asked], *r_comp), strict=True):
        assert slope == pytest.approx(right, rel=1e-6, abs=1e-6 * largest(right)), (name, slope, right)
