# SPDX-License-Identifier: MIT
"""All cells of stored columns as narrow numbers: what is held of a table whose rows must all be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.engine.stored_rows import StoredRows
from sfumato.engine.text_dictionaries import split_column
from sfumato.runtime.progress import report_progress


def number_stored_cells(rows: StoredRows, texts: Mapping[str, pl.Series]) -> dict[str, npt.NDArray[np.integer[Any]]]:
    """The place of each cell among the texts of its column, their number where it is missing or not among them."""
    codes: dict[str, npt.NDArray[np.integer[Any]]] = {
        name: np.zeros(rows.height, dtype=np.min_scalar_type(len(column_texts))) for name, column_texts in texts.items()
    }
    kinds = {name: numbers.dtype for name, numbers in codes.items()}

    def number_batch(batch: pl.DataFrame, _: int) -> pl.DataFrame:
        parts = {name: split_column(batch[name]) for name in texts}
        places = {name: place_cells(spell_cells(part.values), texts[name])[part.codes] for name, part in parts.items()}
        return pl.DataFrame({name: places[name].astype(kind) for name, kind in kinds.items()})

    begin = 0
    for numbers in rows.map_batches(number_batch, list(texts)):
        report_progress("numbering published cells", begin, rows.height)
        for name in texts:
            codes[name][begin : begin + numbers.height] = numbers[name].to_numpy()
        begin += numbers.height
    return codes


def place_cells(cells: pl.Series, texts: pl.Series) -> Ints:
    """The place of each text among others, their number where it is missing or not among them."""
    mapping = pl.DataFrame({"value": texts, "code": np.arange(len(texts))})
    joined_frame = cells.alias("value").to_frame().join(mapping, on="value", how="left", maintain_order="left")
    return joined_frame["code"].fill_null(len(texts)).to_numpy()
