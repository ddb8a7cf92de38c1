# SPDX-License-Identifier: MIT
"""Suppressing entries on the paper's Zipf tables and on Adult: time, |K|, memory, and growth to 160,000 rows.

Nobody ships a peer. Beside ours stand a plain numpy GraDeS, which weighs every rule anew in each pass, and the paper's
own times ("1,988 seconds" at k = 1, 157 at k = 30, on a laptop of 2004).
"""

from __future__ import annotations

import resource
import time
from fractions import Fraction
from typing import Any

import numpy as np

import sfumato as sf
from bench.timing import best_of, shared_data, show
from papers.aggarwal_2006.adult import adult
from papers.aggarwal_2006.zipf import zipf_table
from sfumato.data.cells.private_entries import PrivateEntries, build_private_mask
from sfumato.mine.entries.adversarial_rules import find_adversarial_rules
from sfumato.mine.entries.cells import BLANK, PRIVATE, PUBLIC, TableCells
from sfumato.protect.entries.suppress_entries import SuppressEntries
from sfumato.randomness import Randomness

SEEDS = (1, 2, 3, 4, 5)


def zipf(rows: int = 10_000, seed: int = 1, columns: int = 10) -> sf.Table:
    frame = zipf_table(rows, columns, seed=seed)
    return sf.Table.of(frame, dict.fromkeys(frame.columns, "quasi_identifying"))


def suppress(table: sf.Table, seed: int = 1, **fields: Any) -> sf.Release:
    parameters: dict[str, Any] = {"private": 0.01, "confidence": 0.8, "min_support": 10, "search": "grades+"} | fields
    return SuppressEntries(**parameters).protect(table, Randomness.seeded(seed))


def plain_numpy(cells: TableCells, confidence: Fraction, least: int) -> int:
    """|K| by GraDeS as it is written: in each pass all rules are weighed anew. The naive way; not mined again."""
    mined_rules, states, codes = (
        find_adversarial_rules(cells, cells.states, confidence, least),
        cells.states.copy(),
        cells.codes,
    )
    column = np.searchsorted(cells.first, np.arange(cells.first[-1]), side="right") - 1
    rules = [
        (mined_rules.items[mined_rules.start[index] : mined_rules.start[index + 1]], target)
        for index, target in zip(mined_rules.antecedent.tolist(), mined_rules.target.tolist(), strict=True)
    ]
    size = 0
    while True:
        weight, remaining_rules = np.zeros(codes.shape), []
        for items, target in rules:
            columns = column[items]
            rows = np.flatnonzero(((codes[:, columns] == items) & (states[:, columns] == PUBLIC)).all(axis=1))
            target_mask, row_states = codes[rows, column[target]] == target, states[rows, column[target]]
            public, private_mask = row_states == PUBLIC, row_states == PRIVATE
            many, secret = int(public.sum()), int(private_mask.sum())
            if many < least or not secret:
                continue
            if (target_mask & public).sum() < confidence * many or (
                target_mask & private_mask
            ).sum() < confidence * secret:
                continue
            remaining_rules.append((items, target))
            weight[np.ix_(rows[target_mask & public], columns)] += 1 / many
            weight[rows[target_mask & public], column[target]] += 1 / many
            weight[np.ix_(rows[private_mask], columns)] += 1 / secret
        if not remaining_rules:
            return size
        states[np.unravel_index(int(weight.argmax()), weight.shape)] = BLANK
        rules, size = remaining_rules, size + 1


def main() -> None:
    _figure_7()
    _seeds()
    _naive()
    _exact()
    _adult()
    _growth()


def _row(name: str, table: sf.Table, times: int = 3, paper: str = "", **fields: Any) -> tuple[str, ...]:
    release = suppress(table, **fields)
    seconds = best_of(times, lambda: suppress(table, **fields))
    details = release.details
    return (
        name, f"{details['rules_before'].height:,}", f"{seconds:.3f} s", f"{details['objective']:,}",
        f"{details['bound']:,}", str(details["passes"]), paper,
    )  # fmt: skip


def _figure_7() -> None:
    table = zipf()
    rows = [
        _row("the paper's, k = 1", table, search="grades", paper="545, 1,988 s"),
        _row("the paper's, k = 30", table, search="grades", blanking_factor=30, paper="1,320, 157 s"),
        _row("grades+", table),
        _row("δ .6, γ 5: the paper's, k = 1", table, 1, search="grades", confidence=0.6, min_support=5),
        _row("δ .6, γ 5: grades+", table, 2, confidence=0.6, min_support=5),
        _row("δ .8, γ 1: grades+", table, min_support=1),
    ]
    head = ("search", "rules", "protect(), to safe", "|K|", "lower bound", "minings", "the paper: |K|, time")
    show("Zipf 2.0, 10,000 × 10, cardinality 10, 1 % private, δ .8, γ 10 (Figure 7), warm", head, rows)


