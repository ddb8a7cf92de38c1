# SPDX-License-Identifier: MIT
"""Frequent subsequences: patterns that at least a minimum number of sequences contain; all, closed or maximal ones.

:func:`frequent_subsequences` returns a polars frame of ``pattern`` and ``support`` (a count of sequences).
:func:`find_subsequences` returns flat arrays for further computation. Containment and its limits ``max_gap`` and
``window`` are those of :mod:`sfumato.mine.sequences.containment`. Counts are exact.

A closed pattern is contained in no longer pattern of the same support, a maximal one in no longer frequent pattern,
where supports are counted under the same limits. `max_length` is a number of items; it leaves out longer patterns and
does not change which ones are closed or maximal. The empty pattern is not included. The order is that of a depth-first
search and does not depend on the number of threads. The mark Δ of hidden items is never part of a pattern; give
``mark=""`` if Δ is an item of the data.

Papers: J. Pei et al., *PrefixSpan*, ICDE 2001. J. Wang, J. Han, *BIDE: efficient mining of frequent closed sequences*,
ICDE 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from sfumato.arrays import Codes, Flags, Ints
from sfumato.baskets import Items
from sfumato.data.reading.arrow_memory import copy_numbers
from sfumato.errors import PolicyError
from sfumato.mine.sequences.containment import NO_LIMIT, check_limits
from sfumato.public.marked_items import MARK
from sfumato.public.thresholds import Support, compute_least_count
from sfumato.sequences import Sequences, refuse_other_data

if TYPE_CHECKING:
    import polars as pl

    from sfumato.mine.sequences.subsequence_worker import FoundPatterns

PatternKind = Literal["all", "closed", "maximal"]


@dataclass(frozen=True, slots=True, eq=False)
class Subsequences:
    """Patterns and their supports, as one run of item codes cut by offsets."""

    items: Items
    """The vocabulary of the sequences."""
    offsets: Ints
    """Pattern i holds ``codes[offsets[i]:offsets[i + 1]]``."""
    codes: Codes
    """Indices into ``items``; the complement ``~code`` of one joins the element before it."""
    supports: Ints
    """How many sequences contain each pattern."""
    rows: int
    """The number of sequences."""
    flat: bool
    """Whether patterns are lists of items, not of item lists."""

    def __len__(self) -> int:
        """The number of patterns."""
        return self.supports.size

    def take(self, pattern_mask: Flags) -> Subsequences:
        """Only some of the patterns."""
        lengths = np.diff(self.offsets)
        offsets = np.concatenate(([0], np.cumsum(lengths[pattern_mask], dtype=np.int64)))
        codes = self.codes[np.repeat(pattern_mask, lengths)]
        return Subsequences(self.items, offsets, codes, self.supports[pattern_mask], self.rows, self.flat)


def frequent_subsequences(
    sequences: Sequences,
    min_support: Support,
    max_length: int | None = None,
    max_gap: int | None = None,
    window: int | None = None,
    kind: PatternKind = "all",
    *,
    at_most: int | None = None,
    mark: str = MARK,
) -> pl.DataFrame:
    """The frequent subsequences as a frame of ``pattern`` and ``support``.

    A pattern is a list of items, or of sorted item lists if the sequences are not flat. A support is a count if it is
    an int, a share of the sequences if it is a float. `max_gap` is the largest number of elements between neighbours of
    a match (0: adjacent), `window` the largest number of elements from the first to the last of a match; a sequence
    counts if any match keeps both. An error is raised for more than `at_most` patterns, or more than fit in half the
    machine's memory. `mark` stands for hidden items and is never part of a pattern; empty if there is no mark.
    """
    import polars as pl

    subsequences = find_subsequences(
        sequences, min_support, max_length, max_gap, window, kind, at_most=at_most, mark=mark
    )
    return pl.DataFrame({"pattern": list_patterns(subsequences), "support": subsequences.supports})


def find_subsequences(
    sequences: Sequences,
    min_support: Support,
    max_length: int | None = None,
    max_gap: int | None = None,
    window: int | None = None,
    kind: PatternKind = "all",
    *,
    at_most: int | None = None,
    mark: str = MARK,
) -> Subsequences:
    """The frequent subsequences as flat arrays."""
    from sfumato.mine.sequences.pattern_bounds import bound_patterns
    from sfumato.mine.sequences.subsequence_search import search_subsequences
    from sfumato.mine.sequences.subsequence_worker import SubsequenceQuestion

    refuse_other_data(sequences)
    _refuse_unknown_options(kind, max_length)
    limits = check_limits(max_gap, window)
    least = compute_least_count(min_support, len(sequences))
    is_filtered = kind != "all" and not limits.is_free
    is_marked = bool(mark) and mark in sequences.items
    if is_marked and limits.is_free:
        sequences = _drop_marks(sequences, mark)
    question = SubsequenceQuestion(
        least=least,
        kind=0 if is_filtered else get_args(PatternKind).index(kind),
        max_length=NO_LIMIT if max_length is None or is_filtered else max_length,
        max_gap=limits.max_gap,
        window=limits.window,
    )
    refuse = partial(_refuse_many, at_most)
    if kind == "all" and limits.is_free:
        refuse(*bound_patterns(sequences, least, question.max_length), is_found=False)
    subsequences = _join_pieces(sequences, search_subsequences(sequences, question, refuse))
    if is_marked and not limits.is_free:
        subsequences = subsequences.take(_flag_unmarked(subsequences, mark))
    if is_filtered:
        from sfumato.mine.sequences.subsequence_kinds import flag_uncovered

        subsequences = subsequences.take(flag_uncovered(subsequences, same_support=kind == "closed"))
        return subsequences if max_length is None else subsequences.take(np.diff(subsequences.offsets) <= max_length)
    return subsequences


def _refuse_unknown_options(kind: PatternKind, max_length: int | None) -> None:
    """Stop at a kind of patterns or a length that there is not."""
    if kind not in get_args(PatternKind):
        raise PolicyError('kind must be "all", "closed" or "maximal"')
    if max_length is not None and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 1):
        raise PolicyError("max_length must be a whole number of items, at least 1, or None")


def _join_pieces(sequences: Sequences, pieces: list[FoundPatterns]) -> Subsequences:
    """What a search found, piece by piece, as one."""
    ends = np.cumsum([0, *(piece.codes.size for piece in pieces)])[:-1]
    return Subsequences(
        items=sequences.items,
        offsets=np.concatenate(
            [np.zeros(1, np.int64), *(piece.ends + end for piece, end in zip(pieces, ends, strict=True))]
        ),
        codes=np.concatenate([np.zeros(0, np.int32), *(piece.codes for piece in pieces)]),
        supports=np.concatenate([np.zeros(0, np.int64), *(piece.supports for piece in pieces)]),
        rows=len(sequences),
        flat=sequences.flat,
    )


def _refuse_many(at_most: int | None, patterns: int, codes: int, *, is_found: bool = True) -> None:
    """Stop a search for too many patterns, which have this many items together."""
    from sfumato.mine.baskets.itemsets import refuse_large

    refuse_large("patterns", patterns, 40 * codes + 16 * patterns, at_most, is_found=is_found)


def list_patterns(subsequences: Subsequences) -> pl.Series:
    """The patterns as a polars series of lists of items, or of item lists."""
    import polars as pl
    import pyarrow as pa

    is_text = bool(subsequences.items) and isinstance(subsequences.items[0], str)
    kind = pl.String if is_text else pl.Int64
    names = pl.Series(subsequences.items, dtype=kind).to_arrow()
    codes = np.where(subsequences.codes < 0, ~subsequences.codes, subsequences.codes)
    values = names.take(pa.array(codes))
    if subsequences.flat:
        lists = pa.LargeListArray.from_arrays(copy_numbers(subsequences.offsets), values)
        return pl.Series("pattern", lists, dtype=pl.List(kind))
    begins = np.flatnonzero(subsequences.codes >= 0)
    elements = pa.LargeListArray.from_arrays(copy_numbers(np.append(begins, codes.size)), values)
    bounds = np.searchsorted(begins, subsequences.offsets)
    lists = pa.LargeListArray.from_arrays(copy_numbers(bounds), elements)
    return pl.Series("pattern", lists, dtype=pl.List(pl.List(kind)))


def list_pattern_codes(subsequences: Subsequences) -> list[tuple[tuple[int, ...], ...]]:
    """Each pattern as a tuple of its elements, tuples of codes."""
    patterns = []
    codes = subsequences.codes.tolist()
    for begin, end in pairwise(subsequences.offsets.tolist()):
        elements: list[list[int]] = []
        for code in codes[begin:end]:
            if code >= 0:
                elements.append([code])
            else:
                elements[-1].append(~code)
        patterns.append(tuple(map(tuple, elements)))
    return patterns


def list_named_patterns(subsequences: Subsequences) -> list[tuple[tuple[str, ...], ...]]:
    """Each pattern as a tuple of its elements, sorted tuples of names: a file may have turned numbers into text."""
    names = [str(item) for item in subsequences.items]
    if (subsequences.codes >= 0).all():
        singles = [(name,) for name in names]
        elements = [singles[code] for code in subsequences.codes.tolist()]
        return [tuple(elements[begin:end]) for begin, end in pairwise(subsequences.offsets.tolist())]
    return [
        tuple(tuple(sorted(names[code] for code in element)) for element in pattern)
        for pattern in list_pattern_codes(subsequences)
    ]


def _drop_marks(sequences: Sequences, mark: str) -> Sequences:
    """The sequences without their marks and the positions of these: the same patterns if nothing limits gaps.

    Where gaps are limited, a mark keeps its position.
    """
    unmarked_mask = sequences.codes != sequences.items.index(mark)
    kept_before = np.concatenate(([0], np.cumsum(unmarked_mask)))
    bounds = kept_before[sequences.element_offsets]
    return Sequences(sequences.items, sequences.offsets, bounds, sequences.codes[unmarked_mask], flat=sequences.flat)


def _flag_unmarked(subsequences: Subsequences, mark: str) -> Flags:
    """Which patterns have no mark."""
    mark_code = subsequences.items.index(mark)
    owners = np.repeat(np.arange(len(subsequences)), np.diff(subsequences.offsets))
    flags = np.ones(len(subsequences), dtype=np.bool_)
    flags[owners[(subsequences.codes == mark_code) | (subsequences.codes == ~mark_code)]] = False
    return flags
