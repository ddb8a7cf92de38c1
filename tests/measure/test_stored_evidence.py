# SPDX-License-Identifier: MIT
"""Evidence on a stored release counts classes once, and gives back what is large when claims are measured."""

from __future__ import annotations

import polars as pl

from sfumato.engine.stored_rows import MemoryRows
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.stored_claims import StoredEvidence


def test_values_are_given_back_and_sizes_are_kept() -> None:
    frame = pl.DataFrame({"zip": ["1", "1", "2"], "disease": ["flu", "cut", "flu"]})
    roles = {"zip": "quasi_identifying", "disease": "sensitive"}
    evidence = StoredEvidence(StoredTable.of(MemoryRows(frame), roles))
    sizes, values = evidence.count_classes(), evidence.count_classes("disease")
    assert evidence.count_classes("disease") is values
    evidence.forget_values()
    assert evidence.count_classes() is sizes
    new_values = evidence.count_classes("disease")
    assert new_values is not values
    assert new_values.frame.equals(values.frame)
    assert new_values.counts.tolist() == [1, 1, 1]
