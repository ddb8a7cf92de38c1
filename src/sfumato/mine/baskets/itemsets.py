# SPDX-License-Identifier: MIT
"""Frequent itemsets: items in at least a minimum number of baskets together; all, the closed or the maximal ones.

Three entry points to one search:

- :func:`frequent_itemsets` returns a polars frame: ``items`` (a sorted list, ``List(Int64)`` or ``List(String)``) and
  ``support`` (``Int64``, a count).
- :func:`find_itemsets` returns flat arrays, :class:`Itemsets`, for further computation: set ``i`` is
  ``codes[offsets[i]:offsets[i + 1]]``, ascending indices into ``baskets.items``, and ``supports[i]`` baskets
  hold it.
- `write_itemsets` in `mined_files` writes them to a file as they are found and keeps none in memory.

The empty set is not included; an item in every basket is. A closed set has no larger set of the same support, a maximal
one no larger frequent set; `max_length` leaves out longer sets and does not change which ones are closed or maximal.
The order is that of the search (sets with the rarest item first) and does not depend on the number of threads.

Counts are exact. They may single out a person: before you publish them, read about inference channels.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Unpack, get_args

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.baskets import Baskets, Items
from sfumato.data.reading.arrow_memory import ArrowExport, allocate_numbers, borrow_numbers
from sfumato.engine.engine_names import EngineName
from sfumato.errors import DataError, PolicyError
from sfumato.mine.baskets.itemset_question import ItemsetQuestion
from sfumato.public.thresholds import Support, compute_least_count

if TYPE_CHECKING:
    import polars as pl

    from sfumato.mine.baskets.stored_itemsets import ReadingOptions

ItemsetKind = Literal["all", "closed", "maximal"]
SMALL_PIECES = 1 << 22
"""Up to this many codes are copied together, so that a frame is in one piece."""
UNKNOWN_MEMORY = 8 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Itemsets:
    """Itemsets and their supports, as one run of item codes cut by offsets."""

    items: Items
    """The vocabulary of the baskets."""
    offsets: Ints
    """Set i holds ``codes[offsets[i]:offsets[i + 1]]``."""
    codes: Codes
    """Indices into ``items``, ascending within a set."""
    supports: Ints
    """How many baskets hold each set."""
    rows: int
    """The number of baskets."""

    def __len__(self) -> int:
        """The number of sets."""
        return self.supports.size


def frequent_itemsets(
    baskets: Baskets | str | os.PathLike[str],
    min_support: Support,
    kind: ItemsetKind = "all",
    max_length: int | None = None,
    *,
    at_most: int | None = None,
    engine: EngineName = "auto",
    **reading: Unpack[ReadingOptions],
) -> pl.DataFrame:
    """The frequent itemsets as a frame of ``items`` and ``support``.

    A support is a count if it is an int, a share of the baskets if it is a float. An error is raised for more than
    `at_most` itemsets, or more than fit in half the machine's memory. Instead of baskets you may give the path of a
    file, with the keywords of `Baskets.read`; `engine="duckdb"` then groups and counts it where it is, which is the
    default for a file that does not fit in memory.
    """
    import polars as pl

    if isinstance(baskets, str | os.PathLike):
        from sfumato.mine.baskets.stored_itemsets import find_stored_itemset_frame, open_baskets

        with open_baskets(baskets, engine, reading) as opened_baskets:
            if isinstance(opened_baskets, Baskets):
                return frequent_itemsets(opened_baskets, min_support, kind, max_length, at_most=at_most)
            return find_stored_itemset_frame(opened_baskets, min_support, kind, max_length, at_most)
    refuse_file_options(engine, reading)
    question = make_question(baskets, min_support, kind, max_length)
    is_text = bool(baskets.items) and isinstance(baskets.items[0], str)
    values = None if is_text else np.array(baskets.items, dtype=np.int64)
    pieces = _search_pieces(baskets, question, _SetCollector(at_most, values, bytes_a_code=20 if is_text else 8))
    names = pl.Series(baskets.items, dtype=pl.String) if is_text else None
    parts = [_build_itemset_frame(piece, names) for piece in _join_pieces(pieces)]
    return pl.concat(parts, rechunk=False) if len(parts) > 1 else parts[0]


def refuse_file_options(engine: EngineName, reading: Mapping[str, object]) -> None:
    """Stop if baskets that are in memory come with what is said about files."""
    if engine in ("duckdb", "spark") or reading:
        options = [f"engine = {engine}"] if engine in ("duckdb", "spark") else sorted(reading)
        raise PolicyError(f"{', '.join(options)} is about files: give the path of one, not baskets that are in memory")


def find_itemsets(
    baskets: Baskets,
    min_support: Support,
    kind: ItemsetKind = "all",
    max_length: int | None = None,
    *,
    at_most: int | None = None,
) -> Itemsets:
    """The frequent itemsets as flat arrays."""
    question = make_question(baskets, min_support, kind, max_length)
    pieces = _search_pieces(baskets, question, _SetCollector(at_most, None, bytes_a_code=4))
    whole = _concatenate_pieces(pieces)
    codes = whole.codes.astype(np.int32, copy=False)
    return Itemsets(baskets.items, whole.offsets, codes, whole.supports, len(baskets))


def list_itemsets(itemsets: Itemsets) -> pl.Series:
    """The sets as a polars series of lists of their items."""
    import polars as pl

    is_text = bool(itemsets.items) and isinstance(itemsets.items[0], str)
    names = pl.Series(itemsets.items, dtype=pl.String if is_text else pl.Int64)
    return _build_itemset_frame(_FoundSets(itemsets.offsets, itemsets.codes, itemsets.supports), names)["items"]


def make_question(baskets: Baskets, min_support: Support, kind: ItemsetKind, max_length: int | None) -> ItemsetQuestion:
    """The parameters of the search, after checking the arguments."""
    if not isinstance(baskets, Baskets):
        raise DataError(
            f"itemsets are found in Baskets, not {type(baskets).__name__}; make them with sf.Baskets.of(...), or look "
            "for frequent_subsequences of sequences"
        )
    if kind not in get_args(ItemsetKind):
        raise PolicyError('kind must be "all", "closed" or "maximal"')
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PolicyError("max_length must be a whole number of items, at least 1, or None")
    return ItemsetQuestion(
        compute_least_count(min_support, len(baskets)), get_args(ItemsetKind).index(kind), max_length
    )


@dataclass(frozen=True, slots=True)
class _FoundSets:
    """Some of the found sets, in lasting arrays."""

    offsets: Ints
    codes: Codes | Ints
    supports: Ints


class _SetCollector:
    """Copies found sets out of the search's buffer, as long as memory allows."""

    def __init__(self, at_most: int | None, values: Ints | None, bytes_a_code: int) -> None:
        self.at_most, self.values, self.bytes_a_code = at_most, values, bytes_a_code
        self.sets = self.bytes = 0
        refuse_large("itemsets", 0, 0, at_most)

    def __call__(self, codes: Codes, ends: Ints, supports: Ints) -> _FoundSets:
        self.sets += supports.size
        self.bytes += codes.size * self.bytes_a_code + 16 * supports.size
        refuse_large("itemsets", self.sets, self.bytes, self.at_most)
        offsets = allocate_numbers(ends.size + 1, np.int64)
        offsets[0], offsets[1:] = 0, ends
        if self.values is None:
            return _FoundSets(offsets, codes.copy(), supports.copy())
        from sfumato.kernels.baskets.itemsets_prepare import look_up

        lasting_codes = allocate_numbers(codes.size, np.int64)
        look_up(self.values, codes, lasting_codes)
        return _FoundSets(offsets, lasting_codes, supports.copy())


