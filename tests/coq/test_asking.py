"""What is put to the kernel: texts are made in their turn, a sample ends, and what has no theorem says why."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simopt.coq.__main__ import Job, _pair, _submit
from simopt.coq.kernel import NO_ANSWER, CoqKernel, Result
from simopt.coq.theory import NoTheorem


class AcceptingKernel:
    """Accepts all, and refuses mutants."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def prepare(self, text: str) -> None:
        """Nothing to compile."""

    def check(self, name: str, text: str) -> Result:
        """A result of its own for each name."""
        self.requests.append(name)
        return Result(name, True, 1.0)

    refused = check


def jobs(made: list[str]) -> list[Job]:
    """A file with its mutant, one without a theorem, and one that stands alone."""

    def none() -> tuple[str, str]:
        made.append("none")
        raise NoTheorem("no formula")

    def some() -> tuple[str, str]:
        made.append("some")
        return "text", "false"

    pair: Callable[..., Any] = _pair
    return [*pair("proof file", "A", "A", some), *pair("refutation", "A", "A_refuted", none), Job("headlines", "", "H", lambda: "h")]


def test_each_text_is_made_once_and_each_result_is_its_own() -> None:
    made: list[str] = []
    kernel: Any = AcceptingKernel()
    answers, texts = _submit(kernel, jobs(made), 2, float("inf"))
    assert sorted(made) == ["none", "some"]  # the mutant of what has no theorem is not tried again
    assert answers.results["proof file"]["A"].digest == "A" and answers.results["mutant"]["A_mutant"].digest == "A_mutant"
    assert answers.results["refutation"] == {} and answers.without == {"A": "no formula"} and not answers.left_out
    assert texts == {"A": "text", "A_mutant": "false", "H": "h"} and sorted(kernel.requests) == ["A", "A_mutant", "H"]


def test_nothing_begins_when_the_time_of_a_sample_is_over() -> None:
    made: list[str] = []
    kernel: Any = AcceptingKernel()
    answers, _ = _submit(kernel, jobs(made), 1, -1.0)
    assert not kernel.requests and not made and not answers.without
    assert answers.left_out == {"proof file": 1, "mutant": 2, "refutation": 1, "headlines": 1}


def test_what_the_kernel_did_not_answer_in_time_is_put_to_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another answer, and one that was too late once, under load."""
    busy, calls = [True], []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(command[0])
        if busy:
            raise subprocess.TimeoutExpired(command, 1.0)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(CoqKernel, "prepare", lambda *_: None)
    text = "Theorem one : True.\nProof. exact I. Qed.\n"
    first = CoqKernel(tmp_path)
    assert first.check("A", text).message == first.again("A").message == NO_ANSWER
    busy.clear()
    second = CoqKernel(tmp_path)
    assert second.check("A", text).accepted and second.again("A").accepted
    (tmp_path / "A.vo").touch()
    third = CoqKernel(tmp_path)
    assert third.check("A", text).accepted and third.again("A").accepted and calls == ["coqc", "coqchk"] * 2
