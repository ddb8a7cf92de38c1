# SPDX-License-Identifier: MIT
"""Equivalence classes of a table, with missing cells by their declared meaning.

Independent of the code that methods use: counting goes through `engine/`, matching through polars joins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np
import polars as pl

from sfumato.arrays import Ints
from sfumato.data.hierarchies.hierarchy import STAR
from sfumato.engine.classes import count_class_sizes
from sfumato.errors import DataError, quote_names
from sfumato.table import Missing, Table

StarredRows = Literal["class", "suppressed"]
"""Whether rows with `*` in every quasi-identifying column form a class, or belong to none."""


def crowds(table: Table, columns: Sequence[str] | None = None, starred_rows: StarredRows = "class") -> pl.DataFrame:
    """One row per class: `rows` in it, and `crowd`, the number of rows that each of them could be confused with."""
    names = list(table.quasi_identifying if columns is None else columns)
    unknown = [name for name in names if name not in table.frame.columns]
    if unknown:
        raise DataError(f"{table.source}: there is no column {quote_names(unknown)}")
    if not names:
        raise DataError(f"{table.source}: no column is quasi_identifying, so there are no classes to count")
    frame = table.frame.select(names)
    holes = sum(frame.null_count().row(0))
    if not holes or table.missing is Missing.OWN_VALUE:
        starred_count = int(flag_starred_rows(frame, names).sum()) if starred_rows == "suppressed" else 0
        return _build_class_frame(_leave_out_class(count_class_sizes(frame, names), starred_count))
    if starred_rows == "suppressed":
        frame = frame.filter(~flag_starred_rows(frame, names))
    has_missing = pl.any_horizontal(pl.col(names).is_null())
    if table.missing is Missing.DROP:
        return _build_class_frame(count_class_sizes(frame.filter(~has_missing), names))
    if not frame.select(has_missing.any()).item():
        return _build_class_frame(count_class_sizes(frame, names))
    if table.missing is Missing.NEVER_MATCHES:
        lone_sizes = np.ones(frame.select(has_missing.sum()).item(), dtype=np.int64)
        return _build_class_frame(np.concatenate([lone_sizes, count_class_sizes(frame.filter(~has_missing), names)]))
    return _match_classes_by_pattern(frame, names)


def read_starred_rows(arguments: Mapping[str, Any]) -> StarredRows:
    """Whether a claim with these arguments counts rows of stars as a class, or leaves them out."""
    return cast(StarredRows, arguments.get("starred_rows", "class"))


def flag_starred_rows(frame: pl.DataFrame, names: Sequence[str]) -> pl.Series:
    """Which rows have `*` in all the columns."""
    kinds = frame.schema
    texts = [name for name in names if kinds[name] == pl.String]
    if len(texts) < len(names) or not names:
        return pl.repeat(False, frame.height, dtype=pl.Boolean, eager=True)
    return frame.select(pl.all_horizontal(pl.col(texts) == STAR).fill_null(False)).to_series()


def _leave_out_class(sizes: Ints, rows: int) -> Ints:
    """Class sizes without the class of suppressed rows."""
    return np.delete(sizes, int(np.flatnonzero(sizes == rows)[0])) if rows else sizes


def _build_class_frame(sizes: Ints) -> pl.DataFrame:
    return pl.DataFrame({"rows": sizes, "crowd": sizes})


_ROWS_A_JOIN = 20_000
"""How many pairs of classes are compared in the time that one join takes."""
_CHUNK = 256


def match_class_pairs(classes: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Every class against every other, agreeing wherever both are known, pair by pair and in the order given.

    Many patterns of missing cells would take a join for every two of them.
    """
    ranks = [classes[name].rank("dense").cast(pl.Int64).fill_null(-1).to_numpy() for name in names]
    rows = classes["\0rows"].to_numpy()
    crowd = np.zeros(len(rows), dtype=np.int64)
    for start in range(0, len(rows), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        agree = np.ones((len(rows[chunk]), len(rows)), dtype=bool)
        for column in ranks:
            own_codes = column[chunk, None]
            agree &= (own_codes == column) | (own_codes < 0) | (column < 0)
        crowd[chunk] = agree @ rows
    return pl.DataFrame({"rows": rows, "crowd": crowd})


def _match_classes_by_pattern(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """The same by one join a pair of patterns of missing cells."""
    classes = frame.group_by(names).agg(pl.len().cast(pl.Int64).alias("\0rows"))
    pattern = pl.concat_str([pl.col(name).is_null().cast(pl.Int8).cast(pl.String) for name in names])
    classes = classes.with_columns(pattern.alias("\0pattern")).with_row_index("\0class")
    parts = {str(key[0]): part for key, part in classes.partition_by("\0pattern", as_dict=True).items()}
    if len(parts) ** 2 * _ROWS_A_JOIN > classes.height**2:
        return match_class_pairs(classes, names)
    totals: list[pl.DataFrame] = []
    for own_pattern, own_part in parts.items():
        for other_pattern, other in parts.items():
            common = [name for name, a, b in zip(names, own_pattern, other_pattern, strict=True) if a == b == "0"]
            if not common:
                total = own_part.select("\0class", pl.lit(other["\0rows"].sum(), dtype=pl.Int64).alias("\0crowd"))
            else:
                sums = other.group_by(common).agg(pl.col("\0rows").sum().alias("\0crowd"))
                total = own_part.join(sums, on=common, how="inner").select("\0class", "\0crowd")
            totals.append(total)
    crowd = pl.concat(totals).group_by("\0class").agg(pl.col("\0crowd").sum())
    return classes.join(crowd, on="\0class").select(pl.col("\0rows").alias("rows"), pl.col("\0crowd").alias("crowd"))
