# SPDX-License-Identifier: MIT
"""Itemsets and rules of baskets that stay in their file: counted there, and searched without what cannot be frequent.

A frequent itemset has only frequent items. So the items are counted first, and of each basket only its frequent items
are held in memory, four bytes for each; the search is the one of `itemsets`, and so is its result, to the order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from sfumato.baskets import BasketFormat, Baskets
from sfumato.engine.basket_staging import BasketSource, open_stored_baskets
from sfumato.engine.choice import choose_basket_engine
from sfumato.engine.engine_names import EngineName
from sfumato.engine.scratch import open_scratch_folder
from sfumato.engine.stored_baskets import StoredBaskets
from sfumato.mine.baskets.itemsets import ItemsetKind, Itemsets, find_itemsets, frequent_itemsets
from sfumato.public.thresholds import Support, compute_least_count

if TYPE_CHECKING:
    import polars as pl

_SEARCH_NAME = "the search for itemsets"
_CURE = "raise min_support"


class ReadingOptions(TypedDict, total=False):
    """How a file spells baskets; see `Baskets.read`."""

    format: BasketFormat | None
    id: str
    item: str
    separator: str | None


@contextmanager
def open_baskets(
    path: str | PathLike[str], engine: EngineName, options: ReadingOptions
) -> Iterator[Baskets | StoredBaskets]:
    """The baskets of a file, in memory or as codes in a private folder: as asked, or by their size."""
    source = BasketSource(str(path), **options)
    engine_name = choose_basket_engine(source, engine).name
    if engine_name == "memory":
        yield Baskets.read(path, **options)
        return
    with open_scratch_folder() as scratch:
        yield open_stored_baskets(source, scratch, engine=engine_name)


def find_stored_itemset_frame(
    baskets: StoredBaskets, min_support: Support, kind: ItemsetKind, max_length: int | None, at_most: int | None
) -> pl.DataFrame:
    """As `frequent_itemsets`."""
    import polars as pl

    least = compute_least_count(min_support, len(baskets))
    frequent = take_frequent_items(baskets, least)
    itemsets = frequent_itemsets(frequent, least, kind, max_length, at_most=at_most)
    if itemsets.height or not baskets.has_names:
        return itemsets
    return itemsets.cast({"items": pl.List(pl.String)})


def find_stored_itemsets(
    baskets: StoredBaskets, min_support: Support, max_length: int | None, at_most: int | None = None
) -> Itemsets:
    """As `find_itemsets`, of all kinds; the vocabulary has the frequent items only."""
    least = compute_least_count(min_support, len(baskets))
    itemsets = find_itemsets(take_frequent_items(baskets, least), least, max_length=max_length, at_most=at_most)
    return replace(itemsets, items=itemsets.items or baskets.items, rows=len(baskets))


def take_frequent_items(baskets: StoredBaskets, least: int) -> Baskets:
    """The baskets with their frequent items, and without those that have none.

    If some have none, there is an empty basket, so that no item is in every basket that is not in all of them.
    """
    frequent = baskets.counts >= least
    frequent_baskets = baskets.take(frequent, frequent, _SEARCH_NAME, _CURE).baskets
    if len(frequent_baskets) == len(baskets):
        return frequent_baskets
    return Baskets(
        frequent_baskets.items,
        np.append(frequent_baskets.offsets, frequent_baskets.offsets[-1]),
        frequent_baskets.codes,
    )
