# SPDX-License-Identifier: MIT
"""Sequences: for each person, an ordered list of items or of itemsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.baskets import (
    Baskets,
    Item,
    Items,
    check_ids,
    check_offsets,
    freeze_fields,
    list_row,
    rank_items,
    unify_items,
)
from sfumato.errors import DataError, PolicyError

if TYPE_CHECKING:
    from sfumato.data.places.regions import Coordinates, Regions
    from sfumato.data.places.trajectories import Split

SequenceFormat = Literal["spmf", "long"]


class PointCounts(NamedTuple):
    """Of points that became sequences, how many there were and how many were left out."""

    points: int
    left_out: int
    """Points that lay in no region."""

    def describe(self) -> str:
        """The counts in a sentence."""
        lie = "lies in no region and was" if self.left_out == 1 else "lie in no region and were"
        return f"{self.left_out:,} of {self.points:,} points {lie} left out."


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Sequences:
    """Ordered lists of elements, each a set of items: codes split into elements, elements split into sequences.

    Items, codes and ids are in the normal form of :class:`sfumato.baskets.Baskets`. An element without items is
    dropped, so that hiding the items of an element does not leave its position behind. The arrays are read-only.
    """

    items: Items
    """The vocabulary: all integers (of 64 bits) or all text."""
    offsets: Ints
    """Sequence i holds the elements from ``offsets[i]`` up to ``offsets[i + 1]``."""
    element_offsets: Ints
    """Element j holds ``codes[element_offsets[j]:element_offsets[j + 1]]``."""
    codes: Codes
    """Indices into ``items``."""
    ids: Items | None = None
    """The owner of each sequence, if known. SPMF files do not store it."""
    flat: bool = True
    """Whether ``to_lists`` gives an element as its single item; false if an element has several."""
    points: PointCounts | None = None
    """How many points the sequences were made of, if they come from points; no file holds it."""

    def __post_init__(self) -> None:
        """Check the arrays and bring them into the normal form."""
        every = np.arange(np.asarray(self.codes).size + 1, dtype=np.int64)
        is_single = np.array_equal(self.element_offsets, every)
        if is_single:  # there is nothing to sort or to drop
            items, codes = rank_items(unify_items(self.items, "items"), np.asarray(self.codes))
            offsets, element_offsets = check_offsets(self.offsets, codes.size), every
        else:
            elements = Baskets(self.items, self.element_offsets, self.codes)
            items, codes = elements.items, elements.codes
            lengths = np.diff(elements.offsets)
            kept_before = np.concatenate(([0], np.cumsum(lengths > 0, dtype=np.int64)))
            offsets = kept_before[check_offsets(self.offsets, len(elements))]
            element_offsets = np.append(0, elements.offsets[1:][lengths > 0])
        freeze_fields(
            self,
            items=items,
            offsets=offsets,
            element_offsets=element_offsets,
            codes=codes,
            ids=None if self.ids is None else check_ids(self.ids, offsets.size - 1),
            flat=self.flat and (is_single or bool((np.diff(element_offsets) <= 1).all())),
        )

    @classmethod
    def of(
        cls,
        lists: Iterable[Iterable[Item]] | Iterable[Iterable[Iterable[Item]]],
        ids: Iterable[Item] | None = None,
    ) -> Sequences:
        """Build from lists of items, or from lists of lists of items."""
        rows = [list_row(row, "elements") for row in lists]
        elements = list(chain.from_iterable(rows))
        nested_count = sum(
            isinstance(element, Iterable) and not isinstance(element, str | bytes) for element in elements
        )
        if nested_count not in (0, len(elements)):
            raise DataError(
                f"{nested_count} of {len(elements)} elements are lists and the others are not; make all lists"
            )
        itemsets = [list(element) for element in elements] if nested_count else [[element] for element in elements]
        empty = sum(not itemset for itemset in itemsets)
        if empty:
            raise DataError(f"{empty} of {len(itemsets)} elements are empty; remove them")
        sets = Baskets.of(itemsets)
        offsets = np.cumsum([0, *map(len, rows)])
        names = None if ids is None else tuple(ids)
        return cls(sets.items, offsets, sets.offsets, sets.codes, names, flat=not nested_count)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        format: SequenceFormat | None = None,
        *,
        id: str = "id",
        item: str = "item",
        time: str = "time",
        separator: str | None = None,
    ) -> Sequences:
        """Read an SPMF or long-form file (see :mod:`sfumato.data.items.sequence_files`).

        Without a format, ``.csv``, ``.tsv`` and ``.parquet`` are long form and all else is SPMF. The columns
        and the separator are those of a long-form file; without a separator, the header decides.
        """
        from sfumato.data.items import sequence_files

        file = Path(path)
        match format or sequence_files.guess_sequence_format(file):
            case "spmf":
                arrays = sequence_files.read_spmf_sequences(file)
            case "long":
                arrays = sequence_files.read_long_sequences(
                    file, id_column=id, item_column=item, time_column=time, separator=separator
                )
            case _:
                raise PolicyError('sequences are read as "spmf" or "long"')
        names = None if arrays.ids is None else tuple(arrays.ids)
        return cls(tuple(arrays.items), arrays.offsets, arrays.element_offsets, arrays.codes, names)

    @classmethod
    def from_points(
        cls,
        points: Any,
        regions: Regions,
        *,
        id: str = "id",
        time: str = "time",
        x: str = "x",
        y: str = "y",
        coordinates: Coordinates = "plane",
        split: Split = None,
        separator: str | None = None,
    ) -> Sequences:
        """The regions that each id visits, in order, from points in a CSV, TSV or Parquet file or in a frame.

        `regions` is a `Grid`, `DenseRegions`, `Polygons` or `Cells` of :mod:`sfumato.data.places.regions`; neighbouring
        points in one region are one visit, points in none are left out. `coordinates` ("degrees": x is the longitude, y
        the latitude; "metres"; "plane": any numbers) are checked. `split` begins a new sequence every "day" (UTC), or
        after a pause of that many seconds.
        """
        from sfumato.data.places.trajectories import PointColumns, map_points_to_regions

        columns = PointColumns(id, time, x, y)
        arrays = map_points_to_regions(
            points, regions, columns, coordinates=coordinates, split=split, separator=separator
        )
        singles = np.arange(arrays.visits.size + 1)
        counts = PointCounts(arrays.points, arrays.left_out)
        return cls(arrays.names, arrays.offsets, singles, arrays.visits.astype(np.int32), arrays.ids, points=counts)

    def write(
        self,
        path: str | PathLike[str],
        format: SequenceFormat | None = None,
        *,
        id: str = "id",
        item: str = "item",
        time: str = "time",
        separator: str | None = None,
    ) -> None:
        """Write the whole file or nothing; without a format the name decides, as in ``read``."""
        from sfumato.data.items import sequence_files

        file = Path(path)
        arrays = sequence_files.SequenceArrays(self.items, self.offsets, self.element_offsets, self.codes, self.ids)
        match format or sequence_files.guess_sequence_format(file, for_writing=True):
            case "spmf":
                sequence_files.write_spmf_sequences(file, arrays)
            case "long":
                sequence_files.write_long_sequences(
                    file, arrays, id_column=id, item_column=item, time_column=time, separator=separator
                )
            case _:
                raise PolicyError('sequences are written as "spmf" or "long"')

    def to_lists(self) -> list[list[Any]]:
        """Each sequence as a list of items, or of sorted lists of items when not ``flat``."""
        values: list[Any] = np.array(self.items, dtype=object)[self.codes].tolist()
        if not self.flat:
            values = [values[start:stop] for start, stop in pairwise(self.element_offsets.tolist())]
        return [values[start:stop] for start, stop in pairwise(self.offsets.tolist())]

    def take(self, rows: Ints) -> Sequences:
        """Some of the sequences, in the given order; a row may be repeated unless there are ids."""
        elements = _list_members(self.offsets, rows)
        offsets = np.concatenate(([0], np.cumsum(np.diff(self.offsets)[rows])))
        element_offsets = np.concatenate(([0], np.cumsum(np.diff(self.element_offsets)[elements])))
        codes = self.codes[_list_members(self.element_offsets, elements)]
        ids = None if self.ids is None else tuple(self.ids[row] for row in rows)
        return Sequences(self.items, offsets, element_offsets, codes, ids, self.flat)

    def __len__(self) -> int:
        """How many sequences there are."""
        return self.offsets.size - 1

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same sequences in the same order, under the same ids, flat or not."""
        if not isinstance(other, Sequences):
            return NotImplemented
        return self is other or (
            self.items == other.items
            and self.ids == other.ids
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.element_offsets, other.element_offsets)
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        """Equal sequences have equal hashes."""
        return hash((self.items, self.ids, len(self), self.codes.size))

    def __reduce__(self) -> tuple[type[Sequences], tuple[object, ...]]:
        """Copies are rebuilt, so that their arrays are read-only too."""
        fields = (self.items, self.offsets, self.element_offsets, self.codes, self.ids, self.flat, self.points)
        return Sequences, fields

    def __repr__(self) -> str:
        """Counts only: an item or an id may name a person."""
        elements = self.element_offsets.size - 1
        return f"Sequences({len(self):,} sequences, {elements:,} elements, {len(self.items):,} items)"


def _list_members(offsets: Ints, groups: Ints) -> Ints:
    """The members of some groups, one group after another."""
    lengths = np.diff(offsets)[groups]
    ends = np.cumsum(lengths, dtype=np.int64)
    return np.arange(int(lengths.sum())) + np.repeat(offsets[groups] - ends + lengths, lengths)


def refuse_other_data(*several: Any) -> None:
    """Stop at data that are no sequences, such as lists or baskets."""
    for data in several:
        if not isinstance(data, Sequences):
            raise DataError(f"Sequences are expected, not {type(data).__name__}; make them with sf.Sequences.of(...)")
