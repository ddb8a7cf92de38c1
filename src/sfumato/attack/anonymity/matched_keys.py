# SPDX-License-Identifier: MIT
"""Published rows in groups of equal keys, and for each person the group of their own key, in few bytes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.arrays import Places

_DENSE = 4
_FEW_GROUPS = 1 << 16


class MatchedRows(NamedTuple):
    """Published rows in order, and for each person which of them are theirs."""

    rows: Places
    starts: Places
    """Where each person's rows begin."""
    counts: Places
    """How many rows each person has."""


def match_keys(sought_keys: Places, keys: Places, rows: Places) -> MatchedRows:
    """The rows in groups of equal keys, and for each person where the group of their key begins and how large it is."""
    width = int(keys.max(initial=-1)) + 1
    if width <= _DENSE * max(len(keys), len(sought_keys)):
        return _match_dense_keys(sought_keys, keys, rows, width)
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]])) if len(keys) else order
    groups, sizes = sorted_keys[begins], np.diff(begins, append=len(keys))
    group = np.minimum(np.searchsorted(groups, sought_keys), max(len(groups) - 1, 0))
    is_met = groups[group] == sought_keys if len(groups) else np.zeros(len(sought_keys), dtype=np.bool_)
    group[~is_met] = 0
    start, count = (values[group] if len(groups) else np.zeros_like(group) for values in (begins, sizes))
    return MatchedRows(rows[order], np.where(is_met, start, 0), np.where(is_met, count, 0))


def _match_dense_keys(sought_keys: Places, keys: Places, rows: Places, width: int) -> MatchedRows:
    """The same by counting, for keys that are hardly more than the rows or the people."""
    counts = np.bincount(keys, minlength=width)
    groups = np.flatnonzero(counts)
    number = np.zeros(width, dtype=np.int64)
    number[groups] = np.arange(len(groups))
    short = number[keys].astype(np.uint16 if len(groups) <= _FEW_GROUPS else np.int64)  # short numbers sort faster
    kind = _choose_kind(rows)
    order = rows.astype(kind)[np.argsort(short, kind="stable")]
    del short
    slot = np.where((sought_keys >= 0) & (sought_keys < width), sought_keys, width)  # after the last, where nothing is
    begins = np.append(np.where(counts > 0, np.cumsum(counts) - counts, 0), 0).astype(kind)
    return MatchedRows(order, begins[slot], np.append(counts, 0).astype(kind)[slot])


def shorten_part(part: MatchedRows) -> MatchedRows:
    """The same in half the memory, which all the people and rows of a large release need."""
    order, start, count = part
    kind = _choose_kind(order)
    return MatchedRows(order.astype(kind, copy=False), start.astype(kind, copy=False), count.astype(kind, copy=False))


def _choose_kind(rows: Places) -> Any:
    """A kind of whole numbers that holds any of these rows, and how many they are."""
    return np.int32 if max(int(rows.max(initial=0)), len(rows)) < 1 << 31 else np.int64
