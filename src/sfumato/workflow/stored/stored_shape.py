# SPDX-License-Identifier: MIT
"""What a certificate states about a table that stays in its Parquet file, and what its reports show of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from sfumato.data.writing.formulas import find_formulas, summarize_formulas
from sfumato.data.writing.table_writer import MARKS
from sfumato.engine.stored_table import StoredTable
from sfumato.errors import PolicyError
from sfumato.workflow.shapes.file_shapes import FileShape

MOST_VALUES = 1 << 20
"""Up to this many different texts of a column are looked at once each, instead of every cell."""


class StoredTableShape(FileShape):
    """A table in its file: described as a table in memory is; written and read by `stored_run`."""

    name = "table"
    kind = StoredTable
    formats: ClassVar[Mapping[str, str]] = {"parquet": "parquet"}

    def choose_format(self, data: StoredTable) -> str:
        """Parquet, the only one that is written some rows at a time."""
        return "parquet"

    def describe_file(self, data: StoredTable, form: str, *, escape: bool = False) -> dict[str, Any]:
        """Types and counts; a mark for missing cells is stated as for every table, though Parquet needs none."""
        schema = data.rows.schema
        used_marks = {mark for mark in MARKS if any(mark in texts for texts in _list_marks(data))}
        free = [mark for mark in MARKS if mark not in used_marks]
        return {
            "data": {
                "missing_mark": free[0] if free else MARKS[0],
                "numbers": [name for name, kind in schema.items() if kind.is_numeric()],
                "integers": [name for name, kind in schema.items() if kind.is_integer()],
                "rows": len(data),
                "columns": len(schema),
                "escaped_formulas": False,
            },
            "roles": {name: role.value for name, role in data.roles.items()},
            "missing": data.missing.value,
        }

    def count_formulas(self, data: StoredTable) -> dict[str, Any]:
        """Count text cells and the names of columns."""
        names = list(data.rows.schema)
        headers = find_formulas(pl.Series(names, dtype=pl.String)).cast(pl.Int64).to_list()
        counts = dict(zip(names, headers, strict=True))
        long = []
        for name in _list_text_columns(data):
            if has_few_values(data, name):
                values = data.count_values(name)
                counts[name] += int(values.counts[find_formulas(values.frame[name]).to_numpy()].sum())
            else:
                long.append(name)
        for batch in data.rows.iterate_batches(long) if long else ():
            for name in long:
                counts[name] += int(find_formulas(batch[name]).sum())
        return summarize_formulas(counts)

    def write(self, data: Any, path: Path, form: str, *, escape: bool = False) -> None:
        """It is in its file already."""
        raise PolicyError("a table in its file is not written again")

    def read(self, path: Path, body: Mapping[str, Any]) -> Any:
        """It is opened where it is."""
        raise PolicyError("a table in its file is opened, not read")

    def refuse_changed(self, written_data: Any, read: Any) -> None:
        """Nothing else was written."""


def has_few_values(data: StoredTable, column: str) -> bool:
    """Whether the values of a column can be listed."""
    return data.rows.count_values(column) <= MOST_VALUES


def _list_text_columns(data: StoredTable) -> list[str]:
    return [name for name, kind in data.rows.schema.items() if kind == pl.String]


def _list_marks(data: StoredTable) -> list[set[str]]:
    """The marks among the texts of each column."""
    few = [name for name in _list_text_columns(data) if has_few_values(data, name)]
    marks = [set(data.list_values(name)) & set(MARKS) for name in few]
    long = [name for name in _list_text_columns(data) if name not in few]
    batches = data.rows.iterate_batches(long) if long else ()
    return marks + [{mark for mark in MARKS for name in long if (batch[name] == mark).any()} for batch in batches]
