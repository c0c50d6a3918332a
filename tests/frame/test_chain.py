"""The solving chain: what each step is called, printed as it happens, and shown without a solve."""

import re
from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from typer.testing import Result

import simopt
from simopt.core.errors import InvalidProblem, UnknownName
from simopt.problems.kernel_ridge import KernelRidge
from simopt.solving.chain import chain_of
from simopt.solving.driver import choose

Run = Callable[..., Result]
LINE = re.compile(r" *\d+\.\d{3} s  (\S[\w-]*(?: \w+)?) {2,}\S")


def kernel_ridge() -> KernelRidge:
    return KernelRidge(np.diag([2.0, 1.0]), np.array([1.0, -3.0]), 0.5)


def lasso() -> cp.Problem:
    w = cp.Variable(2, name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(w - np.array([3.0, 0.25])) + cp.norm1(w)))


def steps(text: str) -> list[str]:
    """The names of the printed steps, each once, in the order in which they first come."""
    lines = text.splitlines()
    found = [LINE.match(line) for line in lines]
    assert lines and all(found), text
    return list(dict.fromkeys(match[1] for match in found if match is not None))


def test_a_verbose_solve_prints_its_steps_on_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    quiet, loud = simopt.solve(lasso(), "clarabel"), simopt.solve(lasso(), "clarabel", verbose=True)
    out, err = capfd.readouterr()
    assert out == "" and steps(err) == ["read", "chain", "units", "graph form", "clarabel", "restore", "evaluate", "perturb", "status"]
    assert "units → graph form → clarabel → restore → evaluate → perturb" in err
    assert "Dcp2Cone" in err and "OPTIMAL" in err.splitlines()[-1]
    assert quiet.certificate == loud.certificate, "what is printed changes no number"
    assert "verbose" not in loud.provenance.options


def test_a_hand_written_solver_takes_the_place_of_form_and_back_end(capfd: pytest.CaptureFixture[str]) -> None:
    simopt.solve(kernel_ridge(), "cholesky", verbose=True)
    assert steps(capfd.readouterr().err) == ["chain", "units", "cholesky", "restore", "evaluate", "perturb", "status"]


def test_nothing_is_printed_without_being_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    simopt.solve(kernel_ridge())
    simopt.solve(lasso())
    assert capfd.readouterr() == ("", "")


def test_verbose_is_true_or_false() -> None:
    with pytest.raises(InvalidProblem, match="verbose: 'yes' given"):
        simopt.solve(lasso(), verbose="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(("solver", "names"), [
    ("cholesky", "units → cholesky → restore → evaluate → perturb"),
    ("scs", "units → declaration → scs → restore → evaluate → perturb"),
])  # fmt: skip
def test_the_chain_of_a_problem_says_what_each_step_does_and_which_functions_do_it(solver: str, names: str) -> None:
    chosen = choose(KernelRidge, solver)
    chain = chain_of(kernel_ridge(), chosen)
    assert chain.names == names and chain == chain_of(KernelRidge, chosen)
    assert all(step.does and step.by.startswith("simopt.") for step in chain.steps)
    assert "simopt.problems.kernel_ridge.KernelRidge.restore" in str(chain)


def test_show_prints_the_chain_of_a_registered_problem(run: Run) -> None:
    result = run("show", "kernel-ridge", "--chain")
    assert result.exit_code == 0
    assert "units → cholesky → restore → evaluate → perturb" in result.stdout
    assert "units → declaration → clarabel → restore → evaluate → perturb" in result.stdout
    assert "simopt.problems.kernel_ridge.KernelRidge.dual_bound" in result.stdout


def test_show_has_chains_of_problems_only() -> None:
    from simopt.cli.show import chains

    with pytest.raises(UnknownName, match="problem 'clarabel'"):
        list(chains("clarabel"))
