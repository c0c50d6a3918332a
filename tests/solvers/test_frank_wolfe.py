"""Step rules against the same rules in exact fractions, and what each of them must do to the error; the nearest point of small hulls."""

import itertools
from copy import deepcopy
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simopt
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.data.rows import Rows
from simopt.data.similarities import Gaussian
from simopt.model.status import Status
from simopt.problems.herding import Herding
from simopt.problems.hinge_svm_hull import HingeSVMHull
from simopt.solvers.herding import frank_wolfe_steps
from simopt.solvers.herding.atoms import LazyAtoms, StoredAtoms
from simopt.solvers.herding.frank_wolfe import STEPS, FrankWolfe
from simopt.solvers.herding.frank_wolfe_steps import STEP_TAKEN, StepRule, exchange_among
from simopt.solvers.herding.min_norm_point import FullyCorrective, best_weights, delete
from simopt.solvers.herding.reweight import reweighted
from simopt.solvers.herding.walk import Walk

LINEAR = [name for name, rule in STEPS.items() if rule().converges_linearly]


def stored(gram, target=None, chosen=None):
    """All rows of a Gram matrix of ψ as atoms (or those chosen), ω their mean with these weights."""
    n = len(gram)
    p = np.full(n, 1.0 / n) if target is None else target
    linear = gram @ p
    return StoredAtoms(gram, np.ones(n), linear if chosen is None else linear[chosen], float(p @ linear), chosen)


def vectors(n, p, seed):
    return np.random.default_rng(seed).integers(-8, 9, size=(n, p)).astype(float)


class FrankWolfeInFractions:
    """One step rule in fractions, straight from its definition; ties go to the lowest index."""

    def __init__(self, gram, target):
        self.G = [[Fraction(v) for v in row] for row in gram.tolist()]
        p = [Fraction(v) for v in target]
        self.b = [sum(g * q for g, q in zip(row, p, strict=True)) for row in self.G]
        self.c = sum(b * q for b, q in zip(self.b, p, strict=True))
        first = max(range(len(p)), key=lambda j: (self.b[j], -j))
        self.w = [Fraction(int(j == first)) for j in range(len(p))]
        self.picks = [first]

    def gradient(self):
        return [sum(g * v for g, v in zip(row, self.w, strict=True) if v) - b for row, b in zip(self.G, self.b, strict=True)]

    def error_squared(self):
        g = self.gradient()
        return sum(v * (x - b) for v, x, b in zip(self.w, g, self.b, strict=True)) + self.c

    def square(self, d):
        return sum(x * y * self.G[i][j] for i, x in enumerate(d) if x for j, y in enumerate(d) if y)

    def along(self, d, slope, longest):
        curvature = self.square(d)
        step = longest if curvature == 0 else min(slope / curvature, longest)
        self.w = [v + step * x for v, x in zip(self.w, d, strict=True)]

    def highest(self):
        """The atoms with weight whose gradient is the largest: after a line search between two of them there are two."""
        g = self.gradient()
        own = [j for j, v in enumerate(self.w) if v]
        return [j for j in own if g[j] == max(g[i] for i in own)]

    def lowest(self):
        """The atoms of the smallest gradient."""
        g = self.gradient()
        return [j for j, v in enumerate(g) if v == min(g)]

    def step(self, rule, a=None, s=None):
        g = self.gradient()
        unit = [[Fraction(int(i == j)) for i in range(len(g))] for j in range(len(g))]
        s = self.lowest()[0] if s is None else s
        own = [j for j, v in enumerate(self.w) if v]
        a = self.highest()[0] if a is None else a
        mean = sum(v * x for v, x in zip(self.w, g, strict=True))
        self.picks.append(s)
        towards = [x - v for x, v in zip(unit[s], self.w, strict=True)]
        if rule == "uniform":
            t = len(self.picks)
            self.w = [v + x / t for v, x in zip(self.w, towards, strict=True)]
        elif rule == "line-search" or (rule == "away" and (mean - g[s] >= g[a] - mean or len(own) == 1)):
            self.along(towards, mean - g[s], Fraction(1))
        elif rule == "away":
            self.along([v - x for v, x in zip(self.w, unit[a], strict=True)], g[a] - mean, self.w[a] / (1 - self.w[a]))
        elif rule == "pairwise":
            self.along([x - y for x, y in zip(unit[s], unit[a], strict=True)], g[a] - g[s], self.w[a])
        else:
            low = min(own, key=lambda j: (g[j], j))
            if g[a] - g[low] >= mean - g[s]:
                self.along([x - y for x, y in zip(unit[low], unit[a], strict=True)], g[a] - g[low], self.w[a])
            else:
                self.along(towards, mean - g[s], Fraction(1))


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 4, 5))])
def test_uniform_steps_are_herding_in_fractions_bit_by_bit(seed):
    """Gram matrices of whole numbers and n a power of two: every quantity that decides a pick is exact, so 300 picks must be the same."""
    x = vectors(16, 3 + seed, seed)
    gram = x @ x.T
    run, exact = FrankWolfe(stored(gram), "uniform"), FrankWolfeInFractions(gram, [Fraction(1, 16)] * 16)
    for look in itertools.islice(run, 300):
        assert run.picks == exact.picks
        counts = np.bincount(run.picks, minlength=16)
        np.testing.assert_array_equal(run.walk.raw, counts)
        np.testing.assert_array_equal(run.walk.dense, counts / look.steps)
        assert all(Fraction(int(k), look.steps) == w for k, w in zip(counts, exact.w, strict=True))
        if look.steps % 20 == 1:
            assert look.error_squared == pytest.approx(float(exact.error_squared()), abs=1e-12 * gram.max())
        exact.step("uniform")


