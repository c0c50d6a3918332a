r"""Appendix D, Lemma D.2: the squared loss is C-admissible on the solutions of M-RLSR, any m > 0; row AK-LD.2.

For m > 1 the solution is one root. For m ≤ 1 the problem need not be convex. There every global minimiser that rounding cannot tell from
the best is taken, and f = 0 is one of them for large λ. With the linear kernel f(x) = ⟨w, x⟩ and ‖f‖ = ‖w‖.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import simopt.claims as sc
from simopt.core.arrays import Array
from simopt.equivalence.stability_bounds import admissibility, norm_bound
from simopt.solvers.power.stationary import stationary_points
from simopt.solvers.squares.secular import secular_root
from simopt.solvers.squares.spectrum import decompose
from simopt.theorems.ak.stability_sets import doubled_targets, learning_set, moved_to

POWERS = (0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0, 3.0, 5.0, 20.0)


def at_the_tie(power: float) -> float:
    """λ at which (1 − f)² + λ f^m, m < 1, has the two global minimisers 0 and f = (2 − 2m)/(2 − m)."""
    f = (2 - 2 * power) / (2 - power)
    return float(f ** (1 - power) * (2 - f))


def one_point_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """Four copies of one sample: for m < 1 around the tie, below which ‖f‖ nearly reaches its bound; λ large; and m large."""
    X, y = np.tile([1.0, 0.0], (4, 1)), np.ones(4)
    for C_y, kappa in ((1.0, 1.0), (4.0, 1.0), (1.0, 3.0), (0.5, 0.25)):
        for power in (0.05, 0.1, 0.5):
            for share in (0.9999, 1.05):
                yield moved_to(learning_set(X, y, share * at_the_tie(power), power), C_y, kappa)
        for power, strength in ((1.5, 1e6), (3.0, 1e6), (20.0, 1.0), (100.0, 1.0)):
            yield moved_to(learning_set(X, y, strength, power), C_y, kappa)


def sets_for_every_power(trial: sc.Trial) -> Iterator[sc.Instance]:
    """One point, then up to six random samples for every m."""
    yield from one_point_sets(trial)
    for k in range(trial.count(60, 600)):
        n = int(trial.rng.integers(1, 7))
        X = trial.rng.normal(size=(n, int(trial.rng.integers(1, 5))))
        X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
        y = trial.rng.uniform(-1, 1, size=n) if k % 3 else np.sign(trial.rng.normal(size=n))
        made = learning_set(X, y, float(10 ** trial.rng.uniform(-3, 3)), POWERS[k % len(POWERS)])
        yield moved_to(made, *(float(value) for value in 10 ** trial.rng.uniform(-1, 1, size=2)))


def louder_sets(trial: sc.Trial) -> Iterator[sc.Instance]:
    """The same with |y| ≤ 2 C_y."""
    return doubled_targets(sets_for_every_power(trial))


def solutions(X: Array, y: Array, regularization: float, power: float, minimal: bool = True) -> list[Array]:
    """Every minimiser w of (1/n) Σ (y − ⟨w, x⟩)² + λ ‖w‖^m, or every stationary point; 0 for the empty set."""
    if not len(y):
        return [np.zeros(X.shape[1])]
    if power > 1:
        system = decompose(X @ X.T, y)
        root = secular_root(system.spectrum, regularization, power)
        return [np.zeros(X.shape[1]) if root.zero else X.T @ system.coefficients(root.log_mu)]
    found = stationary_points(X @ X.T, y, regularization, power)
    return [X.T @ found.coefficients(point) for point in (found.minimisers if minimal else found.points)]


def _without_square(power: float, target_bound: float) -> float:
    return float(target_bound ** (-1 / power))


def _printed(power: float, target_bound: float) -> float:
    return 1.0


@sc.claim(
    "AK-LD.2",
    place="Appendix D, Lemma D.2 and its proof",
    kind=sc.INEQUALITY,
    says=r"Let |y| ≤ C_y, k(x, x) ≤ κ², λ > 0, m > 0, f_Z a global minimiser of (1/n) Σ (y − f(x))² + λ‖f‖^m and f_{Z^i} one without "
    r"sample i (its sum divided by n or by n − 1; f_∅ = 0). Then ‖f_Z‖ ≤ B = (C_y²/λ)^{1/m}, |f_Z(x)| ≤ κ‖f_Z‖, and |c(y, f_Z, x) − c(y, "
    r"f_{Z^i}, x)| ≤ C |f_Z(x) − f_{Z^i}(x)| with C = 2(C_y + κB); the first two also for f_{Z^i}.",
    instances=sets_for_every_power,
    resolution=1e-9,
    knobs={"minimal": True, "C": 1.0, "ball": _printed, "kappa in C": True},
    mutants={
        "C/2": {"C": 0.5},
        "C = 2(C_y + B)": {"kappa in C": False},
        "(C_y/λ)^{1/m}": {"ball": _without_square},
        "|y| ≤ 2 C_y": {"instances": louder_sets},
        "a stationary point, m < 1": {"minimal": False},
    },
    note="The assumptions are strict in the paper; the lemma needs them with ≤ only. m ≤ 1 is outside Theorem 1 but inside the lemma, "
    "whose proof uses nothing but that f_Z is as good as 0. At most 20 pairs of solutions a set.",
)
def loss_is_admissible(
    inputs: Array,
    targets: Array,
    regularization: float,
    power: float,
    target_bound: float,
    kappa: float,
    trial: sc.Trial,
) -> Iterator[sc.Check]:
    """Norms, values and changes of loss at the inputs of Z and where f − g and f + g are largest in the ball of radius κ."""
    X, y, lam, m, C_y, n = inputs, targets, regularization, power, target_bound, len(targets)
    B = trial["ball"](m, C_y) * norm_bound(lam, m, C_y)
    C = trial["C"] * admissibility(lam, m, C_y, kappa if trial["kappa in C"] else 1.0)
    whole = solutions(X, y, lam, m, trial["minimal"])
    for name, share in (("divided by n", n / max(n - 1, 1)), ("divided by n − 1", 1.0)):
        others = [w for i in range(n) for w in solutions(np.delete(X, i, 0), np.delete(y, i), share * lam, m, trial["minimal"])]
        every = np.array(whole + others)
        yield sc.at_most(np.linalg.norm(every, axis=1), B, f"norms, {name}", scale=B)
        yield sc.at_most(np.abs(every @ X.T), kappa * np.linalg.norm(every, axis=1)[:, None], f"values, {name}", scale=kappa * B)
        for f, g in [(f, g) for f in whole for g in others][:20]:
            yield from admissible(f, g, X, C_y, kappa, C, name)


def admissible(f: Array, g: Array, X: Array, C_y: float, kappa: float, C: float, name: str) -> Iterator[sc.Check]:
    """|c(y, f, x) − c(y, g, x)| = |f(x) − g(x)| |2y − f(x) − g(x)| ≤ C |f(x) − g(x)| for y = ±C_y, relative to the largest right side."""
    directions: list[Any] = [w / np.linalg.norm(w) for w in (f - g, f + g) if np.linalg.norm(w) > 0]
    points = np.vstack([X, *(kappa * w for w in directions)])
    apart, both = np.abs(points @ (f - g)), np.abs(points @ (f + g))
    if np.max(apart) > 0:
        yield sc.at_most(apart * (2 * C_y + both), C * apart, f"change of loss, {name}", scale=C * float(np.max(apart)))
