# SPDX-License-Identifier: MIT
"""Inference channels and their repair on mushroom and retail: time against plain inclusion-exclusion, loss, growth."""

from __future__ import annotations

import resource
import time
from itertools import combinations

import sfumato as sf
from bench.timing import best_of, shared_data, show
from sfumato.measure.baskets.recount import recount_itemsets
from sfumato.measure.baskets.side_effects import exposed_item_rules
from sfumato.measure.patterns.pattern_privacy import inferable_patterns
from sfumato.mine.baskets.itemsets import frequent_itemsets
from sfumato.mine.patterns.inference_channels import inference_channels
from sfumato.protect.patterns.publish_patterns import PublishPatterns

K = 10


def main() -> None:
    folder = shared_data()
    if folder is None:
        print("patterns: no real data (set SFUMATO_DATA), skipped")
        return
    mushroom = sf.Baskets.read(folder / "fimi" / "mushroom.dat")
    retail = sf.Baskets.read(folder / "fimi" / "retail.dat.gz")
    _channels(mushroom)
    _repairs({"mushroom": mushroom, "retail": retail})
    _recounts(retail)
    _growth(mushroom)


def naive_channels(baskets: sf.Baskets, min_support: float, k: int) -> int:
    """The paper's naive detector: every pair I ⊆ J of frequent sets, each by summing the supports between them."""
    itemsets = frequent_itemsets(baskets, min_support)
    supports = {frozenset(items): support for items, support in itemsets.iter_rows()} | {frozenset(): len(baskets)}
    count = 0
    for outer in supports:
        for size in range(len(outer) + 1) if outer else ():
            for inner in map(frozenset, combinations(sorted(outer), size)):
                rest = sorted(outer - inner)
                total = sum(
                    (-1) ** length * supports[inner.union(more)]
                    for length in range(len(rest) + 1)
                    for more in combinations(rest, length)
                )
                count += 0 < total < k
    return count


def _channels(mushroom: sf.Baskets) -> None:
    rows: list[tuple[object, ...]] = []
    for share in (0.5, 0.4, 0.3, 0.2):
        channels = inference_channels(mushroom, share, K)
        seconds = best_of(3, lambda share=share: inference_channels(mushroom, share, K))  # type: ignore[misc]
        widest = inference_channels(mushroom, share, K, maximal=True).height
        naive, ratio = "", ""
        if share >= 0.3:
            begin = time.perf_counter()
            assert naive_channels(mushroom, share, K) == channels.height
            naive_seconds = time.perf_counter() - begin
            naive, ratio = f"{naive_seconds:.2f} s", f"{naive_seconds / seconds:.0f}×"
        rows.append((f"{share:.0%}", f"{channels.height:,}", f"{widest:,}", f"{seconds * 1000:.0f} ms", naive, ratio))
    head = ("support", "channels", "maximal", "inference_channels()", "naive detector", "ratio")
    show(f"Inference channels, mushroom (8,124 baskets), k = {K}, mining included, warm", head, rows)


def _repairs(data: dict[str, sf.Baskets]) -> None:
    rows: list[tuple[object, ...]] = []
    for name, share in (("mushroom", 0.4), ("mushroom", 0.2), ("retail", 0.01), ("retail", 0.001)):
        for repair in ("additive", "suppressive"):
            method = PublishPatterns(k=K, min_support=share, repair=repair)
            begin = time.perf_counter()
            release = method.protect(data[name])
            repair_seconds = time.perf_counter() - begin
            begin = time.perf_counter()
            leftover_count = inferable_patterns(release.data, K, release.data.complete_from)
            check_seconds = time.perf_counter() - begin
            lost_text = f"{release.losses['lost_itemsets']:,}"
            added_text = f"{release.losses['added_baskets']:,}"
            cells = (f"{len(release.data):,}", lost_text, added_text, f"{release.losses['loss']:.4f}")
            rows.append(
                (
                    name,
                    f"{share:.1%}",
                    repair,
                    f"{repair_seconds:.2f} s",
                    *cells,
                    leftover_count,
                    f"{check_seconds:.2f} s",
                )
            )
    head = ("data", "support", "repair", "protect()", "published", "lost", "added baskets", "loss", "left", "re-check")
    show(f"Publishing patterns, k = {K}", head, rows)


def _recounts(retail: sf.Baskets) -> None:
    rows = [
        ("all itemsets at 0.1 %", f"{best_of(2, lambda: recount_itemsets(retail, 89)):.2f} s"),
        (
            "rules about the most common item, 0.1 %",
            f"{best_of(2, lambda: exposed_item_rules(retail, [39], 89, 0.5)):.2f} s",
        ),
    ]
    show("The auditor's own counting, retail (88,162 baskets)", ("what", "seconds"), rows)


def _growth(base: sf.Baskets) -> None:
    rows: list[tuple[object, ...]] = []
    lists = base.to_lists()
    for times in (1, 4, 16):
        baskets = base if times == 1 else sf.Baskets.of(lists * times)
        k = K * times
        seconds = best_of(2, lambda baskets=baskets, k=k: inference_channels(baskets, 0.4, k))  # type: ignore[misc]
        begin = time.perf_counter()
        PublishPatterns(k=k, min_support=0.4).protect(baskets)
        repair_seconds = time.perf_counter() - begin
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append((f"{len(baskets):,}", f"{seconds * 1000:.0f} ms", f"{repair_seconds:.2f} s", f"{peak:.0f} MB"))
    head = ("baskets", "inference_channels()", "protect(), additive", "peak memory of the process")
    show("Growth: mushroom over and over, 40 %", head, rows)


if __name__ == "__main__":
    main()
