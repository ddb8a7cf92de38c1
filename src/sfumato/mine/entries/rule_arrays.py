# SPDX-License-Identifier: MIT
"""Adversarial rules as arrays: the output of the search, and the input of blanking entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Codes, Ints


@dataclass(frozen=True)
class RuleArrays:
    """Rules as arrays, sorted by antecedent (as strings of item codes), then by consequent."""

    start: Ints
    """Antecedent a is `items[start[a]:start[a + 1]]`."""
    items: Codes
    """Item codes, ascending within an antecedent."""
    antecedent: Codes
    """The number of each rule's antecedent."""
    target: Codes
    """The item that each rule predicts."""
    public_counts: Codes
    """|pub(R)|."""
    public_fit: Codes
    """Rows of pub(R) that hold the predicted item."""
    hidden_counts: Codes
    """|hid(R)|."""
    hidden_fit: Codes
    """Rows of hid(R) that hold the predicted item."""
    row_start: Ints
    """Antecedent a publicly appears in `rows[row_start[a]:row_start[a + 1]]`."""
    rows: Codes
    """Ascending within an antecedent; empty unless requested."""
    complete: bool
    """False if a budget stopped the search, so that rules may be missing."""

    def __len__(self) -> int:
        """The number of rules."""
        return len(self.target)


def build_no_rules() -> RuleArrays:
    """The result if there can be no rules."""
    empty_codes = np.zeros(0, dtype=np.int32)
    start = np.zeros(1, dtype=np.int64)
    return RuleArrays(
        start,
        empty_codes,
        empty_codes,
        empty_codes,
        empty_codes,
        empty_codes,
        empty_codes,
        empty_codes,
        start,
        empty_codes,
        complete=True,
    )


def join_rule_arrays(parts: Sequence[RuleArrays]) -> RuleArrays:
    """Merge parts of one search, each in order and no first item in two of them, in order."""
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.start) for part in parts])
    many = np.concatenate([np.diff(part.row_start) for part in parts])
    items = np.concatenate([part.items for part in parts])
    begins = np.cumsum(lengths) - lengths
    first = np.full(len(lengths), -1, dtype=np.int32)
    first[lengths > 0] = items[begins[lengths > 0]]
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order))
    part_offsets = np.cumsum([0, *(len(part.start) - 1 for part in parts)])
    antecedent = number[
        np.concatenate([part.antecedent + index for part, index in zip(parts, part_offsets, strict=False)])
    ]
    rules = np.argsort(antecedent, kind="stable")
    names = ("target", "public_counts", "public_fit", "hidden_counts", "hidden_fit")
    counts: dict[str, Codes] = {name: np.concatenate([getattr(part, name) for part in parts])[rules] for name in names}
    return RuleArrays(
        start=_cumulate_lengths(lengths[order]),
        items=items[_list_run_places(begins[order], lengths[order])],
        antecedent=antecedent[rules],
        row_start=_cumulate_lengths(many[order]),
        rows=np.concatenate([part.rows for part in parts])[
            _list_run_places((np.cumsum(many) - many)[order], many[order])
        ],
        complete=all(part.complete for part in parts),
        **counts,
    )


def _cumulate_lengths(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _list_run_places(begins: Ints, lengths: Ints) -> Ints:
    """The indices of some runs, concatenated."""
    places: Ints = np.arange(lengths.sum()) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    return places
