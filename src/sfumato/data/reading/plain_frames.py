# SPDX-License-Identifier: MIT
"""Frames of any library as frames of plain cells: text, numbers, truth values and dates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.cells.impossible_dates import refuse_impossible_dates
from sfumato.errors import DataError, quote_some_names

_AS_TEXT = (pl.Categorical, pl.Enum, pl.Null, pl.Datetime, pl.Decimal, pl.Int128)
"""Types whose text differs between writers: formatted once on input, so that a release reads back unchanged."""


def get_row_labels(data: Any) -> Any:
    """The index of a pandas frame, unless it only numbers the rows."""
    index = getattr(data, "index", None)
    if type(data).__module__.partition(".")[0] != "pandas" or index is None:
        return None
    is_numbered = type(index).__name__ == "RangeIndex" and index.name is None and (index.start, index.step) == (0, 1)
    return None if is_numbered else index


def build_table_frame(data: Any, source: str) -> pl.DataFrame:
    """The columns of any frame, or of a dict of lists, as they are."""
    if isinstance(data, pl.DataFrame):
        return data
    try:
        return pl.DataFrame(dict(data), strict=True) if isinstance(data, Mapping) else _convert_frame(data)
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError) as error:
        raise DataError(f"{source}: {_explain_no_table(data, error)}") from None


def _explain_no_table(data: Any, error: Exception) -> str:
    """Why data is not a table, and what to type instead; never a cell."""
    if isinstance(data, str | Path):
        return "this is a path, and not a frame; read the file with sf.Table.read(path, roles={...})"
    columns = [str(name) for name in getattr(data, "columns", ())]
    repeated_names = [name for name, count in Counter(columns).items() if count > 1]
    if repeated_names:
        return f"columns have the same name: {quote_some_names(repeated_names)}; rename them"
    bad_names = [name for name in columns if not _is_convertible(data, name)]
    if bad_names:
        return (
            f"the columns {quote_some_names(bad_names)} hold values of several types, or of a type that a table lacks; "
            'make each one type, as in df["column"].astype(str)'
        )
    return (
        f"not a table that can be read ({type(error).__name__}); give a polars, pandas or pyarrow table, or a dict of "
        "equally long lists of one type each, with distinct column names; pandas.DataFrame(rows) makes one of rows"
    )


def _is_convertible(data: Any, name: str) -> bool:
    """Whether one column of a frame can be read."""
    try:
        _convert_frame(data[[name]])
    except KeyError:  # its name is not a text
        return True
    except (pl.exceptions.PolarsError, TypeError, ValueError, NotImplementedError):
        return False
    return True


def _convert_frame(data: Any) -> pl.DataFrame:
    """A frame of another library; its errors are ValueErrors."""
    import narwhals as nw  # a tenth of a second that most commands can do without

    native = nw.from_native(data)
    if isinstance(native, nw.LazyFrame):
        native = native.collect()
    frame: pl.DataFrame = native.to_polars()
    return frame


def simplify_frame(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Text, numbers, truth values and dates only; NaN is missing, and there is one zero."""
    bad_names = [name for name, kind in frame.schema.items() if kind.is_nested() or kind in (pl.Object, pl.Binary)]
    if bad_names:
        raise DataError(
            f"{source}: the columns {', '.join(bad_names[:12])} hold lists, records or bytes; a table has plain cells "
            "(Baskets and Sequences hold lists)"
        )
    signs = [name for name in frame.columns if name == "*" or (name.startswith("^") and name.endswith("$"))]
    if signs:
        raise DataError(f'{source}: a column cannot be called {", ".join(signs)}, which means "all columns"; rename it')
    for column in frame.get_columns():
        refuse_impossible_dates(column, source)
    return pl.DataFrame([_simplify_column(column) for column in frame.get_columns()]) if frame.width else frame


def _simplify_column(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind.is_float():
        numbers = column.fill_nan(None)
        zeros = numbers == 0.0  # −0.0 equals 0.0 in every count, but a Parquet file distinguishes them
        return numbers.set(zeros, 0.0) if zeros.any() else numbers  # polars skips an addition of zero
    if kind in (pl.Duration, pl.Time):  # a cast to text would leave out the fractions of a second
        return column.dt.to_string("iso")
    if kind in _AS_TEXT:
        return column.cast(pl.String)
    return column