def test_uniform_steps_are_the_frank_wolfe_method_with_steps_one_over_t():
    x = vectors(12, 4, 9)
    gram = x @ x.T
    run = FrankWolfe(stored(gram), "uniform")
    previous = None
    for look in itertools.islice(run, 60):
        if previous is not None:
            corner = np.eye(12)[run.picks[-1]]
            np.testing.assert_allclose(run.walk.dense, previous + (corner - previous) / look.steps, atol=1e-15)
        previous = run.walk.dense


@pytest.mark.parametrize("rule", ["line-search", "away", "pairwise", "blended"])
@pytest.mark.parametrize("seed", range(4))
def test_rules_against_fractions(rule, seed, monkeypatch):
    """Blended steps with one exchange each, since in a row of them no two need break ties alike."""
    monkeypatch.setattr("simopt.solvers.herding.frank_wolfe_steps.exchange_among", lambda *given: exchange_among(*given[:-1], 1))
    x = vectors(8, 5, 20 + seed)
    gram, p = x @ x.T, [Fraction(k, 36) for k in range(1, 9)]
    run, exact = FrankWolfe(stored(gram, np.array([float(v) for v in p])), rule), FrankWolfeInFractions(gram, p)
    for step, _ in enumerate(itertools.islice(run, 9)):
        if step and exact.error_squared() == 0:
            break
        if step:  # floats cannot tell which of equal gradients is the largest, or the smallest: any of them is right
            branches = []
            for a, s in itertools.product(exact.highest(), exact.lowest()):
                branches.append(deepcopy(exact))
                branches[-1].step(rule, a, s)
            exact = min(branches, key=lambda e: np.max(np.abs(run.walk.dense - [float(v) for v in e.w])) + (e.picks != run.picks))
        assert run.picks == exact.picks
        np.testing.assert_allclose(run.walk.dense, [float(v) for v in exact.w], atol=1e-11)
    assert step >= 4


