# SPDX-License-Identifier: MIT
"""What was hidden and what was lost, by name: for the internal report only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import polars as pl

from sfumato.baskets import Baskets
from sfumato.errors import count_noun, join_names
from sfumato.measure.baskets.recount import ItemColumns
from sfumato.report.words import wording

_SECRETS, _LOST_ITEMSETS = 12, 8
"""How many rules and how many itemsets are named."""


_NOT_SHOWN = "Did not show before, and was left as it is"


class SecretSides(NamedTuple):
    """A secret rule; itemsets and items have only a right side."""

    left: frozenset[str]
    right: frozenset[str]
    is_itemset: bool
    """Whether every itemset that contains it is secret too."""


def split_secret(secret: Any) -> SecretSides:
    """The two sides of a secret rule, itemset or item."""
    if isinstance(secret, tuple) and len(secret) == 2 and all(isinstance(side, tuple | list) for side in secret):
        left, right = (frozenset(map(str, side)) for side in secret)
        return SecretSides(left, right, not left)
    many = secret if isinstance(secret, tuple | list | frozenset | set) else (secret,)
    return SecretSides(frozenset(), frozenset(map(str, many)), False)


def describe_secrets(
    secrets: Iterable[Any], original: Baskets, published_baskets: Baskets, least: int = 0, confidence: float = 0.0
) -> list[str]:
    """Each secret with its support and its confidence before and after, and how many more there are.

    One that did not reach both thresholds before, and did not change, was not hidden by anything.
    """
    sides = [split_secret(secret) for secret in secrets]
    shown_sides = sides[:_SECRETS]
    names = {name for secret in shown_sides for name in secret.left | secret.right}
    original_columns, published_columns = (ItemColumns.of(baskets, names) for baskets in (original, published_baskets))
    sentences = [
        f"{'Hidden' if _was_hidden(secret, original_columns, published_columns, least, confidence) else _NOT_SHOWN}: "
        f"{_describe_secret(secret, original_columns, published_columns)}."
        for secret in shown_sides
    ]
    rest = len(sides) - len(shown_sides)
    return sentences + ([f"{count_noun(rest, 'more was', 'more were')} to be hidden."] if rest else [])


def _was_hidden(
    secret: SecretSides, original: ItemColumns, published_columns: ItemColumns, least: int, confidence: float
) -> bool:
    """Whether a secret reached its thresholds before, or has changed."""
    whole = secret.left | secret.right
    support, base = (original.count_support(items) for items in (whole, secret.left))
    if support >= least and (not secret.left or support >= confidence * base):
        return True
    return [support, base] != [published_columns.count_support(items) for items in (whole, secret.left)]


def _describe_secret(secret: SecretSides, original: ItemColumns, published_columns: ItemColumns) -> str:
    whole = secret.left | secret.right
    supports = [columns.count_support(whole) for columns in (original, published_columns)]
    text = f"support {wording.format_count(supports[0])} → {wording.format_count(supports[1])}"
    if not secret.left:
        return f"{join_items(whole)}, {text}"
    bases = [columns.count_support(secret.left) for columns in (original, published_columns)]
    shares = [
        f"{100 * support / base:.2f}".removesuffix(".00") + f"{wording.NBSP}%" if base else "none"
        for support, base in zip(supports, bases, strict=True)
    ]
    name = f"{join_items(secret.left)} ==> {join_items(secret.right)}"
    return f"{name}, {text}, confidence {shares[0]} → {shares[1]}"


def describe_lost_itemsets(
    original: pl.DataFrame, published_frame: pl.DataFrame, secrets: Sequence[Any] = ()
) -> list[str]:
    """The most frequent of the itemsets that are lost, and how many more; those that hold a secret one do not count.

    Both frames have `items` and `support`.
    """
    lost_itemsets = (
        _key_itemsets(original)
        .join(_key_itemsets(published_frame), on="key", how="anti")
        .sort("support", "key", descending=True)
    )
    hidden_itemsets = [secret.right for secret in map(split_secret, secrets) if secret.is_itemset]
    itemsets = [
        (items, int(support))
        for items, support in lost_itemsets.select("items", "support").iter_rows()
        if not any(right <= set(items) for right in hidden_itemsets)
    ]
    if not itemsets:
        return []
    itemset_texts = [
        f"{join_items(items)} ({wording.format_count(support)})" for items, support in itemsets[:_LOST_ITEMSETS]
    ]
    rest = len(itemsets) - len(itemset_texts)
    more = f" and {wording.format_count(rest)} more" if rest else ""
    return [f"Itemsets lost, with their support before: {'; '.join(itemset_texts)}{more}."]


def _key_itemsets(itemsets: pl.DataFrame) -> pl.DataFrame:
    """Itemsets as text, so that 7 and "7" are the same."""
    items = pl.col("items").cast(pl.List(pl.String)).list.sort()
    return itemsets.select(items.alias("items"), "support", items.list.join("\0").alias("key"))


def join_items(items: Iterable[str]) -> str:
    """An itemset as text."""
    return wording.shorten_label(join_names(sorted(map(str, items))) or "anything", 80)
