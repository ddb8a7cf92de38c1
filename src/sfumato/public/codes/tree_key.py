# SPDX-License-Identifier: MIT
"""The opened key of an encoding for trees: the code of each value, and back.

It holds every distinct value with its code. A seal over its content detects a modified or damaged key, and column names
and values detect a key of another table: both are rejected, since a wrong key would decode to a wrong tree.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.arrays import Flags, Floats, Ints, Singles
from sfumato.data.hierarchies.hierarchy import spell_cells
from sfumato.errors import DataError, count_noun, quote_some_names
from sfumato.key import Key
from sfumato.public.codes.learner_columns import convert_for_learners, find_class_ranges, look_up_cells, map_in_threads
from sfumato.public.sealed_key import seal_key, unseal_key
from sfumato.table import Table

METHOD = "encode_for_trees"
_KINDS = {"values": "<f8", "codes": "<f8", "starts": "<i8", "pure": "|b1"}


@dataclass(frozen=True)
class ColumnKey:
    """One number column: its distinct values in order, and the code of each."""

    name: str
    values: Floats
    """As in the table; of several values that are one 32-bit float, the smallest."""
    codes: Floats
    """Equal for neighbours that trees treat as equal."""
    rising: bool
    """Whether codes of mixed pieces, and the pieces themselves, ascend with the values."""
    decimals: int
    """The number of decimals of the codes; if negative, the number of trailing zeros."""
    starts: Ints
    """The index of each piece's first value."""
    pure: Flags
    """Whether a piece is pure, so that its values may be permuted."""

    def dump_secret(self) -> dict[str, Any]:
        """The secret of the column as JSON, with its arrays packed as text."""
        arrays = {name: _pack_array(getattr(self, name), kind) for name, kind in _KINDS.items()}
        return {"rising": self.rising, "decimals": self.decimals, **arrays}

    @classmethod
    def read_secret(cls, name: str, secret: Mapping[str, Any]) -> ColumnKey:
        """The key of a column from what `dump_secret` wrote."""
        arrays = {part: _unpack_array(secret[part], kind) for part, kind in _KINDS.items()}
        if len(arrays["codes"]) != len(arrays["values"]) or len(arrays["pure"]) != len(arrays["starts"]):
            raise ValueError("parts of different lengths")
        return cls(name=name, rising=bool(secret["rising"]), decimals=int(secret["decimals"]), **arrays)

    @cached_property
    def learner_values(self) -> Singles:
        """The values as learners see them."""
        return np.asarray(self.values.astype(np.float32) + np.float32(0))

    @cached_property
    def has_merged_values(self) -> bool:
        """Whether values that trees treat as equal share a code."""
        return bool((self.codes[1:] == self.codes[:-1]).any())

    def locate_cells(self, column: pl.Series, source: str) -> Ints:
        """The index of each cell among the known values, `UNKNOWN` if it is missing."""
        cells = convert_for_learners(column, source)
        places = look_up_cells(cells, self.learner_values)
        strange = int(((places < 0) & ~np.isnan(cells)).sum())
        if strange:
            raise DataError(
                f'{source}: "{self.name}": the key has no code for {count_noun(strange, "cell")}, and another code '
                "could change the tree; draw a new key for this table"
            )
        return places

    def encode(self, places: Ints) -> Floats:
        """The codes of cells by their indices; missing as NaN."""
        return np.asarray(np.append(self.codes, np.nan)[places])

    def publish(self, places: Ints, kind: pl.DataType) -> pl.Series:
        """The column as codes: whole numbers if it held whole numbers."""
        numbers = pl.Series(self.name, self.encode(places)).fill_nan(None)
        return numbers.cast(pl.Int64) if self.decimals <= 0 and not kind.is_float() else numbers

    def count_torn_pieces(self, places: Ints, classes: Ints) -> int:
        """How many pure pieces hold several classes in some table."""
        if not self.pure.any():
            return 0
        low, high = find_class_ranges(places, classes, len(self.values))
        empty = low > high
        least = np.minimum.reduceat(np.where(empty, np.iinfo(np.int64).max, low), self.starts)
        most = np.maximum.reduceat(np.where(empty, -1, high), self.starts)
        return int((self.pure & (least < most)).sum())

    def decode(self, codes: Floats, source: str) -> Floats:
        """The value of each code; of values that share a code, the smallest. Missing stays missing."""
        order = np.argsort(self.codes, kind="stable")
        in_order = self.codes[order]
        if not len(in_order):
            return np.full(len(codes), np.nan)
        code_places = np.minimum(np.searchsorted(in_order, codes), len(in_order) - 1)
        strange = int(((in_order[code_places] != codes) & ~np.isnan(codes)).sum())
        if strange:
            cells = count_noun(strange, "cell is not a code", "cells are not codes")
            raise DataError(f'{source}: "{self.name}": {cells} of this key')
        return np.where(np.isnan(codes), np.nan, self.values[order[code_places]])


