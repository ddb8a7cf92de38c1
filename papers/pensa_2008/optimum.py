# SPDX-License-Identifier: MIT
"""Definition 4 solved: the least by which supports must move in an anonymous release, and what BF-P2kA moves them."""

from __future__ import annotations

from typing import Any, NamedTuple

from papers.plots import draw_bars
from papers.study import Findings, Grid, Plot, Setting, Statement, frame_of
from sfumato.data.generators.movements import generate_trucks
from sfumato.measure.sequences.pattern_changes import pattern_changes
from sfumato.measure.sequences.support_optimum import support_optimum
from sfumato.protect.sequences.anonymize_sequences import AnonymizeSequences
from sfumato.runtime.progress import report_progress
from sfumato.sequences import Sequences


class Size(NamedTuple):
    """How many trucks, and k."""

    trucks: int
    k: int


SIZES = (Size(20, 2), Size(20, 3), Size(40, 5), Size(80, 5), Size(80, 10), Size(273, 10), Size(273, 20))
"""The first trucks of those generated; the largest has all of them."""


_REMARK = (
    "The optimum asks only for supports. It does not say whose sequence is published in whose place, and may resemble "
    "people's own sequences less."
)


def optimum(setting: Setting) -> Findings:
    """Both sums of differences of supports, at each size."""
    sizes = [size for size in SIZES if size.trucks <= 40] if setting.quick else SIZES
    rows = []
    for number, size in enumerate(sizes):
        report_progress("solving programs", number, len(sizes))
        rows.append(measure_size(size, 5.0 if setting.quick else 60.0))
    grid = Grid(
        "distances",
        "The sum of the differences of supports over the k-frequent patterns",
        frame_of(rows),
        "Per pattern: the sum divided by the number of patterns. A best one that is proven is the optimum.",
    )
    return Findings(_judge(rows), (grid,), (_draw(rows),), (_REMARK,))


def _judge(rows: list[dict[str, Any]]) -> tuple[Statement, ...]:
    ratios = [row["bf_p2ka"] / max(row["best_found"], 1) for row in rows]
    least = min(row["bf_p2ka"] - row["bound"] for row in rows)
    unreachable = sum(row["bound"] > 0 for row in rows)
    return (
        Statement(
            "Definition 4: a k-anonymous D' with the same k-frequent patterns and the same supports.",
            f"None exists in {unreachable} of {len(rows)} settings: supports must move by at least "
            f"{_join(rows, 'bound')}.",
            None,
            "The definition is an aim; the paper does not say that it can be reached.",
        ),
        Statement(
            "The approach assures about the same supports.",
            f"BF-P2kA moves them by {_join(rows, 'bf_p2ka')}, which is {min(ratios):.1f} to {max(ratios):.1f} times "
            f"what the best release found does ({_join(rows, 'best_found')}).",
            None,
            '"About" has no number.',
        ),
        Statement(
            "No release is below the bound.",
            f"BF-P2kA is above it by {least} or more.",
            least >= 0,
            source="independent count",
        ),
    )


def _draw(rows: list[dict[str, Any]]) -> Plot:
    groups = {
        f"{row['trucks']} trucks, k = {row['k']}": {
            "BF-P2kA": row["bf_p2ka_per_pattern"],
            "best found": row["best_per_pattern"],
        }
        for row in rows
    }
    return draw_bars("Supports moved per pattern", groups, soft=("best found",), digits=2)


def measure_size(size: Size, seconds: float) -> dict[str, Any]:
    """BF-P2kA and the optimum on the first trucks."""
    data = Sequences.of(generate_trucks()[: size.trucks])
    release = AnonymizeSequences(k=size.k).protect(data)
    changes = pattern_changes(data, release.data, size.k)
    solution = support_optimum(data, size.k, seconds)
    best = min(solution.distance, changes.support_distance)  # out of time, the solver may be behind the method
    return {
        "trucks": size.trucks,
        "k": size.k,
        "patterns": changes.before,
        "bf_p2ka": changes.support_distance,
        "best_found": best,
        "bound": solution.bound,
        "proven": solution.bound == best,
        "bf_p2ka_per_pattern": changes.support_distance / changes.before,
        "best_per_pattern": best / changes.before,
    }


def _join(rows: list[dict[str, Any]], column: str) -> str:
    return ", ".join(f"{row[column]:,}" for row in rows)
