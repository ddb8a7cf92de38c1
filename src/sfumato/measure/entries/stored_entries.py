# SPDX-License-Identifier: MIT
"""Check blanked entries on a release that stays in its file: of each cell, the number of its value is held.

Rules are counted by `leftover_rules`, on narrow numbers; private entries are looked up batch by batch. Nothing here is
shared with the method: codes are assigned again, from the text of the written file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.numbered_cells import number_stored_cells, place_cells
from sfumato.engine.stored_table import StoredTable
from sfumato.measure.checks import Arguments
from sfumato.measure.entries.leftover_rules import (
    CodedEntries,
    PrivateColumn,
    count_leftover_rules,
    list_private_columns,
    list_private_values,
    read_rule_arguments,
    require_hidden_entries,
)
from sfumato.measure.stored_checks import checks_stored_claim
from sfumato.release import Number

if TYPE_CHECKING:
    from sfumato.measure.stored_claims import StoredEvidence


def code_stored_entries(published_table: StoredTable, private_entries: pl.DataFrame) -> Iterator[PrivateColumn]:
    """The columns of a stored release that have private entries, one at a time."""
    secrets = list_private_values(published_table.outline, len(published_table), private_entries)
    names = list(published_table.rows.schema)
    by_column = {name: secrets.filter(pl.col("column") == name) for name in names}
    texts = {name: _list_value_texts(published_table, name, by_column[name]["value"]) for name in names}
    cell_codes = number_stored_cells(published_table.rows, texts)
    coded_columns = [
        CodedEntries(
            cell_codes[name], place_cells(by_column[name]["value"], texts[name]).astype(np.int64), len(texts[name])
        )
        for name in names
    ]
    return list_private_columns(coded_columns, [by_column[name]["row"].to_numpy().astype(np.int64) for name in names])


def _list_value_texts(published_table: StoredTable, name: str, secrets: pl.Series) -> pl.Series:
    """The values of a column as texts, those that are published and those that are private."""
    published_texts = spell_cells(published_table.list_values(name))
    return pl.concat([published_texts.alias("value"), secrets.alias("value")]).unique(maintain_order=True)


@checks_stored_claim("leftover_rules")
def _count_leftover_rules(evidence: StoredEvidence, arguments: Arguments) -> Number:
    private_entries = require_hidden_entries(evidence.details)
    return count_leftover_rules(
        code_stored_entries(evidence.published_table, private_entries), *read_rule_arguments(arguments)
    )


@checks_stored_claim("visible_private_entries")
def _count_visible_private_entries(evidence: StoredEvidence, _: Arguments) -> Number:
    published_table = evidence.published_table
    secrets = list_private_values(
        published_table.outline, len(published_table), require_hidden_entries(evidence.details)
    )
    rows = {str(name): part["row"].sort().to_numpy() for (name,), part in secrets.group_by("column")}

    def count_visible(batch: pl.DataFrame, first: int) -> pl.DataFrame:
        visible = 0
        for name, all_rows in rows.items():
            batch_rows = all_rows[slice(*np.searchsorted(all_rows, (first, first + batch.height)))] - first
            visible += int(batch[name].is_not_null().gather(batch_rows).sum())
        return pl.DataFrame({"visible": [visible]})

    counts = published_table.rows.map_batches(count_visible, list(rows)) if rows else ()
    return sum(int(part["visible"][0]) for part in counts)


@checks_stored_claim("changed_cells")
def _count_changed_cells(evidence: StoredEvidence, _: Arguments) -> Number:
    assert evidence.comparison is not None
    return sum(
        difference.coarser + difference.suppressed + difference.other + difference.filled
        for difference in evidence.comparison.differences.values()
    )


def measure_blanked_share(published_table: StoredTable, original: StoredTable) -> float:
    """Of the entries that had a value and whose column was published, the share that is empty in the release."""
    missing, published_missing = original.rows.count_missing(), published_table.rows.count_missing()
    original_entries = sum(len(original) - missing[name] for name in published_missing)
    published_entries = sum(len(published_table) - empty for empty in published_missing.values())
    return 1 - published_entries / original_entries if original_entries else 0.0


checks_stored_claim("search_ended")(lambda evidence, _: int(bool(evidence.details["complete"])))
