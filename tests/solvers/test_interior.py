"""The predictor-corrector engine on programmes with known solutions, and the ways in which a run ends."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from simopt.solvers.interior import predictor_corrector
from simopt.solvers.interior.pairs import InteriorState, Pairs, Parts, cholesky, reach, solved, weighted_gram


class Quadratic(Pairs):
    """min ½xᵀHx − ⟨b, x⟩ over x ≥ 0, whose slack is x itself: multipliers z = Hx − b."""

    def __init__(self, H: np.ndarray, b: np.ndarray) -> None:
        self.H, self.b, self.factors = H, b, 0
        self.x = InteriorState((), (np.ones(len(b)),), (np.ones(len(b)),))
        self.update_gap()

    def update_gap(self) -> None:
        """⟨x, z⟩ and what the equations are off."""
        (x,), (z,) = self.x.slacks, self.x.multipliers
        self.gap = float(x @ z) + float(np.max(np.abs(self.b + z - self.H @ x)))

    def factorise(self) -> None:
        (x,), (z,) = self.x.slacks, self.x.multipliers
        self.factors += 1
        self.factor = cholesky(np.asfortranarray(self.H + np.diag(z / x)))
        self.residuals = (self.b + z - self.H @ x,)

    def solve(self, r_comp: Parts, residuals: Parts) -> InteriorState:
        (x,), (z,) = self.x.slacks, self.x.multipliers
        dx = solved(self.factor, residuals[0] + r_comp[0] / x)
        return InteriorState((), (dx,), ((r_comp[0] - z * dx) / x,))


class Uncorrected(Quadratic):
    corrections: ClassVar[int] = 0


class Stuck(Quadratic):
    def update_gap(self) -> None:
        self.gap = 1.0


def instance(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(2 * n, n))
    return A.T @ A, 10.0 * rng.normal(size=n)


@pytest.mark.parametrize("kind", [Quadratic, Uncorrected])
@pytest.mark.parametrize("joint", [False, True])
def test_the_solution_is_found_in_few_iterations(kind: type[Quadratic], joint: bool) -> None:
    H, b = instance()
    run = kind(H, b)
    run.joint = joint
    gaps = [at.gap for at in run.iterates(1e-10, 60)]
    (x,), (z,) = run.x.slacks, run.x.multipliers
    assert len(gaps) < 20 and gaps[-1] <= 1e-10 and run.factors == len(gaps) - 1
    assert np.all(x > 0) and np.all(z > 0)
    assert H @ x - b == pytest.approx(z, abs=1e-9) and x * z == pytest.approx(np.zeros(len(b)), abs=1e-9)


def test_separable_programmes_have_the_positive_parts() -> None:
    b = np.array([3.0, -2.0, 1e-3, 0.5])
    run = Quadratic(np.eye(4), b)
    list(run.iterates(1e-13, 60))
    assert run.x.slacks[0] == pytest.approx(np.maximum(b, 0.0), abs=1e-9)


def test_a_run_ends_by_its_iterations_by_patience_and_by_rounding() -> None:
    assert len(list(Quadratic(*instance()).iterates(-1.0, 3))) == 4  # the last state is shown, too
    assert len(list(Stuck(*instance()).iterates(0.0, 60))) == Stuck.patience + 1
    H, b = instance()
    assert len(list(Quadratic(-1e6 * H, b).iterates(0.0, 60))) == 1  # no Cholesky factor
    assert len(list(Quadratic(H, b * np.nan).iterates(0.0, 60))) == 1  # no finite step


def test_the_target_of_the_corrector_is_the_cube_of_what_the_predictor_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    aims = []
    monkeypatch.setattr(Quadratic, "centred", lambda self, target, move, reached: aims.append(target) or (move, reached))
    run = Quadratic(*instance())
    mu = run.mean()
    run.factorise()
    move, lengths = run.direction(0.0)
    left = run.mean(move, lengths)
    assert run.iterate() and aims == [pytest.approx(mu * max((left / mu) ** 3, predictor_corrector.CENTRING[0]))]


def test_how_far_a_step_may_go() -> None:
    one = np.ones(3)
    assert reach((one, np.zeros(0)), (-4.0 * one, np.zeros(0))) == 0.25
    assert reach((one,), (one,)) == 1.0
    assert reach((one, one), (-2.0 * one, one * np.nan)) == 0.0


def test_gram_matrices_are_weighted() -> None:
    A, weights = np.random.default_rng(0).normal(size=(7, 3)), np.arange(7.0)
    assert np.tril(weighted_gram(A, weights)) == pytest.approx(np.tril(A.T @ np.diag(weights) @ A))
    with pytest.raises(np.linalg.LinAlgError, match="leading minor 1"):
        cholesky(-np.eye(2, order="F"))
