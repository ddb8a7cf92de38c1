# SPDX-License-Identifier: MIT
"""Nearest supports: each item takes a code that is in about as many baskets.

Against codes or bits that occur as often as an item. An item may take a code that fits a later one
better, so there are several orders: common items first, or those that some code fits best; or items share codes.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Floats, Ints


def match_nearest_supports(supports: Floats, code_supports: Floats) -> dict[str, Ints]:
    """For each item the index of its code, −1 for none, in several orders of items and codes.

    Each code is for one item, or several items may share the code that is nearest to each: a bit of a filter may
    stand for both. An item of unknown support (NaN) takes none. Of codes that are equally near, the first or the last
    is taken.
    """
    known_items = np.flatnonzero(np.isfinite(supports))
    common_first = known_items[np.argsort(-supports[known_items], kind="stable")]
    nearest = np.array([np.abs(code_supports - supports[item]).min(initial=np.inf) for item in common_first])
    fitting_first = common_first[np.argsort(nearest, kind="stable")]
    codes = np.arange(len(code_supports))
    matches = {}
    for ties, ordered_codes in (("first of equals", codes), ("last of equals", codes[::-1])):
        for order, items in (("common items first", common_first), ("best fits first", fitting_first)):
            matches[f"{order}, {ties}"] = _take_nearest(items, supports, ordered_codes, code_supports)
        matches[f"with shared codes, {ties}"] = _share_nearest(known_items, supports, ordered_codes, code_supports)
    return matches


def _take_nearest(items: Ints, supports: Floats, codes: Ints, code_supports: Floats) -> Ints:
    places = np.full(len(supports), -1, dtype=np.int64)
    free_supports = code_supports[codes].astype(np.float64)
    for item in items[: len(codes)].tolist():
        nearest = int(np.abs(free_supports - supports[item]).argmin())
        places[item] = codes[nearest]
        free_supports[nearest] = np.inf
    return places


def _share_nearest(items: Ints, supports: Floats, codes: Ints, code_supports: Floats) -> Ints:
    places = np.full(len(supports), -1, dtype=np.int64)
    for item in items.tolist() if len(codes) else ():
        places[item] = codes[np.abs(code_supports[codes] - supports[item]).argmin()]
    return places
