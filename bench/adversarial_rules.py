# SPDX-License-Identifier: MIT
"""Adversarial rules (FAiR) on the paper's Zipf tables and on Adult: mining, rules in words, growth to a million rows.

Nobody ships a peer. Beside ours stand a plain numpy search, the same tree with the same support pruning, and what the
paper reports for its own program ("less than 5 seconds for data sets with 10,000 tuples", a laptop of 2004).
"""

from __future__ import annotations

import resource
import time
from fractions import Fraction

import numpy as np

import sfumato as sf
from bench.timing import best_of, shared_data, show
from papers.aggarwal_2006.adult import adult
from papers.aggarwal_2006.zipf import zipf_table
from sfumato.data.cells.private_entries import PrivateEntries, build_private_mask
from sfumato.mine.entries.adversarial_rules import adversarial_rules, count_sensitive_entries, find_adversarial_rules
from sfumato.mine.entries.cells import MISSING_ITEM, PRIVATE, PUBLIC, TableCells
from sfumato.public.thresholds import compute_least_count
from sfumato.randomness import Randomness

SEED = 1


def hide_entries(table: sf.Table, share: float) -> TableCells:
    """The table with a share of its entries private, drawn at random."""
    chance = Randomness.seeded(SEED).generator()
    return TableCells.of(table, build_private_mask([PrivateEntries(share=share)], table.frame, chance))


def plain_numpy(cells: TableCells, confidence: Fraction, least: int) -> int:
    """The number of rules, by recursion over boolean masks: the naive way."""
    public_codes = np.where(cells.states == PUBLIC, cells.codes, MISSING_ITEM)
    secret = np.where(cells.states == PRIVATE, cells.codes, MISSING_ITEM)
    width = public_codes.shape[1]

    def count_rules(rows: np.ndarray, first: int, used_columns: tuple[int, ...]) -> int:
        if len(rows) < least or (secret[rows] == MISSING_ITEM).all():
            return 0
        count = 0
        for column in set(range(width)) - set(used_columns) if used_columns else ():
            public, private = (part[rows, column] for part in (public_codes, secret))
            public, private = public[public != MISSING_ITEM], private[private != MISSING_ITEM]
            if len(public) >= least and len(private):
                for item in np.unique(private):
                    fits = (public == item).sum() >= confidence * len(public)
                    count += fits and (private == item).sum() >= confidence * len(private)
        for column in range(first, width):
            for item in np.unique(public_codes[rows, column]):
                if item != MISSING_ITEM:
                    count += count_rules(rows[public_codes[rows, column] == item], column + 1, (*used_columns, column))
        return count

    return count_rules(np.arange(len(public_codes)), 0, ())


def main() -> None:
    _settings()
    _naive()
    _adult()
    _growth()


def _settings() -> None:
    table = sf.Table.of(zipf_table(seed=SEED))
    cells = hide_entries(table, 0.01)
    mask = cells.states == PRIVATE
    rows = []
    for confidence, least, paper in (("4/5", 10, "61,964 sensitive"), ("3/5", 5, ""), ("4/5", 1, "")):
        share = Fraction(confidence)
        mined_rules = find_adversarial_rules(cells, cells.states, share, least)
        seconds = [
            best_of(5, lambda: find_adversarial_rules(cells, cells.states, share, least)),  # noqa: B023
            best_of(3, lambda: find_adversarial_rules(cells, cells.states, share, least, with_rows=True)),  # noqa: B023
            best_of(3, lambda: adversarial_rules(table, mask, share, least)),  # noqa: B023
        ]
        seconds_texts = [f"{duration:.3f} s" for duration in seconds]
        rows.append(
            (
                f"δ {float(share)}, γ {least}",
                f"{len(mined_rules):,}",
                f"{count_sensitive_entries(cells, mined_rules):,}",
                *seconds_texts,
                paper,
            )
        )
    head = ("setting", "rules", "sensitive entries", "mining", "with the rows", "as Python objects", "the paper")
    show("Zipf 2.0, 10,000 × 10, cardinality 10, 1 % private, warm", head, rows)


def _naive() -> None:
    rows = []
    for size in (500, 2_000):
        cells = hide_entries(sf.Table.of(zipf_table(size, seed=SEED)), 0.01)
        share, least = Fraction(4, 5), 5
        begin = time.perf_counter()
        count = plain_numpy(cells, share, least)
        naive = time.perf_counter() - begin
        own_time = best_of(5, lambda: find_adversarial_rules(cells, cells.states, share, least))  # noqa: B023
        assert count == len(find_adversarial_rules(cells, cells.states, share, least))
        rows.append((f"{size:,}", f"{count:,}", f"{naive:.2f} s", f"{own_time:.4f} s", f"{naive / own_time:,.0f} ×"))
    show("Against plain numpy, δ 0.8, γ 5", ("rows", "rules", "plain numpy", "ours", "ratio"), rows)


def _adult() -> None:
    folder = shared_data()
    if folder is None:
        print("adversarial rules on Adult: no real data (set SFUMATO_DATA), skipped")
        return
    table = adult(folder)
    cells = hide_entries(table, 30_000 / (table.frame.height * table.frame.width))
    rows = []
    for support in (0.02, 0.005, 0.001):
        least = compute_least_count(support, len(table))
        mined_rules = find_adversarial_rules(cells, cells.states, Fraction(4, 5), least)
        seconds = best_of(3, lambda: find_adversarial_rules(cells, cells.states, Fraction(4, 5), least))  # noqa: B023
        rows.append((f"{support:.1%}", f"{len(mined_rules):,}", f"{seconds:.3f} s"))
    show(f"Adult, {len(table):,} × {table.frame.width}, 30,000 private, δ 0.8", ("γ", "rules", "mining"), rows)


def _growth() -> None:
    rows = []
    for size in (10_000, 40_000, 160_000, 1_000_000):
        table = sf.Table.of(zipf_table(size, seed=SEED))
        cells = hide_entries(table, 0.01)
        cells_texts = []
        for confidence in (Fraction(4, 5), Fraction(3, 5)):
            least = compute_least_count(0.0005, size)
            begin = time.perf_counter()
            mined_rules = find_adversarial_rules(cells, cells.states, confidence, least)
            cells_texts += [f"{len(mined_rules):,}", f"{time.perf_counter() - begin:.2f} s"]
        mask = cells.states == PRIVATE
        begin = time.perf_counter()
        adversarial_rules(table, mask, Fraction(4, 5), 0.0005)
        whole = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{size:,}", *cells_texts, f"{whole:.2f} s", f"{peak:.0f} MB"))
    head = ("rows", "rules δ .8", "mining δ .8", "rules δ .6", "mining δ .6", "table to objects δ .8", "peak memory")
    show("Growth, Zipf 2.0 × 10, γ 0.05 %, 1 % private", head, rows)


if __name__ == "__main__":
    main()
