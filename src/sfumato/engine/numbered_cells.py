# SPDX-License-Identifier: MIT
"""All cells of stored columns as narrow numbers: what is held of a table whose rows must all be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchy import spell_cells
from sfumato.engine.coded_columns import split_column
from sfumato.engine.stored_rows import StoredRows
from sfumato.progress import report_progress


def number_stored_cells(rows: StoredRows, texts: Mapping[str, pl.Series]) -> dict[str, npt.NDArray[np.integer[Any]]]:
    """The place of each cell among the texts of its column, their number where it is missing or not among them."""
    codes: dict[str, npt.NDArray[np.integer[Any]]] = {
        name: np.zeros(rows.height, dtype=np.min_scalar_type(len(listed))) for name, listed in texts.items()
    }
    begin = 0
    for batch in rows.iterate_coded_batches(list(texts)):
        report_progress("numbering published cells", begin, rows.height)
        for name, listed in texts.items():
            values, places = split_column(batch[name])
            codes[name][begin : begin + batch.height] = place_cells(spell_cells(values), listed)[places]
        begin += batch.height
    return codes


def place_cells(cells: pl.Series, texts: pl.Series) -> Ints:
    """The place of each text among others, their number where it is missing or not among them."""
    mapping = pl.DataFrame({"value": texts, "code": np.arange(len(texts))})
    joined = cells.alias("value").to_frame().join(mapping, on="value", how="left", maintain_order="left")
    return joined["code"].fill_null(len(texts)).to_numpy()
