# SPDX-License-Identifier: MIT
"""Encoding baskets for someone else's mining: key, encoding and decoding beside the mining itself, and growth."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import sfumato as sf
from bench.timing import shared_data, show
from sfumato.attack.codes.item_frequency import ItemFrequency
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.codes.bloom_filters import filter_requests, mine_filters
from sfumato.mine.codes.decoded_itemsets import decode_itemsets
from sfumato.protect.codes.encode_bloom import EncodeBloom
from sfumato.protect.codes.encode_items import EncodeItems

SHARE = 0.02
METHODS: tuple[tuple[str, EncodeItems | EncodeBloom], ...] = (
    ("padded, k = 10", EncodeItems(k=10)),
    ("one-to-n, n = 2", EncodeItems(kind="one_to_n", fake_codes=100, shared_codes=100)),
    ("Bloom, m = 1024, k = 4", EncodeBloom(bits=1024, hashes=4)),
)


def time_work(work: Callable[[], Any]) -> tuple[Any, float]:
    """What came out, and the seconds it took."""
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("encode_items: no real data (set SFUMATO_DATA), skipped")
        return
    baskets = sf.Baskets.read(folder / "fimi" / "mushroom.dat")
    frequent_itemsets(baskets, 0.9)  # compiled before anything is timed
    retail = sf.Baskets.read(folder / "fimi" / "bms-webview-1.dat")
    rows = [(name, *measure_method(method, retail)) for name, method in METHODS]
    head = (
        "method",
        "key",
        "encode",
        "mine the release",
        "mine the originals",
        "decode",
        "sets found",
        "exact",
        "risk: supports / pairs known",
    )
    show(f"BMS-WebView-1 ({len(retail):,} baskets), support {SHARE:.0%}, once each", head, rows)
    _growth(retail)


def measure_method(method: EncodeItems | EncodeBloom, data: sf.Baskets) -> tuple[str, ...]:
    """Seconds of each step, whether the decoded itemsets are the true ones, and how many items are named."""
    least = max(1, round(SHARE * len(data)))
    key, drawing = time_work(lambda: method.new_key(data))
    release, encoding = time_work(lambda: method.protect(data, key))
    if isinstance(method, EncodeBloom):
        itemsets, mining = time_work(lambda: mine_filters(release.data, filter_requests(key), least))
    else:
        itemsets, mining = time_work(lambda: frequent_itemsets(release.data, least))
    true, directly = time_work(lambda: frequent_itemsets(data, least))
    decoded_itemsets, decoding = time_work(lambda: decode_itemsets(itemsets, key, data, least))
    is_same = sorted(map(sorted, decoded_itemsets["items"].to_list())) == sorted(map(sorted, true["items"].to_list()))
    risk = "" if isinstance(method, EncodeBloom) else _risks(release, data)
    seconds = [f"{duration:.2f} s" for duration in (drawing, encoding, mining, directly, decoding)]
    return (*seconds, f"{len(itemsets)} for {len(true)}", "yes" if is_same else "NO", risk)


def _risks(release: sf.Release, data: sf.Baskets) -> str:
    """The share of the hundred most common items that are named, by what the provider knows."""
    attacks = ItemFrequency(knowledge="supports", clean=False), ItemFrequency()
    return " / ".join(f"{attack.run(release, data).risk:.2f}" for attack in attacks)


def _growth(data: sf.Baskets) -> None:
    lists = data.to_lists()
    rows = []
    for times in (1, 4, 16):
        large_baskets = sf.Baskets.of(lists * times)
        for name, method in METHODS:
            key, drawing = time_work(partial(method.new_key, large_baskets))
            _, encoding = time_work(partial(method.protect, large_baskets, key))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rows.append((f"{len(large_baskets):,}", name, f"{drawing:.2f} s", f"{encoding:.2f} s", f"{peak:.0f} MB"))
    show("Growth", ("baskets", "method", "key", "encode", "peak memory of the process"), rows)


if __name__ == "__main__":
    main()
