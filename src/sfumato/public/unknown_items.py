# SPDX-License-Identifier: MIT
"""Baskets with unknown items: ``milk?`` means "milk, perhaps".

A certain item is written as its name, an unknown one as its name and a question mark; any other item is certainly
absent. So such baskets are written and read like any others, and a reader who ignores the marks sees what is certain.
The support of an itemset is then an interval, from the baskets that certainly hold it to those that may, and so is the
confidence of a rule. Saygin, Verykios, Clifton, *Using unknowns to prevent discovery of association rules* (2001).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.arrays import Codes, Flags
from sfumato.baskets import Baskets, Item
from sfumato.errors import DataError

MARK = "?"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class KnownAndUnknown:
    """Baskets with unknowns, separated; both have as many baskets as before, in the same order."""

    known: Baskets
    """What is certain."""
    unknown: Baskets
    """What may be present, without the marks."""


@dataclass(frozen=True, slots=True)
class PossibleInterval:
    """What is possible, both ends included."""

    low: Fraction
    high: Fraction


def mark_unknowns(known: Baskets, rows: Sequence[int], items: Sequence[Item]) -> Baskets:
    """The baskets in which it is unknown whether basket `rows[i]` holds `items[i]`, which it does not certainly."""
    marked = sum(str(item).endswith(MARK) for item in (*known.items, *items))
    if marked:
        raise DataError(f'{marked} items end in "{MARK}", which marks an unknown; rename them first')
    names: dict[str, int] = {str(item): position for position, item in enumerate(known.items)}
    new = [names.setdefault(f"{item}{MARK}", len(names)) for item in items]
    owners = np.concatenate([np.repeat(np.arange(len(known)), np.diff(known.offsets)), np.array(rows, dtype=np.int64)])
    codes = np.concatenate([known.codes, np.array(new, dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(known)))]).astype(np.int64)
    return Baskets(tuple(names), offsets, codes[order].astype(np.int32))


def split_unknowns(published: Baskets) -> KnownAndUnknown:
    """What is certain and what is unknown; names that are all integers become integers again."""
    names = [str(item) for item in published.items]
    marked = np.array([name.endswith(MARK) for name in names], dtype=np.bool_)
    plain: list[Item] = [name.removesuffix(MARK) for name in names]
    if all(_INTEGER.fullmatch(str(name)) for name in plain):
        plain = [int(name) for name in plain]
    name_index = {name: index for index, name in enumerate(dict.fromkeys(plain))}
    code = np.array([name_index[name] for name in plain], dtype=np.int32)
    unknown = marked[published.codes] if names else np.zeros(0, dtype=np.bool_)
    return KnownAndUnknown(
        _select_items(published, tuple(name_index), code, ~unknown),
        _select_items(published, tuple(name_index), code, unknown),
    )


def _select_items(published: Baskets, items: tuple[Item, ...], code: Codes, kept: Flags) -> Baskets:
    owners = np.repeat(np.arange(len(published)), np.diff(published.offsets))[kept]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(published)))]).astype(np.int64)
    return Baskets(items, offsets, code[published.codes[kept]])


def bound_item_support(published: Baskets, items: Sequence[Item]) -> PossibleInterval:
    """The baskets that certainly hold the items, and those that may."""
    parts = split_unknowns(published)
    certain, possible = _flag_certain(parts, items), _flag_possible(parts, items)
    return PossibleInterval(Fraction(int(certain.sum())), Fraction(int(possible.sum())))


def bound_rule_confidence(published: Baskets, left: Sequence[Item], right: Sequence[Item]) -> PossibleInterval | None:
    """The smallest and the largest confidence that the unknowns allow; None if the left side never occurs.

    Smallest: no unknown of the whole rule was present, and every one that completes only its left side was. Largest:
    the other way round. Both ends are reached by some assignment of the unknowns.
    """
    parts = split_unknowns(published)
    left_certain, left_possible = _flag_certain(parts, left), _flag_possible(parts, left)
    right_certain, right_possible = _flag_certain(parts, right), _flag_possible(parts, right)
    if not left_possible.any():
        return None
    held = int((left_certain & right_certain).sum())
    # A basket that certainly has the right side can only count on both sides or on none.
    without = int((left_possible & ~right_certain).sum())
    low = Fraction(held, held + without) if held + without else Fraction(1)
    may = int((left_possible & right_possible).sum())
    surely_not = int((left_certain & ~right_possible).sum())
    return PossibleInterval(low, Fraction(may, may + surely_not) if may + surely_not else Fraction(0))


def _flag_certain(parts: KnownAndUnknown, items: Sequence[Item]) -> Flags:
    held: Flags = np.logical_and.reduce([_flag_holding(parts.known, item) for item in items])
    return held


def _flag_possible(parts: KnownAndUnknown, items: Sequence[Item]) -> Flags:
    both = [_flag_holding(parts.known, item) | _flag_holding(parts.unknown, item) for item in items]
    held: Flags = np.logical_and.reduce(both)
    return held


def _flag_holding(baskets: Baskets, item: Item) -> Flags:
    held = np.zeros(len(baskets), dtype=np.bool_)
    wanted = [position for position, name in enumerate(baskets.items) if str(name) == str(item)]
    if wanted:
        owners = np.repeat(np.arange(len(baskets)), np.diff(baskets.offsets))
        held[owners[baskets.codes == wanted[0]]] = True
    return held
