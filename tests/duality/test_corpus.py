"""The corpus of CVXPY's own problems: the list is whole, the same problems come again, and what does not come is named."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from against import reported
from certified import Result, certified, counted, counted_further, results
from corpus import COMPLEX, DUALS, GEOMETRIC, INTEGER, LIST, CorpusChanged, CorpusSolve, FurtherSolve, entries, further, problems, wanted
from documented import MODELS, models
from fingerprint import fingerprint
from intercept import intercepted, missing_files
from page import EXPLAINED, certificates
from values import compared

from simopt.core.errors import InvalidProblem
from simopt.duality import Declared

ANSWERS = {"optimal", "optimal_inaccurate", "infeasible", "infeasible_inaccurate", "unbounded", "unbounded_inaccurate"}


def evenly_spaced(count: int) -> list[CorpusSolve]:
    """Lines from the first to the last, equally far apart."""
    every = entries()
    return [every[place] for place in np.linspace(0, len(every) - 1, count).astype(int)]


@pytest.mark.parametrize("listed", [entries, further])
def test_the_lists_are_well_formed(listed: Callable[[], Sequence[CorpusSolve]]) -> None:
    every = listed()
    assert len(every) >= 200
    assert len({entry.id for entry in every}) == len(every)
    assert len({(entry.fingerprint, getattr(entry, "kind", "")) for entry in every}) == len(every)
    for entry in every:
        assert re.fullmatch(r"[\w/]+\.py::.+#\d+", entry.id)
        assert re.fullmatch(r"[0-9a-f]{16}", entry.fingerprint)
        assert entry.variables > 0
        assert entry.rows >= 0
        assert (entry.optimum is not None) == (entry.status in ("optimal", "optimal_inaccurate"))
        assert entry.status in ANSWERS or entry.status.endswith(("Error", "Exception"))


def test_the_page_is_of_this_list() -> None:
    text = LIST.with_name("README.md").read_text(encoding="utf-8")
    every = entries()
    assert f"{len(every)} distinct continuous DCP problems" in text
    assert f"| {len(every)} | **in the list** |" in text
    assert f"| {len(further())} | **in the second list**" in text and f"{len(further())} distinct geometric" in text
    for status in {entry.status for entry in every}:
        assert f"| {status} | {sum(entry.status == status for entry in every)} |" in text


def test_the_same_problems_come_again_and_others_are_named() -> None:
    dozen = evenly_spaced(12)
    forged = replace(evenly_spaced(3)[1], fingerprint="0" * 16)
    missing = replace(dozen[0], id=f"{dozen[0].test}#999")
    honest = [entry for entry in dozen if entry.id not in (forged.id, *DUALS)]
    four = [replace(entry, fingerprint="1" * 16) for entry in entries() if entry.id in DUALS]  # other digits, as on another machine
    other = replace(four.pop(), rows=0)
    seen = {}
    with pytest.raises(CorpusChanged) as caught:
        for name, problem in problems([*honest, *four, forged, other, missing]):
            seen[name] = (sum(variable.size for variable in problem.variables()), sum(row.size for row in problem.constraints))
            assert all(variable.value_sparse is None for variable in problem.variables() if variable.sparse_idx is not None)
            assert all(variable.value is None for variable in problem.variables() if variable.sparse_idx is None)
    assert seen == {entry.id: (entry.variables, entry.rows) for entry in (*honest, *four)} and len(four) == len(DUALS) - 1
    assert set(str(caught.value).splitlines()[1:]) == {
        *(f"{each.id}: other numbers or another structure" for each in (forged, other)),
        f"{missing.id}: never solved",
    }


@pytest.mark.slow
def test_a_reader_may_stop_early() -> None:
    assert next(problems(evenly_spaced(2)))[0] == entries()[0].id
    assert list(problems([])) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # CVXPY's, about powers that it approximates
def test_every_problem_comes_again_with_the_answer_of_the_list() -> None:
    listed = {entry.id: entry for entry in entries()}
    other = []
    for name, problem in problems():
        entry = listed.pop(name)
        if entry.status not in ANSWERS:
            continue  # CLARABEL fails on it
        problem.solve(solver="CLARABEL")
        value = None if entry.optimum is None else problem.value
        if problem.status != entry.status or (value is not None and abs(value - entry.optimum) > 1e-5 * (1 + abs(entry.optimum))):
            other.append(f"{name}: {problem.status} {problem.value}, not {entry.status} {entry.optimum}")
    assert not listed
    assert not other, "\n".join(other)


@pytest.mark.slow
def test_no_problem_is_made_of_an_answer() -> None:
    listed = {entry.id: entry.fingerprint for entry in entries()}
    came = {each.id: fingerprint(each.problem()) for each in intercepted(wanted(entries()), moved=True)}
    assert len(came) > 0.9 * len(listed)  # some tests notice that an answer was moved, and end
    assert [name for name in came if came[name] != listed[name] and name not in DUALS] == []  # moved are points, and no dual values


def program(scale: float = 1.0, **attributes: object) -> cp.Problem:
    x, y = cp.Variable(2, **attributes), cp.Variable()
    bound = cp.Parameter(nonneg=True, value=3.0 * scale)
    return cp.Problem(cp.Minimize(cp.norm(x) + y), [x[0] >= 1, y >= -bound, cp.sum(np.array([[1.0, 2.0], [0.0, 1e-3]]) @ x) == 3])


def test_a_fingerprint_is_of_structure_and_numbers_alone() -> None:
    once = fingerprint(program())
    assert fingerprint(program()) == once  # other variables
    assert fingerprint(program(1 + 1e-15)) == once  # other last bits
    assert fingerprint(program(1 + 1e-7)) != once
    assert fingerprint(program(nonneg=True)) != once
    assert fingerprint(program(bounds=[0, 1])) != fingerprint(program(bounds=[0, 2]))
    x = cp.Variable(2)
    square, cube = (cp.Problem(cp.Minimize(cp.sum(cp.power(cp.pos(x), p)))) for p in (2, 3))
    assert fingerprint(square) != fingerprint(cube)
    first, second = (cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [x[i] >= 0]) for i in range(2))
    assert fingerprint(first) != fingerprint(second)
    y, z = cp.Variable(), cp.Variable()
    same, other = (cp.Problem(cp.Minimize(y + 1), [y >= 1, w >= 2]) for w in (y, z))
    assert fingerprint(same) != fingerprint(other)  # which variable it is counts


ENTRY = CorpusSolve("a.py::b#0", "0" * 16, 2, 3, [], [], "optimal", 2.0)


def test_a_result_is_closed_in_both_arithmetics_or_not_and_contradicts_or_not() -> None:
    both = {"float": 2.0, "interval": 2.0}
    good = Result(ENTRY.id, "", lower=both, upper=both, gap={"float": 1e-8, "interval": 1e-6})
    assert good.closed(ENTRY) and not good.contradicts(ENTRY)
    for gap in ({"float": 3e-8, "interval": 1e-6}, {"float": 1e-8, "interval": 3e-6}, {"float": 1e-8}, {}):
        assert not replace(good, gap=gap).closed(ENTRY)
    assert replace(good, lower={"float": 2.1}, upper={"float": 3.0}).contradicts(ENTRY).startswith("float: 2.1 ≤ optimum ≤ 3, CLARABEL: 2")
    assert replace(good, lower={"interval": 1.0}, upper={"interval": 1.9}).contradicts(ENTRY)
    assert not replace(good, lower={"interval": -np.inf}, upper={"interval": np.inf}).contradicts(ENTRY)
    assert good.contradicts(replace(ENTRY, status="infeasible", optimum=None))
    assert good.contradicts(replace(ENTRY, status="unbounded", optimum=None))
    assert not good.contradicts(replace(ENTRY, status="SolverError", optimum=None))


def test_a_result_of_the_second_list_is_an_answer_or_not() -> None:
    inside, apart = {"float": 2.0, "interval": 2.0}, {"float": 3.0, "interval": 3.0}
    geometric, whole = (FurtherSolve("a.py::b#0", "0" * 16, 2, 3, [], [], "optimal", 2.0, kind=kind) for kind in (GEOMETRIC, INTEGER))
    gapped = Result("", "", lower=inside, upper=apart, gap={"float": 1.0, "interval": 1.0})
    assert gapped.answered(whole) and not gapped.answered(geometric)  # of integers two bounds are an answer
    assert replace(gapped, upper=inside, gap={"float": 0.0, "interval": 0.0}).answered(geometric)
    one_sided = replace(gapped, upper={"float": 3.0, "interval": np.inf})
    assert not one_sided.answered(whole) and not replace(gapped, lower={}).answered(whole)
    assert replace(one_sided, proven="infeasible").answered(whole) and replace(one_sided, proven="unbounded").answered(geometric)
    for lost in (replace(gapped, refused="it is not known"), replace(gapped, failed="not ready", proven="infeasible")):
        assert not lost.answered(whole)
    zero, near = replace(geometric, optimum=0.0), {"float": 1e-10, "interval": 1e-10}
    assert replace(gapped, gap=near, terms=near).answered(zero) and not replace(gapped, gap=near, terms=inside).answered(zero)
    assert replace(gapped, proven="unbounded").contradicts(geometric) and not gapped.contradicts(whole)
    none = replace(whole, status="infeasible", optimum=None)
    beyond = replace(gapped, lower={"float": -np.inf})
    assert gapped.contradicts(none) and beyond.contradicts(none)
    assert not replace(beyond, maximises=True).contradicts(none)  # of a maximum, the bound of the relaxation is the upper one


def test_each_kind_of_the_second_list_is_judged_as_a_user_would() -> None:
    x, z, b = cp.Variable(pos=True, name="x"), cp.Variable(complex=True, name="z"), cp.Variable(2, boolean=True, name="b")

    def assessed(kind: str, optimum: float | None, objective: cp.Objective, *rows: cp.Constraint) -> tuple[FurtherSolve, Result]:
        entry = FurtherSolve("a.py::b#0", "0" * 16, 1, 1, [], [], "optimal", optimum, kind=kind)
        return entry, certified(entry, cp.Problem(objective, list(rows)))

    for kind, optimum, *parts in (
        (GEOMETRIC, 2.0, cp.Minimize(x + 1 / x)),
        (COMPLEX, 5.0, cp.Minimize(cp.abs(z - 3 - 4j))),
        (f"{INTEGER} and {COMPLEX}", 1.0, cp.Minimize(cp.real((2 + 1j) * b[0] + (1 - 1j) * b[1])), b[0] + b[1] == 1),
    ):
        entry, result = assessed(kind, optimum, *parts, *([z == 0] if kind == COMPLEX else []))
        assert result.answered(entry) and not result.contradicts(entry) and not result.proven, (kind, result)
    entry, result = assessed(INTEGER, 1.0, cp.Maximize(cp.sum(b)), 2 * cp.sum(b) <= 3)
    assert result.answered(entry) and not result.closed(entry) and result.lower["interval"] == 1.0 and result.upper["interval"] == 1.5
    assert assessed(GEOMETRIC, None, cp.Minimize(x))[1].proven == "unbounded"
    assert assessed(INTEGER, None, cp.Minimize(b[0]), cp.sum(b) >= 3)[1].proven == "infeasible"
    assert assessed(INTEGER, None, cp.Minimize(b[0]), cp.FiniteSet(b[1], [0.0, 1.0]))[1].refused
    assert assessed(INTEGER, None, cp.Minimize(b[0]), cp.sum(b) == 0.5)[1].open


def test_problems_are_judged_read_or_not() -> None:
    x = cp.Variable(2)
    closes = certified(ENTRY, cp.Problem(cp.Minimize(cp.sum_squares(x - 2) + 2), [x >= 0]))
    assert closes.closed(ENTRY) and not closes.contradicts(ENTRY) and not closes.open
    largest = certified(ENTRY, cp.Problem(cp.Maximize(2 - cp.sum_squares(x - 2)), [x >= 0]))
    assert largest.closed(ENTRY) and not largest.contradicts(ENTRY)
    assert certified(ENTRY, cp.Problem(cp.Minimize(cp.ceil(x[0])))).refused.startswith("the problem is quasiconvex")
    stays = certified(ENTRY, cp.Problem(cp.Minimize(cp.sum(x)), [x[0] == 1]))
    assert stays.failed or stays.open


def test_the_page_of_certificates_is_of_these_results() -> None:
    every, found = {entry.id: entry.fingerprint for entry in entries()}, list(counted())
    assert {entry.id: result.fingerprint for entry, result in found} == every
    second = list(counted_further())
    assert {entry.id: result.fingerprint for entry, result in second} == {entry.id: entry.fingerprint for entry in further()}
    assert LIST.with_name("CERTIFIED.md").read_text(encoding="utf-8") == certificates(found, second)
    assert {entry.id for entry, result in second if result.contradicts(entry)} <= set(EXPLAINED)
    assert sum(result.answered(entry) for entry, result in second) >= 0.9 * len(second)
    assert sum(not result.refused for _, result in found) >= 980  # as many as are accepted on 2026-11-29; a run that loses one says which
    assert {entry.id for entry, result in found if result.contradicts(entry)} <= set(EXPLAINED)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_no_multipliers_and_no_point_contradict_clarabel() -> None:
    """Random multipliers and points of every problem that is read: no bound is beyond the optimum, and the gap is that of the bounds."""
    listed, rng, bounds, wrong = {entry.id: entry for entry in entries()}, np.random.default_rng(0), 0, []
    for name, problem in problems():
        if listed[name].variables > 400:
            continue
        try:
            declared = Declared.of(problem)
        except InvalidProblem:
            continue
        for scale in (0.0, 1.0, 10.0):
            multipliers = {term: scale * rng.normal(size=size) for term, (_, _, size) in declared.names.items()}
            given = {leaf.name: rng.normal(size=leaf.shape) for leaf in declared.programme.leaves.values()}
            try:
                point = declared.restore(given)
                high = float(declared.objective(point))
                low = float(declared.dual_bound(multipliers, upper=high))
            except InvalidProblem:  # constants outside of a function's domain
                continue
            gap = float(declared.gap(point, multipliers))
            said = listed[name]
            if declared.programme.maximises and said.optimum is not None:  # bounds are those of the negative, that is minimised
                said = replace(said, optimum=-said.optimum)
            if wrongly := Result(name, "", lower={"float": low}, upper={"float": high}).contradicts(said):
                wrong.append(f"{name}: {wrongly}")
            if np.isfinite(high - low):
                assert gap == pytest.approx(high - low, rel=1e-6, abs=1e-6 * (1 + abs(high) + abs(low))), name
                bounds += 1
    assert bounds > 500
    assert {each.partition(": ")[0] for each in wrong} <= set(EXPLAINED), "\n".join(wrong)


def test_every_model_of_the_documentation_has_an_optimum() -> None:
    assert len(MODELS) >= 25
    for name, problem in models():
        problem.solve(solver="CLARABEL")
        assert problem.status == cp.OPTIMAL, name
        assert abs(problem.value) > 1e-3, name  # else "relative to the optimum" says nothing
    assert MODELS.keys() >= {
        *("portfolio", "group lasso", "quantile regression", "logistic regression", "optimal control", "robust Kalman filter"),
        *("maximum entropy", "nu svm", "total variation", "Chebyshev centre"),
    }


def test_a_value_that_is_not_cvxpys_is_named() -> None:
    """Each problem that is read right, and the same with one number of what was read changed: another objective, or another row."""
    x = cp.Variable(3, name="x")
    slope, limit = cp.Parameter(3, value=np.array([1.0, -2.0, 3.0])), cp.Parameter(value=4.0)
    problem = cp.Problem(cp.Maximize(slope @ x - cp.sum_squares(x)), [cp.norm(x) <= limit, cp.sum(x) == 1])
    count, wrong = compared(Declared.of(problem))
    assert count == 12 and not wrong  # four points, of each the objective and two rows
    assert all(variable.value is None for variable in problem.variables())
    for parameter, where in ((slope, "objective"), (limit, "row 0")):
        declared = Declared.of(problem)
        original = type(parameter).value.fget  # type: ignore[attr-defined]
        with pytest.MonkeyPatch.context() as patch:
            seen = "simopt.duality.reading.expressions.value_of"
            patch.setattr(seen, lambda leaf, of=parameter, get=original: get(leaf) + 1e-3 * (leaf is of))
            assert compared(declared)[1].startswith(f"{where}: ")


def test_files_that_another_cvxpy_lacks_are_named_and_passed_over() -> None:
    first = entries()[0]
    gone = replace(first, id="test_of_another_version.py::test#0")
    assert missing_files(wanted([first, gone])) == ["test_of_another_version.py"]
    assert list(intercepted(wanted([gone]))) == []
    with pytest.raises(CorpusChanged, match=r"test_of_another_version.py::test#0: never solved, its file is missing"):
        list(problems([first, gone]))


@pytest.mark.thorough
def test_what_fixtures_solve_comes_where_nothing_else_of_their_tests_is_wanted() -> None:
    chosen = [f"test_perspective.py::test_quad_atom[{r}]" for r in (3, 4, -2)]
    assert [each.id for each in intercepted({test: {0} for test in chosen})] == [f"{test}#0" for test in chosen]


def test_what_another_cvxpy_may_not_make_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    listed = results()
    every = {entry.id: entry for entry in entries()}
    assert reported(listed) == 0 and capsys.readouterr().out.endswith("nothing is misread\n")
    taken = next(name for name, result in listed.items() if not result.refused and every[name].status == "optimal" and every[name].optimum)
    far = {"float": 1e9}
    for bad, why in (
        (replace(listed[taken], refused="it is not known"), "refused here alone"),
        (replace(listed[taken], misread="objective: 1, CVXPY's: 2"), "misread"),
        (replace(listed[taken], failed="reading: AttributeError: no axis"), "no axis"),
        (replace(listed[taken], lower=far, upper=far), "contradicts"),
    ):
        assert reported(listed | {taken: bad}) == 1
        assert why in capsys.readouterr().out.splitlines()[-1]
    assert reported({}) == 1
    less = {name: result for name, result in listed.items() if not name.startswith(taken.partition("::")[0])}
    assert reported(less) == 0  # another version has other tests
