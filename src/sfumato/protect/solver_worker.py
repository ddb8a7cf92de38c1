# SPDX-License-Identifier: MIT
"""Solve one integer program in a separate process, which can be killed: HiGHS does not always obey its time limit.

It is started as a script by `sfumato.protect.solver`, imports nothing of sfumato, reads the program from its input and
writes the solution to its output, both as numpy archives.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np


def run_milp(program: Mapping[str, Any]) -> dict[str, Any]:
    """Run scipy's solver on a program of plain arrays; `values` is empty if no solution was found."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    shape = (len(program["low"]), len(program["costs"]))
    entries = (program["weights"], program["columns"], program["offsets"])
    lines = [LinearConstraint(csr_array(entries, shape=shape), program["low"], program["high"])] if shape[0] else []
    solution = milp(
        program["costs"],
        integrality=program["integrality"],
        bounds=Bounds(0, program["upper"]),
        constraints=lines,
        options={"time_limit": float(program["seconds"]), "mip_rel_gap": 0.0},
    )
    bound = solution.mip_dual_bound
    return {
        "status": int(solution.status),
        "values": np.zeros(0) if solution.x is None else np.asarray(solution.x, dtype=np.float64),
        "bound": -np.inf if bound is None or np.isnan(bound) else float(bound),
    }


def _answer() -> None:
    with np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False) as program:
        answer = run_milp(program)
    np.savez(sys.stdout.buffer, **answer)


if __name__ == "__main__":
    _answer()
