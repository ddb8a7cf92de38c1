# SPDX-License-Identifier: MIT
"""Frequent itemsets: what is bought together by at least so many; all of them, the closed ones or the maximal ones.

Three ways in, one search behind them:

- :func:`frequent_itemsets` gives a polars frame: ``items`` (a sorted list, ``List(Int64)`` or ``List(String)``) and
  ``support`` (``Int64``, a count).
- :func:`find_itemsets` gives the same as flat arrays, :class:`Itemsets`, for code that goes on computing: set ``i`` is
  ``codes[offsets[i]:offsets[i + 1]]``, which rise and are places in ``baskets.items``, and ``supports[i]`` baskets
  hold it.
- `write_itemsets` in `pattern_files` writes them to a file as they are found and holds none of them.

The empty set is never given; an item in every basket is. A closed set has no larger set of the same support, a maximal
one no larger frequent set; `max_length` leaves out longer sets and does not change which ones are closed or maximal.
The order is that of the search (sets with the rarest item first) and does not depend on the number of threads.

Counts are exact. They may single out a person: whoever publishes them should read about inference channels first.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from sfumato.arrays import Codes, Ints
from sfumato.baskets import Baskets, Items
from sfumato.errors import PolicyError
from sfumato.mine.baskets.itemset_question import Question
from sfumato.public.thresholds import Support, least_count

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Kind = Literal["all", "closed", "maximal"]
SMALL_PIECES = 1 << 22
"""So many codes are still copied together, so that a frame is in one piece."""
UNKNOWN_MEMORY = 8 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Itemsets:
    """Itemsets and how many baskets hold each, as one run of item codes cut by offsets."""

    items: Items
    """The vocabulary of the baskets."""
    offsets: Ints
    """Set i holds ``codes[offsets[i]:offsets[i + 1]]``."""
    codes: Codes
    """Places in ``items``, rising within a set."""
    supports: Ints
    """How many baskets hold each set."""
    rows: int
    """How many baskets there are."""

    def __len__(self) -> int:
        """How many sets there are."""
        return self.supports.size


def frequent_itemsets(
    baskets: Baskets,
    min_support: Support,
    kind: Kind = "all",
    max_length: int | None = None,
    *,
    at_most: int | None = None,
) -> pl.DataFrame:
    """The frequent itemsets as a frame of ``items`` and ``support``.

    A support is a count if it is an int, a share of the baskets if it is a float. More than `at_most` itemsets, or more
    than half the machine's memory holds, are refused.
    """
    import polars as pl

    question = ask(baskets, min_support, kind, max_length)
    is_text = bool(baskets.items) and isinstance(baskets.items[0], str)
    values = None if is_text else np.array(baskets.items, dtype=np.int64)
    pieces = _found(baskets, question, _Holding(at_most, values, bytes_a_code=20 if is_text else 8))
    names = pl.Series(baskets.items, dtype=pl.String) if is_text else None
    parts = [_frame(piece, names) for piece in _joined(pieces)]
    return pl.concat(parts, rechunk=False) if len(parts) > 1 else parts[0]


def find_itemsets(
    baskets: Baskets,
    min_support: Support,
    kind: Kind = "all",
    max_length: int | None = None,
    *,
    at_most: int | None = None,
) -> Itemsets:
    """The frequent itemsets as flat arrays."""
    question = ask(baskets, min_support, kind, max_length)
    pieces = _found(baskets, question, _Holding(at_most, None, bytes_a_code=4))
    whole = _copied_together(pieces)
    codes = whole.codes.astype(np.int32, copy=False)
    return Itemsets(baskets.items, whole.offsets, codes, whole.supports, len(baskets))


def itemset_lists(itemsets: Itemsets) -> pl.Series:
    """The sets as a polars series of lists of their items."""
    import polars as pl

    is_text = bool(itemsets.items) and isinstance(itemsets.items[0], str)
    names = pl.Series(itemsets.items, dtype=pl.String if is_text else pl.Int64)
    return _frame(_Piece(itemsets.offsets, itemsets.codes, itemsets.supports), names)["items"]


def ask(baskets: Baskets, min_support: Support, kind: Kind, max_length: int | None) -> Question:
    """The question that the search answers, with its arguments checked."""
    if kind not in get_args(Kind):
        raise PolicyError("kind is «all», «closed» or «maximal»")
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PolicyError("max_length is a whole number of items, at least 1, or None")
    return Question(least_count(min_support, len(baskets)), get_args(Kind).index(kind), max_length)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some of the sets found, in lasting arrays."""

    offsets: Ints
    codes: Codes | Ints
    supports: Ints


