# SPDX-License-Identifier: MIT
"""Swapping confidential values: Adult as in Li and Sarkar (2004), the optimum against a MILP, and growth."""

from __future__ import annotations

import resource
import time
from functools import partial

import numpy as np
import polars as pl

import sfumato as sf
from bench.timing import best_of, shared_data, show
from papers.census import INCOME
from papers.li_2004.data import census
from sfumato.protect.swapping.posteriors import UNIT
from sfumato.protect.swapping.swap_confidential import SwapConfidential
from sfumato.protect.swapping.swap_marginal import find_least_shift
from sfumato.protect.swapping.swap_optimal import find_best_answer
from sfumato.protect.swapping.swap_records import SwapRecords
from sfumato.randomness import Randomness

PEERS = (("the paper's program, 2004 (its machine)", "38.67 s", "", "", ""),)


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("swapping: no real data (set SFUMATO_DATA), Adult skipped")
    else:
        _adult(census(folder))
    _against_milp()
    _growth()


def _adult(table: sf.Table) -> None:
    rows: list[tuple[str, ...]] = []
    for search in ("optimal", "paper", "random"):
        method = SwapConfidential(column=INCOME, share=0.5, search=search)
        release = method.protect(table, Randomness.seeded(1))
        seconds = best_of(3, lambda method=method: method.protect(table, Randomness.seeded(1)))  # type: ignore[misc]
        rows.append(
            (
                search,
                f"{seconds:.2f} s",
                f"{release.details['objective']:.3f}",
                f"{release.details['gap']:.2e}",
                f"{release.losses['marginal_shift']}",
            )
        )
    head = ("search", "protect()", "Σ d", "gap to its bound", "counts shift by")
    show(f"Adult as in Li and Sarkar (2004) ({len(table):,} records, 2 values, p = 0.5)", head, [*rows, *PEERS])


def draw_table(rows: int, categories: int = 3, seed: int = 1) -> sf.Table:
    """Eight columns of eight values that weakly predict a secret; nearly everyone is unique."""
    chance = np.random.default_rng(seed)
    secret = chance.choice(categories, rows, p=np.arange(1, categories + 1) / (categories * (categories + 1) / 2))
    tilt = 0.25 + 0.5 * secret / max(categories - 1, 1)
    columns = {f"c{n}": chance.binomial(7, tilt) for n in range(6)}
    columns |= {f"d{n}": chance.integers(0, 60, rows) for n in range(2)}
    frame = pl.DataFrame(columns | {"secret": secret}).with_columns(pl.col("secret").cast(pl.String))
    return sf.Table.of(frame, dict.fromkeys(columns, "quasi_identifying") | {"secret": "sensitive"})


def records(count: int, categories: int = 3) -> SwapRecords:
    """Posteriors of records of U and V without a table."""
    chance = np.random.default_rng(count)
    category_codes = chance.integers(0, categories, count)
    likely = chance.normal(size=(count, categories))
    likely[np.arange(count), category_codes] += 1.0
    likely = np.exp(1.5 * likely)
    likely /= likely.sum(axis=1, keepdims=True)
    free = chance.random(count) < 0.85
    weights = np.ones(count, dtype=np.int64)
    return SwapRecords(
        np.rint(likely * UNIT).astype(np.int64), category_codes, weights, free, round(0.5 * int(free.sum()))
    )


def _against_milp() -> None:
    rows = []
    for count in (500, 2_000, 8_000):
        swap_records = records(count)
        shift = find_least_shift(swap_records.available, swap_records.changes, swap_records.forced_counts)
        start = time.perf_counter()
        whole = by_milp(swap_records)
        slow = time.perf_counter() - start
        best = find_best_answer(swap_records, shift, 60.0, np.random.default_rng(0))
        fast = best_of(
            2,
            partial(find_best_answer, swap_records, shift, 60.0, np.random.default_rng(0)),
        )
        rows.append(
            (
                f"{count:,}",
                f"{fast:.3f} s",
                f"{slow:.2f} s",
                f"{slow / fast:.0f}×",
                f"{best.objective / UNIT - whole:.1e}",
            )
        )
    head = ("records", "prices + small ILP", "MILP over all records (HiGHS)", "ratio", "difference of optima")
    show("Problem (12), three categories", head, rows)


def by_milp(swap_records: SwapRecords) -> float:
    """Problem (12) with counts that stay, as one program over every record and category."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    count, width = swap_records.chances.shape
    places = np.arange(count * width)
    record, takes = places // width, places % width
    moves_mask = takes != swap_records.own_categories[record]
    counted_moves = moves_mask & swap_records.free[record]
    rows = np.concatenate([record, np.full(int(counted_moves.sum()), count), count + 1 + takes])
    matrix = coo_array((np.ones(len(rows)), (rows, np.concatenate([places, places[counted_moves], places]))))
    category_weights = np.bincount(swap_records.own_categories, weights=swap_records.weight, minlength=width)
    sums = np.concatenate([swap_records.weight, [swap_records.changes], category_weights])
    upper = np.where(~swap_records.free[record] & ~moves_mask, 0, swap_records.weight[record])
    losses = (
        swap_records.chances[np.arange(count), swap_records.own_categories][:, None] - swap_records.chances
    ).ravel() / UNIT
    solution = milp(
        losses,
        integrality=np.ones(len(losses), dtype=np.int64),
        bounds=Bounds(0, upper),
        constraints=[LinearConstraint(matrix.tocsr(), sums, sums)],
        options={"mip_rel_gap": 0.0},
    )
    assert solution.fun is not None
    return float(solution.fun)


def _growth() -> None:
    rows: list[tuple[object, ...]] = []
    for size, categories in (
        (25_049, 3),
        (4 * 25_049, 3),
        (16 * 25_049, 3),
        (1_000_000, 3),
        (1_000_000, 2),
        (100_000, 12),
    ):
        table = draw_table(size, categories)
        start = time.perf_counter()
        release = SwapConfidential(column="secret", share=0.5).protect(table, Randomness.seeded(1))
        seconds = time.perf_counter() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        identifiable = release.details["identifiable"]["secret"]
        cells = (
            f"{identifiable['unique']:,}",
            f"{identifiable['groups']:,}",
            f"{seconds:.2f} s",
            f"{release.details['objective']:.4f}",
        )
        gap = (f"{release.details['gap']:.1e}", "yes" if release.details["proven"] else "no", f"{peak:.0f} MB")
        rows.append((f"{size:,}", categories, *cells, *gap))
    head = ("rows", "values", "unique", "groups", "protect()", "Σ d", "gap", "proven", "peak memory of the process")
    show("Growth, eight columns, p = 0.5, optimal", head, rows)


if __name__ == "__main__":
    main()