def refuse_large(noun: str, count: int, size: int, at_most: int | None, *, is_found: bool = True) -> None:
    """Stop if more was found, or is certain to be found, than allowed, or more bytes than half the machine's memory."""
    if at_most is not None and (isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 0):
        raise PolicyError(f"at_most must be a whole number of {noun}, or None for as many as fit in memory")
    is_allowed = at_most is None or count <= at_most
    if is_allowed and size <= _get_memory_size() // 2:
        return
    limit = "fit in half of this machine's memory" if is_allowed else "at_most allows"
    cure = {
        "itemsets": 'use kind "closed" or "maximal", set max_length, or write them to a file with write_itemsets',
        "rules": "raise min_confidence, or set max_length or consequent_length",
        "patterns": 'use kind "closed" or "maximal", or set max_length, max_gap or window',
    }[noun]
    finding = f"{count:,} {noun} were found so far" if is_found else f"there are at least {count:,} {noun}"
    raise PolicyError(f"{finding}, more than {limit}; raise min_support, {cure}")


def _get_memory_size() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN_MEMORY


def _search_pieces(baskets: Baskets, question: ItemsetQuestion, collector: _SetCollector) -> list[_FoundSets]:
    from sfumato.mine.baskets.itemset_search import search_together

    return search_together(baskets, question, collector)


def _join_pieces(pieces: list[_FoundSets]) -> Sequence[_FoundSets]:
    """A few pieces: one if they are small together, otherwise unchanged."""
    if len(pieces) == 1 or sum(piece.codes.size for piece in pieces) > SMALL_PIECES:
        return pieces
    return [_concatenate_pieces(pieces)]


def _concatenate_pieces(pieces: list[_FoundSets]) -> _FoundSets:
    """One piece; the others are freed while they are copied, so that memory does not double."""
    if len(pieces) == 1:
        return pieces[0]
    sets, size = sum(piece.supports.size for piece in pieces), sum(piece.codes.size for piece in pieces)
    kind = pieces[0].codes.dtype if pieces else np.dtype(np.int32)
    offsets = allocate_numbers(sets + 1, np.int64)
    offsets[0] = 0
    whole = _FoundSets(offsets, allocate_numbers(size, kind), np.empty(sets, dtype=np.int64))
    set_offset, code_offset = 0, 0
    pieces.reverse()
    while pieces:
        piece = pieces.pop()
        set_count = piece.supports.size
        whole.offsets[set_offset + 1 : set_offset + set_count + 1] = piece.offsets[1:] + code_offset
        whole.codes[code_offset : code_offset + piece.codes.size] = piece.codes
        whole.supports[set_offset : set_offset + set_count] = piece.supports
        set_offset, code_offset = set_offset + set_count, code_offset + piece.codes.size
    return whole


def _build_itemset_frame(piece: _FoundSets, names: pl.Series | None) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa

    codes = piece.codes
    values = borrow_numbers(codes.astype(np.int64, copy=False)) if names is None else names.gather(codes).to_arrow()
    lists = pa.LargeListArray.from_arrays(borrow_numbers(piece.offsets), values)
    return pl.DataFrame({"items": pl.Series(ArrowExport(lists)), "support": piece.supports})