def test_exchanges_go_on_while_they_descend_as_fast_as_another_atom_would():
    """Each is the exact line search between the steepest atom and the least, and they end when the other atom promises more."""
    rng = np.random.default_rng(5)
    ended = 0
    for _ in range(30):
        x, target, own, s = rng.normal(size=(9, 4)), 0.3 * rng.normal(size=4), np.array([1, 2, 4, 5, 7]), 3
        weights = rng.dirichlet(np.ones(5))
        gram, slots = x @ x.T, np.append(own, s)
        for most in (1, 2, 3, 200):
            after, slopes = weights.copy(), x[own] @ (weights @ x[own] - target)
            exchange_among(after, slopes, float(x[s] @ (weights @ x[own] - target)), own, gram, slots, most)
            error = after @ x[own] - target
            np.testing.assert_allclose(slopes, x[own] @ error, atol=1e-12)
            assert after.min() >= 0.0 and after.sum() == pytest.approx(1, abs=1e-12)
            assert np.sum(error**2) <= np.sum((weights @ x[own] - target) ** 2) + 1e-13
        held = after > 0.0
        descent, promised = slopes[held].max() - slopes.min(), error @ (after @ x[own] - x[s])
        again = after.copy()
        exchange_among(again, slopes.copy(), float(x[s] @ error), own, gram, slots, 1)
        if descent > 1e-9 < abs(descent - promised):  # else rounding decides
            assert np.array_equal(again, after) == (descent < promised)
        ended += descent < promised
    assert 0 < ended < 30


@pytest.mark.parametrize("rule", list(STEPS))
def test_what_a_step_does_to_the_error(rule):
    """Weights stay on the simplex; a rule that says so never increases the error; the gap bounds what is left to gain."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 2))
    gram = Gaussian(1.0).gram(x)
    signs = np.where(x[:, 0] > 0, 1.0, -1.0)
    gram = signs[:, None] * gram * signs
    chosen = np.arange(0, 60, 3)
    best = float(simopt.solve(Herding(Gaussian(1.0).gram(x), signs, chosen), "frank-wolfe", tol=1e-13).value)
    run = FrankWolfe(stored(gram, chosen=chosen), rule)
    previous = np.inf
    c = np.full(60, 1 / 60)
    for look in itertools.islice(run, 400):
        w = run.walk.dense
        assert w.min() >= 0 and w.sum() == pytest.approx(1, abs=1e-12)
        difference = c.copy()
        difference[chosen] -= w
        true = difference @ gram @ difference
        assert look.error_squared == pytest.approx(true, abs=1e-13)
        assert true - best <= 2 * look.gap + 1e-13
        assert look.distance**2 <= best + 1e-12
        assert look.atoms == np.count_nonzero(w)
        if run.rule.descends:
            assert true <= previous + 1e-15
        previous = true


@pytest.mark.parametrize("rule", ["away", "pairwise", "blended", "fully-corrective"])
def test_atoms_are_dropped_when_their_weight_is_gone_and_not_later(rule):
    """Targets outside small hulls, where most atoms that are picked must be given up again."""
    dropped = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, target = rng.normal(size=(14, 3)), 2.0 * rng.normal(size=3)
        run = FrankWolfe(StoredAtoms(x @ x.T, np.ones(14), x @ target, float(target @ target)), rule)
        before: set[int] = set()
        for look in itertools.islice(run, 80):
            w = run.walk.dense
            assert w.min() >= 0.0 and w.sum() == pytest.approx(1, abs=1e-12)
            assert look.error_squared == pytest.approx(np.sum((target - w @ x) ** 2), abs=1e-11)
            dropped += bool(before - set(run.walk.support.tolist()))
            before = set(run.walk.support.tolist())
            assert before == set(np.flatnonzero(w).tolist())
    assert dropped >= 10


def test_the_decrease_of_a_line_search_step():
    """‖e_{t+1}‖² = ‖e_t‖² − gap²/‖ψ_s − ω̃‖² while the step is shorter than 1."""
    x = vectors(10, 6, 1)
    gram = x @ x.T
    run = FrankWolfe(stored(gram), "line-search")
    looks = iter(run)
    look = next(looks)
    for _ in range(30):
        w, s = run.walk.dense, int(np.argmin(run.walk.scores()))
        d = np.eye(10)[s] - w
        curvature = d @ gram @ d
        after = next(looks)
        assert look.gap < curvature
        assert after.error_squared == pytest.approx(look.error_squared - look.gap**2 / curvature, abs=1e-12 * gram.max())
        look = after


def test_fully_corrective_steps_leave_the_best_weights_on_their_atoms():
    """The gradient is the same at all atoms that have weight, and no point of their hull is nearer."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(80, 3))
    gram = Gaussian(2.0).gram(x)
    run = FrankWolfe(stored(gram), "fully-corrective")
    for look in itertools.islice(run, 25):
        own = np.sort(run.walk.support)
        g = run.walk.scores()[own] / run.walk.mass
        assert np.ptp(g) <= 1e-12
        if look.atoms > 1:
            nearest = best_weights(
                gram[np.ix_(own, own)], run.walk.atoms.linear[own], run.walk.atoms.square, np.full(len(own), 1 / len(own))
            )
            np.testing.assert_allclose(run.walk.dense[own], nearest, atol=1e-7)


