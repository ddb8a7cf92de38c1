# SPDX-License-Identifier: MIT
"""Inference channels: frequent itemsets whose supports together reveal a pattern of a few people.

With the supports of every set between I and J, inclusion-exclusion gives the number of baskets that hold all of I and
nothing else of J. If that number is above 0 and below k, the pair is an inference channel: it reveals a pattern that
was not meant to be published, and few people have it. Atzori, Bonchi, Giannotti, Pedreschi, *k-anonymous patterns*
(2005), *Blocking anonymity threats raised by frequent itemset mining* (2005).

Channels are not all that leaks: see :mod:`sfumato.mine.patterns.derivability`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from sfumato.arrays import Codes, Ints, Words
from sfumato.baskets import Baskets, Items
from sfumato.data.reading.arrow_memory import copy_numbers
from sfumato.errors import PolicyError
from sfumato.mine.baskets.itemsets import find_itemsets
from sfumato.mine.patterns.known_sets import KnownSets
from sfumato.public.thresholds import Support
from sfumato.runtime.progress import report_progress

_CHUNK = 4096


def inference_channels(baskets: Baskets, min_support: Support, k: int, maximal: bool = False) -> pl.DataFrame:
    """Every inference channel among the frequent itemsets: `inner` (held), `outer` (held or not held), `support`.

    A row means: `support` baskets hold all items of `inner` and no other item of `outer`, and 0 < support < k. `inner`
    may be empty. With `maximal`, only channels that lie inside no other: no channel has a smaller or equal `inner` and
    a larger or equal `outer`. The sets of such a channel include those of all channels inside it.
    """
    check_pattern_k(k)
    itemsets = find_itemsets(baskets, min_support)
    known_sets = KnownSets.of(itemsets.offsets, itemsets.codes, itemsets.supports, itemsets.rows)
    return build_channel_frame(known_sets, known_sets.find_small_patterns(k, border=False), baskets.items, maximal)


def check_pattern_k(k: int) -> int:
    """Validate k, the smallest number of people that may share a pattern."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise PolicyError("k must be a whole number of people, 1 or more")
    return k


def build_channel_frame(known_sets: KnownSets, records: Ints, items: Items, maximal: bool = False) -> pl.DataFrame:
    """Records of known sets as a frame."""
    from sfumato.kernels.patterns.small_patterns import RECORD_LEAST, RECORD_MASK, RECORD_NODE

    if maximal:
        records = records[find_widest_channels(known_sets, records)]
    nodes, masks = records[:, RECORD_NODE], records[:, RECORD_MASK]
    outer = _build_list_series(_list_set_members(known_sets, nodes, np.full(len(nodes), -1, dtype=np.int64)), items)
    inner = _build_list_series(_list_set_members(known_sets, nodes, masks), items)
    frame = pl.DataFrame({"inner": inner, "outer": outer, "support": records[:, RECORD_LEAST].copy()})
    return frame.sort(pl.col("outer").list.len(), "outer", pl.col("inner").list.len(), "inner")


def find_widest_channels(known_sets: KnownSets, records: Ints) -> Ints:
    """Which channels lie inside no other, as indices of the records."""
    from sfumato.kernels.patterns.intervals import ItemIntervals, KeptIntervals, keep_widest
    from sfumato.kernels.patterns.small_patterns import RECORD_MASK, RECORD_NODE

    sizes = np.diff(known_sets.offsets)[records[:, RECORD_NODE]]
    order = np.argsort(np.bitwise_count(records[:, RECORD_MASK]) - sizes, kind="stable")
    nodes, masks = records[order, RECORD_NODE], records[order, RECORD_MASK]
    outer = _list_set_members(known_sets, nodes, np.full(len(nodes), -1, dtype=np.int64))
    inner = _list_set_members(known_sets, nodes, masks)
    count = int(known_sets.item.max(initial=0)) + 1
    widest_mask = np.zeros(len(order), dtype=np.uint8)
    intervals = ItemIntervals(_pack_item_bits(inner, count), _pack_item_bits(outer, count), outer.offsets, outer.codes)
    lists = KeptIntervals(
        head=np.full(count, -1, dtype=np.int64),
        counts=np.zeros(count, dtype=np.int64),
        owner=np.full(len(outer.codes) + 1, -1, dtype=np.int64),
        next_entry=np.full(len(outer.codes) + 1, -1, dtype=np.int64),
        state=np.zeros(2, dtype=np.int64),
    )
    for begin in range(0, len(order), _CHUNK):
        report_progress("looking for maximal channels", begin, len(order))
        end = min(begin + _CHUNK, len(order))
        keep_widest(intervals, lists, begin, end, widest_mask)
    return np.sort(order[widest_mask.astype(bool)])


@dataclass(frozen=True)
class _ItemSets:
    offsets: Ints
    codes: Codes


def _list_set_members(known_sets: KnownSets, nodes: Ints, masks: Ints) -> _ItemSets:
    """The items of each node's set whose bit is set."""
    lengths = known_sets.offsets[nodes + 1] - known_sets.offsets[nodes]
    bits = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    member_mask = (np.repeat(masks, lengths) >> bits & 1).astype(bool)
    codes = known_sets.codes[np.repeat(known_sets.offsets[nodes], lengths) + bits][member_mask]
    counts = np.bincount(np.repeat(np.arange(len(nodes)), lengths)[member_mask], minlength=len(nodes))
    return _ItemSets(np.concatenate(([0], np.cumsum(counts))).astype(np.int64), np.ascontiguousarray(codes))


def _pack_item_bits(sets: _ItemSets, count: int) -> Words:
    """Each set as a row of bits, one for every item."""
    words = np.zeros((len(sets.offsets) - 1, (count + 63) // 64), dtype=np.uint64)
    rows = np.repeat(np.arange(len(words)), np.diff(sets.offsets))
    np.bitwise_or.at(words, (rows, sets.codes // 64), np.uint64(1) << (sets.codes % 64).astype(np.uint64))
    return words


def _build_list_series(sets: _ItemSets, items: Items) -> pl.Series:
    kind = pa.string() if items and isinstance(items[0], str) else pa.int64()
    members = pa.array(items, type=kind).take(copy_numbers(sets.codes))
    return pl.Series(pl.from_arrow(pa.LargeListArray.from_arrays(copy_numbers(sets.offsets), members)))