@dataclass(frozen=True)
class ValueNames:
    """New names for the values of a column, or for the classes."""

    values: tuple[Any, ...]
    """As in the table: text, numbers or booleans."""
    codes: tuple[str, ...]

    def number_values(self, column: pl.Series, source: str) -> Ints:
        """The index of each cell's value; −1 where it is missing."""
        known_words = spell_cells(pl.Series(self.values)).cast(pl.String).to_list() if self.values else []
        # Each distinct cell is formatted once, since formatting is slow.
        distinct = column.unique(maintain_order=True)
        word_index = {word: index for index, word in enumerate(known_words)}
        codes = [-1 if word is None else word_index.get(word, -2) for word in spell_cells(distinct).to_list()]
        first = pl.DataFrame({"cell": distinct, "number": pl.Series(codes, dtype=pl.Int64)})
        cells = pl.DataFrame({"cell": column})
        cell_numbers = cells.join(first, on="cell", how="left", nulls_equal=True, maintain_order="left")["number"]
        numbers: Ints = cell_numbers.to_numpy()
        strange = int((numbers < -1).sum())
        if strange:
            raise DataError(
                f'{source}: "{column.name}": the key has no code for {count_noun(strange, "cell")}; draw a new key'
            )
        return numbers

    def rename(self, column: pl.Series, source: str) -> pl.Series:
        """The column under its new names."""
        codes = pl.Series(column.name, [*self.codes, None], dtype=pl.String)
        numbers = self.number_values(column, source)
        return codes.gather(np.where(numbers < 0, len(self.codes), numbers))


@dataclass(frozen=True)
class TreeKey:
    """A key, opened."""

    target: str
    columns: Mapping[str, ColumnKey]
    categories: Mapping[str, ValueNames]
    labels: ValueNames
    is_permuted: bool
    """Whether values of pure pieces are permuted."""

    @staticmethod
    def seal(secret: Mapping[str, Any]) -> Key:
        """A key with a seal over its content."""
        return seal_key(METHOD, secret)

    @classmethod
    def open(cls, key: Key, table: Table) -> TreeKey:
        """Read a key for a table; one that was modified, or that belongs to other columns, is rejected."""
        secret = unseal_key(key, METHOD)
        column_names = {*secret["columns"], *secret["categories"], secret["target"]}
        strange = sorted(column_names - set(table.frame.columns))
        if strange:
            raise DataError(
                f"{table.source}: the key is for another table, with the columns {quote_some_names(strange)}"
            )
        try:
            return cls(
                secret["target"],
                {name: ColumnKey.read_secret(name, column_secret) for name, column_secret in secret["columns"].items()},
                {name: _read_value_names(column_secret) for name, column_secret in secret["categories"].items()},
                _read_value_names(secret["labels"]),
                bool(secret["permuted"]),
            )
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise DataError("the key is not a valid key of encode_for_trees") from None

    def locate_cells(self, table: Table) -> dict[str, Ints]:
        """For each number column, the index of its cells among the values."""
        places = map_in_threads(
            lambda column_key: column_key.locate_cells(table.frame[column_key.name], table.source),
            self.columns.values(),
        )
        return dict(zip(self.columns, places, strict=True))

    def encode(self, table: Table, places: Mapping[str, Ints]) -> pl.DataFrame:
        """The table as codes."""
        frame, source = table.frame, table.source
        return frame.with_columns(
            *(column_key.publish(places[name], frame[name].dtype) for name, column_key in self.columns.items()),
            *(column_key.rename(frame[name], source) for name, column_key in self.categories.items()),
            self.labels.rename(frame[self.target], source),
        )


def _read_value_names(secret: Mapping[str, Any]) -> ValueNames:
    return ValueNames(tuple(secret["values"]), tuple(secret["codes"]))


def _pack_array(array: npt.NDArray[Any], kind: str) -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode()


def _unpack_array(text: str, kind: str) -> npt.NDArray[Any]:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind).astype(np.dtype(kind).newbyteorder("="))
