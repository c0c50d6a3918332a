"""Laws that are summed over all samples: their masses, the algorithms on every sample at once, suprema in closed form, quantiles."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product
from math import comb

import numpy as np
import pytest

from simopt.claims import Evidence, runner
from simopt.core.errors import InvalidProblem
from simopt.theorems.kkks import exact_laws, lemma_7, theorem_2
from simopt.theorems.kkks.finite_models import FiniteModel, clip
from simopt.theorems.kkks.float_tron import l_isotron, lpav


@pytest.mark.parametrize("means", [[0.3], [1.0], [0.0, 0.4], [0.7, 1.0], [0.0, 1.0]])
def test_masses_are_those_of_all_sequences_of_draws(means: list[float]) -> None:
    m = 4
    law = exact_laws.samples(np.array(means), m)
    places = range(len(means))
    found: Counter[tuple[float, ...]] = Counter()
    for draws in product(product(places, (0, 1)), repeat=m):
        chance = np.prod([(means[j] if y else 1 - means[j]) / len(means) for j, y in draws])
        sizes = [sum(j == place for j, _ in draws) for place in places]
        ones = [sum(y for j, y in draws if j == place) for place in places]
        found[(*sizes, *ones)] += float(chance)
    assert law.left_out == pytest.approx(0, abs=1e-12)
    for mass, frequencies, labels in zip(law.masses, law.frequencies, law.labels, strict=True):
        sizes = np.rint(frequencies * m)
        key = (*sizes.tolist(), *np.where(sizes > 0, np.rint(labels * sizes), 0).tolist())
        assert mass == pytest.approx(found.pop(key), rel=1e-9)
    assert sum(found.values()) == pytest.approx(0, abs=1e-12)


def test_what_is_left_out_is_known_and_two_points_that_vary_are_refused() -> None:
    law = exact_laws.samples(np.array([0.5]), 10_000)
    kept = np.rint(law.labels[:, 0] * 10_000).astype(int)
    assert law.left_out == pytest.approx(1 - sum(comb(10_000, int(k)) for k in kept) / 2**10_000, abs=1e-10)
    assert 0 < law.left_out < 1e-4
    with pytest.raises(InvalidProblem, match="at most one"):
        exact_laws.samples(np.array([0.5, 0.5]), 4)


@pytest.mark.parametrize("noise", [True, False])
def test_both_algorithms_run_on_all_samples_as_on_each(noise: bool) -> None:
    pair = theorem_2.TwoPointLaw(0.4, 0.1, 12, noise)
    law, X = pair.samples, np.array([[-0.4], [0.4]])
    runs = list(exact_laws.l_isotron(law, 0.4, 6))
    transfer, gram = clip(-0.1), X @ X.T
    known = list(exact_laws.glm_tron(law, gram, transfer, 6))
    hypothetical = [exact_laws.two_point_fit(law, np.broadcast_to(pair.means, law.labels.shape), apart) for _, apart in runs]
    for at in range(0, len(law.masses), 3):
        frequencies, labels = law.frequencies[at], law.labels[at]
        if frequencies.min() == 0:
            continue
        counts = frequencies * 12
        for t, now in enumerate(islice(l_isotron(X, labels, counts), 6)):
            assert runs[t][0][at] == pytest.approx(now.predictions, abs=1e-12)
            assert hypothetical[t][at] == pytest.approx(lpav(X @ now.w, pair.means, counts).values, abs=1e-12)
        w = np.zeros(1)
        for predictions in known:
            assert predictions[at] == pytest.approx(transfer(X @ w), abs=1e-12)
            w = w + (frequencies * (labels - transfer(X @ w))) @ X


def test_quantile_and_chance_are_those_of_the_law() -> None:
    law = exact_laws.samples(np.array([0.5]), 9)
    values = law.labels[:, 0]
    for share in (0.02, 0.5, 0.9, 0.998):
        v = exact_laws.quantile(law, values, share)
        assert law.masses[values > v].sum() <= 1 - share < law.masses[values >= v].sum()
    low = exact_laws.Samples(law.masses / 2, law.frequencies, law.labels)
    assert exact_laws.quantile(low, values, 0.6) == np.inf  # half of the mass is left out, and counts as bad
    chance, _ = exact_laws.decided(low, np.zeros(10), 0.4, "half")
    assert (float(chance.low), float(chance.high)) == pytest.approx((-0.1, 0.4))  # undecided: P is in [0, 1/2]


@pytest.mark.parametrize("means", [[0.5], [0.0, 1.0], [0.0, 0.3], [0.8, 1.0]])
@pytest.mark.parametrize("W", [0.5, 1.5])
def test_suprema_are_those_over_functions_on_a_grid(means: list[float], W: float) -> None:
    law = exact_laws.samples(np.array(means), 15)
    X = np.array([[-1.0], [1.0]])[: len(means)]
    model = FiniteModel(X, np.array([W]), lambda t: np.array(means))
    found = lemma_7.suprema(law, np.array(means))
    rng = np.random.default_rng(0)
    for at in rng.choice(len(law.masses), 12):
        seen = lemma_7.deviations(model, law.frequencies[at], law.frequencies[at] * law.labels[at], [np.array([W]), np.array([-W])])
        for name, value in seen.items():
            if len(means) == 2 or name != lemma_7.PAIRS:
                assert value <= found[name][at] + 1e-12 and found[name][at] <= value + 1e-3, name


@pytest.mark.parametrize("name", ["KK-T1", "KK-T2+", "KK-L7-explicit"])
def test_nothing_is_drawn_where_the_law_is_known(name: str) -> None:
    result = runner.run(name, seeds=(3, 4))
    assert result.ok and result.own.evidence is Evidence.FLOAT and result.seeds == (3,)
    assert any("cannot tell how large" in line for line in str(result).splitlines())
