# SPDX-License-Identifier: MIT
"""How large the classes of a published table are, in memory or in its file: what anyone can compute from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato import measure
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.anonymity.crowd_sizes import StarredRows, flag_starred_rows
from sfumato.measure.anonymity.stored_classes import count_stored_sizes, count_stored_stars
from sfumato.measure.stored_claims import StoredEvidence
from sfumato.table import Table


def find_promised_k(claims: Iterable[Mapping[str, Any]]) -> int | None:
    """The largest k that claims promise; None if none does."""
    return max((int(claim["threshold"]) for claim in claims if claim["property"] == "k_anonymity"), default=None)


def measure_class_sizes(
    published_table: Table | StoredTable, starred_rows: StarredRows, promised_k: int | None
) -> dict[str, float]:
    """Discernibility, the average class, and this over the promised k."""
    if isinstance(published_table, StoredTable):
        return measure_stored_class_sizes(StoredEvidence(published_table), starred_rows, promised_k)
    return {
        "discernibility": measure.discernibility(published_table, starred_rows),
        "average_class_size": measure.average_class_size(published_table, starred_rows),
        **({} if promised_k is None else {"c_avg": measure.c_avg(published_table, promised_k, starred_rows)}),
    }


def measure_stored_class_sizes(
    evidence: StoredEvidence, starred_rows: StarredRows, promised_k: int | None
) -> dict[str, float]:
    """The same of a table in its file; nothing if people cannot be looked up."""
    total = len(evidence.published_table)
    if not evidence.published_table.quasi_identifying:
        return {}
    sizes = count_stored_sizes(evidence, {"starred_rows": starred_rows})
    average = float(sizes.sum()) / len(sizes) if len(sizes) else 0.0
    return {
        "discernibility": int((sizes * sizes).sum()) + (total - int(sizes.sum())) * total,
        "average_class_size": average,
        **({} if promised_k is None else {"c_avg": average / promised_k}),
    }


def count_starred_rows(published_table: Table | StoredTable) -> int:
    """How many rows are stars in every quasi-identifying column."""
    if not published_table.quasi_identifying:
        return 0
    if isinstance(published_table, StoredTable):
        return count_stored_stars(StoredEvidence(published_table))
    return int(flag_starred_rows(published_table.frame, published_table.quasi_identifying).sum())
