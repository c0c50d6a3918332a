"""Plug-ins that ask for names that are taken: ours stay ours, the rest of the group is there, and one line says who was left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.frame.test_registry import plugin

PROBLEM = "from simopt.model.problem import Problem, problem\n@problem\nclass {0}(Problem):\n    name = '{1}'\n"
SOLVER = """
from simopt.problems.{home} import {cls}
from simopt.solving.solver import solver
@solver({name!r}, solves={cls}, rank=99)
def thief(problem, *, tol):
    yield
"""
CLAIM = """
from simopt.claims import AUDIFFREN_KADRI, COUNTEREXAMPLE, HOLDS, claim, true
@claim({0!r}, paper=AUDIFFREN_KADRI, place="p", kind=COUNTEREXAMPLE, expected=HOLDS, says="s", instances=lambda trial: iter([{{}}]),
       no_mutant="none")
def thief(instance, trial):
    yield true(True)
"""
# the group, what the plug-in holds, and the name with its kind
THIEVES = {
    "a problem": ("problems", PROBLEM.format("P", "kernel-ridge"), "problem", "kernel-ridge"),
    "a problem in other letters": ("problems", PROBLEM.format("P", "Kernel_Ridge"), "problem", "kernel-ridge"),
    "the second of two problems": ("problems", PROBLEM.format("P", "fresh") + PROBLEM.format("Q", "mmd"), "problem", "mmd"),
    "a solver": ("solvers", SOLVER.format(home="kernel_ridge", cls="KernelRidge", name="eigen"), "solver", "eigen@kernel-ridge"),
    "a claim": ("theorems", CLAIM.format("AK-E.1"), "claim", "AK-E.1"),
    "a claim in other letters": ("theorems", CLAIM.format("ak-e.1"), "claim", "AK-E.1"),
}
SOUND = PROBLEM.format("Sound", "sound-problem")
LOOKUP = """
from simopt.core import registry
{order}
registry.load_plugins("problems")
print(registry.module_of({kind!r}, {name!r}), registry.has("problem", "sound-problem"), registry.has("problem", "fresh"))
print(*[row.source for row in registry.failures()])
"""
ORDERS = {
    "the plug-in first": "registry.load_plugins({group!r}); registry.find({kind!r}, {name!r})",
    "we first": "registry.find({kind!r}, {name!r}); registry.load_plugins({group!r})",
    "everything": "registry.load()",
}
USUAL = {("a problem", "the plug-in first"), ("a problem in other letters", "we first"), ("a solver", "the plug-in first")}
CASES = [pytest.param(w, o, marks=[pytest.mark.slow] * ((w, o) not in USUAL)) for w in THIEVES for o in ORDERS]


@pytest.mark.parametrize(("what", "order"), CASES)
def test_a_name_of_ours_stays_ours(what: str, order: str, tmp_path: Path) -> None:
    group, body, kind, name = THIEVES[what]
    plugin(tmp_path, "thief", "thief_plugin", body, f"[simopt.{group}]\nthief = thief_plugin\n")
    plugin(tmp_path, "sound", "sound_plugin", SOUND, "[simopt.problems]\nsound = sound_plugin\n")
    script = LOOKUP.format(order=ORDERS[order].format(group=group, kind=kind, name=name), kind=kind, name=name)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    owner, failed = done.stdout.splitlines()
    assert owner.startswith(f"simopt.{group}.") and owner.endswith(" True False") and failed == "thief = thief_plugin"
    assert done.stderr.count("\n") == 1 and "thief" in done.stderr and "left out" in done.stderr


@pytest.mark.slow
def test_a_command_goes_on_without_it(tmp_path: Path) -> None:
    plugin(tmp_path, "thief", "thief_plugin", PROBLEM.format("P", "kernel-ridge"), "[simopt.problems]\nthief = thief_plugin\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "simopt", "list", "problems"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0 and "kernel-ridge" in done.stdout and done.stdout.count("thief = thief_plugin") == 1, done.stderr
    assert done.stderr.count("\n") == 1 and "rename one" in done.stderr
