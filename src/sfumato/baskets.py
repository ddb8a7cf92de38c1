# SPDX-License-Identifier: MIT
"""Baskets: one set of items for each person, visit or session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Codes, Ints
from sfumato.data.items.item import Item as Item  # noqa: PLC0414  # part of the vocabulary
from sfumato.data.items.item import Items as Items  # noqa: PLC0414  # part of the vocabulary
from sfumato.errors import DataError, PolicyError, count_noun

BasketFormat = Literal["fimi", "spmf", "long", "comma"]
_STRETCH = 1 << 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Baskets:
    """Sets of items, stored as one array of item codes split by offsets.

    Every object has one normal form: the vocabulary is sorted (integers by size, text by code point), the codes
    of a basket ascend, and an item that no basket holds is not in the vocabulary, so that the name of a hidden
    item is not published. The arrays are read-only.
    """

    items: Items
    """The vocabulary: all integers (of 64 bits) or all text."""
    offsets: Ints
    """Basket i holds ``codes[offsets[i]:offsets[i + 1]]``."""
    codes: Codes
    """Indices into ``items``."""
    ids: Items | None = None
    """The owner of each basket, if known. FIMI and SPMF files do not store it."""

    def __post_init__(self) -> None:
        """Check the arrays and bring them into the normal form."""
        items, codes = rank_items(unify_items(self.items, "items"), np.asarray(self.codes))
        offsets, codes = sort_row_codes(check_offsets(self.offsets, codes.size), codes, len(items))
        ids = None if self.ids is None else check_ids(self.ids, offsets.size - 1)
        freeze_fields(self, items=items, offsets=offsets, codes=codes, ids=ids)

    @classmethod
    def of(cls, lists: Iterable[Iterable[Item]], ids: Iterable[Item] | None = None) -> Baskets:
        """Build from lists of items; mixed integers and text all become text."""
        refuse_frames(lists)
        rows = [list_row(row, "items") for row in lists]
        values = unify_items(list(chain.from_iterable(rows)), "items")
        numbers: dict[Item, int] = {}
        codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int64, len(values))
        offsets = np.cumsum([0, *map(len, rows)])
        return cls(tuple(numbers), offsets, codes.astype(np.int32), None if ids is None else tuple(ids))

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        format: BasketFormat | None = None,
        *,
        id: str = "id",
        item: str = "item",
        separator: str | None = None,
        header: bool | None = None,
    ) -> Baskets:
        """Read a FIMI, SPMF, long-form or comma-line file (see :mod:`sfumato.data.items.basket_files`).

        Without a format, ``.dat`` is FIMI; ``.csv`` and ``.tsv`` are comma lines if their lines differ in length and
        long form otherwise, as are all other tables and databases; and the first line decides for other names. The
        columns are those of a long-form file; without a separator, the header decides. `header` says whether comma
        lines have one, which is detected if it numbers its columns.
        """
        from sfumato.data.items import basket_files

        file = Path(path)
        match format or basket_files.guess_basket_format(path, columns=(id, item), separator=separator):
            case "fimi":
                arrays = basket_files.read_fimi(file)
            case "spmf":
                arrays = basket_files.read_spmf_baskets(file)
            case "long":
                from sfumato.data.items import long_form

                arrays = long_form.read_long_baskets(path, id_column=id, item_column=item, separator=separator)
            case "comma":
                from sfumato.data.items.comma_baskets import read_comma_baskets

                arrays = read_comma_baskets(file, separator=separator, header=header)
            case _:
                raise PolicyError('baskets are read as "fimi", "spmf", "long" or "comma"')
        return cls(tuple(arrays.items), arrays.offsets, arrays.codes, None if arrays.ids is None else tuple(arrays.ids))

    def write(
        self,
        path: str | PathLike[str],
        format: BasketFormat | None = None,
        *,
        id: str = "id",
        item: str = "item",
        separator: str | None = None,
    ) -> None:
        """Write the whole file or nothing; without a format the name decides, and other names are SPMF."""
        from sfumato.data.items import basket_files

        file = Path(path)
        arrays = basket_files.BasketArrays(self.items, self.offsets, self.codes, self.ids)
        match format or basket_files.guess_basket_format(file, for_writing=True):
            case "fimi":
                basket_files.write_fimi(file, arrays)
            case "spmf":
                basket_files.write_spmf_baskets(file, arrays)
            case "long":
                from sfumato.data.items import long_form

                long_form.write_long_baskets(file, arrays, id_column=id, item_column=item, separator=separator)
            case _:
                raise PolicyError('baskets are written as "fimi", "spmf" or "long"')

    def to_lists(self) -> list[list[Item]]:
        """The baskets as sorted lists."""
        values = np.array(self.items, dtype=object)[self.codes].tolist()
        return [values[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    def __len__(self) -> int:
        """How many baskets there are."""
        return self.offsets.size - 1

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same baskets in the same order, under the same ids."""
        if not isinstance(other, Baskets):
            return NotImplemented
        return (
            self.items == other.items
            and self.ids == other.ids
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        """Equal baskets have equal hashes."""
        return hash((self.items, self.ids, len(self), self.codes.size))

    def __reduce__(self) -> tuple[type[Baskets], tuple[object, ...]]:
        """Copies are rebuilt, so that their arrays are read-only too."""
        return Baskets, (self.items, self.offsets, self.codes, self.ids)

    def __repr__(self) -> str:
        """Counts only: an item or an id may name a person."""
        return f"Baskets({len(self):,} baskets, {len(self.items):,} items, {self.codes.size:,} occurrences)"


def refuse_frames(lists: object) -> None:
    """Say how lists are made of what would be read as its column names or keys."""
    if hasattr(lists, "columns"):
        raise DataError(
            "expected lists of items, got a frame; with one row for each basket and item, group its rows in pandas: "
            'df.groupby("id")["item"].agg(list)'
        )
    if isinstance(lists, Mapping):
        raise DataError("expected lists of items, got a mapping; give its values: list(baskets.values())")


def list_row(row: Iterable[Any], noun: str) -> list[Any]:
    """The members of one list; a text is not taken for a list of its letters."""
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise DataError(f"expected a list of {noun}, got {type(row).__name__}; put it in a list")
    return list(row)


def unify_items(values: Sequence[Item], noun: str) -> Items:
    """The values as plain integers if all are integers, else as text."""
    kinds = set(map(type, values))
    whole = {kind for kind in kinds if issubclass(kind, int | np.integer) and kind is not bool}
    text = {kind for kind in kinds if issubclass(kind, str)}
    if kinds - whole - text:
        wrong = sum(type(value) not in whole | text for value in values)
        names = ", ".join(sorted(kind.__name__ for kind in kinds - whole - text))
        raise DataError(
            f"{wrong} of {len(values)} {noun} are neither integers nor text but {names}; turn them into text"
        )
    if not text:
        numbers = tuple(map(int, values))
        if numbers and (min(numbers) < -(2**63) or max(numbers) >= 2**63):
            large = sum(not -(2**63) <= number < 2**63 for number in numbers)
            raise DataError(f"{large} of {len(values)} {noun} are integers of more than 64 bits; turn them into text")
        return numbers
    words = tuple(str.__str__(value) if isinstance(value, str) else str(int(value)) for value in values)
    unwritable = sum(not word or not _is_unicode(word) for word in words)
    if unwritable:
        raise DataError(f"{unwritable} of {len(values)} {noun} are empty or not valid Unicode; give each a proper name")
    return words


def _is_unicode(word: str) -> bool:
    return word.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in word)


