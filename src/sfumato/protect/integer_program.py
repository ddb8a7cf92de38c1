# SPDX-License-Identifier: MIT
"""An integer program, built line by line and solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Floats, Ints
from sfumato.protect.solver import OPTIMAL, SolverProgram, solve_milp


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

    def require_at_most(self, columns: npt.NDArray[np.integer], weights: Floats, limit: float) -> None:
        """The weighted sum is at most the limit."""
        self._add(columns, weights, -np.inf, limit)

    def require_at_least(self, columns: npt.NDArray[np.integer], weights: Floats, limit: float) -> None:
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
    answer = solve_milp(_gather_arrays(program, costs), seconds)
    if answer.values is None:
        return None
    values: Floats = np.round(answer.values).astype(np.float64)
    cost = round(float(costs @ values))
    proven = answer.status == OPTIMAL
    # Costs are integers, so the bound may be rounded up; 1e-6 is HiGHS's own tolerance.
    bound = cost if proven else 0 if answer.bound == -np.inf else max(0, ceil(answer.bound - 1e-6))
    return ProgramAnswer(values, min(bound, cost), proven)


def _gather_arrays(program: IntegerProgram, costs: Floats) -> SolverProgram:
    empty_array = np.zeros(0)
    return SolverProgram(
        costs,
        np.ones(len(costs), dtype=np.int64),
        program.upper,
        np.concatenate([empty_array, *program.weights]),
        np.concatenate([empty_array.astype(np.int64), *program.columns]),
        np.cumsum([0, *map(len, program.columns)]).astype(np.int64),
        np.array(program.low, dtype=np.float64),
        np.array(program.high, dtype=np.float64),
    )
