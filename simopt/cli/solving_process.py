"""A solve in a process of its own: a compiled solver may end that, and not the command; Ctrl-C keeps what it has found."""

from __future__ import annotations

import signal
import threading
from contextlib import AbstractContextManager, closing
from functools import partial
from typing import TYPE_CHECKING, Any

from simopt.cli.console import Ticker

if TYPE_CHECKING:
    from simopt.compare.own_problems import OwnProblem
    from simopt.model.problem import Problem
    from simopt.processes.worker import Workers
    from simopt.solving.solution import Sample, Solution


def processes_for(made: Problem | OwnProblem, common: dict[str, Any]) -> AbstractContextManager[Workers]:
    """Processes that solve the problem, with these options."""
    from simopt.processes.worker import Workers

    return closing(Workers(partial(_solved, made, common), fork=True))


def solved_in(
    pool: Workers, made: Problem | OwnProblem, solver: str | None, common: dict[str, Any], options: dict[str, Any]
) -> tuple[Solution, bool]:
    """The solution, and whether Ctrl-C has cut it short; FAILED where the process of the solve ends without an answer."""
    from simopt.compare.own_problems import OwnProblem
    from simopt.processes.worker import Died
    from simopt.solving.driver import choose, unanswered

    about: Problem = made.read() if isinstance(made, OwnProblem) else made
    choose(about, solver)  # what is unknown is told before a process is started, and what was imported here need not be imported there
    interrupted = threading.Event()

    def pass_on(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)  # the next one ends us
        interrupted.set()
        pool.interrupt()

    before: Any = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, pass_on)
    try:
        solution, stopped = pool.call(solver, options)
        return solution, stopped or interrupted.is_set()
    except Died as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from None
        return unanswered(about, solver, common["tol"], options, str(error)), False
    finally:
        if signal.getsignal(signal.SIGINT) is pass_on:
            signal.signal(signal.SIGINT, before)


def _solved(made: Problem | OwnProblem, common: dict[str, Any], solver: str | None, options: dict[str, Any]) -> tuple[Solution, bool]:
    """The answer of a process of the pool."""
    from simopt.compare.own_problems import OwnProblem, is_geometric
    from simopt.core.errors import Interrupted
    from simopt.solving.driver import choose
    from simopt.solving.entry_points import solve as run

    ticker, known = Ticker(), dict(common)
    if isinstance(made, OwnProblem):
        name = choose(made.read(), solver).name
        known["gp"] = is_geometric(made.problem)
    else:
        name = choose(made, solver).name

    def show(sample: Sample) -> None:
        ticker.show(f"{name}: {sample.seconds:.1f} s, iteration {sample.iteration}: gap {sample.gap:.2e}")

    try:
        return run(made.problem if isinstance(made, OwnProblem) else made, solver, progress=show, **known, **options), False
    except Interrupted as stop:
        return stop.done, True
    finally:
        ticker.clear()
