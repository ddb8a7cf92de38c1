# SPDX-License-Identifier: MIT
"""The solver answers alike in a thread and in a process of its own, and a process that is late is killed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfumato.protect import solver, solver_worker
from sfumato.protect.solver import LATE, OPTIMAL, SolverProgram, solve_milp

# Minimize −3x − 2y with x + y at most 4 and x at most 2.5: x = 2, y = 2 in whole numbers.
PROGRAM = SolverProgram(
    costs=np.array([-3.0, -2.0]),
    integrality=np.ones(2, dtype=np.int64),
    upper=np.array([2.5, 10.0]),
    weights=np.ones(2),
    columns=np.arange(2),
    offsets=np.array([0, 2]),
    low=np.array([-np.inf]),
    high=np.array([4.0]),
)


@pytest.mark.parametrize("small", [0, 1000])
def test_both_ways_find_the_optimum(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "_SMALL", small)
    answer = solve_milp(PROGRAM, 60.0)
    assert answer.status == OPTIMAL
    assert answer.values is not None and answer.values.tolist() == pytest.approx([2, 2])
    assert answer.bound == pytest.approx(-10)


@pytest.mark.parametrize("script", ["import time; time.sleep(600)", "raise SystemExit(1)"])
def test_a_solver_that_is_late_or_fails_has_no_solution(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(script)
    monkeypatch.setattr(solver, "_SMALL", 0)
    monkeypatch.setattr(solver, "_GRACE", 0.1)
    monkeypatch.setattr(solver_worker, "__file__", str(worker))
    answer = solve_milp(PROGRAM, 0.1)
    assert (answer.status, answer.values, answer.bound) == (LATE, None, -np.inf)
