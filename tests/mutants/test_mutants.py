"""What `make mutants` does: one line changes, the text compiles and means something else, and a test that ought to notice does."""

import ast
import subprocess
import sys
from pathlib import Path

import concerned
import mutants_page
import pytest
from mutants_page import Tried
from mutate import Mutant, differs, mutants

HERE = Path(__file__).parent
SOURCE = '''"""A module."""

from __future__ import annotations


class Ball:
    """All x with |x − mid| ≤ rad."""

    radius: float | None = None

    def holds(self, x: float, slack: float = 1e-9) -> bool:
        """Whether x is inside."""
        if self.radius is not None and not x:
            raise ValueError(f"{x + 1}" + "no")
        return abs(x - self.mid) <= max(self.radius, 3.0 * slack)

    def __str__(self) -> str:
        return "b" * (1 + 2)
'''


def changed() -> set[str]:
    return {mutant.after.strip() for mutant in mutants("ball.py", SOURCE)}


def test_a_mutant_changes_one_line_and_what_it_means() -> None:
    for path in ("simopt/certificates/assessment.py", "simopt/claims/tally.py", "problems/landmarked_svr.py"):
        source = (concerned.ROOT / path).read_text(encoding="utf-8")
        found = mutants(path, source)
        assert len(found) > 50 and len({mutant.id for mutant in found}) == len(found)
        for mutant in found[::25]:
            before, after = source.splitlines(), mutant.applied(source).splitlines()
            assert [number for number, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b] == [mutant.line]
            if differs(source, mutant):
                assert ast.dump(ast.parse(mutant.applied(source))) != ast.dump(ast.parse(source))


def test_every_kind_of_change_is_made_and_no_text_or_type_is_touched() -> None:
    lines = changed()
    assert {
        "if self.radius is None and not x:",
        "if self.radius is not None or not x:",
        "if self.radius is not None and x:",
        "if (not (self.radius is not None and not x)):",
        "if (self.radius is not None):",
        "pass",
        "return abs(x + self.mid) <= max(self.radius, 3.0 * slack)",
        "return abs(x) <= max(self.radius, 3.0 * slack)",
        "return (x - self.mid) <= max(self.radius, 3.0 * slack)",
        "return abs(x - self.mid) < max(self.radius, 3.0 * slack)",
        "return abs(x - self.mid) >= max(self.radius, 3.0 * slack)",
        "return abs(x - self.mid) <= self.radius",
        "return abs(x - self.mid) <= min(self.radius, 3.0 * slack)",
        "return abs(x - self.mid) <= max(self.radius, 6.0 * slack)",
        "return abs(x - self.mid) <= max(self.radius, (-3.0) * slack)",
        "def holds(self, x: float, slack: float = 0.0) -> bool:",
        "def holds(self, x: float, slack: float = 1.0) -> bool:",
    } <= lines
    assert not any("raise" in line or ("return " in line and '"' in line) or line.startswith(("radius", '"')) for line in lines)


def test_a_mutant_keeps_its_name_where_lines_are_added_above() -> None:
    moved = SOURCE.replace('"""A module."""', '"""A module."""\n\n# more')
    assert [mutant.id for mutant in mutants("ball.py", moved)] == [mutant.id for mutant in mutants("ball.py", SOURCE)]
    with pytest.raises(ValueError, match="is not the one"):
        mutants("ball.py", moved)[0].applied(SOURCE)


def test_every_module_has_tests_and_a_problem_those_of_itself() -> None:
    for group in concerned.groups():
        for module in group.modules:
            tests = concerned.tests_of(group.name, module)
            assert tests and all((concerned.ROOT / each.path).is_file() for each in tests), module
            assert group.name != "problems" or concerned.problems_on(module), f"{module} serves no problem"
    assert concerned.problems_on("problems/kernel_ridge.py") == ("kernel-ridge",)


def test_a_solver_has_the_nearest_tests_first_and_every_folder_its_share() -> None:
    files = [each.path for each in concerned.tests_of("solvers", "solvers/isotonic/chain_band.py")]
    assert files[0] == "tests/solvers/test_chain_band.py" and "tests/solvers/test_isotron.py" in files
    [pairs] = concerned.tests_of("solvers", "solvers/hinges/solvers.py")
    assert pairs.path == "tests/conformance/test_conformance.py" and "landmarked-svr-newton" in pairs.names
    by_name = concerned.tests_of("estimators", "estimators/kernel_regression/m_power_cv.py")
    names = [each.names for each in by_name if each.path.startswith("tests/estimators")]
    assert {*names} == {frozenset({"MPowerRegressorCV"}), frozenset()} and names == sorted(names, key=len, reverse=True)  # whole files last
    weights = {group.name: group.weight for group in concerned.groups()}
    assert weights["solvers"] >= weights["problems"] and weights["estimators"] >= weights["equivalence"] > 0
    assert {path for path in concerned.listed("simopt/equivalence") if "__init__" not in path} <= {
        path for group in concerned.groups() for path in group.modules
    }


def test_a_reason_whose_mutant_is_dead_and_a_survivor_without_one_are_reported() -> None:
    dead, alive, other = mutants("ball.py", SOURCE)[:3]
    tried = [Tried(dead, "toy", "test", "t.py::t", ""), Tried(alive, "toy", "survived", "", ""), Tried(other, "toy", "survived", "", "")]
    reason = {"kind": "equivalent", "why": "0 = 0"}
    counted = mutants_page.summary(tried, {dead.id: reason, other.id: reason, "elsewhere": reason})
    assert (counted.stale, counted.unexplained, counted.dead) == ((dead.id,), (alive.id,), 1)
    text = mutants_page.page(tried, {other.id: reason}, "today")
    assert "**Unexplained.**" in text and "*equivalent:* 0 = 0" in text and "**1 of 3 killed, 33.3%.**" in text


def broken() -> Mutant:
    path = "simopt/arithmetic/rational.py"
    return next(
        m for m in mutants(path, (concerned.ROOT / path).read_text(encoding="utf-8")) if (m.where, m.kind) == ("_inner", "operator")
    )


@pytest.mark.slow
def test_a_formula_that_is_broken_is_noticed_and_shown_again() -> None:
    command = [sys.executable, str(HERE), "--only", broken().id]
    done = subprocess.run(command, cwd=concerned.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert broken().diff in done.stdout and f"{broken().id}: test tests/" in done.stdout
