# SPDX-License-Identifier: MIT
"""Figures 8 and 11: what shelters each attribute, and what sorting cracks in the worst case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from papers.bu_2007.data import (
    ASPEN,
    ASPEN_CLASSES,
    CLASSES,
    DRAWN_RADIUS,
    MIN_WIDTH,
    RADII,
    TARGET,
    WHOLE_PER_CENT,
    adult,
    covertype,
    require_all_radii,
    wdbc,
    write_radius,
)
from papers.study import EXACT, Findings, Grid, Pair, Setting, Statement, Tolerance, compare, frame_of
from sfumato.measure.codes.tree_risk import ColumnShelter, shelter
from sfumato.runtime.progress import report_progress
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
_CLASSES = "The paper does not name its classes; the study of the classes shows which give these counts."
_WORST = (
    "The worst case takes |R_ρ| / |R_g| for every mixed value, as if R_ρ lay within R_g; expected: with R_g ∩ R_ρ "
    "where it is."
)
_TO_A_UNIT = Tolerance(0.5, "printed as whole numbers")
_TO_A_TENTH = Tolerance(0.1, "printed to a tenth, perhaps cut off")


def measure_shelter(
    table: Table, radius: float = DRAWN_RADIUS, min_width: int = MIN_WIDTH
) -> tuple[ColumnShelter, ...]:
    """What protects each column; pieces of at least two values unless others are asked for."""
    return shelter(table, TARGET, min_width=min_width, radius=radius)


def figure_8(setting: Setting) -> Findings:
    """Statistics of Covertype's attributes."""
    own_result = measure_shelter(covertype(setting.folder))
    rows = [
        {
            "attribute": number,
            "range": attribute.range_width, "range_theirs": width,
            "distinct": attribute.distinct, "distinct_theirs": distinct,
            "pure_pieces": attribute.pure_pieces, "pure_pieces_theirs": pieces,
            "mean_length": round(attribute.mean_length, 1), "mean_length_theirs": length,
            "pure_percent": round(100 * attribute.pure_share, 1), "pure_percent_theirs": share,
        }
        for number, (attribute, printed_row) in enumerate(zip(own_result, FIGURE_8, strict=True), 1)
        for width, distinct, pieces, length, share in [printed_row]
    ]  # fmt: skip

    def compare_column(quantity: str, name: str, tolerance: Tolerance = EXACT, reason: str = "") -> Statement:
        pairs = [Pair(row[f"{name}_theirs"], row[name]) for row in rows]
        return compare(quantity, pairs, tolerance, reason=reason, assumes=(CLASSES,) if "pure" in quantity else ())

    rounded_shares = [round(100 * row[2] * row[3] / row[1], 1) for row in FIGURE_8]
    products = sum(abs(share - row[4]) <= 0.1 for share, row in zip(rounded_shares, FIGURE_8, strict=True))
    return Findings(
        statements=(
            compare_column("Widths of the ranges", "range"),
            compare_column("Distinct values", "distinct"),
            compare_column("Counts of pure pieces", "pure_pieces"),
            compare_column("Mean lengths of pure pieces", "mean_length", _TO_A_UNIT),
            compare_column(
                "Shares of pure values, per cent",
                "pure_percent",
                _TO_A_TENTH,
                f"{products} of the {len(rounded_shares)} printed shares are pieces × the rounded mean length / "
                "values.",
            ),
        ),
        grids=(Grid("attributes", "Attributes of Covertype, ours and theirs", frame_of(rows)),),
        remarks=(_CLASSES,),
    )


class Choice(NamedTuple):
    """What makes a value pure."""

    cover_type: int | None
    """One type against the others; None: all seven apart."""
    min_width: int


CHOICES = tuple(Choice(cover, width) for width in (1, 2, 5) for cover in (*range(1, 8), None))


def classes(setting: Setting) -> Findings:
    """Which classes, and which least width of a piece, give Figure 8's counts."""
    choices = [candidate for candidate in CHOICES if candidate.cover_type == ASPEN] if setting.quick else CHOICES
    rows: list[dict[str, Any]] = []
    for choice_index, choice in enumerate(choices):
        report_progress("choices of classes", choice_index, len(choices))
        own_result = measure_shelter(covertype(setting.folder, choice.cover_type), min_width=choice.min_width)
        same_count = sum(
            attribute.pure_pieces == printed_row[2] for attribute, printed_row in zip(own_result, FIGURE_8, strict=True)
        )
        name = "all seven apart" if choice.cover_type is None else f"{choice.cover_type} against the others"
        rows.append({"cover_type": name, "least_width": choice.min_width, "counts_of_10": same_count})
    exact = [row for row in rows if row["counts_of_10"] == len(FIGURE_8)]
    next_best = max(row["counts_of_10"] for row in rows if row not in exact)
    return Findings(
        (
            Statement(
                f"One choice gives Figure 8's ten counts of pure pieces: {ASPEN_CLASSES}.",
                f"{len(exact)} of {len(rows)} choices; the others give at most {next_best} of the ten.",
                [(row["cover_type"], row["least_width"]) for row in exact] == [("5 against the others", MIN_WIDTH)],
                source="independent count",
            ),
        ),
        (Grid("choices", "How many of Figure 8's ten counts of pure pieces come out", frame_of(rows)),),
    )


