# SPDX-License-Identifier: MIT
"""Figures 8 and 11: what shelters each attribute, and what sorting cracks in the worst case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from papers.bu_2007.data import MIN_WIDTH, RADIUS, TARGET, adult, covertype, wdbc
from papers.study import Findings, Grid, Pair, Setting, Statement, compare, frame_of
from sfumato.measure.codes.tree_risk import ColumnShelter, shelter
from sfumato.table import Table

FIGURE_8 = (
    (2000, 1978, 9, 163, 74.2),
    (361, 361, 0, 0, 0.0),
    (67, 67, 1, 15, 22.4),
    (1398, 551, 22, 10, 40.0),
    (775, 700, 14, 24, 48.0),
    (7118, 5785, 202, 18, 62.9),
    (255, 207, 2, 41, 39.6),
    (255, 185, 8, 6, 25.9),
    (255, 255, 3, 8, 9.4),
    (7174, 5827, 229, 17, 66.8),
)
"""Width of the dynamic range, distinct values, pure pieces, their mean length, share of pure values in per cent."""
FIGURE_11 = (26, 100, 78, 4, 22, 8, 13, 11, 90, 7)
"""Worst case of sorting, per cent."""
_CLASSES = (
    "The paper does not name its classes. Its counts come out for cover type 5 (aspen) against the others, with pieces "
    "of at least two values; with the seven types they do not."
)
_WORST = (
    "The worst case takes |R_ρ| / |R_g| for every mixed value, as if R_ρ lay within R_g; expected: with R_g ∩ R_ρ "
    "where it is. Figure 11 does not say its radius; ours is the one of the paper's three at which it comes out."
)


def measure_shelter(table: Table) -> tuple[ColumnShelter, ...]:
    """The statistics, with pieces of at least two values."""
    return shelter(table, TARGET, min_width=MIN_WIDTH, radius=RADIUS)


def figure_8(setting: Setting) -> Findings:
    """Statistics of Covertype's attributes."""
    ours = measure_shelter(covertype(setting.folder))
    rows = [
        {
            "attribute": number,
            "range": one.range_width, "range_theirs": width,
            "distinct": one.distinct, "distinct_theirs": distinct,
            "pure_pieces": one.pure_pieces, "pure_pieces_theirs": pieces,
            "mean_length": round(one.mean_length, 1), "mean_length_theirs": length,
            "pure_percent": round(100 * one.pure_share, 1), "pure_percent_theirs": share,
        }
        for number, (one, (width, distinct, pieces, length, share)) in enumerate(zip(ours, FIGURE_8, strict=True), 1)
    ]  # fmt: skip

    def compare_column(what: str, name: str, tolerance: float, reason: str = "") -> Statement:
        pairs = [Pair(row[f"{name}_theirs"], row[name]) for row in rows]
        return compare(what, pairs, tolerance, reason=reason)

    rounded = [round(100 * row[2] * row[3] / row[1], 1) for row in FIGURE_8]
    products = sum(abs(share - row[4]) <= 0.1 for share, row in zip(rounded, FIGURE_8, strict=True))
    return Findings(
        statements=(
            compare_column("Widths of the ranges", "range", 0),
            compare_column("Distinct values", "distinct", 0),
            compare_column("Pure pieces", "pure_pieces", 0),
            compare_column("Mean lengths of pure pieces", "mean_length", 0.5),
            compare_column(
                "Shares of pure values, per cent",
                "pure_percent",
                0.1,
                f"{products} of the {len(rounded)} printed shares are pieces × the rounded mean length / values.",
            ),
        ),
        grids=(Grid("attributes", "Attributes of Covertype, ours and theirs", frame_of(rows)),),
        remarks=(_CLASSES,),
    )


def figure_11(setting: Setting) -> Findings:
    """Sorting with the true least and greatest value."""
    ours = measure_shelter(covertype(setting.folder))
    rows: list[dict[str, Any]] = [
        {
            "attribute": number,
            "discontinuities": one.discontinuities,
            "worst_percent": round(100 * one.worst_sorting, 1),
            "worst_percent_theirs": theirs,
            "expected_percent": round(100 * one.expected_sorting, 1),
            "advice": one.advice,
        }
        for number, (one, theirs) in enumerate(zip(ours, FIGURE_11, strict=True), 1)
    ]
    most = sorted(rows, key=lambda row: -row["worst_percent"])[:3]
    vulnerable = sorted(row["attribute"] for row in most)
    pairs = [Pair(theirs, 100 * one.worst_sorting) for one, theirs in zip(ours, FIGURE_11, strict=True)]
    return Findings(
        statements=(
            compare("Worst case by attribute", pairs, 0.5, unit=" %", reason="The paper's radius is not known."),
            Statement(
                "Attributes 2, 3 and 9 are the most vulnerable.",
                f"The three with the highest worst case: {', '.join(map(str, vulnerable))}.",
                vulnerable == [2, 3, 9],
            ),
        ),
        grids=(Grid("sorting", f"Worst case of sorting, radius {RADIUS:.0%}, ours and theirs", frame_of(rows)),),
        remarks=(_WORST,),
    )


def other_data_shelter(setting: Setting) -> Findings:
    """The same on WDBC and Adult's columns of numbers."""
    grids, statements = [], []
    for name, table in (("wdbc", wdbc(setting.folder)), ("adult", adult(setting.folder))):
        ours = measure_shelter(table)
        grids.append(Grid(name, f"{table.source}: what shelters its columns", _tabulate(ours)))
        statements.append(
            Statement(
                "Results on Covertype are representative of those on census income and WDBC.",
                f"{table.source}: {sum(one.safe for one in ours)} of {len(ours)} columns are safe against sorting in "
                "the worst case.",
                None,
                "The paper prints no result on these data.",
            )
        )
    return Findings(tuple(statements), tuple(grids))


def _tabulate(shelters: Sequence[ColumnShelter]) -> pl.DataFrame:
    """Every statistic of every column, in the order of Figures 8 and 11."""
    names = (
        "column", "range_width", "distinct", "discontinuities", "pure_pieces", "mean_length", "pure_share",
        "expected_sorting", "worst_sorting", "safe", "advice",
    )  # fmt: skip
    return pl.DataFrame({name: [getattr(one, name) for one in shelters] for name in names})
