# SPDX-License-Identifier: MIT
"""Check caps and floors, and columns that were kept, on a release that stays in its file: some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import polars as pl

from sfumato.engine.stored_rows import BatchResult
from sfumato.measure.anonymity.coded_limits import count_beyond_limits, count_miscoded_cells, count_rows_at_limits
from sfumato.measure.checks import Arguments
from sfumato.measure.stored_checks import checks_stored_claim
from sfumato.measure.truth import count_changed_kept_cells
from sfumato.release import Number
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.measure.stored_claims import StoredEvidence


@checks_stored_claim("beyond_limits")
def _count_beyond(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return sum(_examine(evidence, arguments["column"], lambda part: count_beyond_limits(part, **arguments)))


@checks_stored_claim("rows_at_limits")
def _count_at_limits(evidence: StoredEvidence, arguments: Arguments) -> Number:
    """The rows at each limit in the whole file, then the fewer."""
    column = arguments["column"]
    ends = [{end: limit} for end, limit in arguments.items() if end != "column" and limit is not None]
    parts = _examine(evidence, column, lambda part: [count_rows_at_limits(part, column, **end) for end in ends])
    return min(map(sum, zip(*parts, strict=True)), default=0)


@checks_stored_claim("miscoded_cells")
def _count_miscoded(evidence: StoredEvidence, arguments: Arguments) -> Number:
    assert evidence.comparison is not None
    return evidence.comparison.count_aligned(
        lambda original, published_table: count_miscoded_cells(original, published_table, **arguments),
        [arguments["column"]],
    )


@checks_stored_claim("kept_cells_changed")
def _count_changed_kept(evidence: StoredEvidence, arguments: Arguments) -> Number:
    assert evidence.comparison is not None
    columns = list(arguments["columns"])
    if not columns:
        return 0
    return evidence.comparison.count_aligned(
        lambda original, published_table: count_changed_kept_cells(original, published_table, columns), columns
    )


def _examine(evidence: StoredEvidence, column: str, examine: Callable[[Table], BatchResult]) -> Iterator[BatchResult]:
    """What is found in the column with no row, which shows its type, and then in some rows at a time."""
    outline = evidence.published_table.outline

    def examine_batch(batch: pl.DataFrame, _: int) -> BatchResult:
        return examine(outline.replace_frame(batch))

    yield examine(outline)
    yield from evidence.published_table.rows.examine_batches(examine_batch, [column])