def figure_11(setting: Setting) -> Findings:
    """Sorting with the true least and greatest value."""
    by_radius = {radius: measure_shelter(covertype(setting.folder), radius) for radius in RADII}
    rows: list[dict[str, Any]] = [
        {
            "attribute": number,
            "radius": write_radius(radius),
            "discontinuities": attribute.discontinuities,
            "worst_percent": round(100 * attribute.worst_sorting, 1),
            "worst_percent_theirs": paper_result,
            "expected_percent": round(100 * attribute.expected_sorting, 1),
            "advice": attribute.advice,
        }
        for radius, own_result in by_radius.items()
        for number, (attribute, paper_result) in enumerate(zip(own_result, FIGURE_11, strict=True), 1)
    ]
    worst = {
        radius: [100 * attribute.worst_sorting for attribute in own_result] for radius, own_result in by_radius.items()
    }
    return Findings(
        (
            *require_all_radii({radius: state_figure_11(own_result) for radius, own_result in worst.items()}),
            *_state_words(rows),
        ),
        grids=(Grid("sorting", "Worst case of sorting, ours and theirs", frame_of(rows)),),
        remarks=(_WORST, _describe_nearest(worst)),
    )


def state_figure_11(worst: Sequence[float]) -> tuple[Statement, ...]:
    """The ten numbers at one radius, and which three are the highest."""
    most = sorted(range(len(worst)), key=lambda index: -worst[index])[:3]
    vulnerable = sorted(index + 1 for index in most)
    pairs = [
        Pair(paper_result, round(own_result, 2)) for paper_result, own_result in zip(FIGURE_11, worst, strict=True)
    ]
    return (
        compare("Worst case by attribute", pairs, WHOLE_PER_CENT, unit=" %", assumes=(CLASSES,)),
        Statement(
            "Attributes 2, 3 and 9 are the most vulnerable.",
            f"{', '.join(map(str, vulnerable))} have the highest worst case",
            vulnerable == [2, 3, 9],
            assumes=(CLASSES,),
        ),
    )


def _state_words(rows: Sequence[Mapping[str, Any]]) -> tuple[Statement, ...]:
    safe = sorted({row["attribute"] for row in rows} - {2, 3, 9})
    highest = max(row["worst_percent"] for row in rows if row["attribute"] in safe)
    return (
        Statement(
            "An attribute with a fair number of discontinuities or pure values is safe even in the worst case.",
            f"At most {highest} % of attributes {', '.join(map(str, safe))}, over the three radii.",
            None,
            'The paper gives no number for "fair" and "safe".',
        ),
        Statement(
            "If the least and greatest value are not known, the percentage is significantly lower.",
            "Not run.",
            None,
            'The paper does not say what is known instead, and gives no number for "significantly".',
        ),
    )


def _describe_nearest(worst: Mapping[float, Sequence[float]]) -> str:
    counts = {
        write_radius(radius): sum(
            WHOLE_PER_CENT.accepts(Pair(paper_result, round(worst_share, 2)))
            for paper_result, worst_share in zip(FIGURE_11, own_result, strict=True)
        )
        for radius, own_result in worst.items()
    }
    nearest = max(counts, key=lambda radius: counts[radius])
    counts_text = ", ".join(f"{count} of {len(FIGURE_11)} at {radius}" for radius, count in counts.items())
    return f"Within half a point of Figure 11: {counts_text}. {nearest} comes nearest."


def other_data_shelter(setting: Setting) -> Findings:
    """The same on WDBC and Adult's columns of numbers."""
    grids, statements = [], []
    for name, table in (("wdbc", wdbc(setting.folder)), ("adult", adult(setting.folder))):
        shelters = measure_shelter(table)
        grids.append(Grid(name, f"{table.source}: what shelters its columns", _tabulate(shelters)))
        statements.append(
            Statement(
                "Results on Covertype are representative of those on census income and WDBC.",
                f"{table.source}: {sum(shelter.safe for shelter in shelters)} of {len(shelters)} columns are "
                "safe against sorting in the worst case.",
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
    return pl.DataFrame({name: [getattr(column_shelter, name) for column_shelter in shelters] for name in names})
