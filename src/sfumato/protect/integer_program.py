# SPDX-License-Identifier: MIT
"""An integer program, built line by line and solved by HiGHS in an interruptible thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from threading import Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Ints
from sfumato.progress import report_progress


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """A solution and the lower bound of the cost."""

    values: Floats
    bound: int
    proven: bool


@dataclass(frozen=True, eq=False)
class IntegerProgram:
    """Integer variables from 0 to `upper`, and linear constraints on them."""

    upper: Floats
    columns: list[Ints] = field(default_factory=list)
    weights: list[Floats] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, upper: Floats) -> IntegerProgram:
        """A program without constraints."""
        return cls(upper)

    def at_most(self, columns: npt.NDArray[np.integer], weights: Floats, limit: float) -> None:
        """The weighted sum is at most the limit."""
        self._add(columns, weights, -np.inf, limit)

    def at_least(self, columns: npt.NDArray[np.integer], weights: Floats, limit: float) -> None:
        """The weighted sum is at least the limit."""
        self._add(columns, weights, limit, np.inf)

    def _add(self, columns: npt.NDArray[np.integer], weights: Floats, low: float, high: float) -> None:
        self.columns.append(columns.astype(np.int64))
        self.weights.append(weights)
        self.low.append(low)
        self.high.append(high)

    def limit_costs(self, costs: Floats, most: float) -> IntegerProgram:
        """The same program with the cost at most `most`."""
        columns = np.flatnonzero(costs)
        return IntegerProgram(
            self.upper,
            [*self.columns, columns.astype(np.int64)],
            [*self.weights, costs[columns]],
            [*self.low, -np.inf],
            [*self.high, most],
        )


def solve_program(program: IntegerProgram, costs: Floats, seconds: float) -> ProgramAnswer | None:
    """The cheapest solution found in the time; None if none was found."""
    done = _run_solver(program, costs, seconds)
    if done.x is None:
        return None
    values: Floats = np.round(np.asarray(done.x)).astype(np.float64)
    cost = round(float(costs @ values))
    # Costs are integers, so the bound may be rounded up; 1e-6 is HiGHS's own tolerance.
    bound = cost if done.status == 0 else max(0, ceil(float(done.mip_dual_bound) - 1e-6))
    return ProgramAnswer(values, min(bound, cost), done.status == 0)


def _run_solver(program: IntegerProgram, costs: Floats, seconds: float) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    limits: list[Any] = []
    if program.columns:
        offsets = np.cumsum([0, *map(len, program.columns)])
        shape = (len(program.columns), len(program.upper))
        entries = (np.concatenate(program.weights), np.concatenate(program.columns), offsets)
        limits = [LinearConstraint(csr_array(entries, shape=shape), program.low, program.high)]
    asked: dict[str, Any] = {
        "integrality": np.ones(len(costs), dtype=np.int64),
        "bounds": Bounds(0, program.upper),
        "constraints": limits,
        "options": {"time_limit": max(seconds, 0.1), "mip_rel_gap": 0.0},
    }
    return _await_solver(lambda: milp(costs, **asked))


def _await_solver(work: Callable[[], Any]) -> Any:
    """Wait for the solver in its own thread and report progress, so that it can be interrupted."""
    results: list[Any] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as problem:
            failed.append(problem)

    thread = Thread(target=run, daemon=True)
    thread.start()
    waited = 0
    while thread.is_alive():
        thread.join(timeout=0.2)
        report_progress("solving the integer program", waited)
        waited += 1
    if failed:
        raise failed[0]
    return results[0]
