# SPDX-License-Identifier: MIT
"""Run HiGHS within a time limit, interruptible.

The solver checks its own limit only now and then: an integer program of 50,000 variables with a limit of 2 s took
182 s. So a large program is solved in a process of its own, which is killed when it is late. A small one is solved in a
thread, because starting a process takes longer than solving it.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import Thread
from time import monotonic
from typing import Any

import numpy as np

from sfumato.arrays import Floats, Ints
from sfumato.protect import solver_worker
from sfumato.runtime.progress import report_progress

_SMALL = 20_000
"""The most entries of a program that is solved in a thread."""
_GRACE = 2.0
"""Seconds that a process may take beyond its limit: it starts, and the solver finishes a step."""
_STEP = 0.2

OPTIMAL, LATE, INFEASIBLE = 0, 1, 2
"""How a solver's run can end, as scipy numbers it."""


@dataclass(frozen=True, eq=False)
class SolverProgram:
    """Minimize costs over variables from 0 to `upper`, with sparse rows between `low` and `high`."""

    costs: Floats
    integrality: Ints
    """1 for an integer variable, 0 for a continuous one."""
    upper: Floats
    weights: Floats
    columns: Ints
    offsets: Ints
    """Where each row's entries begin, and last where they end."""
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """What the solver found."""

    status: int
    values: Floats | None
    """The best solution found."""
    bound: float
    """A lower bound of the cost; minus infinity if none is known."""


def solve_milp(program: SolverProgram, seconds: float) -> SolverAnswer:
    """The best solution found in the time."""
    arrays = {**vars(program), "seconds": max(seconds, 0.1)}
    answer: dict[str, Any] | None
    if len(program.weights) <= _SMALL:
        answer = _solve_in_thread(lambda: solver_worker.run_milp(arrays))
    else:
        answer = _solve_in_process(arrays)
    if answer is None:
        return SolverAnswer(LATE, None, -np.inf)
    values = np.asarray(answer["values"], dtype=np.float64)
    return SolverAnswer(int(answer["status"]), values if len(values) else None, float(answer["bound"]))


def _solve_in_process(arrays: dict[str, Any]) -> dict[str, Any] | None:
    """Solve in another process; None if it had to be killed."""
    deadline = monotonic() + float(arrays["seconds"]) + _GRACE
    content = io.BytesIO()
    np.savez(content, **arrays)
    command = [sys.executable, "-P", solver_worker.__file__]
    outputs: list[bytes] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as worker:
        # In a thread: `communicate` with a time limit loses what it has not yet sent when it is called again.
        exchange = Thread(target=lambda: outputs.append(worker.communicate(content.getvalue())[0]), daemon=True)
        exchange.start()
        try:
            _wait_for(exchange, deadline)
        finally:
            worker.kill()
            exchange.join()
    if worker.returncode or not outputs:
        return None
    with np.load(io.BytesIO(outputs[0]), allow_pickle=False) as answer:
        return dict(answer)


def _wait_for(thread: Thread, deadline: float = inf) -> None:
    """Wait for a thread and report progress, so that the wait can be interrupted."""
    step_count = 0
    while thread.is_alive() and monotonic() <= deadline:
        thread.join(timeout=_STEP)
        report_progress("solving the integer program", step_count)
        step_count += 1


def _solve_in_thread(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Wait for the solver in its own thread and report progress, so that it can be interrupted."""
    results: list[dict[str, Any]] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as problem:
            errors.append(problem)

    thread = Thread(target=run, daemon=True)
    thread.start()
    _wait_for(thread)
    if errors:
        raise errors[0]
    return results[0]
