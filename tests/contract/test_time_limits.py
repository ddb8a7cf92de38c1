# SPDX-License-Identifier: MIT
"""Every search that takes a time limit ends near it on a problem far too large for it, with its best and a bound.

The bound on time only catches a search that hangs: minutes, where a fraction of a second was allowed. It leaves
room for kernels, which are compiled when they are first used on a machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.protect import METHODS, solver
from sfumato.protect.method import Method
from sfumato.randomness import Randomness

HANGS = 180.0
LIMIT = 0.3


def draw_people(rows: int, values: int, columns: int = 8) -> sf.Table:
    """Columns that foretell a confidential value, so that nearly all costs differ."""
    chance = np.random.default_rng(1)
    skew = chance.dirichlet(np.full(values, 1.0)) if values > 2 else [0.117, 0.883]
    secret = chance.choice(values, rows, p=skew)
    quasi_columns = {
        f"q{i}": chance.integers(0, 8, rows) + secret * chance.integers(0, 3, rows) for i in range(columns)
    }
    return sf.Table.of(
        pl.DataFrame({**quasi_columns, "secret": secret}),
        dict.fromkeys(quasi_columns, "quasi_identifying") | {"secret": "sensitive"},
    )


def draw_sequences(count: int, length: int) -> sf.Sequences:
    """Sequences in which a pattern has many matches."""
    chance = np.random.default_rng(4)
    return sf.Sequences.of([chance.choice(list("abcdef"), length).tolist() for _ in range(count)])


def draw_baskets(count: int, items: int) -> sf.Baskets:
    chance = np.random.default_rng(2)
    share = chance.uniform(0.2, 0.6, items)
    purchases = chance.random((count, items)) < share
    return sf.Baskets.of([[f"i{item}" for item in np.flatnonzero(row)] for row in purchases])


def draw_wide_table() -> sf.Table:
    """Numbers with many values each: more sets of cuts than anybody can search."""
    chance = np.random.default_rng(3)
    columns = {f"q{i}": chance.integers(0, 60, 3000) for i in range(5)}
    return sf.Table.of(columns, dict.fromkeys(columns, "quasi_identifying"))


def draw_lattice() -> sf.Table:
    """Nine columns of four levels each."""
    chance = np.random.default_rng(4)
    columns = {f"q{i}": chance.integers(0, 64, 3000) for i in range(9)}
    levels = {name: sf.Hierarchy.of([[str(v), str(v // 4), str(v // 16), "*"] for v in range(64)]) for name in columns}
    return sf.Table.of(
        {name: [str(v) for v in values] for name, values in columns.items()},
        dict.fromkeys(columns, "quasi_identifying"),
        levels,
    )


def swap(search: str, values: int) -> tuple[Method, Any]:
    method = sf.SwapConfidential(column="secret", share=0.2, search=search, seconds=LIMIT)
    return method, draw_people(40_000, values)


def suppress(**fields: Any) -> tuple[Method, Any]:
    method = sf.SuppressEntries(private=0.2, confidence="4/5", min_support=2, **fields)
    return method, draw_people(400, 4, 5)


def hide(method: Any, **fields: Any) -> tuple[Method, Any]:
    search_method = method(min_support=20, min_confidence=0.3, strategy="exact", seconds=LIMIT, **fields)
    return search_method, draw_baskets(2000, 14)


PROBLEMS: dict[str, Callable[[], tuple[Method, Any]]] = {
    "swap_confidential.seconds, two values": lambda: swap("optimal", 2),
    "swap_confidential.seconds, optimal": lambda: swap("optimal", 8),
    "swap_confidential.seconds, paper": lambda: swap("paper", 8),
    "swap_confidential.seconds, random": lambda: swap("random", 8),
    "hide_rules.seconds": lambda: hide(
        sf.HideRules, rules=[(["i0", "i1"], ["i2"]), (["i3"], ["i4"]), (["i5", "i6"], ["i7"]), (["i1"], ["i8"])]
    ),
    "hide_items.seconds": lambda: hide(sf.HideItems, items=["i1", "i2", "i3"]),
    "hide_sequences.seconds": lambda: (
        sf.HideSequences(
            patterns=[list("abc"), list("bcd"), list("fed")], threshold=20, strategy="exact", seconds=LIMIT
        ),
        draw_sequences(400, 40),
    ),
    "suppress_entries.seconds, grades+": lambda: suppress(search="grades+", seconds=LIMIT),
    "suppress_entries.seconds, exact": lambda: suppress(search="exact", seconds=LIMIT),
    "suppress_entries.mining_seconds": lambda: suppress(mining_seconds=1e-4),
    "publish_patterns.seconds": lambda: (sf.PublishPatterns(k=3, min_support=4, seconds=LIMIT), draw_baskets(60, 10)),
    "publish_rules.seconds": lambda: (sf.PublishRules(k=3, min_support=4, seconds=LIMIT), draw_baskets(60, 10)),
    "k_optimize.seconds": lambda: (sf.KOptimize(k=5, seconds=LIMIT), draw_wide_table()),
    "generalize.seconds": lambda: (
        sf.Generalize(models=[sf.KAnonymity(k=5)], search="heuristic", seconds=LIMIT),
        draw_lattice(),
    ),
}


def test_every_time_limit_is_tried() -> None:
    limits = {
        f"{method.model_fields['method'].default}.{field}"
        for method in METHODS
        for field in method.model_fields
        if field.endswith("seconds")
    }
    assert {name.split(",")[0] for name in PROBLEMS} == limits


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_search_ends_near_its_limit_with_its_best(name: str) -> None:
    method, data = PROBLEMS[name]()
    start_time = time.monotonic()
    release = method.protect(data, Randomness.seeded(1))
    assert time.monotonic() - start_time < HANGS
    details = release.details
    if details.get("bound") is not None:
        assert details["bound"] <= details["objective"]
        assert details["bound"] == details["objective"] or not details["proven"]


def test_a_large_program_is_sent_whole_to_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a pipe holds, and a process that begins to read later than the first look at it."""
    monkeypatch.setattr(solver, "_STEP", 0.001)
    size = 30_000
    program = solver.SolverProgram(
        costs=np.ones(size),
        integrality=np.ones(size, dtype=np.int64),
        upper=np.ones(size),
        weights=np.ones(size),
        columns=np.arange(size),
        offsets=np.arange(0, size + 1, 3),
        low=np.ones(size // 3),
        high=np.full(size // 3, 3.0),
    )
    answer = solver.solve_milp(program, 60.0)
    assert answer.status == solver.OPTIMAL and answer.values is not None
    assert answer.values.sum() == size // 3
