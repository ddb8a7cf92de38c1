# SPDX-License-Identifier: MIT
"""Baskets with unknown items: ``milk?`` means "milk, perhaps".

A certain item is written as its name, an unknown one as its name and a question mark; any other item is certainly
absent. So such baskets are written and read like any others, and a reader who ignores the marks sees what is certain.
The support of an itemset is then an interval, from the baskets that certainly hold it to those that may, and so is the
confidence of a rule. Whether such a name is a mark is a statement of the method that made the release, never read off
the name: an item of the data may be called "milk?" as well.
Saygin, Verykios, Clifton, *Using unknowns to prevent discovery of association rules* (2001).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Codes, Flags
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError, count_noun
from sfumato.release import Release

MARK = "?"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class ItemSplit:
    """Baskets with unknowns, separated; both have as many baskets as before, in the same order."""

    known_items: Baskets
    """What is certain."""
    unknown_items: Baskets
    """What may be present, without the marks."""


@dataclass(frozen=True, slots=True)
class PossibleInterval:
    """What is possible, both ends included."""

    low: Fraction
    high: Fraction


def mark_unknowns(known_baskets: Baskets, rows: Sequence[int], items: Sequence[Item]) -> Baskets:
    """The baskets in which it is unknown whether basket `rows[i]` holds `items[i]`, which it does not certainly."""
    marked_count = sum(str(item).endswith(MARK) for item in (*known_baskets.items, *items))
    if marked_count:
        raise DataError(
            f'{count_noun(marked_count, "item ends", "items end")} in "{MARK}", which marks an unknown; rename first'
        )
    names: dict[str, int] = {str(item): position for position, item in enumerate(known_baskets.items)}
    new = [names.setdefault(f"{item}{MARK}", len(names)) for item in items]
    owners = np.concatenate(
        [np.repeat(np.arange(len(known_baskets)), np.diff(known_baskets.offsets)), np.array(rows, dtype=np.int64)]
    )
    codes = np.concatenate([known_baskets.codes, np.array(new, dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(known_baskets)))]).astype(np.int64)
    return Baskets(tuple(names), offsets, codes[order].astype(np.int32))


def find_unknown_mark(release: Release) -> str:
    """The ending of unknown items in a release; empty if its methods mark nothing.

    The methods state it, or the claims of a release that was read from its folder. Of a release made by hand, without
    either, nobody says that there is no mark.
    """
    methods = [step.method for step in release.list_steps() if step.method is not None]
    if methods:
        return next((mark for method in methods if (mark := method.find_mark(method.describe()))), "")
    if release.claims:
        return next((str(mark) for claim in release.claims if (mark := claim.arguments.get("unknown_mark"))), "")
    return MARK


def split_unknowns(published_baskets: Baskets, unknown_mark: str = MARK) -> ItemSplit:
    """What is certain and what is unknown; names that are all integers become integers again.

    Without a mark, everything is certain.
    """
    if not unknown_mark:
        no_items = Baskets(published_baskets.items, np.zeros_like(published_baskets.offsets), np.zeros(0, np.int32))
        return ItemSplit(published_baskets, no_items)
    names = [str(item) for item in published_baskets.items]
    marked_mask = np.array([name.endswith(unknown_mark) for name in names], dtype=np.bool_)
    plain: list[Item] = [name.removesuffix(unknown_mark) for name in names]
    if all(_INTEGER.fullmatch(str(name)) for name in plain):
        plain = [int(name) for name in plain]
    name_index = {name: index for index, name in enumerate(dict.fromkeys(plain))}
    code = np.array([name_index[name] for name in plain], dtype=np.int32)
    unknown = marked_mask[published_baskets.codes] if names else np.zeros(0, dtype=np.bool_)
    return ItemSplit(
        _select_items(published_baskets, tuple(name_index), code, ~unknown),
        _select_items(published_baskets, tuple(name_index), code, unknown),
    )


def _select_items(published_baskets: Baskets, items: tuple[Item, ...], code: Codes, item_mask: Flags) -> Baskets:
    owners = np.repeat(np.arange(len(published_baskets)), np.diff(published_baskets.offsets))[item_mask]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(published_baskets)))]).astype(np.int64)
    return Baskets(items, offsets, code[published_baskets.codes[item_mask]])


def bound_item_support(published_baskets: Baskets, items: Sequence[Item]) -> PossibleInterval:
    """The baskets that certainly hold the items, and those that may."""
    parts = split_unknowns(published_baskets)
    certain, possible = _flag_certain(parts, items), _flag_possible(parts, items)
    return PossibleInterval(Fraction(int(certain.sum())), Fraction(int(possible.sum())))


def bound_rule_confidence(
    published_baskets: Baskets, left: Sequence[Item], right: Sequence[Item]
) -> PossibleInterval | None:
    """The smallest and the largest confidence that the unknowns allow; None if the left side never occurs.

    Smallest: no unknown of the whole rule was present, and every one that completes only its left side was. Largest:
    the other way round. Both ends are reached by some assignment of the unknowns.
    """
    parts = split_unknowns(published_baskets)
    left_certain, left_possible = _flag_certain(parts, left), _flag_possible(parts, left)
    right_certain, right_possible = _flag_certain(parts, right), _flag_possible(parts, right)
    if not left_possible.any():
        return None
    certain_count = int((left_certain & right_certain).sum())
    # A basket that certainly has the right side can only count on both sides or on none.
    counterexamples = int((left_possible & ~right_certain).sum())
    low = Fraction(certain_count, certain_count + counterexamples) if certain_count + counterexamples else Fraction(1)
    may = int((left_possible & right_possible).sum())
    surely_not = int((left_certain & ~right_possible).sum())
    return PossibleInterval(low, Fraction(may, may + surely_not) if may + surely_not else Fraction(0))


def _flag_certain(parts: ItemSplit, items: Sequence[Item]) -> Flags:
    holder_mask: Flags = np.logical_and.reduce([_flag_holding(parts.known_items, item) for item in items])
    return holder_mask


def _flag_possible(parts: ItemSplit, items: Sequence[Item]) -> Flags:
    item_masks = [_flag_holding(parts.known_items, item) | _flag_holding(parts.unknown_items, item) for item in items]
    holder_mask: Flags = np.logical_and.reduce(item_masks)
    return holder_mask


def _flag_holding(baskets: Baskets, item: Item) -> Flags:
    holder_mask = np.zeros(len(baskets), dtype=np.bool_)
    item_codes = [position for position, name in enumerate(baskets.items) if str(name) == str(item)]
    if item_codes:
        owners = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        holder_mask[owners[baskets.codes == item_codes[0]]] = True
    return holder_mask
