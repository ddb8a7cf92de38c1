# SPDX-License-Identifier: MIT
"""Released data as frames of other libraries."""

from __future__ import annotations

from typing import Any

import polars as pl

from sfumato.baskets import Baskets
from sfumato.errors import DataError
from sfumato.patterns import Patterns
from sfumato.rules import Rules
from sfumato.sequences import Sequences
from sfumato.table import Table


def convert_to_polars(data: Any) -> pl.DataFrame:
    """A table as it is; baskets and patterns as lists of items, rules as two, sequences as lists of elements."""
    match data:
        case Table():
            return data.frame
        case Baskets():
            return pl.DataFrame({"items": data.to_lists()}, schema={"items": pl.List(_choose_item_type(data.items))})
        case Sequences():
            return pl.DataFrame({"elements": data.to_lists()})
        case Rules():
            return data.rules
        case Patterns():
            return data.frame
    raise DataError(f"{type(data).__name__} is not a kind of data that a frame can hold")


def convert_to_pandas(frame: pl.DataFrame, index: Any = None) -> Any:
    """A pandas frame; whole numbers stay whole where some are missing."""
    try:
        import pandas as pd
    except ImportError:
        raise DataError("pandas is not installed; type: pip install pandas (or take .to_polars())") from None
    gaps = [name for name, kind in frame.schema.items() if kind.is_integer() and frame[name].null_count()]
    pandas_frame = frame.drop(gaps).to_pandas() if frame.width > len(gaps) else pd.DataFrame(index=range(frame.height))
    for name in gaps:
        pandas_frame[name] = pd.array(frame[name].to_list(), dtype="Int64")
    pandas_frame = pandas_frame[frame.columns]
    return pandas_frame if index is None else pandas_frame.set_axis(index, axis=0)


def _choose_item_type(items: Any) -> pl.DataType:
    return pl.Int64() if items and isinstance(items[0], int) else pl.String()