def nearest_by_enumeration(gram, linear, square):
    """min ‖ω − Σ w ψ‖² over the simplex: every support, KKT by fractions; the smallest feasible value."""
    G = [[Fraction(v) for v in row] for row in gram.tolist()]
    b = [Fraction(v) for v in linear.tolist()]
    best = None
    for size in range(1, len(b) + 1):
        for own in itertools.combinations(range(len(b)), size):
            w = solve_exactly(
                [[*[G[i][j] for j in own], Fraction(1)] for i in own] + [[Fraction(1)] * size + [Fraction(0)]],
                [*[b[i] for i in own], Fraction(1)],
            )
            if w is None or min(w[:size]) < 0:
                continue
            value = sum(w[i] * w[j] * G[own[i]][own[j]] for i in range(size) for j in range(size))
            value += Fraction(square) - 2 * sum(w[i] * b[own[i]] for i in range(size))
            best = value if best is None else min(best, value)
    return best


def solve_exactly(A, y):
    rows = [[*row, v] for row, v in zip(A, y, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next((r for r in range(k, n) if rows[r][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(n):
            if r != k and rows[r][k] != 0:
                rows[r] = [v - rows[r][k] * u for v, u in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.lists(st.integers(-3, 3), min_size=2, max_size=2), min_size=1, max_size=5),
    target=st.lists(st.integers(-6, 6), min_size=2, max_size=2),
    scale=st.sampled_from([1.0, 2.0**-60, 2.0**60]),
)
def test_nearest_points_of_small_hulls(points, target, scale):
    """Collinear, tied and duplicated points, targets inside and outside, tiny and huge: the optimum is that of exact enumeration."""
    x, t = scale * np.array(points, dtype=float), scale * np.array(target, dtype=float)
    gram, linear, square = x @ x.T, x @ t, float(t @ t)
    true = float(nearest_by_enumeration(gram, linear, square))
    allowed = 1e-13 * max(scale**2, float(np.max(np.diagonal(gram))), square)
    for w in (
        best_weights(gram, linear, square, np.full(len(x), 1 / len(x))),
        reweighted(gram, linear, square, np.full(len(x), 1 / len(x))),
        final_weights(StoredAtoms(gram, np.ones(len(x)), linear, square), "fully-corrective", 200),
    ):
        assert w.min() >= 0 and w.sum() == pytest.approx(1, abs=1e-12)
        assert w @ gram @ w - 2 * w @ linear + square <= true + allowed


def final_weights(atoms, rule, steps):
    run = FrankWolfe(atoms, rule)
    for _ in itertools.islice(run, steps):
        pass
    return run.walk.dense


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 9), data=st.data())
def test_deleting_an_atom_keeps_the_factor(seed, size, data):
    i = data.draw(st.integers(0, size - 1))
    x = np.random.default_rng(seed).normal(size=(size, size + 1))
    gram = x @ x.T + 1e-6 * np.eye(size)
    factor = np.ascontiguousarray(np.linalg.cholesky(gram).T)
    rest = np.delete(np.arange(size), i)
    kept = gram.copy()
    delete(factor, kept, size, i, np.empty(size))
    np.testing.assert_array_equal(kept[: size - 1, : size - 1], gram[np.ix_(rest, rest)])
    upper = np.triu(factor[: size - 1, : size - 1])
    np.testing.assert_allclose(upper.T @ upper, gram[np.ix_(rest, rest)], atol=1e-12 * gram.max())


def test_steps_that_correct_converge_linearly_where_line_search_does_not():
    """ω on the side of a triangle and a start off it: the others are done while line search zigzags between its ends."""
    x = np.array([[-1.0, 5.0], [1.0, 5.0], [0.3, 6.0]])
    target = np.array([0.3, 5.0])
    left = {}
    for rule in STEPS:
        run = FrankWolfe(StoredAtoms(x @ x.T, np.ones(3), x @ target, float(target @ target)), rule)
        left[rule] = min(look.gap for look in itertools.islice(run, 150))
    for rule in LINEAR:
        assert left[rule] <= 1e-12
    assert left["line-search"] > 1e-6
    assert left["uniform"] > 1e-6


@pytest.mark.parametrize("rule", list(STEPS))
@pytest.mark.parametrize("precision", ["direct", "stored"])
def test_columns_that_are_made_again_change_nothing(rule, precision):
    """With memory for no column, for few, and for all: the same run."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(90, 3)), rng.choice([-1.0, 1.0], 90)
    kernel = Gaussian(3.0)
    gram = kernel.gram(x)
    linear = y * (gram @ y) / 90
    runs = []
    for memory in (1.0, 8 * 90 * 5.0, 1e9):
        if precision == "stored":
            atoms = StoredAtoms(gram, y, linear, float(linear.mean()))
        else:
            atoms = LazyAtoms(Rows("points", x), y, kernel, linear, float(linear.mean()), np.ones(90), None)
        run = FrankWolfe(atoms, rule, memory=memory)
        for _ in itertools.islice(run, 60):
            pass
        runs.append(run)
    for run in runs[1:]:
        assert run.picks == runs[0].picks
        np.testing.assert_allclose(run.walk.dense, runs[0].walk.dense, atol=1e-12)


class HalfWay(StepRule):
    """ω̃ ← (ω̃ + ψ_s)/2, which doubles the sum of the raw weights."""

    def step(self, walk, scores, s, gap, may_grow):
        walk.shift(s, walk.mass)
        return STEP_TAKEN


def test_a_step_rule_that_doubles_the_mass_runs_as_long_as_one_likes():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(7, 3))
    gram = x @ x.T
    run = FrankWolfe(stored(gram, np.full(7, 1 / 7)), HalfWay())
    weights = np.zeros(7)
    for number, state in zip(range(2500), run, strict=False):
        s = run.picks[-1]
        weights = np.eye(7)[s] if number == 0 else (weights + np.eye(7)[s]) / 2
        error = x.T @ weights - x.T @ np.full(7, 1 / 7)
        assert state.error_squared == pytest.approx(error @ error, rel=1e-9)
        np.testing.assert_allclose(run.walk.dense, weights, atol=1e-15)
    assert len(run.picks) == 2500


def test_the_store_forgets_what_is_not_used():
    atoms = stored(np.eye(300))
    atoms.keep_columns(1e9)
    for j in range(300):
        atoms.column(j)
    own = np.array([250, 3, 120])
    np.testing.assert_array_equal(atoms.combination(own, np.array([1.0, 2.0, 3.0])), np.eye(300)[own].T @ [1.0, 2.0, 3.0])
    assert len(atoms._stored) == 3
    for j in (250, 7, 3):
        np.testing.assert_array_equal(atoms.column(j), np.eye(300)[j])


def test_a_combination_of_columns_that_had_to_give_way():
    gram = np.arange(36.0).reshape(6, 6) + np.arange(36.0).reshape(6, 6).T
    atoms = stored(gram)
    atoms.keep_columns(8 * 6 * 3.0)
    for j in range(6):
        atoms.column(j)
    own, w = np.array([0, 5, 1, 3]), np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(atoms.combination(own, w), gram[:, own] @ w)


def test_candidates_signs_and_blocks_of_stored_atoms():
    rng = np.random.default_rng(0)
    gram, signs, chosen = Gaussian(1.0).gram(rng.normal(size=(12, 2))), rng.choice([-1.0, 1.0], 12), np.array([7, 2, 9])
    full = signs[:, None] * gram * signs
    atoms = StoredAtoms(gram, signs, np.zeros(3), 1.0, chosen)
    for j in range(3):
        np.testing.assert_array_equal(atoms.column(j), full[np.ix_(chosen, chosen)][:, j])
    np.testing.assert_array_equal(atoms.block([0, 2], [1, 2]), full[np.ix_(chosen, chosen)][np.ix_([0, 2], [1, 2])])


def test_ties_go_to_the_first_and_the_limit_ends_a_run():
    run = FrankWolfe(stored(np.eye(6)), "uniform", limit=4)
    looks = list(run)
    assert run.picks == [0, 1, 2, 3]
    assert looks[-1].error_squared == pytest.approx(1 / 4 - 1 / 6, abs=1e-15)  # orthonormal atoms: exactly 1/m − 1/n
    assert "atoms" in run.ended


@pytest.mark.parametrize("rule", list(STEPS))
def test_the_solver_has_all_rules(rule):
    """Those that converge linearly reach the optimum; of all of them, value and gap are right."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    problem = Herding(Gaussian(2.0).gram(x), np.where(x[:, 0] > 0, 1.0, -1.0), np.arange(0, 40, 8))
    solution = simopt.solve(problem, "frank-wolfe", tol=1e-6, steps=rule, max_iter=3000)
    assert solution.status is Status.OPTIMAL or (rule not in LINEAR and solution.status is Status.ITERATION_LIMIT)
    reference = simopt.solve(problem, "clarabel", tol=1e-9)
    assert abs(solution.value - reference.value) <= solution.certificate.gap + reference.certificate.gap + 1e-12
    with pytest.raises(UnknownName, match="pairwise"):
        simopt.solve(problem, "frank-wolfe", steps="pairwize")


def test_the_hull_svm_is_herding_while_its_hinge_is_linear():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 2))
    gram, y = Gaussian(2.0).gram(x), np.where(x[:, 0] > 0, 1.0, -1.0)
    herded = simopt.solve(HingeSVMHull(gram, y, 1.0), "frank-wolfe", tol=1e-10)
    assert herded.status is Status.OPTIMAL
    difference = np.asarray(herded.point["weights"]) - 1 / 20
    signed = y * difference
    assert signed @ gram @ signed <= 1e-9  # ω_S itself, at λ = 1
    for strength in (0.02, 0.3, 2.0):
        assert simopt.solve(HingeSVMHull(gram, y, strength), "frank-wolfe", tol=1e-10).status is Status.OPTIMAL
    refused = simopt.solve(HingeSVMHull(4.0 * gram, y, 1.0), "frank-wolfe")
    assert refused.status is Status.UNSUPPORTED and "margins in the hull reach 4 > 1" in refused.message


def test_an_unknown_rule_is_named():
    with pytest.raises(UnknownName, match="blended"):
        FrankWolfe(stored(np.eye(2)), "blendd")
    with pytest.raises(InvalidProblem, match="max_iter"):
        simopt.solve(Herding(np.eye(2), np.ones(2)), "frank-wolfe", max_iter=-1)


def test_the_first_atom_of_the_minimum_norm_point_finds_its_memory():
    steps, atoms = FullyCorrective(), StoredAtoms(np.eye(3), np.ones(3), np.full(3, 1 / 3), 1 / 3)
    assert steps._append(Walk(atoms), 2) and steps._append(Walk(atoms), 0)
    assert steps._order[: steps._size].tolist() == [2, 0] and steps._gram[:2, :2].tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_old_name_of_a_step_that_was_taken() -> None:
    with pytest.warns(DeprecationWarning, match="MOVED is called STEP_TAKEN"):
        assert frank_wolfe_steps.MOVED == frank_wolfe_steps.STEP_TAKEN
    with pytest.raises(AttributeError, match="no attribute 'REST'"):
        _ = frank_wolfe_steps.REST
