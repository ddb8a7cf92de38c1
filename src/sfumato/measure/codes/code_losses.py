# SPDX-License-Identifier: MIT
"""What codes of items cost, counted on the written file with the key: what a method says of itself opens no gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from sfumato.baskets import Baskets
from sfumato.key import Key
from sfumato.measure.alignment import Rows
from sfumato.measure.codes.code_checks import PublishedCodes
from sfumato.mine.codes.bloom_filters import BloomKey
from sfumato.public.codes.item_key import ItemKey


def measure_added_share(published_baskets: Baskets, original: Baskets, rows: Rows, key: Key) -> float:
    """Of the published codes, the share that stands for no item of its basket."""
    item_key = ItemKey.open(key)
    published_codes = PublishedCodes(published_baskets, original, rows)
    code_places = {str(code): code_index for code_index, code in enumerate(published_baskets.items)}
    images = {
        item: [code_places[name] for code_index in places if (name := str(item_key.codes[code_index])) in code_places]
        for item, places in zip(map(str, item_key.items), item_key.images, strict=True)
    }
    item_images = [images.get(str(item), []) for item in original.items]
    basket_of_code = np.repeat(np.arange(len(original)), np.diff(original.offsets))
    sizes = np.array([len(image) for image in item_images], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)))[original.codes]
    counts = sizes[original.codes]
    steps = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    flat_images = np.array([code_index for image in item_images for code_index in image], dtype=np.int64)
    expected_cells = (
        np.repeat(basket_of_code, counts) * published_codes.width + flat_images[np.repeat(starts, counts) + steps]
    )
    true_count = np.isin(published_codes.list_cells(), np.unique(expected_cells)).sum()
    return 1 - int(true_count) / len(published_baskets.codes) if len(published_baskets.codes) else 0.0


def measure_false_positive_share(published_baskets: Baskets, original: Baskets, rows: Rows, key: Key) -> float:
    """Of the items that baskets do not hold, the share that their filters show."""
    bloom_key = BloomKey.open(key)
    published_codes = PublishedCodes(published_baskets, original, rows)
    bit_places = {str(bit): code_index for code_index, bit in enumerate(published_baskets.items)}
    shown_count = 0
    for item_filter in bloom_key.list_filters():
        names = {str(bit) for bit in item_filter}
        if names <= bit_places.keys():
            shown_count += published_codes.count_holding(np.array([bit_places[name] for name in names]))
    held_count = len(original.codes)
    absent_count = len(original) * len(original.items) - held_count
    return max(shown_count - held_count, 0) / absent_count if absent_count else 0.0


CODE_LOSSES: Mapping[str, Callable[[Baskets, Baskets, Rows, Key], float]] = {
    "itemsets": measure_added_share,
    "candidates": measure_false_positive_share,
}
"""What the key decodes (`KeyedMethod.decodes`) → what is lost until it does."""
