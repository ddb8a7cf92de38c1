# SPDX-License-Identifier: MIT
"""What may be given where a measure compares two tables, and what is refused with a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.errors import DataError, PolicyError
from sfumato.table import Table


def require_tables(original: Table, published: Table, columns: Sequence[str] | None = None) -> None:
    """Refuse what is not a table, and columns that are one text."""
    for table in (original, published):
        if not isinstance(table, Table):
            raise DataError(
                f"two tables are compared, and {type(table).__name__} is none; of a release give its data, of a frame "
                "sf.Table.of(frame)"
            )
    if isinstance(columns, str):
        raise PolicyError(f'columns is a list of names, such as ["{columns}"]')
