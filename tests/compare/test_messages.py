"""What is wrong with a problem of one's own is one line that says where, in the user's words."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simopt.backends.table import usable
from simopt.core.errors import UnknownName

Run = Callable[..., Result]
OWN = """import cvxpy as cp
_hidden, number = 1, 2

def portfolio(n=0):
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x / (1 / n)), [x >= 1])

def several():
    x = cp.Variable()
    yield cp.Problem(cp.Minimize(x), [x >= 1])
    yield undefined

def inside():
    x = cp.Variable(3, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x) + cp.norm(cp.sqrt(x) + x)), [x >= 1])

def constrained():
    x = cp.Variable(3, name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.exp(cp.sqrt(x)) <= 3])

def concave():
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(cp.sqrt(x)), [x >= 1, x <= 2])

def wrong_side():
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [cp.square(x) >= 1, x <= 2])

def good():
    x = cp.Variable()
    return cp.Problem(cp.Minimize(x), [x >= 1])
"""


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("own.py:portfolio", "own.py:portfolio(): ZeroDivisionError: division by zero (own.py, line 6)"),
        ("own.py:several", "NameError: name 'undefined' is not defined (own.py, line 11)"),
        ("raises.py:x", "raises.py: it cannot be imported: ZeroDivisionError: division by zero (raises.py, line 2)"),
        ("own.py:inside", "(DCP) in pnorm(power(x, 0.5) + x, 2), in the objective; "),
        ("own.py:constrained", "(DCP) in exp(power(x, 0.5)), in a constraint; "),
        ("own.py:concave", "(DCP) in power(x, 0.5), which is concave and minimised; "),
        ("own.py:wrong_side", "(DCP) in 1.0 <= power(x, 2.0); "),
        ("own.py:portfolio(n=[40,4O])", "own.py:portfolio: 4O is no literal, in (n=[40,4O]); arguments needed, such as (n=[100, 1000])"),
        ("own.py:portfolio(n=[40,,1])", "own.py:portfolio: (n=[40,,1]) given; arguments needed"),
        ("owm.py:portfolio", "owm.py: no such file; did you mean own.py?"),
        ("qp/ownn.qps", "qp/ownn.qps: no such file; did you mean qp/own.qps?"),
        ("quite-else.py:portfolio", "quite-else.py: no such file\n"),
        (
            "own.py",
            "name one in it: own.py:NAME; it defines portfolio, several, inside, constrained, concave, wrong_side, good\n",
        ),
        ("raises.py", "raises.py: it has failed: ZeroDivisionError: division by zero (raises.py, line 2)\n"),
    ],
)
def test_where_it_is_wrong(what: str, message: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "raises.py").write_text("import cvxpy\n1 / 0\n")
    (tmp_path / "qp").mkdir()
    (tmp_path / "qp" / "own.qps").write_text("")
    result = run("compare", what, "--solvers", "clarabel")
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.strip().splitlines()) == 1, result.stderr


def test_an_unknown_solver_is_told_with_those_that_are_installed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    assert "unknown solver 'clarabell'; did you mean 'clarabel'?" in run("compare", "own.py:good", "--solvers", "clarabell").stderr
    names = ", ".join(sorted(backend.name for backend in usable()))
    assert f"unknown solver 'cplex'; there are {names}\n" in run("compare", "own.py:good", "--solvers", "cplex").stderr
    of_catalogue = run("compare", "landmarked-svr", "--solvers", "cplex").stderr
    assert "unknown solver of landmarked-svr 'cplex'; there are " in of_catalogue and "newton" in of_catalogue and "…" not in of_catalogue


def test_the_length_of_a_list_survives_a_pickle() -> None:
    error = UnknownName("solver", "zzz", [f"quite-another-{i}" for i in range(20)], most=20)
    assert str(pickle.loads(pickle.dumps(error))) == str(error) and "…" not in str(error)