def _seeds() -> None:
    rows = []
    for confidence, least in ((0.8, 10), (0.6, 5)):
        for search in ("grades", "grades+") if confidence > 0.7 else ("grades+",):
            sizes, seconds = [], []
            for seed in SEEDS:
                table = zipf(seed=seed)
                begin = time.perf_counter()
                release = suppress(table, seed, search=search, confidence=confidence, min_support=least)
                seconds.append(time.perf_counter() - begin)
                sizes.append(release.details["objective"])
            sizes_text = ", ".join(map(str, sizes))
            rows.append(
                (f"δ {confidence}, γ {least}", search, sizes_text, f"{np.mean(sizes):.0f}", f"{np.mean(seconds):.2f} s")
            )
    show("Five tables, one draw each", ("setting", "search", "|K|", "mean", "mean time"), rows)


def _naive() -> None:
    rows = []
    for size in (1_000, 2_000):
        table = zipf(size)
        chance = Randomness.seeded(1).generator()
        cells = TableCells.of(table, build_private_mask([PrivateEntries(share=0.01)], table.frame, chance))
        begin = time.perf_counter()
        entries = plain_numpy(cells, Fraction(4, 5), 3)
        naive = time.perf_counter() - begin
        own_time = best_of(3, lambda: suppress(table, search="grades", min_support=3))  # noqa: B023
        rows.append((f"{size:,} × 10", entries, f"{naive:.2f} s", f"{own_time:.3f} s", f"{naive / own_time:.0f} ×"))
    show("Plain numpy, not mined again, and ours, to safe: δ .8, γ 3", ("table", "|K|", "numpy", "ours", "ratio"), rows)


def _exact() -> None:
    rows = []
    for rows_, columns, confidence, least in ((400, 5, 0.8, 1), (400, 5, 0.8, 4), (200, 6, 0.8, 2), (400, 5, 0.6, 4)):
        table = zipf(rows_, columns=columns)
        fields: dict[str, Any] = {"confidence": confidence, "min_support": least, "private": 0.05}
        sizes = [suppress(table, search=search, **fields).details["objective"] for search in ("grades", "grades+")]
        begin = time.perf_counter()
        details = suppress(table, search="exact", seconds=60.0, **fields).details
        seconds = time.perf_counter() - begin
        proof_text = "yes" if details["proven"] else f"no, at least {details['bound']}"
        name = f"{rows_} × {columns}, δ {confidence}, γ {least}"
        rows.append((name, *sizes, details["objective"], proof_text, f"{seconds:.2f} s"))
    show("The smallest set, 5 % private", ("table", "grades", "grades+", "exact", "proven", "exact takes"), rows)


def _adult() -> None:
    folder = shared_data()
    if folder is None:
        print("suppress_entries: no real data (set SFUMATO_DATA), Adult skipped")
        return
    table = adult(folder)
    frame = table.frame
    fields: dict[str, Any] = {"private": 30_000 / frame.height / frame.width, "min_support": 0.02}
    rows = [
        _row("the paper's, k = 10,000", table, 1, search="grades", blanking_factor=10_000, **fields),
        _row("the paper's, k = 1", table, 1, search="grades", **fields),
        _row("grades+", table, 1, **fields),
    ]
    head = ("search", "rules", "protect(), to safe", "|K|", "lower bound", "minings", "")
    show(f"Adult, {frame.height:,} × {frame.width}, 30,000 private, γ 2 %, δ .8, warm", head, rows)


def _growth() -> None:
    rows: list[tuple[object, ...]] = []
    for confidence in (0.8, 0.6):
        for size in (10_000, 40_000, 160_000):
            table = zipf(size)
            begin = time.perf_counter()
            release = suppress(table, confidence=confidence, min_support=0.0005)
            seconds = time.perf_counter() - begin
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rules, entries = release.details["rules_before"].height, release.details["objective"]
            rows.append((confidence, f"{size:,}", f"{rules:,}", f"{entries:,}", f"{seconds:.1f} s", f"{peak:.0f} MB"))
    head = ("δ", "rows", "rules", "|K|", "protect(), grades+", "peak memory of the process")
    show("Growth, γ 0.05 %, 1 % private", head, rows)


if __name__ == "__main__":
    main()
