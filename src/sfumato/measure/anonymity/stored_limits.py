# SPDX-License-Identifier: MIT
"""Check caps and floors, and columns that were kept, on a release that stays in its file: some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from sfumato.engine.aligned_batches import align_batches
from sfumato.measure.anonymity.coded_limits import count_beyond_limits, count_miscoded_cells, count_rows_at_limits
from sfumato.measure.truth import count_changed_kept_cells
from sfumato.release import Number
from sfumato.table import Table

if TYPE_CHECKING:
    from sfumato.measure.anonymity.stored_claims import StoredEvidence

Arguments = Mapping[str, Any]


def _count_beyond(evidence: StoredEvidence, arguments: Arguments) -> Number:
    return sum(count_beyond_limits(part, **arguments) for part in _read_parts(evidence, arguments["column"]))


def _count_at_limits(evidence: StoredEvidence, arguments: Arguments) -> Number:
    """The rows at each limit in the whole file, then the fewer."""
    column = arguments["column"]
    ends = [{end: limit} for end, limit in arguments.items() if end != "column" and limit is not None]
    totals = [0] * len(ends)
    for part in _read_parts(evidence, column):
        totals = [total + count_rows_at_limits(part, column, **end) for total, end in zip(totals, ends, strict=True)]
    return min(totals, default=0)


def _count_miscoded(evidence: StoredEvidence, arguments: Arguments) -> Number:
    parts = _compare_parts(evidence, [arguments["column"]])
    return sum(count_miscoded_cells(before, after, **arguments) for before, after in parts)


def _count_changed_kept(evidence: StoredEvidence, arguments: Arguments) -> Number:
    columns = list(arguments["columns"])
    parts = _compare_parts(evidence, columns) if columns else iter(())
    return sum(count_changed_kept_cells(before, after, columns) for before, after in parts)


def _read_parts(evidence: StoredEvidence, column: str) -> Iterator[Table]:
    """The column with no row, which shows its type, and then with some rows at a time."""
    outline = evidence.published.outline
    yield outline
    for batch in evidence.published.rows.iterate_batches([column]):
        yield outline.with_frame(batch)


def _compare_parts(evidence: StoredEvidence, columns: list[str]) -> Iterator[tuple[Table, Table]]:
    assert evidence.comparison is not None
    compared = evidence.comparison
    rows = compared.original.rows, compared.published.rows, compared.taken
    for before, after in align_batches(*rows, "comparing with the originals", columns):
        yield compared.original.outline.with_frame(before), compared.published.outline.with_frame(after)


LIMIT_MEASURES: Mapping[str, Callable[[StoredEvidence, Arguments], Number]] = {
    "beyond_limits": _count_beyond,
    "rows_at_limits": _count_at_limits,
    "miscoded_cells": _count_miscoded,
    "kept_cells_changed": _count_changed_kept,
}
"""Claims about caps and kept columns that can be measured on a file."""