def check_offsets(offsets: Ints, end: int) -> Ints:
    """A copy of offsets that split ``end`` members."""
    copy = np.array(offsets, dtype=np.int64)
    if copy.ndim != 1 or not copy.size or copy[0] != 0 or copy[-1] != end or (np.diff(copy) < 0).any():
        raise DataError("offsets must ascend from 0 to the number of members, and be one more than the lists")
    return copy


def check_ids(ids: Items, count: int) -> Items:
    """The ids, a distinct one for each of ``count`` lists."""
    values = unify_items(ids, "ids")
    if len(values) != count or len(set(values)) != count:
        raise DataError(
            f"{count_noun(len(values), 'id')} for {count_noun(count, 'list')}, {len(set(values))} of them distinct; "
            "give each list its own"
        )
    return values


class RankedItems(NamedTuple):
    """A vocabulary in order, and codes that fit it."""

    items: Items
    codes: Codes


def rank_items(items: Items, codes: npt.NDArray[np.integer]) -> RankedItems:
    """The vocabulary sorted and without unused items, and a copy of the codes that fits it."""
    signed_codes = codes if codes.dtype == np.int32 else codes.astype(np.int64)
    if signed_codes.ndim != 1 or (signed_codes.size and not 0 <= signed_codes.min() <= signed_codes.max() < len(items)):
        raise DataError(f"item codes must be a one-dimensional array of numbers from 0 to {len(items) - 1}")
    if len(set(items)) != len(items):
        raise DataError(
            f"{count_noun(len(items) - len(set(items)), 'repeated item')} in the vocabulary; name each item once"
        )
    is_used = np.zeros(len(items), dtype=np.bool_)
    for stretch in _split_into_stretches(signed_codes.size):
        is_used[signed_codes[stretch]] = True
    order = sorted(np.flatnonzero(is_used).tolist(), key=items.__getitem__)
    if order == list(range(len(items))):
        return RankedItems(tuple(items), signed_codes.astype(np.int32))
    ranks = np.zeros(len(items), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    ranked_codes = np.empty(signed_codes.size, dtype=np.int32)
    for stretch in _split_into_stretches(signed_codes.size):
        ranked_codes[stretch] = ranks[signed_codes[stretch]]
    return RankedItems(tuple(items[position] for position in order), ranked_codes)


def _split_into_stretches(size: int) -> Iterator[slice]:
    """Members in chunks: numpy copies an array that is used as an index, at twice its size."""
    return (slice(begin, begin + _STRETCH) for begin in range(0, size, _STRETCH))


class RowCodes(NamedTuple):
    """The codes of all rows, one row after another."""

    offsets: Ints
    """Where each row begins, and last where the last one ends."""
    codes: Codes


def sort_row_codes(offsets: Ints, codes: Codes, item_count: int) -> RowCodes:
    """Each row's codes sorted, repeats dropped."""
    rises = np.ones(codes.size + 1, dtype=np.bool_)
    np.greater(codes[1:], codes[:-1], out=rises[1:-1])
    rises[offsets] = True
    if rises.all():
        return RowCodes(offsets, codes)
    keys = np.repeat(np.arange(offsets.size - 1) * item_count, np.diff(offsets))
    keys += codes
    keys.sort()
    keys = keys[np.concatenate(([True], keys[1:] > keys[:-1]))]
    rows, row_codes = np.divmod(keys, item_count)
    counts = np.bincount(rows, minlength=offsets.size - 1)
    return RowCodes(np.concatenate(([0], np.cumsum(counts, dtype=np.int64))), row_codes.astype(np.int32))


def freeze_fields(data: object, **fields: object) -> None:
    """Set the fields of a frozen object; its arrays become read-only."""
    for name, value in fields.items():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        object.__setattr__(data, name, value)
