# SPDX-License-Identifier: MIT
"""Rule inference on a release that stays in its file: makes the same guesses as in memory, on compactly encoded
cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sfumato.attack.attack import Outcome
from sfumato.attack.entries.private_cells import PrivateCells
from sfumato.attack.entries.rule_inference import ReleaseCodes, RuleInference
from sfumato.attack.stored_attack import StoredSetting, StoredTableAttack
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.details import EntryDetails
from sfumato.engine.numbered_cells import number_stored_cells
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.stored_table import StoredTable
from sfumato.release import Release


class StoredRuleInference(StoredTableAttack[RuleInference]):
    """Guesses of private entries that were blanked."""

    runs = "rule_inference of blanked entries"

    def explain_unstored(self, attack: RuleInference, setting: StoredSetting) -> str | None:
        """What of rule inference does not run on the file; None if it runs."""
        if not setting.has_blanks:
            return "rule_inference without blanked entries"
        return "rule_inference with columns" if attack.columns else None

    def run(
        self, attack: RuleInference, release: Release, original: StoredTable, taken_rows: StoredRows | None
    ) -> Outcome:
        """Guess the private entries, which are listed with `row`, `column` and `value`."""
        published_table: StoredTable = release.data
        hidden_entries = release.details.require_family(EntryDetails).hidden
        assert hidden_entries is not None, "a method that blanks entries lists them"
        names = tuple(published_table.rows.schema)
        texts = {name: spell_cells(published_table.list_values(name)).sort() for name in names}
        cell_codes = number_stored_cells(published_table.rows, texts)
        values = tuple(texts.values())
        codes = ReleaseCodes(names, values, tuple(cell_codes.values()), tuple(map(len, values)))
        return attack.guess_entries(codes, list(_list_stored_cells(codes, hidden_entries)))


def _list_stored_cells(codes: ReleaseCodes, hidden_entries: pl.DataFrame) -> Iterator[PrivateCells]:
    """The private entries, column by column, in the release's order."""
    for name, texts, column_codes in zip(codes.names, codes.values, codes.column_codes, strict=True):
        column_entries = hidden_entries.filter(pl.col("column") == name).sort("row")
        if column_entries.height:
            rows = column_entries["row"].to_numpy().astype(np.int64)
            places = pl.Series(column_codes[rows].astype(np.int64))
            shown_places = pl.select(pl.when(places < len(texts)).then(places)).to_series()
            yield PrivateCells(name, rows, column_entries["value"], texts.gather(shown_places))
