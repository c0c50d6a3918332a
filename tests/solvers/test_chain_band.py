"""The chain's programme within a band: the fit of the whole chain, or word that the band is too narrow."""

import math

import numpy as np
import pytest

from simopt.core.arrays import Array
from simopt.solvers.isotonic import chain_fit
from simopt.solvers.isotonic.chain_band import GROUP, band_zeros, climbs_of, node_indices, nodes_of
from simopt.solvers.isotonic.chain_fit import fit_chain
from simopt.solvers.isotonic.chain_programme import chain_zeros

NEVER = 10**9  # samples from which a band is tried


def noisy(m: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Labels whose probability climbs from 0 to 1, at random places; a step is twice as steep at most."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.uniform(size=m))
    return (rng.uniform(size=m) < z).astype(float), np.ones(m), 2.0 * np.diff(z)


def ugly(seed: int) -> tuple[Array, Array, Array, float, float]:
    """A chain with ties, free steps, weights and distances over many orders, in tiny or huge units, and a range that may cut it."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(20, 2000))
    z = np.cumsum(rng.exponential(size=m) ** rng.integers(1, 6))
    z = (z - z[0]) / (z[-1] - z[0])
    if rng.random() < 0.3:
        z = np.round(z * m / 3) / (m / 3)
    kinds: list[Array] = [
        (rng.uniform(size=m) < z).astype(float),
        z + rng.normal(size=m),
        np.arange(m) % 2.0,
        (1.0 - 2.0 * (np.arange(m) % 2)) * np.arange(m),
        np.cumsum(rng.normal(size=m)),
        rng.standard_cauchy(size=m),
        np.repeat(rng.normal(size=m), 7)[:m],
    ]
    y = kinds[seed % len(kinds)] * 10.0 ** rng.integers(-12, 12)
    w = np.ones(m) if rng.random() < 0.5 else rng.exponential(size=m) ** rng.integers(1, 8) + 1e-6
    u = 10.0 ** rng.uniform(-4, 2) * np.ptp(y) * np.diff(z)
    if rng.random() < 0.2:
        u[rng.random(m - 1) < 0.02] = np.inf
    lo = -math.inf if rng.random() < 0.7 else float(np.quantile(y, rng.random()))
    hi = math.inf if rng.random() < 0.7 else max(lo, float(np.quantile(y, rng.random())))
    return y, w, u, lo, hi


def test_the_fit_is_that_of_the_whole_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    def in_band(*arguments: object) -> Array | None:
        found.append(within(*arguments))
        return found[-1]

    within = chain_fit._fit_in_band
    monkeypatch.setattr(chain_fit, "_fit_in_band", in_band)
    for seed in range(300):
        y, w, u, lo, hi = ugly(seed)
        monkeypatch.setattr(chain_fit, "FEW", 20)
        x, _ = fit_chain(y, w, u, lo, hi)
        monkeypatch.setattr(chain_fit, "FEW", NEVER)
        whole, _ = fit_chain(y, w, u, lo, hi)
        np.testing.assert_allclose(x, whole, rtol=0, atol=1e-9 * np.ptp(y), err_msg=f"seed {seed}")
    some = [x is not None for x in found]
    assert 50 < sum(some) < len(some) - 50  # bands that are narrow enough, and others


@pytest.mark.parametrize("m", [2, GROUP, GROUP + 1, GROUP + 2, 3 * GROUP + 1, 777])
def test_the_nodes_have_the_weight_and_the_sum_of_the_samples(m: int) -> None:
    y, w, u = noisy(m)
    w = w + np.arange(m)
    u[m // 2 :] = np.inf
    nodes = nodes_of(y, w, u, 1.0)
    assert nodes.weights.sum() == pytest.approx(w.sum()) and nodes.weights @ nodes.targets == pytest.approx(w @ y)
    assert nodes.climbs.sum() == pytest.approx(np.minimum(u, 1.0).sum()) and nodes.weights.size == nodes.climbs.size + 1
    places = node_indices(m)
    assert places[0] == 0 and places[-1] == m - 1 and places.size == nodes.weights.size and np.all(np.diff(places) > 0)
    np.testing.assert_array_equal(climbs_of(u, 1.0), nodes.climbs)


def test_zeros_that_wait_at_an_edge_are_on_the_side_of_the_exact_ones() -> None:
    y, w, u = noisy(6000)
    nodes = nodes_of(y, w, u, 1.0)
    X, _ = fit_chain(*nodes)
    margin = 2.0 * float(nodes.climbs.mean())
    found = band_zeros(y, w, u, 0.0, 1.0, X, nodes.climbs, margin)
    assert found is not None
    zeros, edges = found
    exact = chain_zeros(y, w, u)
    assert 0.05 < edges.mean() < 0.95  # both kinds are there
    middle = np.interp(np.concatenate([[0.0], np.cumsum(u)]), np.concatenate([[0.0], np.cumsum(nodes.climbs)]), X)
    assert np.all((exact - middle)[edges] * (zeros - middle)[edges] > 0)  # on the side of the zero, and not past it
    assert np.all(np.abs(zeros - middle)[edges] <= np.abs(exact - middle)[edges] + 1e-10)


@pytest.mark.parametrize("off_diagonal", [0.0, 30.0, -30.0])
def test_a_band_that_holds_the_fit_says_so(off_diagonal: float) -> None:
    y, w, u = noisy(6000)
    nodes = nodes_of(y, w, u, 1.0)
    X, _ = fit_chain(*nodes)
    climb = float(nodes.climbs.mean())
    found = band_zeros(y, w, u, 0.0, 1.0, X + off_diagonal * climb, nodes.climbs, 3.0 * climb)
    assert found is not None
    x, edges = found
    state = np.empty(y.size - 1, dtype=np.int8)
    held = chain_fit._descend(x, u, math.inf, edges, 0.003 * climb, state)
    assert held == (off_diagonal != 0.0)
    whole, _ = fit_chain(y, w, u)
    assert (np.abs(x - whole).max() <= 1e-10) == (off_diagonal == 0.0)


def test_a_pattern_that_fits_into_the_groups_is_fitted_without_a_band(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of labels 0, 1, 0, 1, … the nodes see the mean alone, and the fit climbs: no band of theirs has it inside."""
    m = 6000
    y, w, u = np.arange(m) % 2.0, np.ones(m), np.full(m - 1, 1e-7)
    state = np.empty(m - 1, dtype=np.int8)
    assert chain_fit._fit_in_band(y, w, u, -math.inf, math.inf, state) is None
    x, _ = fit_chain(y, w, u)
    monkeypatch.setattr(chain_fit, "FEW", NEVER)
    np.testing.assert_array_equal(x, fit_chain(y, w, u)[0])


def test_more_entries_than_the_capacity_end_the_attempt() -> None:
    m = 20_000
    y, w, u = np.arange(m) % 2.0, np.ones(m), np.full(m - 1, 1e-7)
    nodes = nodes_of(y, w, u, 1.0)
    assert band_zeros(y, w, u, 0.0, 1.0, np.full(nodes.weights.size, 0.5), nodes.climbs, 0.01) is None


@pytest.mark.parametrize("off_diagonal", [0.0, 2.0, -2.0, 6.0])
def test_a_guess_changes_where_the_fit_is_looked_for_and_not_the_fit(off_diagonal: float, monkeypatch: pytest.MonkeyPatch) -> None:
    y, w, u = noisy(6000)
    whole, _ = fit_chain(y, w, u)
    reach = 0.8 * chain_fit.MARGIN * y.size**0.25 * float(climbs_of(u, 1.0).mean())
    tried = []

    def within(*arguments: object) -> Array | None:
        tried.append(inside(*arguments) is not None)
        return inside(*arguments)

    inside = chain_fit._within
    monkeypatch.setattr(chain_fit, "_within", within)
    x, _ = fit_chain(y, w, u, guess=(whole[node_indices(y.size)] + off_diagonal * reach, reach))
    np.testing.assert_allclose(x, whole, rtol=0, atol=1e-12)
    assert tried == ([True] if off_diagonal == 0.0 else [False, True])


def test_a_chain_that_takes_every_step_in_full_is_known_by_its_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the last step is a tie, where some target would hold a step back, and where the range cuts the fit."""
    rng = np.random.default_rng(0)
    found = []

    def climbs(*arguments: object) -> bool:
        found.append(bool(known(*arguments)))
        return found[-1]

    known = chain_fit._climbs_all
    monkeypatch.setattr(chain_fit, "_climbs_all", climbs)
    for m in (2, 50, chain_fit.FEW + 7):
        y, w, u = np.linspace(-1.0, 1.0, m) + 0.1 * rng.normal(size=m), rng.uniform(0.5, 2.0, size=m), np.full(m - 1, 1e-3 / m)
        y[-1], u[m // 2 :: 7] = 1.0, 0.0
        u[0] = 1e-3 / m
        last = y.copy()
        last[-1] -= 1e4
        for targets, lo, hi, expected in (
            (y, -np.inf, np.inf, True),
            (last, -np.inf, np.inf, False),
            (y, 0.5, 1.0, False),
            (y, -1.0, -0.5, False),
        ):
            found.clear()
            x, state = fit_chain(targets, w, u, lo, hi)
            assert (found[-1:] == [True]) == expected, (m, lo, hi)
            monkeypatch.setattr(chain_fit, "_climbs_all", lambda *_: False)
            whole, states = fit_chain(targets, w, u, lo, hi)
            monkeypatch.setattr(chain_fit, "_climbs_all", climbs)
            np.testing.assert_allclose(x, whole, rtol=0, atol=1e-12 * np.ptp(targets))
            if expected:
                np.testing.assert_array_equal(state, states)
                assert np.all(np.diff(x) <= u + 4e-16) and np.all(np.diff(x) >= 0.0)