class _Holding:
    """Copies what is found out of the search's buffer, as long as there is room for it."""

    def __init__(self, at_most: int | None, values: Ints | None, bytes_a_code: int) -> None:
        self.at_most, self.values, self.bytes_a_code = at_most, values, bytes_a_code
        self.sets = self.bytes = 0
        refuse_large("itemsets", 0, 0, at_most)

    def __call__(self, codes: Codes, ends: Ints, supports: Ints) -> _Piece:
        self.sets += supports.size
        self.bytes += codes.size * self.bytes_a_code + 16 * supports.size
        refuse_large("itemsets", self.sets, self.bytes, self.at_most)
        offsets = np.empty(ends.size + 1, dtype=np.int64)
        offsets[0], offsets[1:] = 0, ends
        if self.values is None:
            return _Piece(offsets, codes.copy(), supports.copy())
        from sfumato.kernels.baskets.itemsets_prepare import look_up

        found = np.empty(codes.size, dtype=np.int64)
        look_up(self.values, codes, found)
        return _Piece(offsets, found, supports.copy())


def refuse_large(what: str, found: int, size: int, at_most: int | None) -> None:
    """Stop when more was found than was allowed, or more bytes than half the machine's memory."""
    if at_most is not None and (isinstance(at_most, bool) or not isinstance(at_most, int) or at_most < 0):
        raise PolicyError(f"at_most is a whole number of {what}, or None for as many as memory holds")
    is_allowed = at_most is None or found <= at_most
    if is_allowed and size <= _memory() // 2:
        return
    limit = "half of this machine's memory holds" if is_allowed else "at_most allows"
    cure = {
        "itemsets": "ask for kind «closed» or «maximal», set max_length, or write them to a file with write_itemsets",
        "rules": "raise min_confidence, or set max_length or consequent_length",
    }[what]
    raise PolicyError(f"{found:,} {what} were found so far, more than {limit}; raise min_support, {cure}")


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return UNKNOWN_MEMORY


def _found(baskets: Baskets, question: Question, holding: _Holding) -> list[_Piece]:
    from sfumato.mine.baskets.itemset_search import pieces_together

    return pieces_together(baskets, question, holding)


def _joined(pieces: list[_Piece]) -> Sequence[_Piece]:
    """Few pieces: one if they are small together, else as they are."""
    if len(pieces) == 1 or sum(piece.codes.size for piece in pieces) > SMALL_PIECES:
        return pieces
    return [_copied_together(pieces)]


def _copied_together(pieces: list[_Piece]) -> _Piece:
    """One piece; the others are let go while they are copied, so that memory does not double."""
    if len(pieces) == 1:
        return pieces[0]
    sets, size = sum(piece.supports.size for piece in pieces), sum(piece.codes.size for piece in pieces)
    kind = pieces[0].codes.dtype if pieces else np.dtype(np.int32)
    whole = _Piece(np.zeros(sets + 1, dtype=np.int64), np.empty(size, dtype=kind), np.empty(sets, dtype=np.int64))
    at, place = 0, 0
    pieces.reverse()
    while pieces:
        piece = pieces.pop()
        here = piece.supports.size
        whole.offsets[at + 1 : at + here + 1] = piece.offsets[1:] + place
        whole.codes[place : place + piece.codes.size] = piece.codes
        whole.supports[at : at + here] = piece.supports
        at, place = at + here, place + piece.codes.size
    return whole


def _frame(piece: _Piece, names: pl.Series | None) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa

    codes = piece.codes
    values = _as_arrow(codes.astype(np.int64, copy=False)) if names is None else names.gather(codes).to_arrow()
    lists = pa.LargeListArray.from_arrays(_as_arrow(piece.offsets), values)
    return pl.DataFrame({"items": pl.Series(_Exported(lists)), "support": piece.supports})


def _as_arrow(numbers: Ints) -> pa.Array:
    """The numbers without a copy; `pyarrow.array` would load pandas first, and its 40 MB."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), numbers.size, [None, pa.py_buffer(numbers)])


class _Exported:
    """An array of Arrow's that shows no more than its C interface, for which polars loads nothing of pyarrow's."""

    def __init__(self, array: pa.Array) -> None:
        self.__arrow_c_array__ = array.__arrow_c_array__
