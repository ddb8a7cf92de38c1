# SPDX-License-Identifier: MIT
"""The secret of an encoding for trees, opened: what each value became, and back.

It holds every distinct value beside its code. A seal over its content tells a key that was changed or damaged, and
counts tell a key that belongs to another table: both are refused, since a wrong key would decode to a wrong tree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from sfumato.data.hierarchy import spelt
from sfumato.errors import DataError, PolicyError
from sfumato.key import Key
from sfumato.table import Table

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
METHOD = "encode_for_trees"


def as_learners_see(column: pl.Series, source: str) -> Singles:
    """A column as scikit-learn's trees see it: 32-bit floats, missing as NaN."""
    wide = column.cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):
        cells = wide.astype(np.float32) + np.float32(0)  # −0 and 0 are one value
    infinite = int(np.isinf(cells).sum())
    if infinite:
        raise DataError(
            f"{source}: {infinite} numbers of «{column.name}» are beyond 32-bit floats, in which trees compare"
        )
    return np.asarray(cells)


@dataclass(frozen=True)
class ColumnKey:
    """One column of numbers: its distinct values in order, and the code of each."""

    name: str
    values: Floats
    codes: Floats
    rising: bool
    """Whether codes of mixed pieces, and the pieces themselves, rise with the values."""
    decimals: int
    starts: Ints
    """Where each piece begins among the values."""
    pure: npt.NDArray[np.bool_]
    """Whether a piece is pure, so that its values may have changed places."""

    def as_secret(self) -> dict[str, Any]:
        """For a key file."""
        arrays = {"values": self.values, "codes": self.codes, "starts": self.starts, "pure": self.pure}
        return {
            "rising": self.rising,
            "decimals": self.decimals,
            **{name: array.tolist() for name, array in arrays.items()},
        }

    @classmethod
    def from_secret(cls, name: str, secret: Mapping[str, Any]) -> ColumnKey:
        """Read from a key file."""
        return cls(
            name,
            np.asarray(secret["values"], dtype=np.float64),
            np.asarray(secret["codes"], dtype=np.float64),
            bool(secret["rising"]),
            int(secret["decimals"]),
            np.asarray(secret["starts"], dtype=np.int64),
            np.asarray(secret["pure"], dtype=bool),
        )

    def places(self, column: pl.Series, source: str) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Where each cell stands among the known values, and which cells are not missing."""
        cells = as_learners_see(column, source)
        known = ~np.isnan(cells)
        place = np.searchsorted(self.values, cells[known].astype(np.float64))
        fits = place < len(self.values)
        fits[fits] = self.values[place[fits]] == cells[known][fits]
        strange = int((~fits).sum())
        if strange:
            raise DataError(
                f"{source}: {strange} cells of «{self.name}» hold values that the key does not know, and a code for "
                "them could change the tree; draw a new key for this table"
            )
        return place.astype(np.int64), known

    def encoded(self, column: pl.Series, source: str) -> pl.Series:
        """The column as codes: whole numbers if it held whole numbers."""
        place, known = self.places(column, source)
        codes = np.full(len(column), np.nan)
        codes[known] = self.codes[place]
        numbers = pl.Series(self.name, codes).fill_nan(None)
        return numbers.cast(pl.Int64) if self.decimals == 0 and column.dtype.is_integer() else numbers

    def torn(self, column: pl.Series, classes: Ints, source: str) -> int:
        """How many pure pieces hold several classes in some table."""
        place, known = self.places(column, source)
        piece = np.searchsorted(self.starts, place, side="right") - 1
        inside = self.pure[piece] if len(piece) else np.zeros(0, dtype=bool)
        found = pl.DataFrame({"piece": piece[inside], "class": classes[known][inside]})
        return found.group_by("piece").agg(pl.col("class").n_unique()).filter(pl.col("class") > 1).height


@dataclass(frozen=True)
class Names:
    """New names for the values of a column, or for the classes."""

    values: tuple[Any, ...]
    """As they are in the table: text, numbers or truth values."""
    codes: tuple[str, ...]

    def renamed(self, column: pl.Series, source: str) -> pl.Series:
        """The column under its new names."""
        words = [str(word) for word in spelt(pl.Series(self.values)).to_list()] if self.values else []
        new = dict(zip(words, self.codes, strict=True))
        texts = spelt(column)
        named = texts.replace_strict(new, default=None, return_dtype=pl.String)
        strange = named.null_count() - texts.null_count()
        if strange:
            raise DataError(
                f"{source}: {strange} cells of «{column.name}» hold values that the key does not know; draw a new key"
            )
        return named.alias(column.name)


@dataclass(frozen=True)
class TreeKey:
    """A key, opened."""

    target: str
    columns: Mapping[str, ColumnKey]
    categories: Mapping[str, Names]
    labels: Names
    permuted: bool
    """Whether values of pure pieces changed places."""

    @staticmethod
    def sealed(secret: Mapping[str, Any]) -> Key:
        """A key with a seal over its content."""
        return Key(METHOD, {**secret, "seal": _seal(secret)})

    @classmethod
    def opened(cls, key: Key, table: Table) -> TreeKey:
        """Read a key, for a table; one that was changed, or that belongs to other columns, is refused."""
        secret = dict(key.secret)
        if key.method != METHOD or secret.pop("seal", None) != _seal(secret):
            raise DataError("the key was changed or damaged, or is no key of encode_for_trees; find the one you saved")
        named = {*secret["columns"], *secret["categories"], secret["target"]}
        strange = sorted(named - set(table.frame.columns))
        if strange:
            raise DataError(
                f"{table.source}: the key is for another table, with the columns "
                f"{', '.join(f'«{name}»' for name in strange[:12])}"
            )
        return cls(
            secret["target"],
            {name: ColumnKey.from_secret(name, one) for name, one in secret["columns"].items()},
            {name: _names(one) for name, one in secret["categories"].items()},
            _names(secret["labels"]),
            bool(secret["permuted"]),
        )

    def encoded(self, table: Table) -> pl.DataFrame:
        """The table as codes."""
        frame, source = table.frame, table.source
        return frame.with_columns(
            *(one.encoded(frame[name], source) for name, one in self.columns.items()),
            *(one.renamed(frame[name], source) for name, one in self.categories.items()),
            self.labels.renamed(frame[self.target], source),
        )


def _names(secret: Mapping[str, Any]) -> Names:
    return Names(tuple(secret["values"]), tuple(secret["codes"]))


def _seal(secret: Mapping[str, Any]) -> str:
    content = json.dumps(secret, sort_keys=True, default=list)
    return hashlib.sha256(content.encode()).hexdigest()


def feature_names(model: Any, table: Table, key: TreeKey) -> tuple[str, ...]:
    """The columns that a model was grown on, in its order."""
    given = getattr(model, "feature_names_in_", None)
    if given is not None:
        names = tuple(str(name) for name in given)
    else:
        names = tuple(n for n in table.frame.columns if n != key.target and table.frame[n].dtype.is_numeric())
        if len(names) != model.n_features_in_:
            names = tuple(key.columns)
    unknown = [name for name in names if name not in table.frame.columns]
    if unknown or len(names) != model.n_features_in_:
        raise PolicyError(
            f"the model was grown on {model.n_features_in_} columns, which are not those of the table; train it on a "
            "frame with the release's column names"
        )
    return names
